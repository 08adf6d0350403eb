//! Keeps signals away from a thread of the library.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Runs `start` with all signals blocked on this thread, so that a thread it starts never receives one.
///
/// A program that blocks a signal on its own threads, to wait for it, would otherwise receive it on ours, where it
/// acts.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> io::Result<T> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills `all` in, which the second one reads; `before` has room for a whole set.
    let code = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr())
    };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    // SAFETY: the call succeeded, so it filled the set in.
    let _restore = RestoreOnDrop(unsafe { before.assume_init() });
    Ok(start())
}

struct RestoreOnDrop(libc::sigset_t);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        // It can only fail for an unknown first argument.
        // SAFETY: the pointer is to a whole set, and the old set is not asked for.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}
