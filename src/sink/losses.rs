//! The number of lost events and the last error of a sink.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::fork::ForkGuard;
use super::sync::{AtomicU64, Mutex};
use crate::encode::EncodeOptions;
use crate::value::discard;

/// Counts lost events and keeps the last error. It has its own lock, so reading it never waits for the writer.
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

    /// Adds to the number of lost events.
    pub(super) fn add_dropped(&self, events: u64) {
        self.dropped.fetch_add(events, Ordering::Relaxed);
    }

    /// Counts an event that the encoder did not write.
    #[cold]
    #[inline(never)]
    pub(super) fn add_unwritten_line(&self, options: EncodeOptions, guard: &ForkGuard) {
        self.add_dropped(1);
        if !guard.is_owner() {
            // Another thread may have held the lock of the last error during the fork.
            return;
        }
        let text = format!("the line of an event is longer than {} bytes, or than free memory", options.line_limit);
        self.set_last_error(io::Error::other(text));
    }

    /// Replaces the last error, whether or not an event was lost by it.
    pub(super) fn set_last_error(&self, error: io::Error) {
        // Foreign code runs outside the lock: the allocator, and the old error's drop, which may also panic.
        let error = Arc::new(error);
        let old = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
        discard(Box::new(old));
    }
}
