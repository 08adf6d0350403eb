//! Measures the CPU time of a task: its elapsed time without its waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::line::number::nanoseconds;

/// Measures elapsed time and accumulates wait time. CPU time is their difference.
///
/// Any thread may add waits. Concurrent waits add up, so their sum can exceed the elapsed time.
///
/// Around a host call, read the clock only while a sink [is recording](crate::TraceSink::is_recording), and add the
/// wait with [`add_wait`](Self::add_wait). [The guide](crate::integrating) shows the code.
#[derive(Debug)]
pub struct Timing {
    started: Instant,
    /// Nanoseconds. A `u64` lasts for 584 years.
    wait: AtomicU64,
}

impl Timing {
    /// Starts measuring, with no waits.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), wait: AtomicU64::new(0) }
    }

    /// Adds `wait` to the wait time, which saturates at `u64::MAX` nanoseconds.
    pub fn add_wait(&self, wait: Duration) {
        let wait = nanoseconds(wait);
        let add = |so_far: u64| Some(so_far.saturating_add(wait));
        // Never fails, since `add` never returns `None`.
        let _ = self.wait.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Runs `work` and adds the time that it takes to the wait time. Returns its result and that time. Always reads the
    /// clock, twice.
    pub fn wait_for<R>(&self, work: impl FnOnce() -> R) -> (R, Duration) {
        let began = Instant::now();
        let result = work();
        let took = began.elapsed();
        self.add_wait(took);
        (result, took)
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the wait time so far.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait.load(Ordering::Relaxed))
    }

    /// Returns the elapsed time minus the wait time, or zero if the wait time is longer.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.elapsed().saturating_sub(self.wait())
    }
}
