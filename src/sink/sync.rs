//! The synchronisation types of sinks: the standard library's, or loom's in a model check.

#[cfg(not(all(loom, test)))]
mod chosen {
    pub(in crate::sink) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub(in crate::sink) use std::sync::{Mutex, MutexGuard};

    thread_local! {
        /// Its address differs between living threads.
        pub(in crate::sink) static THREAD_MARK: u8 = const { 0 };
    }
}

#[cfg(all(loom, test))]
mod chosen {
    pub(in crate::sink) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub(in crate::sink) use loom::sync::{Mutex, MutexGuard};

    loom::thread_local! {
        pub(in crate::sink) static THREAD_MARK: u8 = 0;
    }
}

pub(super) use chosen::*;
