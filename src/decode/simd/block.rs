//! Blocks of bytes, examined together: with SSE2 on every x86-64, with AVX2 if the machine has it, and with plain
//! integers elsewhere.
//!
//! The result of each method has one bit per byte. The first byte has the lowest bit.
#![allow(unsafe_code)]

#[cfg(not(target_arch = "x86_64"))]
use self::portable::Block;
#[cfg(target_arch = "x86_64")]
use self::sse2::Block;

/// The number of bytes in a [`Wide`].
pub(in crate::decode) const WIDE: usize = 64;

/// Sixty-four bytes.
pub(in crate::decode) trait Wide: Copy {
    /// # Safety
    ///
    /// The machine must have the instructions of this type. The other methods rely on that, because they need a value.
    unsafe fn load(bytes: &[u8; WIDE]) -> Self;

    /// Quotes, backslashes and control characters.
    fn string_ends(self) -> u64;
}

/// Returns whether [`Avx2`] can be used.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(in crate::decode) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// Sixty-four bytes, with the instructions that every machine of this architecture has.
#[derive(Clone, Copy)]
pub(in crate::decode) struct Native {
    first: Block,
    second: Block,
    third: Block,
    fourth: Block,
}

impl Native {
    #[inline(always)]
    pub(in crate::decode) fn new(bytes: &[u8; WIDE]) -> Self {
        let (blocks, _) = bytes.as_chunks::<16>();
        Self {
            first: Block::load(&blocks[0]),
            second: Block::load(&blocks[1]),
            third: Block::load(&blocks[2]),
            fourth: Block::load(&blocks[3]),
        }
    }

    /// Bytes that are not ASCII.
    #[inline(always)]
    pub(super) fn high(self) -> u64 {
        joined(self.first.high(), self.second.high(), self.third.high(), self.fourth.high())
    }

    /// Bytes that differ.
    #[inline(always)]
    pub(in crate::decode) fn differing(self, other: Self) -> u64 {
        !joined(
            self.first.same(other.first),
            self.second.same(other.second),
            self.third.same(other.third),
            self.fourth.same(other.fourth),
        )
    }
}

impl Wide for Native {
    #[inline(always)]
    unsafe fn load(bytes: &[u8; WIDE]) -> Self {
        Self::new(bytes)
    }

    #[inline(always)]
    fn string_ends(self) -> u64 {
        joined(self.first.string_ends(), self.second.string_ends(), self.third.string_ends(), self.fourth.string_ends())
    }
}

#[inline(always)]
fn joined(first: u32, second: u32, third: u32, fourth: u32) -> u64 {
    u64::from(first | second << 16) | u64::from(third | fourth << 16) << 32
}

