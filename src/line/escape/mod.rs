//! JSON escaping: escapes `"`, `\` and the bytes below 0x20, and copies everything else.
//!
//! Text is copied and classified block by block, from a single load. [`blocks`] implements this for any block type: 16
//! bytes with SSE2 on x86-64 (`sse2`) or NEON on aarch64 (`neon`), 8 bytes in an integer elsewhere (`swar`). On
//! processors with AVX-512 VBMI2, `dispatch` selects `avx512` for long texts, which inserts backslashes within a
//! register and so does not slow down with the number of escapes. The tests compare each backend with a naive
//! implementation.
//!
//! Invariant: [`bound`] keeps all stores inside of the buffer. At any time at most six bytes are written per byte read,
//! and each step stores at most [`SLACK`] bytes from the position of the next output byte on.
//!
//! The fast path of short texts has no loop: the compiler would turn a loop that copies and classifies into a call of
//! `memcpy` and a second pass.
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

/// The number of bytes that a store may touch past the end of the output.
pub(super) const SLACK: usize = WIDE;

/// The number of bytes that are processed together in a long text.
const WIDE: usize = 64;

/// Returns the most bytes that [`escape_into`] touches for a text of `len` bytes.
///
/// Neither the bound nor a sum of a few of them overflows: no target has an address space of 2<sup>58</sup> bytes.
#[inline(always)]
pub(super) const fn bound(len: u64) -> u64 {
    6 * len + SLACK as u64
}

/// Writes `text` to `to`, escaped, and returns the number of bytes written.
///
/// # Safety
///
/// `to` must be valid for writes of [`bound`]`(text.len())` bytes, and not overlap `text`.
#[inline(always)]
pub(super) unsafe fn escape_into(text: &[u8], to: *mut u8) -> usize {
    if text.len() < 16 {
        // SAFETY: the caller provides the bytes.
        unsafe { blocks::escape_short::<Native>(text, to) }
    } else {
        // SAFETY: the caller provides the bytes.
        unsafe { escape_long(text, to) }
    }
}

/// Escapes 16 bytes or more. Not inlined, and only tail-calls, so it saves no registers.
///
/// # Safety
///
/// As for [`escape_into`].
#[inline(never)]
unsafe fn escape_long(text: &[u8], to: *mut u8) -> usize {
    if text.len() < WIDE {
        // SAFETY: the caller provides the bytes.
        unsafe { blocks::escape_middle::<Native>(text, to) }
    } else {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller provides the bytes.
        unsafe {
            dispatch::escape(text, to)
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the caller provides the bytes.
        unsafe {
            blocks::escape_wide::<Native>(text, to)
        }
    }
}

/// Maps each byte to its output: the first character is in the lowest byte, the length in the highest.
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

/// Returns whether any of the bytes needs an escape.
#[inline(always)]
fn any_needs_escape([a, b, c]: [u8; 3]) -> bool {
    let escapes = ESCAPES[usize::from(a)] | ESCAPES[usize::from(b)] | ESCAPES[usize::from(c)];
    escapes >> 56 != 1
}

/// Writes one byte, escaped if necessary, and returns the number of bytes written.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline(always)]
unsafe fn escape_byte(byte: u8, to: *mut u8) -> usize {
    let escape = ESCAPES[usize::from(byte)];
    // SAFETY: the caller provides the bytes.
    unsafe { to.cast::<[u8; 8]>().write(escape.to_le_bytes()) };
    (escape >> 56) as usize
}

/// Escapes the marked bytes of a block of `len` bytes that was copied to `to`, and returns the block's escaped length.
///
/// Bit `i` of `special` marks byte `i`. After each escape, the bytes that follow it are copied again from `from`, so no
/// step depends on a store of an earlier one.
///
/// # Safety
///
/// - `len` must be at least 8.
/// - `from` must be valid for reads of `2 * len` bytes, and its first `len` bytes must have been copied to `to`.
/// - `to` must be valid for writes of `6 * (last + 1) + len` bytes, where `last` is the index of the last marked byte.
#[inline(always)]
unsafe fn escape_marked(from: *const u8, to: *mut u8, len: usize, mut special: u64) -> usize {
    // The number of bytes that the escapes have added so far.
    let mut longer = 0;
    while special != 0 {
        let at = special.trailing_zeros() as usize;
        special &= special - 1;
        // SAFETY: `at < len`.
        let byte = unsafe { from.add(at).read() };
        // SAFETY: `longer <= 5 * at`.
        longer += unsafe { escape_byte(byte, to.add(at + longer)) } - 1;
        let read = at + 1;
        // SAFETY: `read <= len` leaves `len` bytes to read, and `longer <= 5 * read` leaves room to write them.
        unsafe { to.add(read + longer).copy_from_nonoverlapping(from.add(read), len) };
    }
    len + longer
}
