//! JSON that may be shown on a terminal.

use std::io::{self, Write};

use cove_trace::display::is_unsafe_to_show;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes `value` as one object on one line. What could act on a terminal is escaped in its strings, which changes
/// nothing for whoever parses them.
pub(crate) fn write_line(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *output, Harmless))?;
    output.write_all(b"\n")
}

struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, output: &mut W, fragment: &str) -> io::Result<()> {
        let mut plain_from = 0;
        for (at, character) in fragment.char_indices().filter(|(_, character)| is_unsafe_to_show(*character)) {
            output.write_all(&fragment.as_bytes()[plain_from..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(output, "\\u{unit:04x}")?;
            }
            plain_from = at + character.len_utf8();
        }
        output.write_all(&fragment.as_bytes()[plain_from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_the_same_and_are_harmless() {
        let text = "a\u{1b}[31m\n\u{9b}\u{7f}\u{202e}\u{e0041}\"日本\u{feff}";
        let mut line = Vec::new();
        write_line(&mut line, &[text]).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(!line.trim_end_matches('\n').chars().any(is_unsafe_to_show), "{line:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [text]);
    }
}
