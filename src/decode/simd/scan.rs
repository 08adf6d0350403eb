//! Finds the end of a string's plain text, and checks that it is UTF-8.
#![allow(unsafe_code)]

use super::block::{Native, WIDE, Wide as _, string_ends_and_high};
use crate::cost::count_examined;

/// The bytes before the next quote, backslash or control character, and the rest.
#[derive(Debug, Clone, Copy)]
pub(in crate::decode) struct Plain<'a> {
    bytes: &'a [u8],
    is_ascii: bool,
    pub(in crate::decode) rest: &'a [u8],
}

impl<'a> Plain<'a> {
    /// Scans the start of `bytes`. Fastest for names, which are short.
    #[inline(always)]
    pub(in crate::decode) fn name(bytes: &'a [u8]) -> Self {
        if let Some(block) = bytes.first_chunk::<16>() {
            let (ends, high) = string_ends_and_high(block);
            if ends != 0 {
                return Run::ending(0, true, ends.into(), high.into()).of(bytes);
            }
        }
        Run::long(bytes).of(bytes)
    }

    /// Scans the start of `bytes`. Fastest for texts, whose length varies.
    #[inline(always)]
    pub(in crate::decode) fn text(bytes: &'a [u8]) -> Self {
        // Shorter strings need no length-dependent branch.
        if let Some(block) = bytes.first_chunk::<WIDE>() {
            let wide = Native::new(block);
            let ends = wide.string_ends();
            if ends != 0 {
                return Run::ending(0, true, ends, wide.high()).of(bytes);
            }
        }
        Run::long(bytes).of(bytes)
    }

    #[inline(always)]
    pub(in crate::decode) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes as text, if they are UTF-8.
    #[inline(always)]
    pub(in crate::decode) fn to_str(self) -> Option<&'a str> {
        if self.is_ascii {
            // SAFETY: ASCII is UTF-8.
            Some(unsafe { str::from_utf8_unchecked(self.bytes) })
        } else {
            text(self.bytes)
        }
    }
}

/// Returns the text that `bytes` are, if they are UTF-8.
#[inline]
pub(in crate::decode) fn text(bytes: &[u8]) -> Option<&str> {
    count_examined(bytes.len());
    if bytes.len() >= WIDE {
        return simdutf8::basic::from_utf8(bytes).ok();
    }
    // simdutf8 leaves a shorter text to the standard library, which examines it byte by byte.
    let mut block = [0; WIDE];
    block[..bytes.len()].copy_from_slice(bytes);
    simdutf8::basic::from_utf8(&block).ok()?;
    // SAFETY: the bytes are UTF-8, because they and the zeros after them are. A zero does not continue a character.
    Some(unsafe { str::from_utf8_unchecked(bytes) })
}

/// Returns the part of `text` from `start` to the next quote, if it is plain.
#[inline]
pub(in crate::decode) fn up_to_quote(text: &str, start: usize) -> Option<&str> {
    if !text.is_char_boundary(start) {
        return None;
    }
    let plain = Plain::name(&text.as_bytes()[start..]);
    // SAFETY: this part of a text starts at a character and ends before an ASCII character.
    (plain.rest.first() == Some(&b'"')).then(|| unsafe { str::from_utf8_unchecked(plain.bytes) })
}

/// The extent of plain bytes.
struct Run {
    len: usize,
    is_ascii: bool,
}

impl Run {
    #[inline(always)]
    fn of(self, bytes: &[u8]) -> Plain<'_> {
        count_examined(self.len);
        let (plain, rest) = bytes.split_at(self.len);
        Plain { bytes: plain, is_ascii: self.is_ascii, rest }
    }

    /// A run of `before` bytes and those up to the first one that has a bit in `ends`.
    #[inline(always)]
    const fn ending(before: usize, is_ascii: bool, ends: u64, high: u64) -> Self {
        let more = ends.trailing_zeros();
        Self { len: before + more as usize, is_ascii: is_ascii && high & !(u64::MAX << more) == 0 }
    }

    #[inline(never)]
    fn long(bytes: &[u8]) -> Self {
        let (mut len, mut is_ascii) = (0, true);
        let mut rest = bytes;
        while let Some((block, behind)) = rest.split_first_chunk::<WIDE>() {
            let wide = Native::new(block);
            let (ends, high) = (wide.string_ends(), wide.high());
            if ends != 0 {
                return Self::ending(len, is_ascii, ends, high);
            }
            (len, is_ascii, rest) = (len + WIDE, is_ascii && high == 0, behind);
        }
        while let Some((block, behind)) = rest.split_first_chunk::<16>() {
            let (ends, high) = string_ends_and_high(block);
            if ends != 0 {
                return Self::ending(len, is_ascii, ends.into(), high.into());
            }
            (len, is_ascii, rest) = (len + 16, is_ascii && high == 0, behind);
        }
        for byte in rest {
            match byte {
                b'"' | b'\\' | 0..0x20 => break,
                _ => (len, is_ascii) = (len + 1, is_ascii && byte.is_ascii()),
            }
        }
        Self { len, is_ascii }
    }
}

#[cfg(test)]
mod tests {
    use super::{Plain, text};

    /// Every border between kinds of bytes, at the start and across the end of a block.
    #[test]
    fn text_is_checked_as_the_standard_library_checks_it() {
        const BORDERS: [u8; 24] = [
            0, b'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
            0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
        ];
        for before in [0, 59, 61, 62, 63] {
            for index in (0..BORDERS.len().pow(3)).step_by(if cfg!(miri) { 501 } else { 1 }) {
                let mut bytes = vec![b'a'; before];
                bytes.extend((0..3).map(|place| BORDERS[index / BORDERS.len().pow(place) % BORDERS.len()]));
                for end in [before + 1, before + 2, before + 3] {
                    assert_eq!(text(&bytes[..end]), std::str::from_utf8(&bytes[..end]).ok(), "{bytes:x?}");
                }
                bytes.push(0x80);
                assert_eq!(text(&bytes), std::str::from_utf8(&bytes).ok(), "{bytes:x?}");
            }
        }
    }

    #[test]
    fn plain_text_ends_where_a_byte_by_byte_look_says() {
        let lens: Vec<usize> = if cfg!(miri) { vec![0, 3, 21, 90] } else { (0..100).chain([128, 150]).collect() };
        for len in lens {
            for filler in [b'a', 0x80, b' ', b'!', 0x7f, 0xff].into_iter().take(if cfg!(miri) { 2 } else { 6 }) {
                for position in (0..=len).step_by(if cfg!(miri) { 11 } else { 1 }) {
                    for byte in [0, 0x1f, b'"', b'\\', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                        let mut bytes = vec![filler; len];
                        bytes.iter_mut().skip(position).step_by(7).for_each(|at| *at = byte);
                        let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                        let (plain, rest) = bytes.split_at(bytes.iter().position(is_end).unwrap_or(len));
                        for found in [Plain::name(&bytes), Plain::text(&bytes)] {
                            assert_eq!((found.bytes, found.rest), (plain, rest));
                            assert_eq!(found.is_ascii, plain.is_ascii(), "{bytes:?}");
                            assert_eq!(found.to_str(), str::from_utf8(plain).ok());
                        }
                    }
                }
            }
        }
    }
}
