//! Text that is safe to show and takes no more than so many columns.

use std::fmt::{self, Write};

use cove_trace::summary::{escaped, is_unsafe_to_show};
use unicode_width::UnicodeWidthChar;

/// Text for one row, which goes behind another. Whatever is written to it is escaped where it could act on a terminal
/// or begin another row, and once its columns are used up it refuses more, so that writing a large value stops early.
pub(crate) struct Cells<'t> {
    text: &'t mut String,
    /// Where it begins in the text.
    start: usize,
    limit: usize,
    width: usize,
    /// Where the text ends, and how wide it is there, that leaves a column for the ellipsis.
    short_end: usize,
    short_width: usize,
    cut: bool,
}

/// Characters without a width take none of the columns, so the bytes are limited too: to this many for each column.
const BYTES_A_COLUMN: usize = 32;

impl<'t> Cells<'t> {
    /// Text of that many columns at most, behind `text`; none for no limit.
    pub(crate) fn behind(text: &'t mut String, limit: Option<usize>) -> Self {
        let start = text.len();
        let limit = limit.unwrap_or(usize::MAX);
        Self { text, start, limit, width: 0, short_end: start, short_width: 0, cut: false }
    }

    /// Begins anew, with another limit.
    pub(crate) fn restart(self, limit: usize) -> Self {
        self.text.truncate(self.start);
        Self::behind(self.text, Some(limit))
    }

    /// The columns that the finished text takes. Not counted when there is no limit.
    pub(crate) fn width(&self) -> usize {
        if self.cut { (self.short_width + 1).min(self.limit) } else { self.width }
    }

    /// Whether more was written than there was room for.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Puts an ellipsis at the end of the text if it was cut.
    pub(crate) fn finish(self) {
        if self.cut {
            self.text.truncate(self.short_end);
            if self.limit > 0 {
                self.text.push('…');
            }
        }
    }

    fn push(&mut self, character: char) -> fmt::Result {
        let width = self.width.saturating_add(character.width().unwrap_or(0));
        if width > self.limit || (self.text.len() - self.start) / BYTES_A_COLUMN > self.limit {
            self.cut = true;
            return Err(fmt::Error);
        }
        self.width = width;
        self.text.push(character);
        if self.width < self.limit {
            self.short_end = self.text.len();
            self.short_width = self.width;
        }
        Ok(())
    }
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
