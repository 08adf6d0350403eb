//! JSON escaping: `"` and `\` and the bytes below 0x20, everything else as it is.
//!
//! The text is copied while it is looked at. A block of bytes is stored as it is, and a bit for each byte that needs an
//! escape is taken from the same load. Where there are such bits, each escape is written over what was stored, and what
//! follows it in the block is stored again behind it: no later step waits for a load of an earlier one.
//!
//! A block is sixteen bytes with SSE2 (which every x86-64 has), eight in a plain integer elsewhere, and four blocks at a
//! time in longer texts. Both are tested against the naive form on every machine that has them.
//!
//! Whoever changes this: `bound` is what keeps the stores inside of the buffer. At any time at most six bytes were written
//! for each byte read, and a step stores at most `SLACK` bytes at the place where the next byte goes.
#![allow(unsafe_code)]

#[cfg(feature = "arbitrary")]
pub mod paths;

/// Bytes that a store may touch past the last byte that counts.
pub(super) const SLACK: usize = WIDE;

/// Bytes that are looked at together in a longer text.
const WIDE: usize = 64;

/// How many bytes [`escape_into`] may touch for a text of `len` bytes, a sixth of the address space at most.
#[inline(always)]
pub(super) const fn bound(len: usize) -> usize {
    6 * len + SLACK
}

