//! What each thread keeps for answering: a buffer for what is asked, a decoder for what is answered.

use std::cell::Cell;

use crate::decode::Decoder;

/// Buffers and decoders of one thread, reused from call to call.
#[derive(Default)]
pub(super) struct Scratch {
    /// What is asked, encoded.
    pub(super) actual: Vec<u8>,
    pub(super) decoder: Decoder,
    /// For comparing two values, each of which has to be decoded.
    pub(super) other_decoder: Decoder,
}

/// A buffer that has grown past this is given back.
const KEPT_CAPACITY: usize = 1024 * 1024;

thread_local! {
    /// Empty while it is in use: a value whose own code asks a replay gets another.
    static FREE: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Lends this thread's scratch to `work`.
pub(super) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    // At the very end of a thread its scratch is gone, and so is the place to keep one.
    let mut scratch = FREE.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = work(&mut scratch);
    if scratch.actual.capacity() <= KEPT_CAPACITY {
        scratch.actual.clear();
        let _ = FREE.try_with(|free| free.set(Some(scratch)));
    }
    result
}
