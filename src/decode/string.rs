//! JSON strings: found, checked, unescaped.

/// What stands between the quotes of a string, checked but not yet unescaped.
pub(super) struct Literal<'a> {
    pub(super) raw: &'a str,
    pub(super) has_escapes: bool,
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
        let mut at = start;
        let mut has_escapes = false;
        loop {
            at += plain_run(&bytes[at.min(bytes.len())..]);
            match bytes.get(at) {
                None => return Err(Fault::Ended),
                Some(b'"') => return Ok(Self { raw: &text[start..at], has_escapes }),
                Some(b'\\') => {
                    has_escapes = true;
                    at += escape_len(bytes, at)?;
                }
                Some(_) => return Err(Fault::ControlCharacter(at)),
            }
        }
    }
}

/// How many bytes come before the next quote, backslash or control character. Eight are looked at together.
fn plain_run(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let ends = run_ends(u64::from_le_bytes(*word));
        if ends != 0 {
            return 8 * index + ends.trailing_zeros() as usize / 8;
        }
    }
    let looked_at = 8 * words.len();
    let rest = &bytes[looked_at..];
    looked_at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

/// A bit in each byte that is a quote, a backslash or a control character. Only the lowest is sure: a borrow can set more
/// above it.
const fn run_ends(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let below_space = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let zero = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    (below_space | zero) & (ONES << 7)
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

/// Writes what `raw` (a checked literal with escapes) means to `out`, which is as long as `raw`, and gives it back as text.
pub(super) fn unescape<'a>(raw: &str, out: &'a mut [u8]) -> &'a str {
    let mut written = 0;
    let mut put = |bytes: &[u8]| {
        // Whatever an escape stands for is no longer than the escape.
        out[written..written + bytes.len()].copy_from_slice(bytes);
        written += bytes.len();
    };
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest.as_bytes()) {
        put(&rest.as_bytes()[..backslash]);
        let (meaning, len) = meaning(&rest.as_bytes()[backslash..]);
        put(meaning.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[backslash + len..];
    }
    put(rest.as_bytes());
    std::str::from_utf8(&out[..written]).unwrap_or_default()
}

/// The character that the checked escape at the start of `bytes` stands for, and the escape's length.
fn meaning(bytes: &[u8]) -> (char, usize) {
    let unit = |at| u32::from(unit(bytes, at).unwrap_or_default());
    match bytes[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => {
            let (scalar, len) = match unit(0) {
                high @ 0xd800..0xdc00 => (0x1_0000 + ((high - 0xd800) << 10) + (unit(6) - 0xdc00), 12),
                scalar => (scalar, 6),
            };
            (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), len)
        }
        itself => (char::from(itself), 2),
    }
}

#[cfg(test)]
mod tests {
    use super::plain_run;

    #[test]
    fn a_run_ends_where_a_byte_by_byte_look_says() {
        let naive =
            |bytes: &[u8]| bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(bytes.len());
        let before = [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff];
        for len in 0..20 {
            for filler in before {
                for position in 0..=len {
                    for byte in 0..=u8::MAX {
                        let mut bytes = vec![filler; len];
                        bytes.iter_mut().skip(position).step_by(2).for_each(|at| *at = byte);
                        assert_eq!(plain_run(&bytes), naive(&bytes), "{bytes:?}");
                    }
                }
            }
        }
    }
}
