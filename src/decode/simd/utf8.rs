//! Whether bytes are UTF-8, sixty-four at a time.
//!
//! The standard library looks at text that is not ASCII byte by byte. Here it is a bit for each byte of a kind: what
//! kind of byte leads a sequence says where continuation bytes have to stand, and they have to stand there and nowhere
//! else.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::block::{Avx2, has_avx2};
use super::block::{Native, WIDE, Wide};
use crate::cost::count_examined;

/// The text that `bytes` are, if they are UTF-8.
#[inline]
pub(in crate::decode) fn text(bytes: &[u8]) -> Option<&str> {
    start(bytes, bytes.len())
}

/// The text that the first `len` of `bytes` are, if they are UTF-8. The others don't count; where there are some, it is
/// quicker.
#[inline]
pub(in crate::decode) fn start(bytes: &[u8], len: usize) -> Option<&str> {
    let text = &bytes[..len];
    // SAFETY: it is UTF-8.
    is_utf8(bytes, len).then(|| unsafe { str::from_utf8_unchecked(text) })
}

/// Whether the first `len` of `bytes` are UTF-8.
fn is_utf8(bytes: &[u8], len: usize) -> bool {
    count_examined(len);
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: there is AVX2.
        return unsafe { is_utf8_by_avx2(bytes, len) };
    }
    // SAFETY: this is what every machine has.
    unsafe { is_utf8_by::<Native>(bytes, len) }
}

/// # Safety
///
/// The machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn is_utf8_by_avx2(bytes: &[u8], len: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { is_utf8_by::<Avx2>(bytes, len) }
}

/// # Safety
///
/// The machine has what `W` asks for.
#[inline(always)]
unsafe fn is_utf8_by<W: Wide>(bytes: &[u8], len: usize) -> bool {
    // SAFETY: the caller's promise.
    let load = |block: &[u8; WIDE]| unsafe { W::load(block) };
    let mut due = Due::default();
    let (mut rest, mut left) = (bytes, len);
    while left >= WIDE
        && let Some((block, behind)) = rest.split_first_chunk::<WIDE>()
    {
        if !due.accepts(load(block), u64::MAX) {
            return false;
        }
        (rest, left) = (behind, left - WIDE);
    }
    // What is not there counts as ASCII, before which no sequence may be open.
    let counting = !(u64::MAX << left);
    match rest.first_chunk::<WIDE>() {
        Some(block) => due.accepts(load(block), counting),
        None => {
            let mut last = [0; WIDE];
            last[..rest.len()].copy_from_slice(rest);
            due.accepts(load(&last), counting)
        }
    }
}

/// What the bytes before demand of those that follow, a bit for each of them.
#[derive(Default)]
struct Due {
    /// Continuation bytes have to stand here.
    continuations: u64,
    /// Of which these have to be at least 0xa0, the ones behind 0xe0,
    at_least_a0: u64,
    /// these below that, behind 0xed,
    below_a0: u64,
    /// these at least 0x90, behind 0xf0,
    at_least_90: u64,
    /// these below that, behind 0xf4.
    below_90: u64,
}

