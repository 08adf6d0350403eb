//! Tells a forked child from the process it was forked from, without asking the system at each event.
#![allow(unsafe_code)]

use std::io;

/// The process that something was made in.
pub(super) struct Origin(u32);

impl Origin {
    /// This process.
    ///
    /// # Errors
    ///
    /// When the system has no memory left to remember that forks are watched.
    pub(super) fn here() -> io::Result<Self> {
        watch::start()?;
        Ok(Self(watch::forks()))
    }

    /// Whether this is still that process, and not a child forked from it. A load and a comparison.
    #[inline]
    pub(super) fn is_here(&self) -> bool {
        self.0 == watch::forks()
    }
}

// Miri knows neither forks nor the function that watches them.
#[cfg(all(unix, not(miri)))]
mod watch {
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    /// How many forks lie between the process that started to watch and this one.
    static FORKS: AtomicU32 = AtomicU32::new(0);

    /// Has `forks` count from here on. Takes no lock: a child forked in the middle of it could wait for that forever.
    pub(super) fn start() -> io::Result<()> {
        static IS_STARTED: AtomicBool = AtomicBool::new(false);
        if !IS_STARTED.load(Ordering::Relaxed) {
            // Two threads at once add the handler twice, and a fork counts twice: as good as once.
            // SAFETY: the handler does nothing but add to an atomic number, which is allowed between a fork and whatever
            // comes next, and it is there for as long as the code that holds it.
            match unsafe { libc::pthread_atfork(None, None, Some(count)) } {
                0 => IS_STARTED.store(true, Ordering::Relaxed),
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
mod watch {
    use std::io;

    #[expect(clippy::unnecessary_wraps, reason = "where there are forks it can fail")]
    pub(super) fn start() -> io::Result<()> {
        Ok(())
    }

    pub(super) const fn forks() -> u32 {
        0
    }
}
