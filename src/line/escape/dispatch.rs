//! Run-time dispatch of long texts to the best backend for this processor, chosen on first use.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, Ordering};

use super::{avx512, blocks, sse2};

type Backend = unsafe fn(&[u8], *mut u8) -> usize;

/// The chosen [`Backend`]; [`detect`] until the first call.
static BEST: AtomicPtr<()> = AtomicPtr::new(detect as *mut ());

/// Escapes [`WIDE`](super::WIDE) bytes or more.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape(text: &[u8], to: *mut u8) -> usize {
    // `Relaxed` is enough: the pointer publishes no other memory.
    let best = BEST.load(Ordering::Relaxed);
    // SAFETY: `BEST` only ever holds a `Backend` that this processor supports.
    let best = unsafe { std::mem::transmute::<*mut (), Backend>(best) };
    // SAFETY: the caller provides the bytes.
    unsafe { best(text, to) }
}

/// Chooses the backend for all later calls, and escapes the first text with it.
///
/// # Safety
///
/// As for [`escape`].
#[cold]
unsafe fn detect(text: &[u8], to: *mut u8) -> usize {
    let best: Backend = if avx512::is_available() { avx512::escape } else { blocks::escape_wide::<sse2::Block> };
    BEST.store(best as *mut (), Ordering::Relaxed);
    // SAFETY: the caller provides the bytes.
    unsafe { best(text, to) }
}
