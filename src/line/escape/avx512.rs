//! Blocks of 64 bytes with AVX-512 VBMI2, for long texts.
//!
//! Two-character escapes are inserted within a register: the bytes are spread apart and backslashes put between them.
//! The time does not depend on their number, and a block depends on earlier ones only for the position of its output.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_setr_epi8, _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_cmpeq_epi8_mask,
    _mm512_cmplt_epu8_mask, _mm512_extracti64x4_epi64, _mm512_mask_expand_epi8, _mm512_mask_shuffle_epi8,
    _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512, _pdep_u64, _pext_u64,
};

use super::blocks::WIDE;
use super::scalar::escape_marked;

/// Returns whether this processor supports [`escape`].
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// The number of blocks that share one branch on whether any byte needs an escape. In texts with few escapes, fewer
/// branches mean fewer mispredictions.
const TOGETHER: usize = 2;

/// Escapes a text of any length.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into), and [`is_available`] must be true.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn escape(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= TOGETHER * WIDE {
        let blocks: [Block; TOGETHER] = std::array::from_fn(|index| {
            // SAFETY: `TOGETHER * WIDE` bytes are left to read.
            let bytes = unsafe { text.as_ptr().add(read + index * WIDE).cast::<__m512i>().read_unaligned() };
            Block::look_at(bytes, WIDE)
        });
        if blocks.iter().all(|block| block.special() == 0) {
            for (index, block) in blocks.iter().enumerate() {
                // SAFETY: `written <= 6 * read` leaves room for all blocks.
                unsafe { _mm512_storeu_si512(to.add(written + index * WIDE).cast::<__m512i>(), block.bytes) };
            }
            written += TOGETHER * WIDE;
        } else {
            for block in blocks {
                // SAFETY: at most six bytes were written for each byte before the block, so its bound is left.
                written += unsafe { block.escape(to.add(written)) };
            }
        }
        read += TOGETHER * WIDE;
    }
    while read < text.len() {
        let len = (text.len() - read).min(WIDE);
        // SAFETY: the mask limits the load to the bytes that are left.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(first(len), text.as_ptr().add(read).cast::<i8>()) };
        let block = Block::look_at(bytes, len);
        if block.special() == 0 {
            // SAFETY: `written <= 6 * read` leaves at least the slack, which is `WIDE` bytes.
            unsafe { _mm512_storeu_si512(to.add(written).cast::<__m512i>(), bytes) };
            written += len;
        } else {
            // SAFETY: `written <= 6 * read` leaves room for the block's bound.
            written += unsafe { block.escape(to.add(written)) };
        }
        read += len;
    }
    written
}

/// Returns a mask of the first `count` bytes of a block. `count` must be 1 to `WIDE`.
const fn first(count: usize) -> u64 {
    u64::MAX >> (WIDE - count)
}

/// The first `len` bytes of a register, with masks of those that need an escape.
#[derive(Clone, Copy)]
struct Block {
    bytes: __m512i,
    len: usize,
    /// Marks the bytes with an escape of two characters.
    short: u64,
    /// Marks the bytes below 0x20.
    control: u64,
}

impl Block {
    /// Classifies the first `len` bytes, which must be 1 to `WIDE`.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn look_at(bytes: __m512i, len: usize) -> Self {
        // Maps the low four bits of a byte to the one byte with those bits that has a two-character escape. If there is
        // none, the entry has other low bits and so never matches.
        let escaped = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 0, 0x22, 0, 0, 0, 0, 0, 0, 9, 10, 0, 0x5c, 13, 0, 0));
        Self {
            bytes,
            len,
            short: _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(escaped, bytes)) & first(len),
            control: _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)) & first(len),
        }
    }

    /// Marks the bytes that need an escape.
    fn special(&self) -> u64 {
        self.short | self.control
    }

    /// Writes the block, escaped, and returns the number of bytes written.
    ///
    /// # Safety
    ///
    /// `to` must be valid for writes of `6 * len + SLACK` bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
    #[inline]
    unsafe fn escape(self, to: *mut u8) -> usize {
        if self.special() != self.short {
            // SAFETY: the last marked byte is inside of the first `len`, and the slack is `WIDE`.
            return unsafe { escape_controls(self.bytes, self.special(), to) } + self.len - WIDE;
        }
        // Maps the same four bits to the second character of the escape.
        let letters =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0x74, 0x6e, 0, 0x5c, 0x72, 0, 0));
        let bytes = _mm512_mask_shuffle_epi8(self.bytes, self.short, letters, self.bytes);
        // SAFETY: the slack alone is `WIDE` bytes.
        unsafe { spread(bytes, self.short as u32, to) };
        if self.len > WIDE / 2 {
            let high = _mm512_castsi256_si512(_mm512_extracti64x4_epi64::<1>(bytes));
            let low_len = WIDE / 2 + (self.short as u32).count_ones() as usize;
            // SAFETY: `low_len <= WIDE`, and for more than half a block the caller provides more than `2 * WIDE` bytes.
            unsafe { spread(high, (self.short >> 32) as u32, to.add(low_len)) };
        }
        self.len + self.short.count_ones() as usize
    }
}

/// Stores the first 32 bytes of `block`, with a backslash before each that `special` marks.
///
/// # Safety
///
/// `to` must be valid for writes of `WIDE` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2")]
#[inline]
unsafe fn spread(block: __m512i, special: u32, to: *mut u8) {
    /// Each byte has two positions: the even one for a backslash, the odd one for itself. These are the odd ones.
    const BYTES: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let taken = BYTES | _pdep_u64(special.into(), !BYTES);
    let bytes = _pext_u64(BYTES, taken);
    let spread = _mm512_mask_expand_epi8(_mm512_set1_epi8(b'\\'.cast_signed()), bytes, block);
    // SAFETY: the caller provides `WIDE` bytes.
    unsafe { _mm512_storeu_si512(to.cast::<__m512i>(), spread) };
}

/// Escapes a whole block that has six-character escapes, one marked byte after the other.
///
/// # Safety
///
/// `to` must be valid for writes of `6 * (last + 1) + WIDE` bytes where `last` is the index of the last marked byte.
#[target_feature(enable = "avx512f")]
unsafe fn escape_controls(block: __m512i, special: u64, to: *mut u8) -> usize {
    let mut text = [0_u8; 2 * WIDE];
    // SAFETY: the array has twice as many bytes.
    unsafe { _mm512_storeu_si512(text.as_mut_ptr().cast::<__m512i>(), block) };
    // SAFETY: the caller provides more than `WIDE` bytes.
    unsafe { _mm512_storeu_si512(to.cast::<__m512i>(), block) };
    // SAFETY: the caller provides the room; `2 * WIDE` bytes can be read, the first `WIDE` of which were copied to
    // `to`.
    unsafe { escape_marked(text.as_ptr(), to, WIDE, special) }
}
