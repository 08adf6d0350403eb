//! Names and messages of a trace as they may be shown on a terminal.

use std::fmt::{self, Write};

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

impl Escaped<'_> {
    /// Writes it, as its `Display` does, without the cost of formatting.
    ///
    /// # Errors
    ///
    /// Those of `out`.
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

/// How many of the first bytes are printable ASCII, of which most text is.
fn plain_ascii(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    // Looked at all together, which a compiler makes one comparison of.
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
        for text in ["", "plain \"text\" \\n", "日本", "e\u{301}", "👩\u{200d}🚀", "\u{a0}\u{e000}"] {
            assert_eq!(escaped(text).to_string(), text);
        }
    }
}
