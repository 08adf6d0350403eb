//! Texts made harmless for a terminal.

use std::fmt::{self, Write};

/// Escapes the characters of a text that [are unsafe to show](is_unsafe_to_show), as in `\n` or `\u{1b}`.
///
/// The result is for people. It cannot be parsed, since backslashes stay as they are.
#[must_use]
pub fn escaped(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// A text that is safe to show. Created by [`escaped`].
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'t>(&'t str);

/// Returns whether a character acts on a terminal, forges a row, or is invisible: controls (C0, DEL, C1), line and
/// paragraph separators, and all that Unicode calls default-ignorable, which includes what turns the writing direction.
/// Joiners (U+200C, U+200D) and the variation selectors of emoji are safe, since scripts and emoji need them.
#[must_use]
pub fn is_unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{2028}' | '\u{2029}'
        )
}

impl Escaped<'_> {
    /// Writes the escaped text, as `Display` does but without the cost of formatting.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let text = self.0;
        let (mut plain_from, mut at) = (0, 0);
        loop {
            at += plain_ascii(&text.as_bytes()[at..]);
            let Some(character) = text[at..].chars().next() else { break };
            let next = at + character.len_utf8();
            if is_unsafe_to_show(character) {
                out.write_str(&text[plain_from..at])?;
                match character {
                    '\n' => out.write_str("\\n")?,
                    '\r' => out.write_str("\\r")?,
                    '\t' => out.write_str("\\t")?,
                    other => write!(out, "{}", other.escape_unicode())?,
                }
                plain_from = next;
            }
            at = next;
        }
        out.write_str(&text[plain_from..])
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

/// Returns the number of leading bytes that are printable ASCII.
fn plain_ascii(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    // Without an early exit in a block, the compiler vectorises the comparison.
    let (blocks, _) = bytes.as_chunks::<16>();
    let plain =
        16 * blocks.iter().take_while(|block| block.iter().fold(true, |all, byte| all & is_plain(byte))).count();
    plain + bytes[plain..].iter().take_while(|byte| is_plain(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped() {
        assert_eq!(escaped("a\nb\r\tc").to_string(), "a\\nb\\r\\tc");
        assert_eq!(escaped("\u{1b}[31m\u{7}").to_string(), "\\u{1b}[31m\\u{7}");
        assert_eq!(escaped("\u{9b}\u{7f}\u{0}").to_string(), "\\u{9b}\\u{7f}\\u{0}");
        assert_eq!(escaped("\u{3164}\u{115f}\u{e0100}\u{1d173}").to_string(), r"\u{3164}\u{115f}\u{e0100}\u{1d173}");
        assert_eq!(escaped("\u{202e}\u{2066}\u{2028}").to_string(), "\\u{202e}\\u{2066}\\u{2028}");
    }

    /// Character by character, the plain way.
    #[test]
    fn any_mixture_is_its_characters_escaped_one_by_one() {
        let characters = ['a', '~', ' ', '\u{7f}', '\n', '\u{1b}', 'é', '日', '🚀', '\u{9b}', '\u{202e}', '\u{feff}'];
        let mut state = 1_u64;
        for len in 0..200 {
            let text: String = (0..len % 23)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    characters[(state >> 33) as usize % characters.len()]
                })
                .collect();
            let naive = text.chars().map(|character| match character {
                '\n' => "\\n".to_owned(),
                other if is_unsafe_to_show(other) => other.escape_unicode().to_string(),
                other => other.to_string(),
            });
            assert_eq!(escaped(&text).to_string(), naive.collect::<String>());
        }
    }

    #[test]
    fn what_only_stands_there_stays() {
        for text in ["", "plain \"text\" \\n", "日本", "e\u{301}", "👩\u{200d}🚀", "❤\u{fe0f}", "\u{a0}\u{e000}"]
        {
            assert_eq!(escaped(text).to_string(), text);
        }
    }
}
