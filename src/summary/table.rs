//! Tables with columns aligned by their width on a terminal.

use std::fmt::{self, Write as _};

use unicode_width::UnicodeWidthStr;

use crate::display::Cells;

/// The maximal width of a name.
const NAME_WIDTH: usize = 48;

/// A table with a title for each column. The first `LEFT` columns are aligned to the left, the others to the right.
#[derive(Debug)]
pub(super) struct Table<const N: usize, const LEFT: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize, const LEFT: usize> Table<N, LEFT> {
    pub(super) fn new(titles: [&str; N]) -> Self {
        Self { rows: vec![titles.map(str::to_owned)] }
    }

    pub(super) fn push(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    /// Returns whether the table has no rows below the titles.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }
}

impl<const N: usize, const LEFT: usize> fmt::Display for Table<N, LEFT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let padding = widths[column] - cell.width();
                if column < LEFT {
                    write!(f, "{gap}{cell}{:padding$}", "")?;
                } else {
                    write!(f, "{gap}{:padding$}{cell}", "")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Formats a name of the trace as a cell: on one row, escaped, and of bounded width and length.
pub(super) fn name(text: &str) -> String {
    let mut name = String::new();
    let mut cells = Cells::behind(&mut name, Some(NAME_WIDTH));
    // The only error is that the columns are used up, and `finish` shows that.
    let _ = cells.write_str(text);
    cells.finish();
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_by_display_width() {
        let mut table = Table::<3, 1>::new(["name", "n", "wait"]);
        for (name, figure) in [("日本語", "1"), ("e\u{301}e\u{301}", "22"), ("plain ascii", "333")] {
            table.push([name.to_owned(), figure.to_owned(), "5 ms".to_owned()]);
        }
        let shown = table.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "name           n  wait");
        assert_eq!(lines[1], "日本語         1  5 ms");
        assert_eq!(lines[3], "plain ascii  333  5 ms");
        assert!(lines.iter().all(|line| line.width() == lines[0].width()), "{shown}");
    }

    #[test]
    fn a_name_stays_on_its_row_and_within_its_width() {
        assert_eq!(name("a\nb"), "a\\nb");
        assert_eq!(name(&"x".repeat(NAME_WIDTH)), "x".repeat(NAME_WIDTH));
        let cut = name(&"x".repeat(10_000));
        assert_eq!(cut, "x".repeat(NAME_WIDTH - 1) + "…");
        // A wide character that would stand across the edge is left out.
        let cut = name(&("x".to_owned() + &"日".repeat(10_000)));
        assert!(cut.width() <= NAME_WIDTH && cut.ends_with("日…"), "{cut}");
        let cut = name(&"\u{1b}".repeat(10_000));
        assert!(cut.width() <= NAME_WIDTH);
        for text in ["\u{301}", "e\u{301}\u{302}", "❤\u{fe0f}", "\u{3164}"] {
            let cut = name(&text.repeat(100_000));
            assert!(cut.width() <= NAME_WIDTH && cut.len() < 2_000, "{cut:?}");
        }
    }
}
