//! What a sink lost, and why.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::sync::{AtomicU64, Mutex};
use crate::value::discard;

/// The account of what a sink lost. Kept apart from its writer, so that asking does not wait for the writer.
#[derive(Default)]
pub(super) struct Losses {
    dropped: AtomicU64,
    last_error: Mutex<Option<Arc<io::Error>>>,
}

impl Losses {
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(super) fn last_error(&self) -> Option<Arc<io::Error>> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts so many events that did not get out whole.
    pub(super) fn count(&self, events: u64) {
        self.dropped.fetch_add(events, Ordering::Relaxed);
    }

    /// Remembers an error, whether or not it lost an event.
    pub(super) fn remember(&self, error: io::Error) {
        let forgotten = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(error));
        // An error can hold foreign code: that runs outside the lock, and a panic in it goes no further.
        discard(Box::new(forgotten));
    }
}