/// For each byte, what is written for it, padded to eight bytes, the last of which is the length.
static ESCAPES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [byte as u8, 0, 0, 0, 0, 0, 0, 1];
        byte += 1;
    }
    let hex = b"0123456789abcdef";
    let mut control = 0;
    while control < 0x20 {
        table[control] = [b'\\', b'u', b'0', b'0', hex[control >> 4], hex[control & 15], 0, 6];
        control += 1;
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
#[inline(always)]
pub(super) unsafe fn escape_into(text: &[u8], to: *mut u8) -> usize {
    #[cfg(target_arch = "x86_64")]
    type Native = sse2::Block;
    #[cfg(not(target_arch = "x86_64"))]
    type Native = swar::Block;
    // SAFETY: the caller's promise.
    unsafe { escape_with::<Native>(text, to) }
}

/// How a machine looks at a block of bytes.
trait Block {
    const LEN: usize;

    /// Which bytes of a block need an escape.
    type Marks: Copy;

    const NONE: Self::Marks;

    /// Copies `LEN` bytes from `from` to `to`, and marks those that need an escape.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `LEN` bytes.
    unsafe fn copy(from: *const u8, to: *mut u8) -> Self::Marks;

    /// Copies sixteen bytes from `from` to `to`, and marks something if one of them needs an escape.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of sixteen bytes.
    unsafe fn copy_sixteen(from: *const u8, to: *mut u8) -> Self::Marks;

    /// What is marked in one or in the other.
    fn either(one: Self::Marks, other: Self::Marks) -> Self::Marks;

    /// A bit for each byte that is marked, the first byte's the lowest.
    fn bits(marks: Self::Marks) -> u64;

    /// Copies the first and the last eight of `len` bytes, and says whether none of them needs an escape.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `len` bytes, which are eight at least.
    unsafe fn copy_ends(from: *const u8, len: usize, to: *mut u8) -> bool;

    /// Whether none of the first `len` bytes of `word`, as they lie in memory, needs an escape.
    fn is_clean(word: u64, len: usize) -> bool;
}

/// # Safety
///
/// As for [`escape_into`].
#[inline(always)]
unsafe fn escape_with<B: Block>(text: &[u8], to: *mut u8) -> usize {
    if text.len() < 16 {
        // SAFETY: the caller's promise.
        unsafe { escape_short::<B>(text, to) }
    } else if text.len() <= WIDE {
        // SAFETY: the caller's promise.
        unsafe { escape_middle::<B>(text, to) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { escape_long::<B>(text, to) }
    }
}

/// Escapes sixteen bytes or more, up to [`WIDE`]: two blocks or four that may overlap, the half of them from either end.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(never)]
unsafe fn escape_middle<B: Block>(text: &[u8], to: *mut u8) -> usize {
    const LEN: usize = 16;
    let from = text.as_ptr();
    let copy = |at: usize| {
        // SAFETY: there are sixteen bytes or more, and each place asked for below leaves as many behind it.
        unsafe { B::copy_sixteen(from.add(at), to.add(at)) }
    };
    let last = text.len() - LEN;
    let mut marks = B::either(copy(0), copy(last));
    if text.len() > 2 * LEN {
        marks = B::either(marks, B::either(copy(LEN), copy(last - LEN)));
    }
    if B::bits(marks) == 0 {
        return text.len();
    }
    // SAFETY: the caller's promise.
    unsafe { escape_careful::<B>(text, to) }
}

/// Escapes sixteen bytes or more.
///
/// # Safety
///
/// As for [`escape_into`].
unsafe fn escape_long<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    // What is stored again behind an escape is a whole wide block, which has to be there to read.
    while text.len() - read >= 2 * WIDE {
        // SAFETY: `2 * WIDE` bytes are left to read. `written <= 6 * read`, so there is room for six times as many.
        written += unsafe { escape_wide::<B>(text.as_ptr().add(read), to.add(written)) };
        read += WIDE;
    }
    // Of a longer text at least `WIDE` bytes are left.
    let rest = &text[read..];
    // SAFETY: `written <= 6 * read`, so what the rest takes at most is there.
    let end = unsafe { to.add(written) };
    // SAFETY: likewise.
    if unsafe { copy_if_clean::<B>(rest, end) } {
        return written + rest.len();
    }
    // SAFETY: likewise.
    written + unsafe { escape_careful::<B>(rest, end) }
}

/// Copies sixteen bytes or more in the hope that none needs an escape, and says whether that is so.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(always)]
unsafe fn copy_if_clean<B: Block>(text: &[u8], to: *mut u8) -> bool {
    let mut marks = B::NONE;
    let last = text.len() - B::LEN;
    let mut at = 0;
    while at < last {
        // SAFETY: `at + B::LEN < text.len()`.
        marks = B::either(marks, unsafe { B::copy(text.as_ptr().add(at), to.add(at)) });
        at += B::LEN;
    }
    // SAFETY: the last `B::LEN` bytes, some of them perhaps again.
    marks = B::either(marks, unsafe { B::copy(text.as_ptr().add(last), to.add(last)) });
    B::bits(marks) == 0
}

/// Escapes a text of any length, block by block.
///
/// # Safety
///
/// As for [`escape_into`].
unsafe fn escape_careful<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= B::LEN {
        // SAFETY: `B::LEN` bytes are left to read, and there is room for six times as many.
        let special = B::bits(unsafe { B::copy(text.as_ptr().add(read), to.add(written)) });
        if special == 0 {
            read += B::LEN;
            written += B::LEN;
        } else {
            let clean = special.trailing_zeros() as usize;
            // SAFETY: `clean < B::LEN`, so this is still inside of that room, with the slack behind it.
            written += clean + unsafe { escape_byte(text[read + clean], to.add(written + clean)) };
            read += clean + 1;
        }
    }
    // SAFETY: `written <= 6 * read`, so what the rest takes at most is there.
    written + unsafe { escape_short::<B>(&text[read..], to.add(written)) }
}

/// Escapes the [`WIDE`] bytes at `from`.
///
/// # Safety
///
/// `from` must be valid for reads of `2 * WIDE` bytes, `to` for writes of `6 * WIDE + SLACK`.
#[inline(always)]
unsafe fn escape_wide<B: Block>(from: *const u8, to: *mut u8) -> usize {
    let mut special = 0;
    for block in (0..WIDE).step_by(B::LEN) {
        // SAFETY: inside of the first `WIDE` bytes on either side.
        special |= B::bits(unsafe { B::copy(from.add(block), to.add(block)) }) << block;
    }
    let (mut read, mut written) = (0, 0);
    while special != 0 {
        let at = special.trailing_zeros() as usize;
        special &= special - 1;
        written += at - read;
        // SAFETY: `at < WIDE`.
        let byte = unsafe { from.add(at).read() };
        // SAFETY: `written <= 6 * at`.
        written += unsafe { escape_byte(byte, to.add(written)) };
        read = at + 1;
        // SAFETY: `read <= WIDE`, so a block of `WIDE` is there to read; `written <= 6 * WIDE`, so one is there to write.
        unsafe { to.add(written).cast::<[u8; WIDE]>().write(from.add(read).cast::<[u8; WIDE]>().read()) };
    }
    written + WIDE - read
}

