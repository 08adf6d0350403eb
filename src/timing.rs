//! Time a task spent working, told apart from time it spent waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Accumulates wait time separately from total elapsed time, so that a caller can report CPU time as `elapsed - wait`.
///
/// Any thread may count waits. Waits of several threads at a time add up, and so may come to more than has passed.
#[derive(Debug)]
pub struct Timing {
    started: Instant,
    /// Whole nanoseconds: five centuries of them fit.
    wait: AtomicU64,
}

impl Timing {
    /// Starts now, with no wait.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), wait: AtomicU64::new(0) }
    }

    /// Counts `wait` as waited.
    pub fn add_wait(&self, wait: Duration) {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        let add = |so_far: u64| Some(so_far.saturating_add(wait));
        // Always `Ok`: `add` always has a next value.
        let _ = self.wait.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Runs `work` and counts the time it takes as waited. Gives back what it returned, and that time.
    pub fn wait_for<R>(&self, work: impl FnOnce() -> R) -> (R, Duration) {
        let began = Instant::now();
        let result = work();
        let took = began.elapsed();
        self.add_wait(took);
        (result, took)
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time waited so far.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait.load(Ordering::Relaxed))
    }

    /// Elapsed time without the waits; zero if more was counted as waited than has passed.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.elapsed().saturating_sub(self.wait())
    }
}
