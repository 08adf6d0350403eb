//! Names and messages of a trace as they may be shown on a terminal.

use std::fmt;

/// The text with whatever could act on a terminal or forge a row shown as an escape, as in `\n` or `\u{1b}`.
///
/// For showing text to people; it can't be turned back, since a backslash stays as it is.
#[must_use]
pub fn escaped(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// Text that is safe to show. Made by [`escaped`].
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'t>(&'t str);

/// Whether the character does something other than to stand there: controls (C0, DEL, C1), line and paragraph separators,
/// whatever turns the writing direction, and what is invisible. A zero-width joiner is needed to write with, and stays.
#[must_use]
pub fn is_unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' // soft hyphen
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
            | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' // invisible
            | '\u{2028}' | '\u{2029}' // line and paragraph separator
            | '\u{fff9}'..='\u{fffb}' // annotations
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain_from = 0;
        for (at, character) in self.0.char_indices().filter(|(_, character)| is_unsafe_to_show(*character)) {
            f.write_str(&self.0[plain_from..at])?;
            match character {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                other => write!(f, "{}", other.escape_unicode())?,
            }
            plain_from = at + character.len_utf8();
        }
        f.write_str(&self.0[plain_from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped() {
        assert_eq!(escaped("a\nb\r\tc").to_string(), "a\\nb\\r\\tc");
        assert_eq!(escaped("\u{1b}[31m\u{7}").to_string(), "\\u{1b}[31m\\u{7}");
        assert_eq!(escaped("\u{9b}\u{7f}\u{0}").to_string(), "\\u{9b}\\u{7f}\\u{0}");
        assert_eq!(escaped("\u{202e}\u{2066}\u{2028}").to_string(), "\\u{202e}\\u{2066}\\u{2028}");
    }

    #[test]
    fn what_only_stands_there_stays() {
        for text in ["", "plain \"text\" \\n", "日本", "e\u{301}", "👩\u{200d}🚀", "\u{a0}\u{e000}"] {
            assert_eq!(escaped(text).to_string(), text);
        }
    }
}
