//! Blocks of 16 bytes with NEON.
#![allow(unsafe_code)]

use std::arch::aarch64::{
    uint8x16_t, vaddv_u8, vandq_u8, vceqq_u8, vcleq_u8, vdupq_n_u8, veorq_u8, vget_high_u8, vget_low_u8, vmaxvq_u8,
    vminq_u8, vorrq_u8,
};

pub(super) struct Block;

/// Flips a bit so that the bytes below 0x20 stay in that range, the quote becomes 0x20, and all others become greater.
#[target_feature(enable = "neon")]
#[inline]
fn flipped(bytes: uint8x16_t) -> uint8x16_t {
    veorq_u8(bytes, vdupq_n_u8(0x02))
}

/// Sets all bits of each byte that is at most 0x20.
#[target_feature(enable = "neon")]
#[inline]
fn at_most_0x20(bytes: uint8x16_t) -> uint8x16_t {
    vcleq_u8(bytes, vdupq_n_u8(0x20))
}

/// Sets all bits of each byte that is a backslash.
#[target_feature(enable = "neon")]
#[inline]
fn backslash(bytes: uint8x16_t) -> uint8x16_t {
    vceqq_u8(bytes, vdupq_n_u8(b'\\'))
}

/// Sets all bits of each byte that needs an escape.
#[target_feature(enable = "neon")]
#[inline]
fn marked(bytes: uint8x16_t) -> uint8x16_t {
    vorrq_u8(at_most_0x20(flipped(bytes)), backslash(bytes))
}

/// Returns a bit for each byte that needs an escape.
#[target_feature(enable = "neon")]
#[inline]
fn special(bytes: uint8x16_t) -> u64 {
    /// A distinct bit for each byte of a half.
    // SAFETY: all bit patterns are valid vectors.
    const WEIGHTS: uint8x16_t =
        unsafe { std::mem::transmute([1_u8, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]) };
    let weighed = vandq_u8(marked(bytes), WEIGHTS);
    u64::from(vaddv_u8(vget_low_u8(weighed))) | u64::from(vaddv_u8(vget_high_u8(weighed))) << 8
}

/// A summary of blocks: for each lane, the smallest flipped byte, and whether there was a backslash.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    smallest: uint8x16_t,
    backslashes: uint8x16_t,
}

#[target_feature(enable = "neon")]
#[inline]
fn see(seen: Seen, bytes: uint8x16_t) -> Seen {
    Seen {
        smallest: vminq_u8(seen.smallest, flipped(bytes)),
        backslashes: vorrq_u8(seen.backslashes, backslash(bytes)),
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn any_special(seen: Seen) -> bool {
    vmaxvq_u8(vorrq_u8(at_most_0x20(seen.smallest), seen.backslashes)) != 0
}

impl super::blocks::Block for Block {
    const LEN: usize = 16;

    type Bytes = uint8x16_t;

    type Seen = Seen;

    // SAFETY: all bit patterns are valid vectors.
    const NOTHING_SEEN: Seen = unsafe { std::mem::transmute([[0xff_u8; 16], [0; 16]]) };

    #[inline(always)]
    unsafe fn copy(from: *const u8, to: *mut u8) -> uint8x16_t {
        // SAFETY: the caller provides 16 bytes to read.
        let bytes = unsafe { from.cast::<uint8x16_t>().read_unaligned() };
        // SAFETY: the caller provides 16 bytes to write.
        unsafe { to.cast::<uint8x16_t>().write_unaligned(bytes) };
        bytes
    }

    #[inline(always)]
    fn special(bytes: uint8x16_t) -> u64 {
        // SAFETY: NEON is part of the target.
        unsafe { special(bytes) }
    }

    #[inline(always)]
    fn see(seen: Seen, bytes: uint8x16_t) -> Seen {
        // SAFETY: NEON is part of the target.
        unsafe { see(seen, bytes) }
    }

    #[inline(always)]
    fn any_special(seen: Seen) -> bool {
        // SAFETY: NEON is part of the target.
        unsafe { any_special(seen) }
    }

    #[inline(always)]
    fn any_special_in(words: [u32; 4]) -> bool {
        // SAFETY: all bit patterns are valid vectors.
        let bytes = unsafe { std::mem::transmute::<[u32; 4], uint8x16_t>(words) };
        // SAFETY: NEON is part of the target.
        unsafe { vmaxvq_u8(marked(bytes)) != 0 }
    }
}
