//! The best backend that this processor has for longer texts. The first text asks which that is.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, Ordering};

use super::{Native, avx512, blocks};

type Backend = unsafe fn(&[u8], *mut u8) -> usize;

/// A [`Backend`].
static BEST: AtomicPtr<()> = AtomicPtr::new(ask as *mut ());

/// Escapes [`WIDE`](super::WIDE) bytes or more.
///
/// # Safety
///
/// As for [`escape_into`](super::escape_into).
#[inline(always)]
pub(super) unsafe fn escape(text: &[u8], to: *mut u8) -> usize {
    // Nothing else is published with the pointer.
    let best = BEST.load(Ordering::Relaxed);
    // SAFETY: what is stored there is always a `Backend`, and one that this processor has.
    let best = unsafe { std::mem::transmute::<*mut (), Backend>(best) };
    // SAFETY: the caller's promise.
    unsafe { best(text, to) }
}

#[cold]
unsafe fn ask(text: &[u8], to: *mut u8) -> usize {
    let best: Backend = if avx512::is_available() { avx512::escape } else { blocks::escape_wide::<Native> };
    BEST.store(best as *mut (), Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe { best(text, to) }
}
