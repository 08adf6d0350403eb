//! What a sink lost, and why.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::encode::discard;

/// The account of what a sink lost. Kept apart from its writer, so that asking does not wait for the writer.
#[derive(Default)]
pub(super) struct Losses(Mutex<Account>);

#[derive(Default)]
pub(super) struct Account {
    /// Events that did not get out whole.
    pub(super) dropped: u64,
    /// The last error there was, if there was any.
    pub(super) last_error: Option<Arc<io::Error>>,
}

impl Losses {
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    pub(super) fn last_error(&self) -> Option<Arc<io::Error>> {
        self.lock().last_error.clone()
    }

    /// Counts an event that did not get out whole, because of `error`.
    pub(super) fn event(&self, error: io::Error) {
        self.lock().dropped += 1;
        self.remember(error);
    }

    /// Remembers an error that lost no event.
    pub(super) fn remember(&self, error: io::Error) {
        let forgotten = self.lock().last_error.replace(Arc::new(error));
        // An error can hold foreign code: that runs outside the lock, and a panic in it goes no further.
        discard(Box::new(forgotten));
    }

    pub(super) fn into_account(self) -> Account {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
