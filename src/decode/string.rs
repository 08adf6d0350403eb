//! JSON strings: found and checked.

use super::scan::Plain;

/// What stands between the quotes of a string, checked but not yet unescaped.
pub(super) struct Literal<'a> {
    pub(super) raw: &'a str,
    /// How many bytes come before the first escape.
    pub(super) clean: usize,
}

/// What is wrong with a string, and at which byte of the text.
pub(super) enum Fault {
    Ended,
    ControlCharacter(usize),
    BadEscape(usize),
    LoneSurrogate(usize),
}

impl<'a> Literal<'a> {
    /// Reads the string whose first byte after the opening quote is at `start`.
    pub(super) fn read(text: &'a str, start: usize) -> Result<Self, Fault> {
        let bytes = text.as_bytes();
        let clean = Plain::text(&bytes[start..]).len();
        let mut at = start + clean;
        loop {
            match bytes.get(at) {
                None => return Err(Fault::Ended),
                Some(b'"') => return Ok(Self { raw: &text[start..at], clean }),
                Some(b'\\') => at += escape_len(bytes, at)?,
                Some(_) => return Err(Fault::ControlCharacter(at)),
            }
            at += Plain::text(&bytes[at..]).len();
        }
    }
}

/// The length of the escape whose backslash is at `at`, a surrogate pair being one escape.
fn escape_len(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        None => Err(Fault::Ended),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => match unit(bytes, at)? {
            0xd800..0xdc00 => low_half(bytes, at).map(|()| 12),
            0xdc00..0xe000 => Err(Fault::LoneSurrogate(at)),
            _ => Ok(6),
        },
        Some(_) => Err(Fault::BadEscape(at)),
    }
}

/// The number in the `\uXXXX` whose backslash is at `at`.
fn unit(bytes: &[u8], at: usize) -> Result<u16, Fault> {
    let mut unit = 0;
    for index in at + 2..at + 6 {
        let Some(&byte) = bytes.get(index) else {
            return Err(Fault::Ended);
        };
        let digit = char::from(byte).to_digit(16).ok_or(Fault::BadEscape(at))?;
        unit = unit << 4 | digit as u16;
    }
    Ok(unit)
}

/// Checks that the low half of a surrogate pair follows the high half at `at`. An end inside of it is only an end when
/// what is there could have become one.
fn low_half(bytes: &[u8], at: usize) -> Result<(), Fault> {
    let low = at + 6;
    let fits = |index: usize, byte: u8| match index - low {
        0 => byte == b'\\',
        1 => byte == b'u',
        2 => matches!(byte, b'd' | b'D'),
        3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    };
    for index in low..low + 6 {
        match bytes.get(index) {
            None => return Err(Fault::Ended),
            Some(&byte) if !fits(index, byte) => return Err(Fault::LoneSurrogate(at)),
            Some(_) => {}
        }
    }
    Ok(())
}
