//! What sinks share between threads: the standard library's, or in a model check loom's, which tries all orders.

#[cfg(not(all(loom, test)))]
mod chosen {
    pub(in crate::sink) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub(in crate::sink) use std::sync::{Mutex, MutexGuard};

    thread_local! {
        /// Its address tells a thread from all others that are alive.
        pub(in crate::sink) static HERE: u8 = const { 0 };
    }
}

#[cfg(all(loom, test))]
mod chosen {
    pub(in crate::sink) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub(in crate::sink) use loom::sync::{Mutex, MutexGuard};

    loom::thread_local! {
        pub(in crate::sink) static HERE: u8 = 0;
    }
}

pub(super) use chosen::*;
