//! Eight bytes at a time in a plain integer, for machines that have nothing better.
#![allow(unsafe_code)]

pub(super) struct Block;

const ONES: u64 = u64::MAX / 255;
const LOW: u64 = ONES * 0x7f;

/// The high bit of each byte of `word` that is zero, and no other bit.
const fn zero_bytes(word: u64) -> u64 {
    !(((word & LOW) + LOW) | word | LOW)
}

/// Whether any byte of `word` needs an escape is whether the high bit of any byte of this is set. Where a byte is smaller than
/// what is subtracted, its high bit is; the borrow can only mislead about bytes above one of which that is true.
const fn suspects(word: u64) -> u64 {
    // With this bit flipped the bytes below 0x20 stay there, the quote is 0x20, and every other byte is greater.
    let control_or_quote = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control_or_quote | backslash) & !word
}

impl super::blocks::Block for Block {
    const LEN: usize = 8;

    type Bytes = u64;

    /// The [`suspects`] of all.
    type Seen = u64;

    const NOTHING_SEEN: u64 = 0;

    #[inline(always)]
    unsafe fn copy(from: *const u8, to: *mut u8) -> u64 {
        // SAFETY: `from` is readable for 8 bytes, as the trait's contract says.
        let bytes = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: `to` is writable for 8 bytes, likewise.
        unsafe { to.cast::<u64>().write_unaligned(bytes) };
        bytes
    }

    #[inline(always)]
    fn special(bytes: u64) -> u64 {
        let word = u64::from_le(bytes);
        let control = zero_bytes(word & (ONES * 0xe0));
        let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_bytes(word ^ (ONES * u64::from(b'\\')));
        // Moves the high bit of each byte to one of the top eight bits, in order.
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