/// Returns the bits of quotes, backslashes and control characters, and the bits of bytes that are not ASCII.
#[inline(always)]
pub(in crate::decode) fn string_ends_and_high(bytes: &[u8; 16]) -> (u32, u32) {
    let block = Block::load(bytes);
    (block.string_ends(), block.high())
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };

    #[derive(Clone, Copy)]
    pub(super) struct Block(__m128i);

    #[target_feature(enable = "sse2")]
    #[inline]
    fn bits(mask: __m128i) -> u32 {
        _mm_movemask_epi8(mask).cast_unsigned()
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn string_ends(block: __m128i) -> u32 {
        // A byte is below 0x20 if its minimum with 0x1f is itself.
        let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"'.cast_signed()));
        let backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\'.cast_signed()));
        bits(_mm_or_si128(control, _mm_or_si128(quote, backslash)))
    }

    impl Block {
        #[inline(always)]
        pub(super) fn load(bytes: &[u8; 16]) -> Self {
            // SAFETY: the load reads these sixteen bytes and needs no alignment. Every x86-64 has SSE2.
            Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>()) })
        }

        #[inline(always)]
        pub(super) fn string_ends(self) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { string_ends(self.0) }
        }

        #[inline(always)]
        pub(super) fn high(self) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { bits(self.0) }
        }

        #[inline(always)]
        pub(super) fn same(self, other: Self) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { bits(_mm_cmpeq_epi8(self.0, other.0)) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use self::avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    use super::WIDE;

    /// A value of this type proves that the machine has AVX2.
    #[derive(Clone, Copy)]
    pub(in crate::decode) struct Avx2(__m256i, __m256i);

    #[target_feature(enable = "avx2")]
    #[inline]
    fn bits(low: __m256i, high: __m256i) -> u64 {
        let [low, high] = [low, high].map(|mask| u64::from(_mm256_movemask_epi8(mask).cast_unsigned()));
        low | high << 32
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn string_ends(half: __m256i) -> __m256i {
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(half, _mm256_set1_epi8(0x1f)), half);
        let quote = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(b'"'.cast_signed()));
        let backslash = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(b'\\'.cast_signed()));
        _mm256_or_si256(control, _mm256_or_si256(quote, backslash))
    }

    impl super::Wide for Avx2 {
        #[inline(always)]
        unsafe fn load(bytes: &[u8; WIDE]) -> Self {
            let (halves, _) = bytes.as_chunks::<32>();
            // SAFETY: the load reads these thirty-two bytes and needs no alignment. The caller guarantees AVX2.
            let half = |index: usize| unsafe { _mm256_loadu_si256(halves[index].as_ptr().cast::<__m256i>()) };
            Self(half(0), half(1))
        }

        #[inline(always)]
        fn string_ends(self) -> u64 {
            // SAFETY: `self` proves that the machine has AVX2.
            unsafe { bits(string_ends(self.0), string_ends(self.1)) }
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    #[derive(Clone, Copy)]
    pub(super) struct Block([u64; 2]);

    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 0x7f;
    const HIGH: u64 = ONES * 0x80;

    /// Returns the high bit of each byte of `word` that is at least `least`.
    const fn at_least(word: u64, least: u8) -> u64 {
        if least <= 0x80 {
            (((word & LOW) + ONES * (0x80 - least) as u64) | word) & HIGH
        } else {
            ((word & LOW) + ONES * (0x100 - least as u64)) & word & HIGH
        }
    }

    /// Returns the high bit of each byte of `word` that is `byte`.
    const fn equal(word: u64, byte: u8) -> u64 {
        at_least(word ^ (ONES * byte as u64), 1) ^ HIGH
    }

    impl Block {
        #[inline(always)]
        pub(super) fn load(bytes: &[u8; 16]) -> Self {
            let number = u128::from_le_bytes(*bytes);
            Self([number as u64, (number >> 64) as u64])
        }

        #[inline(always)]
        fn bits(self, of: impl Fn(u64) -> u64) -> u32 {
            // Moves the high bit of each byte to one of the top eight bits, in order.
            let [low, high] = self.0.map(|word| (of(word) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56);
            (low | high << 8) as u32
        }

        #[inline(always)]
        pub(super) fn string_ends(self) -> u32 {
            self.bits(|word| (at_least(word, 0x20) ^ HIGH) | equal(word, b'"') | equal(word, b'\\'))
        }

        #[inline(always)]
        pub(super) fn high(self) -> u32 {
            self.bits(|word| word & HIGH)
        }

        #[inline(always)]
        pub(super) fn same(self, other: Self) -> u32 {
            Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]]).bits(|word| equal(word, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Native, WIDE, Wide, portable};

    fn naive(bytes: &[u8], is: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().enumerate().fold(0, |bits, (index, byte)| bits | u64::from(is(*byte)) << index)
    }

    /// Blocks with each byte at each index, among other bytes.
    fn blocks() -> impl Iterator<Item = [u8; 16]> {
        let around = [b'a', 0x80, 0, 0x7f, 0xff].into_iter().take(if cfg!(miri) { 2 } else { 5 });
        let bytes = (0..=u8::MAX).filter(|byte| !cfg!(miri) || matches!(byte, 0 | b'"' | 0x80));
        bytes.flat_map(move |byte| {
            around.clone().flat_map(move |filler| {
                (0..16).map(move |place| {
                    let mut block = [filler; 16];
                    block[place] = byte;
                    block[(5 * place + 3) % 16] = byte ^ 1;
                    block
                })
            })
        })
    }

    #[test]
    fn each_question_is_answered_as_byte_by_byte() {
        for bytes in blocks() {
            macro_rules! assert_as_naive {
                ($block:ty) => {
                    let block = <$block>::load(&bytes);
                    let ends = naive(&bytes, |byte| matches!(byte, b'"' | b'\\' | 0..0x20));
                    assert_eq!(u64::from(block.string_ends()), ends, "{bytes:x?}");
                    assert_eq!(u64::from(block.high()), naive(&bytes, |byte| byte >= 0x80), "{bytes:x?}");
                    for other in [0, 1, b'"', 0x7f, 0x80, 0x81, 0xc0, 0xe0, 0xf0, 0xff] {
                        let equal = naive(&bytes, |byte| byte == other);
                        let same = block.same(<$block>::load(&[other; 16]));
                        assert_eq!(u64::from(same), equal, "{other:x} {bytes:x?}");
                    }
                };
            }
            assert_as_naive!(portable::Block);
            assert_as_naive!(Block);
        }
    }

    fn assert_in_order<W: Wide>() {
        let mut bytes = [b'a'; WIDE];
        for place in 0..WIDE {
            for end in [b'"', b'\\', 0x1f, 0] {
                bytes[place] = end;
                // SAFETY: see above.
                assert_eq!(unsafe { W::load(&bytes) }.string_ends(), 1 << place);
            }
            bytes[place] = b'a';
        }
    }

    #[test]
    fn wide_blocks_are_blocks_in_order() {
        assert_in_order::<Native>();
        #[cfg(target_arch = "x86_64")]
        if super::has_avx2() {
            assert_in_order::<super::Avx2>();
        }
        let mut bytes = [b'a'; WIDE];
        for place in 0..WIDE {
            bytes[place] = 0xe1;
            assert_eq!(Native::new(&bytes).high(), 1 << place);
            assert_eq!(Native::new(&bytes).differing(Native::new(&[b'a'; WIDE])), 1 << place);
            bytes[place] = b'a';
        }
    }
}
