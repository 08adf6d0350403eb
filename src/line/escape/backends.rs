//! All escaping backends that this machine supports, by name. Tests check that they agree.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{Native, blocks, bound, escape_into, swar};

/// A function with the contract of [`escape_into`].
pub(super) type Backend = unsafe fn(&[u8], *mut u8) -> usize;

/// Lists the backends that this machine supports.
pub(super) fn all() -> Vec<(&'static str, Backend)> {
    let always: [(&str, Backend); 3] = [
        ("the default backend", default),
        ("integers", over_blocks::<swar::Block>),
        ("native blocks", over_blocks::<Native>),
    ];
    #[cfg(target_arch = "x86_64")]
    let optional = avx512::is_available().then_some(("AVX-512", avx512::escape as Backend));
    #[cfg(not(target_arch = "x86_64"))]
    let optional = None;
    always.into_iter().chain(optional).collect()
}

/// Escapes `text` with each backend that this machine supports. Returns the name and the output of each.
#[cfg(feature = "__fuzzing")]
#[must_use]
pub fn escaped_by_every_backend(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let escaped = |backend: Backend| {
        // The capacity is exactly the bound, so that a checking allocator detects any store past it.
        let mut out = Vec::with_capacity(bound(text.len() as u64) as usize);
        // SAFETY: the vector has room for `bound` bytes.
        let written = unsafe { backend(text, out.as_mut_ptr()) };
        // SAFETY: the backend initialised `written` bytes.
        unsafe { out.set_len(written) };
        out
    };
    all().into_iter().map(|(name, backend)| (name, escaped(backend))).collect()
}

/// Calls [`escape_into`], which is inlined and so has no address of its own.
///
/// # Safety
///
/// As for [`escape_into`].
unsafe fn default(text: &[u8], to: *mut u8) -> usize {
    // SAFETY: the caller provides the bytes.
    unsafe { escape_into(text, to) }
}

/// Escapes a text of any length with one type of block.
///
/// # Safety
///
/// As for [`escape_into`].
unsafe fn over_blocks<B: blocks::Block>(text: &[u8], to: *mut u8) -> usize {
    if text.len() < 16 {
        // SAFETY: the caller provides the bytes.
        unsafe { blocks::escape_short::<B>(text, to) }
    } else if text.len() < blocks::WIDE {
        // SAFETY: the caller provides the bytes.
        unsafe { blocks::escape_middle::<B>(text, to) }
    } else {
        // SAFETY: the caller provides the bytes.
        unsafe { blocks::escape_wide::<B>(text, to) }
    }
}