/// Escapes fewer than sixteen bytes: looked at as two words that may overlap.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(always)]
unsafe fn escape_short<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (len, from) = (text.len(), text.as_ptr());
    if len >= 8 {
        // SAFETY: the text's own length is there to read and to write.
        if unsafe { B::copy_ends(from, len, to) } {
            return len;
        }
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        // SAFETY: the text's own length is there to write, and these are its first four bytes,
        unsafe { to.cast::<[u8; 4]>().write(*first) };
        // SAFETY: and these its last four.
        unsafe { to.add(len - 4).cast::<[u8; 4]>().write(*last) };
        let word = u64::from(u32::from_ne_bytes(*first)) | u64::from(u32::from_ne_bytes(*last)) << 32;
        if B::is_clean(word, 8) {
            return len;
        }
    } else if let (Some(first), Some(last)) = (text.first_chunk::<2>(), text.last_chunk::<2>()) {
        // SAFETY: the text's own length is there to write, and these are its first two bytes,
        unsafe { to.cast::<[u8; 2]>().write(*first) };
        // SAFETY: and these its last two.
        unsafe { to.add(len - 2).cast::<[u8; 2]>().write(*last) };
        let word = u32::from(u16::from_ne_bytes(*first)) | u32::from(u16::from_ne_bytes(*last)) << 16;
        if B::is_clean(word.into(), 4) {
            return len;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { escape_bytes(text, to) }
}

/// Escapes a short text byte by byte.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(never)]
unsafe fn escape_bytes(text: &[u8], to: *mut u8) -> usize {
    let mut written = 0;
    for &byte in text {
        // SAFETY: six bytes at most were written for each byte before this one.
        written += unsafe { escape_byte(byte, to.add(written)) };
    }
    written
}

/// Writes what stands for one byte, and says how many bytes that is.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline(always)]
unsafe fn escape_byte(byte: u8, to: *mut u8) -> usize {
    let escape = &ESCAPES[usize::from(byte)];
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; 8]>().write(*escape) };
    usize::from(escape[7])
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_castpd_si128, _mm_castsi128_pd, _mm_cmpeq_epi8, _mm_cvtsi64_si128, _mm_loadh_pd, _mm_loadl_epi64,
        _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_storeh_pd, _mm_storel_pd,
        _mm_storeu_si128,
    };

    pub(super) struct Block;

    /// All ones in each byte that needs an escape.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn special(block: __m128i) -> __m128i {
        // A byte is below 0x20 when the smaller of it and 0x1f is itself.
        let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"'.cast_signed()));
        let backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\'.cast_signed()));
        _mm_or_si128(control, _mm_or_si128(quote, backslash))
    }

    impl super::Block for Block {
        const LEN: usize = 16;

        type Marks = __m128i;

        // SAFETY: any bytes are a vector.
        const NONE: __m128i = unsafe { std::mem::transmute([0_u8; 16]) };

        #[inline(always)]
        unsafe fn copy(from: *const u8, to: *mut u8) -> __m128i {
            // SAFETY: `from` is readable for 16 bytes, as the trait's contract says; the load asks for no alignment.
            let block = unsafe { _mm_loadu_si128(from.cast::<__m128i>()) };
            // SAFETY: `to` is writable for 16 bytes, likewise.
            unsafe { _mm_storeu_si128(to.cast::<__m128i>(), block) };
            // SAFETY: every x86-64 has SSE2.
            unsafe { special(block) }
        }

        #[inline(always)]
        fn either(one: __m128i, other: __m128i) -> __m128i {
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_or_si128(one, other) }
        }

        #[inline(always)]
        fn bits(marks: __m128i) -> u64 {
            // SAFETY: every x86-64 has SSE2.
            u64::from(unsafe { _mm_movemask_epi8(marks) }.cast_unsigned())
        }

        #[inline(always)]
        unsafe fn copy_sixteen(from: *const u8, to: *mut u8) -> __m128i {
            // SAFETY: the caller's promise.
            unsafe { Self::copy(from, to) }
        }

        #[inline(always)]
        unsafe fn copy_ends(from: *const u8, len: usize, to: *mut u8) -> bool {
            // SAFETY: eight bytes are there to read, as the trait's contract says,
            let first = unsafe { _mm_loadl_epi64(from.cast::<__m128i>()) };
            // SAFETY: and eight that end where the text does.
            let both = unsafe { _mm_loadh_pd(_mm_castsi128_pd(first), from.add(len - 8).cast::<f64>()) };
            // SAFETY: likewise to write.
            unsafe { _mm_storel_pd(to.cast::<f64>(), both) };
            // SAFETY: likewise to write.
            unsafe { _mm_storeh_pd(to.add(len - 8).cast::<f64>(), both) };
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_movemask_epi8(special(_mm_castpd_si128(both))) == 0 }
        }

        #[inline(always)]
        fn is_clean(word: u64, len: usize) -> bool {
            // SAFETY: every x86-64 has SSE2.
            let marks = unsafe { _mm_movemask_epi8(special(_mm_cvtsi64_si128(word.cast_signed()))) };
            marks & ((1 << len) - 1) == 0
        }
    }
}

