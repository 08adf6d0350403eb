//! Every way this machine has to escape a text, by name, for tests that hold each to the same answer.
#![allow(unsafe_code)]

use super::{Block, bound, escape_with, swar};

/// A way to escape a text, and its name.
pub type Path = (&'static str, fn(&[u8]) -> Vec<u8>);

/// Every way there is on this machine.
#[must_use]
pub fn all() -> Vec<Path> {
    vec![
        ("swar", escaped::<swar::Block>),
        #[cfg(target_arch = "x86_64")]
        ("sse2", escaped::<super::sse2::Block>),
    ]
}

fn escaped<B: Block>(text: &[u8]) -> Vec<u8> {
    // With room for what the bound says and no byte more, so that a checking allocator sees a store that goes further.
    let mut out = Vec::with_capacity(bound(text.len()));
    // SAFETY: that room is there.
    let written = unsafe { escape_with::<B>(text, out.as_mut_ptr()) };
    // SAFETY: so many bytes were written.
    unsafe { out.set_len(written) };
    out
}