impl Due {
    /// Whether the next bytes are what is due and what may follow it. Takes note of what is due after them. The bytes
    /// that `counting` has no bit for are taken for ASCII.
    #[inline(always)]
    fn accepts(&mut self, block: impl Wide, counting: u64) -> bool {
        let high = block.high() & counting;
        if high | self.continuations == 0 {
            return true;
        }
        let leads = block.at_least(0xc0) & counting;
        let continuations = high ^ leads;
        // 0xc0 and 0xc1 could only lead what is shorter as ASCII.
        let mut wrong = leads ^ (block.at_least(0xc2) & counting);
        let mut due = u128::from(self.continuations) | u128::from(leads) << 1;
        let mut narrower = Self::default();
        let longer = block.at_least(0xe0) & counting;
        if longer | self.at_least_a0 | self.below_a0 | self.at_least_90 | self.below_90 != 0 {
            let longest = block.at_least(0xf0) & counting;
            due |= u128::from(longer) << 2 | u128::from(longest) << 3;
            wrong |= block.at_least(0xf5) & counting;
            let (at_least_a0, at_least_90) = (block.at_least(0xa0), block.at_least(0x90));
            let behind = |byte| u128::from(block.equal(byte) & counting) << 1;
            for (due, before, kept, refused) in [
                (behind(0xe0), self.at_least_a0, &mut narrower.at_least_a0, !at_least_a0),
                (behind(0xed), self.below_a0, &mut narrower.below_a0, at_least_a0),
                (behind(0xf0), self.at_least_90, &mut narrower.at_least_90, !at_least_90),
                (behind(0xf4), self.below_90, &mut narrower.below_90, at_least_90),
            ] {
                wrong |= (before | due as u64) & refused;
                *kept = (due >> 64) as u64;
            }
        }
        wrong |= due as u64 ^ continuations;
        *self = Self { continuations: (due >> 64) as u64, ..narrower };
        wrong == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Native, is_utf8_by, start, text};

    fn assert_as_the_standard_library(bytes: &[u8]) {
        let expected = std::str::from_utf8(bytes).ok();
        assert_eq!(text(bytes), expected, "{bytes:x?}");
        // SAFETY: this is what every machine has.
        assert_eq!(unsafe { is_utf8_by::<Native>(bytes, bytes.len()) }, expected.is_some(), "{bytes:x?}");
        for behind in [&b"\xbf\xe2"[..], &[0x80; 100]] {
            assert_eq!(start(&[bytes, behind].concat(), bytes.len()), expected, "{bytes:x?}");
        }
    }

    /// Bytes on either side of every border between one kind of byte and another.
    const BORDERS: [u8; 24] = [
        0, b'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
        0xf0, 0xf1, 0xf4, 0xf5, 0xff,
    ];

    /// At the start, and over the end of what is looked at together; with nothing behind it, and with what a longer one
    /// would need.
    #[test]
    fn every_short_sequence() {
        for places in [0, 62, 63] {
            for index in 0..if cfg!(miri) { 100 } else { BORDERS.len().pow(3) } {
                let mut bytes = vec![b'a'; places];
                bytes.extend((0..3).map(|place| BORDERS[index / BORDERS.len().pow(place) % BORDERS.len()]));
                assert_as_the_standard_library(&bytes);
                if index < BORDERS.len().pow(2) {
                    assert_as_the_standard_library(&bytes[..places + 2]);
                }
                bytes.push(0x80);
                assert_as_the_standard_library(&bytes);
            }
        }
    }

    #[test]
    fn every_character_at_every_place() {
        let step = if cfg!(miri) { 210_011 } else { 61 };
        for character in (0..=u32::from(char::MAX)).step_by(step).filter_map(char::from_u32) {
            for place in [0, 59, 60, 61, 62, 63, 64, 130] {
                let mut text = "x".repeat(place);
                text.push(character);
                assert_as_the_standard_library(text.as_bytes());
                text.push_str("é and more of it €, 😀");
                assert_as_the_standard_library(text.as_bytes());
                let mut bytes = text.into_bytes();
                bytes.remove(place);
                assert_as_the_standard_library(&bytes);
            }
        }
    }

    #[test]
    fn texts_cut_and_spoilt_anywhere() {
        let text =
            "naïve café, “quoted” — 漢字かな交じり文, Ελληνικά, кириллица, 👩‍👩‍👧 \u{10ffff}\u{e000}\u{d7ff} ".repeat(2);
        let step = if cfg!(miri) { 61 } else { 1 };
        for at in (0..text.len()).step_by(step) {
            assert_as_the_standard_library(&text.as_bytes()[..at]);
            assert_as_the_standard_library(&text.as_bytes()[at..]);
            for byte in BORDERS {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                assert_as_the_standard_library(&bytes);
            }
        }
    }
}