#[cfg(any(test, feature = "arbitrary", not(target_arch = "x86_64")))]
mod swar {
    pub(super) struct Block;

    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 0x7f;

    /// The high bit of each byte of `word` that is zero, and no other bit.
    const fn zero_bytes(word: u64) -> u64 {
        !(((word & LOW) + LOW) | word | LOW)
    }

    /// The high bit of each byte that needs an escape.
    const fn special(word: u64) -> u64 {
        let control = zero_bytes(word & (ONES * 0xe0));
        let quote = zero_bytes(word ^ (ONES * b'"' as u64));
        let backslash = zero_bytes(word ^ (ONES * b'\\' as u64));
        control | quote | backslash
    }

    impl super::Block for Block {
        const LEN: usize = 8;

        type Marks = u64;

        const NONE: u64 = 0;

        #[inline(always)]
        unsafe fn copy(from: *const u8, to: *mut u8) -> u64 {
            // SAFETY: `from` is readable for 8 bytes, as the trait's contract says.
            let block = unsafe { from.cast::<[u8; 8]>().read() };
            // SAFETY: `to` is writable for 8 bytes, likewise.
            unsafe { to.cast::<[u8; 8]>().write(block) };
            special(u64::from_le_bytes(block))
        }

        #[inline(always)]
        fn either(one: u64, other: u64) -> u64 {
            one | other
        }

