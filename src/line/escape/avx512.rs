//! Longer texts on processors with AVX-512 VBMI2: 64 bytes are looked at together, and where some of them need an escape of two
//! characters, they are moved apart in a register with the backslashes between them. How many there are makes no difference,
//! and no step waits for an earlier one but to know where to store.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_setr_epi8, _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_cmpeq_epi8_mask,
    _mm512_cmplt_epu8_mask, _mm512_extracti64x4_epi64, _mm512_mask_expand_epi8, _mm512_mask_shuffle_epi8,
    _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512, _pdep_u64, _pext_u64,
};

use super::{WIDE, escape_marked};

/// Whether [`escape`] may be called.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Blocks that are asked together whether they need an escape. The more they are, the seldomer the answer is a surprise to the
/// processor in texts that have few.
const TOGETHER: usize = 2;

/// Escapes a text of any length.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into), on a processor where [`is_available`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn escape(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= TOGETHER * WIDE {
        let blocks: [Block; TOGETHER] = std::array::from_fn(|index| {
            // SAFETY: that many bytes are left to read.
            let bytes = unsafe { text.as_ptr().add(read + index * WIDE).cast::<__m512i>().read_unaligned() };
            Block::look_at(bytes, WIDE)
        });
        if blocks.iter().all(|block| block.special() == 0) {
            for (index, block) in blocks.iter().enumerate() {
                // SAFETY: `written <= 6 * read`, so there is room for all of them.
                unsafe { _mm512_storeu_si512(to.add(written + index * WIDE).cast::<__m512i>(), block.bytes) };
            }
            written += TOGETHER * WIDE;
        } else {
            for block in blocks {
                // SAFETY: `written` is six times what was read before the block at most, so there is room for it.
                written += unsafe { block.escape(to.add(written)) };
            }
        }
        read += TOGETHER * WIDE;
    }
    while read < text.len() {
        let len = (text.len() - read).min(WIDE);
        // SAFETY: only bytes that are left are read.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(first(len), text.as_ptr().add(read).cast::<i8>()) };
        let block = Block::look_at(bytes, len);
        if block.special() == 0 {
            // SAFETY: `written <= 6 * read`, and `WIDE` is the slack.
            unsafe { _mm512_storeu_si512(to.add(written).cast::<__m512i>(), bytes) };
            written += len;
        } else {
            // SAFETY: `written <= 6 * read`, so there is room for what the block takes at most.
            written += unsafe { block.escape(to.add(written)) };
        }
        read += len;
    }
    written
}

/// A bit for each of the first `count` bytes of a block, of which there is at least one.
const fn first(count: usize) -> u64 {
    u64::MAX >> (WIDE - count)
}

/// Some bytes, `len` of which count, and a bit for each of those that needs an escape.
#[derive(Clone, Copy)]
struct Block {
    bytes: __m512i,
    len: usize,
    /// Those with an escape of two characters.
    short: u64,
    /// Those below 0x20.
    control: u64,
}

impl Block {
    /// At least one byte has to count.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn look_at(bytes: __m512i, len: usize) -> Self {
        // For the low four bits of a byte, the only byte with those bits that has an escape of two characters (or one that
        // has other low bits, where there is none).
        let escaped = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 0, 0x22, 0, 0, 0, 0, 0, 0, 9, 10, 0, 0x5c, 13, 0, 0));
        Self {
            bytes,
            len,
            short: _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(escaped, bytes)) & first(len),
            control: _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)) & first(len),
        }
    }

    fn special(&self) -> u64 {
        self.short | self.control
    }

    /// Writes the block, whatever it needs, and says how many bytes that took.
    ///
    /// # Safety
    ///
    /// `to` must be valid for writes of `6 * len + SLACK` bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
    #[inline]
    unsafe fn escape(self, to: *mut u8) -> usize {
        if self.special() != self.short {
            // SAFETY: the caller's promise.
            return unsafe { escape_controls(self.bytes, self.special(), to) } + self.len - WIDE;
        }
        // For the same four bits, the second of the two characters.
        let letters =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0x74, 0x6e, 0, 0x5c, 0x72, 0, 0));
        let bytes = _mm512_mask_shuffle_epi8(self.bytes, self.short, letters, self.bytes);
        // SAFETY: `WIDE` bytes are within what the caller promises.
        unsafe { spread(bytes, self.short as u32, to) };
        if self.len > WIDE / 2 {
            let high = _mm512_castsi256_si512(_mm512_extracti64x4_epi64::<1>(bytes));
            let low_len = WIDE / 2 + (self.short as u32).count_ones() as usize;
            // SAFETY: `low_len <= WIDE`, and for more than half a block the caller promises more than `2 * WIDE` bytes.
            unsafe { spread(high, (self.short >> 32) as u32, to.add(low_len)) };
        }
        self.len + self.short.count_ones() as usize
    }
}

/// Stores the first 32 bytes of `block`, with a backslash before each that `special` has a bit for.
///
/// # Safety
///
/// `to` must be valid for writes of `WIDE` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2")]
#[inline]
unsafe fn spread(block: __m512i, special: u32, to: *mut u8) {
    /// Of two places for each byte, one for a backslash and one for itself, the latter.
    const BYTES: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let taken = BYTES | _pdep_u64(special.into(), !BYTES);
    let bytes = _pext_u64(BYTES, taken);
    let spread = _mm512_mask_expand_epi8(_mm512_set1_epi8(b'\\'.cast_signed()), bytes, block);
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(to.cast::<__m512i>(), spread) };
}

/// Escapes a whole block in which some bytes take six characters, one after the other.
///
/// # Safety
///
/// `to` must be valid for writes of `6 * (last + 1) + WIDE` bytes when the last special byte is at `last`.
#[target_feature(enable = "avx512f")]
unsafe fn escape_controls(block: __m512i, special: u64, to: *mut u8) -> usize {
    let mut text = [0_u8; 2 * WIDE];
    // SAFETY: the text is twice as long.
    unsafe { _mm512_storeu_si512(text.as_mut_ptr().cast::<__m512i>(), block) };
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(to.cast::<__m512i>(), block) };
    // SAFETY: the caller's promise, and there are twice `WIDE` bytes to read, the first `WIDE` of which are at `to`.
    unsafe { escape_marked(text.as_ptr(), to, WIDE, special) }
}
