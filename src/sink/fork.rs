//! Detects forked children without a system call per event.
#![allow(unsafe_code)]

use std::io;

/// Identifies the process that created it.
///
/// A child made by `fork` is recognised. A child made by `_Fork` or by a raw `clone` system call is not, because these
/// run no fork handlers.
#[derive(Debug)]
pub(crate) struct ForkGuard {
    /// The value of `forks()` in the process that created the guard.
    forks: u32,
}

impl ForkGuard {
    /// Creates a guard that belongs to this process.
    ///
    /// # Errors
    ///
    /// If the system has no memory to register a fork handler.
    pub(crate) fn new() -> io::Result<Self> {
        handler::register()?;
        Ok(Self { forks: handler::forks() })
    }

    /// Whether this process created the guard. Costs a load and a comparison.
    #[inline]
    pub(crate) fn is_owner(&self) -> bool {
        self.forks == handler::forks()
    }
}

// Miri supports neither forks nor `pthread_atfork`.
#[cfg(all(unix, not(miri)))]
mod handler {
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    /// The number of forks between the process that registered the handler and this one.
    static FORKS: AtomicU32 = AtomicU32::new(0);

    /// Makes `forks` count from here on. Takes no lock, because a child forked meanwhile could wait for it forever.
    pub(super) fn register() -> io::Result<()> {
        static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
        if !IS_REGISTERED.load(Ordering::Relaxed) {
            // Two threads can register the handler twice. Each fork then counts as two, which still changes the number.
            // SAFETY: the handler only adds to an atomic integer, which is async-signal-safe. It lives as long as the
            // code that contains it.
            match unsafe { libc::pthread_atfork(None, None, Some(count)) } {
                0 => IS_REGISTERED.store(true, Ordering::Relaxed),
                code => return Err(io::Error::from_raw_os_error(code)),
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn forks() -> u32 {
        FORKS.load(Ordering::Relaxed)
    }

    unsafe extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(not(all(unix, not(miri))))]
mod handler {
    use std::io;

    #[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
    pub(super) fn register() -> io::Result<()> {
        Ok(())
    }

    pub(super) const fn forks() -> u32 {
        0
    }
}
