//! The buffers and decoders that each thread reuses to answer calls.

use std::cell::Cell;

use crate::decode::Decoder;

/// Buffers and decoders of one thread, reused from call to call.
#[derive(Default)]
pub(super) struct Scratch {
    /// The encoded arguments of the actual call.
    pub(super) actual: Vec<u8>,
    pub(super) decoder: Decoder,
    /// A second decoder, to compare two values.
    pub(super) other_decoder: Decoder,
}

/// A buffer with a larger capacity is freed after use.
const KEPT_CAPACITY: usize = 1024 * 1024;

thread_local! {
    /// Empty while it is in use. A value whose code calls a replay re-entrantly gets another.
    static FREE: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Passes the thread's scratch to `work`.
pub(super) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    // At the end of a thread the thread-local is destroyed.
    let mut scratch = FREE.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = work(&mut scratch);
    if scratch.actual.capacity() <= KEPT_CAPACITY {
        scratch.actual.clear();
        let _ = FREE.try_with(|free| free.set(Some(scratch)));
    }
    result
}
