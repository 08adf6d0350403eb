//! Blocks of 16 bytes with SSE2.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_xor_si128,
};

pub(super) struct Block;

/// Flips a bit so that the bytes below 0x20 stay in that range, the quote becomes 0x20, and all others become greater.
#[target_feature(enable = "sse2")]
#[inline]
fn flipped(bytes: __m128i) -> __m128i {
    _mm_xor_si128(bytes, _mm_set1_epi8(0x02))
}

/// Sets all bits of each byte that is at most 0x20, which is where the minimum of the two equals the byte.
#[target_feature(enable = "sse2")]
#[inline]
fn at_most_0x20(bytes: __m128i) -> __m128i {
    _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x20)), bytes)
}

/// Sets all bits of each byte that is a backslash.
#[target_feature(enable = "sse2")]
#[inline]
fn backslash(bytes: __m128i) -> __m128i {
    _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()))
}

/// Returns a bit for each byte that needs an escape.
#[target_feature(enable = "sse2")]
#[inline]
fn special(bytes: __m128i) -> u32 {
    _mm_movemask_epi8(_mm_or_si128(at_most_0x20(flipped(bytes)), backslash(bytes))).cast_unsigned()
}

/// A summary of blocks: for each lane, the smallest flipped byte, and whether there was a backslash.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    smallest: __m128i,
    backslashes: __m128i,
}

#[target_feature(enable = "sse2")]
#[inline]
fn see(seen: Seen, bytes: __m128i) -> Seen {
    Seen {
        smallest: _mm_min_epu8(seen.smallest, flipped(bytes)),
        backslashes: _mm_or_si128(seen.backslashes, backslash(bytes)),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn any_special(seen: Seen) -> bool {
    _mm_movemask_epi8(_mm_or_si128(at_most_0x20(seen.smallest), seen.backslashes)) != 0
}

impl super::blocks::Block for Block {
    const LEN: usize = 16;

    type Bytes = __m128i;

    type Seen = Seen;

    // SAFETY: all bit patterns are valid vectors.
    const NOTHING_SEEN: Seen = unsafe { std::mem::transmute([[0xff_u8; 16], [0; 16]]) };

    #[inline(always)]
    unsafe fn copy(from: *const u8, to: *mut u8) -> __m128i {
        // SAFETY: the caller provides 16 bytes to read.
        let bytes = unsafe { from.cast::<__m128i>().read_unaligned() };
        // SAFETY: the caller provides 16 bytes to write.
        unsafe { to.cast::<__m128i>().write_unaligned(bytes) };
        bytes
    }

    #[inline(always)]
    fn special(bytes: __m128i) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        unsafe { special(bytes) }.into()
    }

    #[inline(always)]
    fn see(seen: Seen, bytes: __m128i) -> Seen {
        // SAFETY: every x86-64 has SSE2.
        unsafe { see(seen, bytes) }
    }

    #[inline(always)]
    fn any_special(seen: Seen) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { any_special(seen) }
    }

    #[inline(always)]
    fn any_special_in(words: [u32; 4]) -> bool {
        // SAFETY: all bit patterns are valid vectors.
        let bytes = unsafe { std::mem::transmute::<[u32; 4], __m128i>(words) };
        // SAFETY: every x86-64 has SSE2.
        unsafe { special(bytes) != 0 }
    }
}
