//! Escaping in blocks of bytes, generic over the type of block.
//!
//! Most texts of a trace are short and need no escape. So a text is copied and classified at once, and only escaped in
//! a second pass if some byte needs it.
#![allow(unsafe_code)]

use super::scalar::{any_needs_escape, escape_byte, escape_marked};

/// The number of bytes that are processed together in a long text.
pub(super) const WIDE: usize = 64;

/// A block of bytes that is copied and classified at once.
pub(super) trait Block {
    /// The number of bytes in a block: 8 or 16.
    const LEN: usize;

    /// The bytes of a block.
    type Bytes: Copy;

    /// A summary of blocks, from which [`any_special`](Self::any_special) tells whether any byte needs an escape.
    type Seen: Copy;

    /// The summary of no block.
    const NOTHING_SEEN: Self::Seen;

    /// Copies `LEN` bytes from `from` to `to`, and returns them.
    ///
    /// # Safety
    ///
    /// `from` must be valid for reads, `to` for writes, of `LEN` bytes.
    unsafe fn copy(from: *const u8, to: *mut u8) -> Self::Bytes;

    /// Returns a bit for each byte that needs an escape. The lowest bit is that of the first byte.
    fn special(bytes: Self::Bytes) -> u64;

    /// Adds a block to a summary.
    fn see(seen: Self::Seen, bytes: Self::Bytes) -> Self::Seen;

    /// Returns whether any byte of the summarised blocks needs an escape.
    fn any_special(seen: Self::Seen) -> bool;

    /// Returns whether any byte of these words needs an escape.
    fn any_special_in(words: [u32; 4]) -> bool;
}

/// Escapes fewer than 16 bytes.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape_short<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let len = text.len();
    let clean = if len >= 4 {
        // Four overlapping words cover the text. Branches on the length would be mispredicted: the lengths of names and
        // short texts vary at random.
        let middle = (len & 8) / 2;
        // SAFETY: `at + 4 <= len` for all four.
        let copy = |at| unsafe { copy_word(text.as_ptr().add(at), to.add(at)) };
        !B::any_special_in([copy(0), copy(middle), copy(len - 4 - middle), copy(len - 4)])
    } else {
        // SAFETY: the caller provides the bytes.
        unsafe { copy_three(text, to) }
    };
    if clean {
        return len;
    }
    // SAFETY: the caller provides the bytes.
    unsafe { escape_bytes(text, to) }
}

/// Copies a word and returns it.
///
/// # Safety
///
/// `from` must be valid for reads, `to` for writes, of four bytes.
#[inline(always)]
unsafe fn copy_word(from: *const u8, to: *mut u8) -> u32 {
    // SAFETY: the caller provides the bytes.
    let word = unsafe { from.cast::<u32>().read_unaligned() };
    // SAFETY: the caller provides the bytes.
    unsafe { to.cast::<u32>().write_unaligned(word) };
    word
}

/// Copies up to three bytes and returns whether none of them needs an escape.
///
/// # Safety
///
/// `text` must have at most three bytes, and `to` be valid for writes of as many.
#[inline(always)]
unsafe fn copy_three(text: &[u8], to: *mut u8) -> bool {
    let ([first, .., last] | [first @ last]) = text else { return true };
    let middle = text[text.len() / 2];
    // SAFETY: all three positions are inside of the text.
    unsafe {
        to.write(*first);
        to.add(text.len() / 2).write(middle);
        to.add(text.len() - 1).write(*last);
    }
    !any_needs_escape([*first, middle, *last])
}

/// Escapes a short text byte by byte.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(never)]
unsafe fn escape_bytes(text: &[u8], to: *mut u8) -> usize {
    let mut written = 0;
    for &byte in text {
        // SAFETY: at most six bytes were written for each byte before this one.
        written += unsafe { escape_byte(byte, to.add(written)) };
    }
    written
}

/// Escapes 16 to [`WIDE`]` - 1` bytes.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape_middle<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let len = text.len();
    let middle = (len & 32) / 2;
    // SAFETY: `at + 16 <= len`.
    if unsafe { copy_sixteens::<B, 4>(text, to, [0, middle, len - 16 - middle, len - 16]) } {
        return len;
    }
    // SAFETY: the caller provides the bytes.
    unsafe { escape_careful::<B>(text, to) }
}

