//! A task: the entry, or one that a script spawned.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cove_trace::{ENTRY_TASK, Timing};

use super::Run;
use super::ending::Ending;

/// A task of a run. Each one has an engine of its own, on a thread of its own, and every host call of that engine knows
/// its task.
pub(crate) struct Task {
    id: u64,
    parent: Option<Arc<Task>>,
    run: Arc<Run>,
    timing: Timing,
    cancelled: AtomicBool,
}

impl Task {
    pub(crate) fn entry(run: Arc<Run>) -> Self {
        Self::start(ENTRY_TASK, None, run)
    }

    /// A task spawned by `parent`, under an id that the run did not use yet.
    pub(crate) fn spawned_by(parent: &Arc<Self>) -> Self {
        Self::start(parent.run.next_task(), Some(Arc::clone(parent)), Arc::clone(&parent.run))
    }

    fn start(id: u64, parent: Option<Arc<Self>>, run: Arc<Run>) -> Self {
        Self { id, parent, run, timing: Timing::start(), cancelled: AtomicBool::new(false) }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Time spent so far: in the task itself, and waiting for the host.
    pub(crate) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Stops this task and all that it spawned, each at its next step.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    /// Why this task has to stop here, if it has to.
    pub(crate) fn must_stop(&self) -> Option<Ending> {
        self.run.stopped().or_else(|| (self.is_cancelled() && !self.is_replaying_on()).then(Ending::of_cancelled_task))
    }

    /// Whether this task has calls to replay yet: how far a cancelled task gets is up to the moment at which it is cancelled, so
    /// it goes on until it has made the calls that were recorded of it.
    fn is_replaying_on(&self) -> bool {
        self.run.replaying().is_some_and(|replaying| replaying.has_calls_left(self))
    }

    /// Sleeps that long, or until the task has to stop.
    pub(crate) fn sleep(&self, duration: Duration) -> Result<(), Ending> {
        const STEP: Duration = Duration::from_millis(2);
        let began = Instant::now();
        loop {
            if let Some(ending) = self.must_stop() {
                return Err(ending);
            }
            match duration.checked_sub(began.elapsed()) {
                Some(left) if !left.is_zero() => thread::sleep(left.min(STEP)),
                _ => return Ok(()),
            }
        }
    }
}
