//! JSON escaping: `"` and `\` and the bytes below 0x20, everything else as it is.
//!
//! The text is copied while it is looked at: a block of bytes is stored whole, then the first byte in it that needs an
//! escape, if any, decides from where to go on. A block is sixteen bytes with SSE2 (which every x86-64 has), eight in a
//! plain integer elsewhere. Both are tested against the naive form on every machine that has them.
#![allow(unsafe_code)]

/// Bytes that a store may touch past the last byte that counts.
const SLACK: usize = 16;

/// How many bytes [`escape_into`] may touch for a text of `len` bytes.
#[inline]
pub(super) const fn bound(len: usize) -> usize {
    6 * len + SLACK
}

/// For each byte, what is written for it, padded to eight bytes, the last of which is the length. Zero: the byte itself.
static ESCAPES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let hex = b"0123456789abcdef";
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = [b'\\', b'u', b'0', b'0', hex[byte >> 4], hex[byte & 15], 0, 6];
        byte += 1;
    }
    table[b'"' as usize] = [b'\\', b'"', 0, 0, 0, 0, 0, 2];
    table[b'\\' as usize] = [b'\\', b'\\', 0, 0, 0, 0, 0, 2];
    table[b'\n' as usize] = [b'\\', b'n', 0, 0, 0, 0, 0, 2];
    table[b'\r' as usize] = [b'\\', b'r', 0, 0, 0, 0, 0, 2];
    table[b'\t' as usize] = [b'\\', b't', 0, 0, 0, 0, 0, 2];
    table
};

/// Escapes `text` to `to`, and says how many bytes that took.
///
/// # Safety
///
/// `to` must be valid for writes of [`bound`]`(text.len())` bytes, and not overlap `text`.
#[inline]
pub(super) unsafe fn escape_into(text: &[u8], to: *mut u8) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise; every x86-64 has SSE2.
    unsafe {
        escape_blocks::<sse2::Block>(text, to)
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        escape_blocks::<swar::Block>(text, to)
    }
}

/// A block of bytes that is copied and looked at in one go.
trait Block {
    const LEN: usize;

    /// Copies `LEN` bytes from `from` to `to`, and gives the index of the first that needs an escape; `LEN` or more if
    /// none does.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `LEN` bytes.
    unsafe fn copy(from: *const u8, to: *mut u8) -> usize;
}

/// # Safety
///
/// As for [`escape_into`].
#[inline]
unsafe fn escape_blocks<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let mut read = 0;
    let mut written = 0;
    while text.len() - read >= B::LEN {
        // SAFETY: at least `B::LEN` bytes of `text` are left. So far each byte read made at most six, so
        // `written <= 6 * read`, and `6 * read + B::LEN <= bound(text.len())`.
        let clean = unsafe { B::copy(text.as_ptr().add(read), to.add(written)) };
        if clean >= B::LEN {
            read += B::LEN;
            written += B::LEN;
        } else {
            // SAFETY: the same bound, with `clean` bytes more on either side and an escape of at most eight bytes stored.
            written += clean + unsafe { escape_byte(text[read + clean], to.add(written + clean)) };
            read += clean + 1;
        }
    }
    for &byte in &text[read..] {
        // SAFETY: `written <= 6 * read` here too, and eight bytes more are within the slack.
        written += unsafe { escape_byte(byte, to.add(written)) };
    }
    written
}

/// Writes what stands for one byte, and says how many bytes that is.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline]
unsafe fn escape_byte(byte: u8, to: *mut u8) -> usize {
    let escape = &ESCAPES[usize::from(byte)];
    let len = usize::from(escape[7]);
    if len == 0 {
        // SAFETY: the caller's promise.
        unsafe { to.write(byte) };
        1
    } else {
        // SAFETY: the caller's promise; the array has eight bytes.
        unsafe { to.cast::<[u8; 8]>().write_unaligned(*escape) };
        len
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
        _mm_storeu_si128,
    };

    pub(super) struct Block;

    /// A bit for each byte that needs an escape.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn needing_escape(block: __m128i) -> i32 {
        // A byte is below 0x20 when the smaller of it and 0x1f is itself.
        let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"'.cast_signed()));
        let backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\'.cast_signed()));
        _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)))
    }

    impl super::Block for Block {
        const LEN: usize = 16;

        #[inline]
        unsafe fn copy(from: *const u8, to: *mut u8) -> usize {
            // SAFETY: `from` is readable for 16 bytes, as the trait's contract says; the load asks for no alignment.
            let block = unsafe { _mm_loadu_si128(from.cast::<__m128i>()) };
            // SAFETY: `to` is writable for 16 bytes, likewise.
            unsafe { _mm_storeu_si128(to.cast::<__m128i>(), block) };
            // SAFETY: every x86-64 has SSE2.
            let special = unsafe { needing_escape(block) };
            special.trailing_zeros() as usize
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod swar {
    pub(super) struct Block;

    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;

    /// The high bit of each byte of `word` that is zero. Bits above the lowest one set can be wrong, which does no harm:
    /// only the lowest is asked for.
    const fn zero_bytes(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGH
    }

    impl super::Block for Block {
        const LEN: usize = 8;

        #[inline]
        unsafe fn copy(from: *const u8, to: *mut u8) -> usize {
            // SAFETY: `from` is readable for 8 bytes, as the trait's contract says.
            let block = unsafe { from.cast::<[u8; 8]>().read_unaligned() };
            // SAFETY: `to` is writable for 8 bytes, likewise.
            unsafe { to.cast::<[u8; 8]>().write_unaligned(block) };
            let word = u64::from_le_bytes(block);
            let control = zero_bytes(word & (ONES * 0xe0));
            let quote = zero_bytes(word ^ (ONES * b'"' as u64));
            let backslash = zero_bytes(word ^ (ONES * b'\\' as u64));
            (control | quote | backslash).trailing_zeros() as usize / 8
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, bound, escape_blocks, swar};

    fn naive(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for &byte in text {
            match byte {
                b'"' => out.extend(b"\\\""),
                b'\\' => out.extend(b"\\\\"),
                b'\n' => out.extend(b"\\n"),
                b'\r' => out.extend(b"\\r"),
                b'\t' => out.extend(b"\\t"),
                0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
                _ => out.push(byte),
            }
        }
        out
    }

    fn escape<B: Block>(text: &[u8]) -> Vec<u8> {
        let mut out = vec![0xaa; bound(text.len())];
        // SAFETY: `out` has as many bytes as the bound says.
        let written = unsafe { escape_blocks::<B>(text, out.as_mut_ptr()) };
        out.truncate(written);
        out
    }

    fn assert_as_naive(text: &[u8]) {
        let expected = naive(text);
        assert_eq!(escape::<swar::Block>(text), expected, "swar on {text:?}");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(escape::<super::sse2::Block>(text), expected, "sse2 on {text:?}");
    }

    #[test]
    fn every_byte_at_every_position_of_every_short_length() {
        for len in 0..if cfg!(miri) { 20 } else { 70 } {
            let clean = vec![b'a'; len];
            assert_as_naive(&clean);
            for position in 0..len {
                for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 31 } else { 1 }) {
                    let mut text = clean.clone();
                    text[position] = byte;
                    assert_as_naive(&text);
                }
            }
        }
    }

    #[test]
    fn nothing_but_specials() {
        for byte in [0, 0x1f, b'"', b'\\', b'\n', 0x7f, 0x80, 0xff] {
            for len in 0..if cfg!(miri) { 20 } else { 200 } {
                assert_as_naive(&vec![byte; len]);
            }
        }
    }
}
