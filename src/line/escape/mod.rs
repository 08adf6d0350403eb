//! JSON escaping: `"` and `\` and the bytes below 0x20, everything else as it is.
//!
//! The text is copied while it is looked at, in blocks: the bytes are stored as they are, and what needs an escape is told from
//! the same load. `blocks` says what that means for a text, whatever a block is: sixteen bytes with SSE2, which every x86-64
//! has (`sse2`), or NEON, which every aarch64 has (`neon`), eight in a plain integer elsewhere (`swar`). On processors with
//! AVX-512 VBMI2 longer texts go another way (`avx512`, chosen by `dispatch`): the text is moved apart in a register, whatever
//! number of escapes it has. All of them are tested against the naive form on every machine that has them (`tests`).
//!
//! Whoever changes this: `bound` is what keeps the stores inside of the buffer. At any time at most six bytes were written
//! for each byte read, and a step stores at most `SLACK` bytes at the place where the next byte goes. A loop that only copies
//! and looks becomes a call of `memcpy` and a second pass: what is short is written out without one.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(test, feature = "__fuzzing"))]
mod backends;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, feature = "__fuzzing", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod swar;
#[cfg(test)]
pub(super) mod tests;

#[cfg(feature = "__fuzzing")]
pub use self::backends::escaped_by_every_backend;

#[cfg(target_arch = "aarch64")]
use self::neon::Block as Native;
#[cfg(target_arch = "x86_64")]
use self::sse2::Block as Native;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::swar::Block as Native;

/// Bytes that a store may touch past the last byte that counts.
pub(super) const SLACK: usize = WIDE;

/// Bytes that are looked at together in a longer text.
const WIDE: usize = 64;

/// The most bytes that [`escape_into`] touches for a text of `len` bytes. Does not overflow, nor does a sum of some of them: no
/// target has an address space of 2<sup>58</sup> bytes.
#[inline(always)]
pub(super) const fn bound(len: u64) -> u64 {
    6 * len + SLACK as u64
}

/// Escapes `text` to `to`, and says how many bytes that took.
///
/// # Safety
///
/// `to` must be valid for writes of [`bound`]`(text.len())` bytes, and not overlap `text`.
#[inline(always)]
pub(super) unsafe fn escape_into(text: &[u8], to: *mut u8) -> usize {
    if text.len() < 16 {
        // SAFETY: the caller's promise.
        unsafe { blocks::escape_short::<Native>(text, to) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { escape_long(text, to) }
    }
}

/// Escapes sixteen bytes or more. Out of line, and all that it does is to go on elsewhere: nothing has to be saved for that.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(never)]
unsafe fn escape_long(text: &[u8], to: *mut u8) -> usize {
    if text.len() < WIDE {
        // SAFETY: the caller's promise.
        unsafe { blocks::escape_middle::<Native>(text, to) }
    } else {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's promise.
        unsafe {
            dispatch::escape(text, to)
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the caller's promise.
        unsafe {
            blocks::escape_wide::<Native>(text, to)
        }
    }
}

/// For each byte, what is written for it, the first character in the lowest byte, and its length in the highest.
static ESCAPES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = u64::from_le_bytes([byte as u8, 0, 0, 0, 0, 0, 0, 1]);
        byte += 1;
    }
    let hex = b"0123456789abcdef";
    let mut control = 0;
    while control < 0x20 {
        let digits = [hex[control >> 4], hex[control & 15]];
        table[control] = u64::from_le_bytes([b'\\', b'u', b'0', b'0', digits[0], digits[1], 0, 6]);
        control += 1;
    }
    let short = [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't')];
    let mut index = 0;
    while index < short.len() {
        let (byte, letter) = short[index];
        table[byte as usize] = u64::from_le_bytes([b'\\', letter, 0, 0, 0, 0, 0, 2]);
        index += 1;
    }
    table
};

#[inline(always)]
fn any_needs_escape([a, b, c]: [u8; 3]) -> bool {
    let escapes = ESCAPES[usize::from(a)] | ESCAPES[usize::from(b)] | ESCAPES[usize::from(c)];
    escapes >> 56 != 1
}

/// Writes what stands for one byte, and says how many bytes that is.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline(always)]
unsafe fn escape_byte(byte: u8, to: *mut u8) -> usize {
    let escape = ESCAPES[usize::from(byte)];
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; 8]>().write(escape.to_le_bytes()) };
    (escape >> 56) as usize
}

/// Writes the escapes of the bytes of a block that `special` has a bit for, the first byte's the lowest, and what follows each
/// again behind it: no later step waits for a load of an earlier one. Says how many bytes the block takes then.
///
/// # Safety
///
/// `from` must be valid for reads of `2 * len` bytes, `to` for writes of `6 * (last + 1) + len` bytes when the last special byte
/// is at `last`, and the first `len` bytes of `from` already be at `to`. A block has at least eight bytes.
#[inline(always)]
unsafe fn escape_marked(from: *const u8, to: *mut u8, len: usize, mut special: u64) -> usize {
    // How much longer the text has become so far.
    let mut longer = 0;
    while special != 0 {
        let at = special.trailing_zeros() as usize;
        special &= special - 1;
        // SAFETY: `at < len`.
        let byte = unsafe { from.add(at).read() };
        // SAFETY: `longer <= 5 * at`.
        longer += unsafe { escape_byte(byte, to.add(at + longer)) } - 1;
        let read = at + 1;
        // SAFETY: `read <= len`, so a block is there to read; `longer <= 5 * read`, so one is there to write.
        unsafe { to.add(read + longer).copy_from_nonoverlapping(from.add(read), len) };
    }
    len + longer
}
