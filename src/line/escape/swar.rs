//! Blocks of 8 bytes in an integer ("SIMD within a register"), for targets without a SIMD backend.
#![allow(unsafe_code)]

pub(super) struct Block;

/// 1 in each byte.
const ONES: u64 = u64::MAX / 255;
/// All bits of each byte but the highest.
const LOW: u64 = ONES * 0x7f;

/// Sets the high bit of each byte that is zero in `word`, and no other bit.
const fn zero_bytes(word: u64) -> u64 {
    !(((word & LOW) + LOW) | word | LOW)
}

/// A high bit of the result is set if and only if some byte of `word` needs an escape.
///
/// Not every such bit marks such a byte: subtracting from a byte that is too small sets its high bit, but also borrows
/// from the byte above.
const fn suspects(word: u64) -> u64 {
    // Flipping this bit keeps the bytes below 0x20 in that range and maps the quote to 0x20; all others become greater.
    let control_or_quote = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control_or_quote | backslash) & !word
}

impl super::blocks::Block for Block {
    const LEN: usize = 8;

    type Bytes = u64;

    /// The [`suspects`] of all blocks, combined.
    type Seen = u64;

    const NOTHING_SEEN: u64 = 0;

    #[inline(always)]
    unsafe fn copy(from: *const u8, to: *mut u8) -> u64 {
        // SAFETY: the caller provides 8 bytes to read.
        let bytes = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: the caller provides 8 bytes to write.
        unsafe { to.cast::<u64>().write_unaligned(bytes) };
        bytes
    }

    #[inline(always)]
    fn special(bytes: u64) -> u64 {
        let word = u64::from_le(bytes);
        let control = zero_bytes(word & (ONES * 0xe0));
        let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_bytes(word ^ (ONES * u64::from(b'\\')));
        // Gathers the high bits of the bytes in the top eight bits, in order.
        ((control | quote | backslash) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    #[inline(always)]
    fn see(seen: u64, bytes: u64) -> u64 {
        seen | suspects(bytes)
    }

    #[inline(always)]
    fn any_special(seen: u64) -> bool {
        seen & !LOW != 0
    }

    #[inline(always)]
    fn any_special_in([a, b, c, d]: [u32; 4]) -> bool {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Self::any_special(suspects(pair(a, b)) | suspects(pair(c, d)))
    }
}
