//! A lock that no thread waits for while it holds it itself.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::sync::{AtomicUsize, HERE, Mutex};

/// A value that one thread at a time works on. What works on it may be foreign code, and come back here.
///
/// It has cache lines of its own (processors fetch them in pairs): what stands beside it is read while others are at it.
///
/// Threads that wait do not hand their lines to the one that writes, to go out in one write. That was measured: between 2 and
/// 64 threads on two cores there were 1.0 to 1.2 lines in a write, and an event took up to 1.7 times as long.
#[repr(align(128))]
pub(super) struct Exclusive<T> {
    value: Mutex<T>,
    /// The mark of the thread that is at work; 0 when none is.
    holder: AtomicUsize,
}

impl<T> Exclusive<T> {
    pub(super) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: AtomicUsize::new(0) }
    }

    /// Runs `work` on the value once no other thread is at it, whether or not some thread died there. `None` when this
    /// very thread is at it further up its stack: it would wait for itself.
    #[inline]
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mark = this_thread();
        // A thread's mark is only ever stored and taken back by that thread, so it can't see an old state of its own.
        if self.holder.load(Ordering::Relaxed) == mark {
            return None;
        }
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.holder.store(mark, Ordering::Relaxed);
        let _leave = Leave(&self.holder);
        Some(work(&mut value))
    }

    /// The value, when nobody else can be at it. Takes no lock.
    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Leave<'h>(&'h AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// What tells this thread from all others that are alive. Unlike [`std::thread::current`] it can be asked for at any time,
/// also while the thread's own variables are being destroyed.
#[inline]
fn this_thread() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_thread_does_not_wait_for_itself() {
        let exclusive = Exclusive::new(1);
        let inner = exclusive.with(|outer| {
            *outer += 1;
            exclusive.with(|inner| *inner += 10)
        });
        assert_eq!(inner, Some(None));
        assert_eq!(exclusive.with(|value| *value), Some(2));
    }

    #[test]
    fn other_threads_wait() {
        let mut exclusive = Exclusive::new(0_u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| assert!(exclusive.with(|value| *value += 1).is_some())));
            }
        });
        assert_eq!(*exclusive.get_mut(), 400);
    }

    #[test]
    fn work_that_panics_is_over() {
        let mut exclusive = Exclusive::new(1);
        assert!(catch_unwind(AssertUnwindSafe(|| exclusive.with(|_| panic!("no")))).is_err());
        assert_eq!(exclusive.with(|value| *value), Some(1));
        assert_eq!(*exclusive.get_mut(), 1);
    }
}
