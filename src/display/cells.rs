//! Text that is safe to show and takes a limited number of columns.

use std::fmt::{self, Write};

#[cfg(feature = "summary")]
use unicode_width::UnicodeWidthChar as _;

use super::escape::{escaped, is_unsafe_to_show};

/// Appends escaped text to a row, in a limited number of columns. When the columns are used up, writing fails, so that
/// formatting a large value stops early. [`finish`](Self::finish) then puts an ellipsis at the end.
///
/// Widths are those of a terminal with the feature `summary`; without it, every character counts as one column.
#[derive(Debug)]
pub struct Cells<'t> {
    text: &'t mut String,
    /// The length of `text` before this.
    start: usize,
    limit: usize,
    width: usize,
    /// The width of the last character.
    last_width: usize,
    /// The end and the width of the longest start of the text that leaves a column for the ellipsis.
    short_end: usize,
    short_width: usize,
    cut: bool,
}

/// The number of bytes allowed for each column, since characters without a width use up no columns.
const BYTES_PER_COLUMN: usize = 32;

impl<'t> Cells<'t> {
    /// Appends to `text` at most `limit` columns, or any number for `None`.
    pub fn behind(text: &'t mut String, limit: Option<usize>) -> Self {
        let start = text.len();
        let limit = limit.unwrap_or(usize::MAX);
        Self { text, start, limit, width: 0, last_width: 0, short_end: start, short_width: 0, cut: false }
    }

    /// Removes what was written, and sets another limit.
    #[must_use]
    pub fn restart(self, limit: usize) -> Self {
        self.text.truncate(self.start);
        Self::behind(self.text, Some(limit))
    }

    /// Returns the columns of the finished text, or 0 without a limit.
    #[must_use]
    pub fn width(&self) -> usize {
        if self.cut { (self.short_width + 1).min(self.limit) } else { self.width }
    }

    /// Returns whether some text did not fit.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Puts an ellipsis at the end if the text was cut.
    pub fn finish(self) {
        if self.cut {
            self.text.truncate(self.short_end);
            if self.limit > 0 {
                self.text.push('…');
            }
        }
    }

    fn push(&mut self, character: char) -> fmt::Result {
        let added = width_after(character, self.last_width);
        let width = self.width.saturating_add(added);
        if width > self.limit || (self.text.len() - self.start) / BYTES_PER_COLUMN > self.limit {
            self.cut = true;
            return Err(fmt::Error);
        }
        (self.width, self.last_width) = (width, added);
        self.text.push(character);
        if self.width < self.limit {
            self.short_end = self.text.len();
            self.short_width = self.width;
        }
        Ok(())
    }
}

/// Returns the columns that a character adds. A variation selector can turn a character into a wide emoji, so it counts
/// as the second column.
#[cfg(feature = "summary")]
fn width_after(character: char, last_width: usize) -> usize {
    match character {
        '\u{fe00}'..='\u{fe0f}' if last_width == 1 => 1,
        _ => character.width().unwrap_or(0),
    }
}

#[cfg(not(feature = "summary"))]
fn width_after(_: char, _: usize) -> usize {
    1
}

impl Write for Cells<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Err(fmt::Error);
        }
        if self.limit == usize::MAX {
            return escaped(text).write_to(self.text);
        }
        let mut bytes = [0; 4];
        for character in text.chars() {
            if is_unsafe_to_show(character) {
                let shown = escaped(character.encode_utf8(&mut bytes)).to_string();
                shown.chars().try_for_each(|character| self.push(character))?;
            } else {
                self.push(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "summary")]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    fn cells(limit: usize, text: &str) -> String {
        let mut shown = "before".to_owned();
        let mut cells = Cells::behind(&mut shown, Some(limit));
        assert_eq!(cells.write_str(text).is_err(), cells.is_cut());
        let width = cells.width();
        cells.finish();
        let shown = shown.split_off("before".len());
        assert!(shown.width() <= width && width <= limit, "{shown:?} in {width} of {limit}");
        shown
    }

    #[test]
    fn what_fits_stays_and_what_does_not_is_cut() {
        assert_eq!(cells(5, "12345"), "12345");
        assert_eq!(cells(5, "123456"), "1234…");
        assert_eq!(cells(5, "日本語"), "日本…");
        assert_eq!(cells(4, "日本語"), "日…");
        assert_eq!(cells(5, "a\nbcd"), "a\\nb…");
        assert_eq!(cells(0, "a"), "");
        assert_eq!(cells(1, "ab"), "…");
    }

    #[test]
    fn no_text_is_wider_than_its_limit_or_without_end() {
        let texts = [
            "e\u{301}".repeat(10_000),
            "👩\u{200d}🚀".repeat(10_000),
            "\u{301}".repeat(1_000_000),
            "❤\u{fe0f}".repeat(1_000),
            "1\u{fe0f}\u{20e3}".repeat(1_000),
            "\u{3164}\u{115f}".repeat(1_000),
            "\u{1b}日\t".repeat(100),
        ];
        for text in texts {
            for limit in 0..20 {
                let shown = cells(limit, &text);
                assert!(shown.len() < 2_000, "{limit}: {shown:?}");
            }
        }
    }

    #[test]
    fn without_a_limit_all_of_it_stays() {
        let mut shown = String::new();
        let mut all = Cells::behind(&mut shown, None);
        writeln!(all, "{}", "日\u{1b}".repeat(1_000)).unwrap();
        all.finish();
        assert_eq!(shown, "日\\u{1b}".repeat(1_000) + "\\n");
    }
}
