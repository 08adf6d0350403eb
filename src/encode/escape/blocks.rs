//! Escaping over blocks of bytes, whatever a machine's block is: short texts, longer ones, and their ends.
//!
//! Most texts of most traces are short and need no escape. They are copied in the hope that this is so, and looked at on the
//! way.
#![allow(unsafe_code)]

use super::{WIDE, escape_byte, escape_marked};

/// How a machine looks at a block of bytes.
pub(super) trait Block {
    const LEN: usize;

    /// The bytes of a block.
    type Bytes: Copy;

    /// What is remembered of blocks, to know in the end whether all were clean.
    type Seen: Copy;

    const NOTHING_SEEN: Self::Seen;

    /// Copies `LEN` bytes from `from` to `to`.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `LEN` bytes.
    unsafe fn copy(from: *const u8, to: *mut u8) -> Self::Bytes;

    /// A bit for each byte that needs an escape, the first byte's the lowest.
    fn special(bytes: Self::Bytes) -> u64;

    fn see(seen: Self::Seen, bytes: Self::Bytes) -> Self::Seen;

    /// Whether any byte of what was seen needs an escape.
    fn any_special(seen: Self::Seen) -> bool;

    /// Copies the first and the last eight of `len` bytes, and says whether any of them needs an escape.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `len` bytes, which are eight at least.
    unsafe fn copy_eights(from: *const u8, len: usize, to: *mut u8) -> bool;

    /// Copies the first and the last four of `len` bytes, and says whether any of them needs an escape.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `len` bytes, which are four at least.
    unsafe fn copy_fours(from: *const u8, len: usize, to: *mut u8) -> bool;
}

/// Escapes fewer than sixteen bytes.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape_short<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (from, len) = (text.as_ptr(), text.len());
    // Two words, which may overlap, are all of the text.
    let any_special = if len >= 8 {
        // SAFETY: that many bytes are there to read, and to write.
        unsafe { B::copy_eights(from, len, to) }
    } else if len >= 4 {
        // SAFETY: likewise.
        unsafe { B::copy_fours(from, len, to) }
    } else {
        // SAFETY: the caller's promise.
        return unsafe { escape_three(text, to) };
    };
    if !any_special {
        return len;
    }
    // SAFETY: the caller's promise.
    unsafe { escape_bytes(text, to) }
}

/// Escapes up to three bytes, and would escape no more.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
unsafe fn escape_three(text: &[u8], to: *mut u8) -> usize {
    let mut written = 0;
    for byte in text.iter().take(3) {
        // SAFETY: six bytes at most were written for each byte before this one.
        written += unsafe { escape_byte(*byte, to.add(written)) };
    }
    written
}

/// Escapes a few bytes one by one.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(never)]
unsafe fn escape_bytes(text: &[u8], to: *mut u8) -> usize {
    let mut written = 0;
    for &byte in text {
        // SAFETY: six bytes at most were written for each byte before this one.
        written += unsafe { escape_byte(byte, to.add(written)) };
    }
    written
}

/// Escapes sixteen bytes or more, but fewer than [`WIDE`].
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape_middle<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let clean = if text.len() <= 32 {
        // SAFETY: there are as many bytes as each of the two has.
        unsafe { copy_ends::<B>(text, 16, to) }
    } else {
        // SAFETY: likewise.
        unsafe { copy_ends::<B>(text, 32, to) }
    };
    if clean {
        return text.len();
    }
    // SAFETY: the caller's promise.
    unsafe { escape_careful::<B>(text, to) }
}

/// Escapes [`WIDE`] bytes or more: in wide blocks, as long as another one is behind the block to read from when what follows
/// an escape is moved.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
pub(super) unsafe fn escape_wide<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= 2 * WIDE {
        // SAFETY: `2 * WIDE` bytes are left to read. `written <= 6 * read`, so there is room for six times as many.
        let (from, end) = unsafe { (text.as_ptr().add(read), to.add(written)) };
        let sixteen = |at: usize| {
            // SAFETY: inside of the first `WIDE` bytes on either side, as are all four below.
            unsafe { copy_sixteen::<B>(from.add(at), end.add(at)) << at }
        };
        let special = sixteen(0) | sixteen(16) | sixteen(32) | sixteen(48);
        // SAFETY: as above, and all of the block was copied.
        written += unsafe { escape_marked(from, end, WIDE, special) };
        read += WIDE;
    }
    // At least `WIDE` bytes are left, which are fewer than twice as many.
    let rest = &text[read..];
    // SAFETY: `written <= 6 * read`, so what the rest takes at most is there.
    let end = unsafe { to.add(written) };
    // SAFETY: there are as many bytes as each of the two ends has.
    if unsafe { copy_ends::<B>(rest, WIDE, end) } {
        return written + rest.len();
    }
    // SAFETY: as above.
    written + unsafe { escape_careful::<B>(rest, end) }
}

/// Copies sixteen bytes from `from` to `to`, and has a bit for each that needs an escape.
///
/// # Safety
///
/// `from` must be valid for reads, `to` for writes, of sixteen bytes.
#[inline(always)]
unsafe fn copy_sixteen<B: Block>(from: *const u8, to: *mut u8) -> u64 {
    let mut special = 0;
    for block in (0..16).step_by(B::LEN) {
        // SAFETY: inside of the sixteen bytes.
        special |= B::special(unsafe { B::copy(from.add(block), to.add(block)) }) << block;
    }
    special
}

/// Copies the first and the last `len` bytes of `text`, and says whether none of them needs an escape.
///
/// # Safety
///
/// `text` must be `len` bytes at least, and `to` valid for writes of as many as it is. `len` is a multiple of a block's length.
#[inline(always)]
unsafe fn copy_ends<B: Block>(text: &[u8], len: usize, to: *mut u8) -> bool {
    let mut seen = B::NOTHING_SEEN;
    let last = text.len() - len;
    for block in (0..len).step_by(B::LEN) {
        for at in [block, last + block] {
            // SAFETY: `at + B::LEN <= text.len()`.
            seen = B::see(seen, unsafe { B::copy(text.as_ptr().add(at), to.add(at)) });
        }
    }
    !B::any_special(seen)
}

/// Escapes a text of any length, block by block.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(never)]
unsafe fn escape_careful<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= B::LEN {
        // SAFETY: `B::LEN` bytes are left to read. `written <= 6 * read`, so there is room for six times as many.
        let (from, end) = unsafe { (text.as_ptr().add(read), to.add(written)) };
        // SAFETY: as above.
        let special = B::special(unsafe { B::copy(from, end) });
        if text.len() - read >= 2 * B::LEN {
            // SAFETY: as above, twice a block is left to read, and the block was copied.
            written += unsafe { escape_marked(from, end, B::LEN, special) };
            read += B::LEN;
        } else if special == 0 {
            read += B::LEN;
            written += B::LEN;
        } else {
            let clean = special.trailing_zeros() as usize;
            // SAFETY: `clean < B::LEN`, so this is still inside of that room, with the slack behind it.
            written += clean + unsafe { escape_byte(text[read + clean], end.add(clean)) };
            read += clean + 1;
        }
    }
    // SAFETY: `written <= 6 * read`, so what the rest takes at most is there.
    written + unsafe { escape_short::<B>(&text[read..], to.add(written)) }
}
