//! Time a task spent working, told apart from time it spent waiting.

use std::time::{Duration, Instant};

/// Accumulates wait time separately from total elapsed time, so that a caller can report CPU time as `elapsed - wait`.
#[derive(Debug, Clone)]
pub struct Timing {
    started: Instant,
    wait: Duration,
}

impl Timing {
    /// Starts now, with no wait.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), wait: Duration::ZERO }
    }

    /// Counts `wait` as waited.
    pub fn add_wait(&mut self, wait: Duration) {
        self.wait = self.wait.saturating_add(wait);
    }

    /// Runs `work` and counts the time it takes as waited. Gives back what it returned, and that time.
    pub fn wait_for<R>(&mut self, work: impl FnOnce() -> R) -> (R, Duration) {
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
        self.wait
    }

    /// Elapsed time without the waits; zero if more was counted as waited than has passed.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.elapsed().saturating_sub(self.wait)
    }
}