/// Escapes [`WIDE`] bytes or more.
///
/// Wide blocks are processed while another one follows, because [`escape_marked`] reads up to twice a block.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
pub(super) unsafe fn escape_wide<B: Block>(text: &[u8], to: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    while text.len() - read >= 2 * WIDE {
        // SAFETY: `2 * WIDE` bytes are left to read, and `written <= 6 * read` leaves room for six times as many.
        let (from, end) = unsafe { (text.as_ptr().add(read), to.add(written)) };
        let sixteen = |at: usize| {
            // SAFETY: `at + 16 <= WIDE` in all four calls below.
            unsafe { copy_sixteen::<B>(from.add(at), end.add(at)) << at }
        };
        let special = sixteen(0) | sixteen(16) | sixteen(32) | sixteen(48);
        // SAFETY: as above, and the whole block was copied.
        written += unsafe { escape_marked(from, end, WIDE, special) };
        read += WIDE;
    }
    // `WIDE` to `2 * WIDE - 1` bytes are left.
    let rest = &text[read..];
    // SAFETY: `written <= 6 * read` leaves room for the bound of the rest.
    let end = unsafe { to.add(written) };
    let last = rest.len() - WIDE;
    let sixteens = [0, 16, 32, 48, last, last + 16, last + 32, last + 48];
    // SAFETY: each position is at most `rest.len() - 16`.
    if unsafe { copy_sixteens::<B, 8>(rest, end, sixteens) } {
        return written + rest.len();
    }
    // SAFETY: as above.
    written + unsafe { escape_careful::<B>(rest, end) }
}

/// Copies 16 bytes from `from` to `to`, and returns a bit for each that needs an escape.
///
/// # Safety
///
/// `from` must be valid for reads, `to` for writes, of 16 bytes.
#[inline(always)]
unsafe fn copy_sixteen<B: Block>(from: *const u8, to: *mut u8) -> u64 {
    let mut special = 0;
    for block in (0..16).step_by(B::LEN) {
        // SAFETY: inside of the 16 bytes.
        special |= B::special(unsafe { B::copy(from.add(block), to.add(block)) }) << block;
    }
    special
}

/// Copies the 16 bytes at each of these positions, and returns whether none of them needs an escape.
///
/// # Safety
///
/// Each position must be at most `text.len() - 16`, and `to` be valid for writes of `text.len()` bytes.
#[inline(always)]
unsafe fn copy_sixteens<B: Block, const N: usize>(text: &[u8], to: *mut u8, places: [usize; N]) -> bool {
    let mut seen = B::NOTHING_SEEN;
    for place in places {
        let mut at = place;
        while at < place + 16 {
            // SAFETY: `at + B::LEN <= text.len()`.
            seen = B::see(seen, unsafe { B::copy(text.as_ptr().add(at), to.add(at)) });
            at += B::LEN;
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
        // SAFETY: `B::LEN` bytes are left to read, and `written <= 6 * read` leaves room for six times as many.
        let (from, end) = unsafe { (text.as_ptr().add(read), to.add(written)) };
        // SAFETY: as above.
        let special = B::special(unsafe { B::copy(from, end) });
        if text.len() - read >= 2 * B::LEN {
            // SAFETY: as above; `2 * B::LEN` bytes are left to read, and the block was copied.
            written += unsafe { escape_marked(from, end, B::LEN, special) };
            read += B::LEN;
        } else if special == 0 {
            read += B::LEN;
            written += B::LEN;
        } else {
            let clean = special.trailing_zeros() as usize;
            // SAFETY: `clean < B::LEN`, so the escape is inside of that room and its slack.
            written += clean + unsafe { escape_byte(text[read + clean], end.add(clean)) };
            read += clean + 1;
        }
    }
    // SAFETY: `written <= 6 * read` leaves room for the bound of the rest.
    written + unsafe { escape_short::<B>(&text[read..], to.add(written)) }
}
