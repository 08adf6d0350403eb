//! Rows whose columns stand under each other, by the width they take on a terminal.

use std::fmt;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::escaped;

/// What a name may take of a row before it is cut short.
const NAME_WIDTH: usize = 48;

/// A table with a title over each column. `LEFT` columns of names are followed by figures, which end under each other.
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

    /// Whether nothing stands under the titles.
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

/// A name or a message of the trace as a cell: on one line, harmless, and of bounded width.
pub(super) fn name(text: &str) -> String {
    let mut name = escaped(text).to_string();
    if let Some(end) = end_of_width(&name, NAME_WIDTH) {
        name.truncate(end);
        name.push('…');
    }
    name
}

/// Where to cut the text to make it and one more column fit into `limit`; none when all of it fits.
fn end_of_width(text: &str, limit: usize) -> Option<usize> {
    let (mut width, mut end) = (0, 0);
    for (at, character) in text.char_indices() {
        width += character.width().unwrap_or(0);
        if width < limit {
            end = at + character.len_utf8();
        } else if width > limit {
            return Some(end);
        }
    }
    None
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
    }
}
