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
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, feature = "__fuzzing", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod swar;
#[cfg(test)]
pub(super) mod tests;

#[cfg(feature = "__fuzzing")]
pub use self::backends::escaped_by_every_backend;
use self::blocks::WIDE;
#[cfg(target_arch = "aarch64")]
use self::neon::Block as Native;
#[cfg(target_arch = "x86_64")]
use self::sse2::Block as Native;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::swar::Block as Native;

/// The number of bytes that a store may touch past the end of the output.
pub(super) const SLACK: usize = WIDE;

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