        #[inline(always)]
        fn bits(marks: u64) -> u64 {
            // Moves the high bit of each byte to one of the top eight bits, in order.
            (marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
        }

        #[inline(always)]
        unsafe fn copy_sixteen(from: *const u8, to: *mut u8) -> u64 {
            // SAFETY: the first eight of the sixteen bytes that the caller promises,
            let first = unsafe { Self::copy(from, to) };
            // SAFETY: and the other eight.
            first | unsafe { Self::copy(from.add(8), to.add(8)) }
        }

        #[inline(always)]
        unsafe fn copy_ends(from: *const u8, len: usize, to: *mut u8) -> bool {
            // SAFETY: eight bytes are there, as the trait's contract says,
            let first = unsafe { Self::copy(from, to) };
            // SAFETY: and eight that end where the text does.
            first | unsafe { Self::copy(from.add(len - 8), to.add(len - 8)) } == 0
        }

        #[inline(always)]
        fn is_clean(word: u64, len: usize) -> bool {
            // Zeros above the bytes that count are shifted out.
            special(word.to_le()) << (64 - 8 * len) == 0
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::guarded::{Edge, Guarded};
    use super::{Block, bound, escape_with, swar};

    pub(in crate::encode) fn naive(text: &[u8]) -> Vec<u8> {
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

    fn escape<'o, B: Block>(text: &[u8], out: &'o mut [u8]) -> &'o [u8] {
        assert!(out.len() >= bound(text.len()));
        // So that a hole in what is written shows.
        out.fill(0xf8);
        // SAFETY: `out` has as many bytes as the bound says.
        let written = unsafe { escape_with::<B>(text, out.as_mut_ptr()) };
        &out[..written]
    }

    fn assert_written_as(text: &[u8], expected: &[u8], out: &mut [u8]) {
        assert_eq!(escape::<swar::Block>(text, out), expected, "swar on {text:?}");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(escape::<super::sse2::Block>(text, out), expected, "sse2 on {text:?}");
    }

    /// Where texts are read and written, with nothing beyond either.
    struct Desk {
        text: Guarded,
        out: Guarded,
    }

    impl Desk {
        fn new() -> Self {
            const LONGEST: usize = 400;
            Self { text: Guarded::new(LONGEST), out: Guarded::new(bound(LONGEST)) }
        }

        fn assert_as_naive(&mut self, text: &[u8]) {
            let expected = naive(text);
            for &edge in Edge::ALL {
                assert_written_as(self.text.copy(edge, text), &expected, self.out.lend(edge, bound(text.len())));
            }
        }
    }

    /// Lengths on either side of every border between one way to look at a text and another.
    fn lengths() -> impl Iterator<Item = usize> {
        (0..=200).filter(|len| !cfg!(miri) || matches!(len, 0..=20 | 63..=65 | 127..=130 | 200))
    }

    #[test]
    fn every_special_byte_at_every_position_of_every_length() {
        let mut desk = Desk::new();
        let specials = [0, 1, 0x1f, b'"', b'\\', b'\n', b'\r', b'\t', 0x20, 0x7f, 0x80, 0xff];
        for len in lengths() {
            let clean = vec![b'a'; len];
            desk.assert_as_naive(&clean);
            for position in (0..len).step_by(if cfg!(miri) { 13 } else { 1 }) {
                for byte in specials {
                    let mut text = clean.clone();
                    text[position] = byte;
                    desk.assert_as_naive(&text);
                }
            }
        }
    }

    #[test]
    fn every_byte() {
        let mut desk = Desk::new();
        for byte in (0..=u8::MAX).filter(|byte| !cfg!(miri) || matches!(byte, 0..0x30 | 0x5b..0x5e | 0x7e..0x82)) {
            for len in [1, 3, 4, 7, 8, 15, 16, 17, 64, 128, 130] {
                let mut text = vec![b'a'; len];
                text[len / 2] = byte;
                desk.assert_as_naive(&text);
            }
        }
    }

    #[test]
    fn nothing_but_specials() {
        let mut desk = Desk::new();
        for byte in [0, 0x1f, b'"', b'\\', b'\n', 0x7f, 0x80, 0xff] {
            for len in lengths() {
                desk.assert_as_naive(&vec![byte; len]);
            }
        }
    }

    #[test]
    fn many_mixtures() {
        let mut desk = Desk::new();
        let mut random = 1_u64;
        for round in 0..if cfg!(miri) { 20 } else { 4000 } {
            let text: Vec<u8> = (0..round % 400)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let byte = (random >> 33) as u8;
                    // A third of them special, so that they stand close to each other.
                    if random >> 60 < 5 { byte & 0x1f } else { byte }
                })
                .collect();
            desk.assert_as_naive(&text);
        }
    }

    /// What lies at the edge of a page is aligned as its length says, so that this is tried apart.
    #[test]
    fn every_alignment() {
        #[repr(align(64))]
        struct Aligned<const N: usize>([u8; N]);

        let mut text = Aligned([0; 64 + 200]);
        for (byte, in_turn) in text.0.iter_mut().zip(b"plain text with \"quotes\"\n".iter().cycle()) {
            *byte = *in_turn;
        }
        let mut out = Aligned([0; 64 + bound(200)]);
        let step = if cfg!(miri) { 13 } else { 1 };
        for text_start in (0..64).step_by(step) {
            for len in [1, 3, 7, 15, 16, 40, 130, 200] {
                let text = &text.0[text_start..text_start + len];
                let expected = naive(text);
                for out_start in (0..64).step_by(step) {
                    assert_written_as(text, &expected, &mut out.0[out_start..]);
                }
            }
        }
    }
}
