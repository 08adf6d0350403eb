//! The synchronisation types of sinks: the standard library's, or loom's in a model check.

#[cfg(not(all(loom, test)))]
mod chosen {
    use std::cell::Cell;
    pub(in crate::sink) use std::sync::atomic::{AtomicBool, AtomicU64};
    pub(in crate::sink) use std::sync::{Mutex, MutexGuard};

    thread_local! {
        /// Whether this thread is inside foreign code under a lock. It needs no destructor, so it can be used while the
        /// thread's local variables are destroyed.
        pub(in crate::sink) static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    }
}

#[cfg(all(loom, test))]
mod chosen {
    use std::cell::Cell;

    pub(in crate::sink) use loom::sync::atomic::{AtomicBool, AtomicU64};
    pub(in crate::sink) use loom::sync::{Mutex, MutexGuard};

    loom::thread_local! {
        pub(in crate::sink) static IS_INSIDE: Cell<bool> = Cell::new(false);
    }
}

pub(super) use chosen::*;
