//! Every backend that this machine has to escape a text, by name, for tests that hold each to the same answer.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{Native, WIDE, blocks, bound, escape_into, swar};

/// A backend to escape a text, to be called as [`escape_into`].
pub(super) type Backend = unsafe fn(&[u8], *mut u8) -> usize;

/// Every backend there is on this machine.
pub(super) fn all() -> Vec<(&'static str, Backend)> {
    let everywhere: [(&str, Backend); 3] = [
        ("the backend that is chosen", chosen),
        ("plain integers", over_blocks::<swar::Block>),
        ("this machine's blocks", over_blocks::<Native>),
    ];
    #[cfg(target_arch = "x86_64")]
    let sometimes = avx512::is_available().then_some(("AVX-512", avx512::escape as Backend));
    #[cfg(not(target_arch = "x86_64"))]
    let sometimes = None;
    everywhere.into_iter().chain(sometimes).collect()
}

/// `text` escaped in every backend there is, each with its name.
#[cfg(feature = "__fuzzing")]
#[must_use]
pub fn escaped_by_every_backend(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let escaped = |backend: Backend| {
        // With room for what the bound says and no byte more, so that a checking allocator sees a store that goes further.
        let mut out = Vec::with_capacity(bound(text.len() as u64) as usize);
        // SAFETY: that room is there.
        let written = unsafe { backend(text, out.as_mut_ptr()) };
        // SAFETY: so many bytes were written.
        unsafe { out.set_len(written) };
        out
    };
    all().into_iter().map(|(name, backend)| (name, escaped(backend))).collect()
}

unsafe fn chosen(text: &[u8], to: *mut u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { escape_into(text, to) }
}

unsafe fn over_blocks<B: blocks::Block>(text: &[u8], to: *mut u8) -> usize {
    if text.len() < 16 {
        // SAFETY: the caller's promise.
        unsafe { blocks::escape_short::<B>(text, to) }
    } else if text.len() < WIDE {
        // SAFETY: the caller's promise.
        unsafe { blocks::escape_middle::<B>(text, to) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { blocks::escape_wide::<B>(text, to) }
    }
}
