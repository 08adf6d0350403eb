//! Memory for the parts of one event, all given back at once.

use std::mem::MaybeUninit;

use bumpalo::Bump;

/// Memory for the values of one event: what the decoder builds them in, and what an owned event is viewed through.
///
/// Allocating in it moves a pointer; clearing it gives everything back at once and keeps the memory for the next event,
/// so that nothing is allocated in steady state.
#[derive(Debug, Default)]
pub struct Arena {
    memory: Bump,
}

/// An arena that has grown past this gives its memory back when it is cleared.
const KEPT: usize = 1024 * 1024;

impl Arena {
    /// An empty arena. Allocates nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes everything back.
    pub fn clear(&mut self) {
        if self.memory.allocated_bytes() > KEPT {
            self.memory = Bump::new();
        } else {
            self.memory.reset();
        }
    }

    pub(crate) fn one<T: Copy>(&self, value: T) -> &T {
        self.memory.alloc(value)
    }

    pub(crate) fn slice<T: Copy>(&self, values: &[T]) -> &[T] {
        if values.is_empty() { &[] } else { self.memory.alloc_slice_copy(values) }
    }

    /// `len` values, each made by its index. Making one may itself use the arena.
    pub(crate) fn slice_of<T: Copy>(&self, len: usize, make: impl FnMut(usize) -> T) -> &[T] {
        if len == 0 { &[] } else { self.memory.alloc_slice_fill_with(len, make) }
    }

    #[cfg(test)]
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.memory.allocated_bytes()
    }

    /// `len` bytes to write to.
    pub(crate) fn uninit(&self, len: usize) -> &mut [MaybeUninit<u8>] {
        self.memory.alloc_slice_fill_with(len, |_| MaybeUninit::uninit())
    }
}
