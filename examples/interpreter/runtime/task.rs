//! A task: the entry, or one that a script spawned.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cove_trace::{ENTRY_TASK, Timing};

use super::Run;
use super::ending::Ending;

/// A task of a run. Each task has its own engine on its own thread, and the engine's host calls know their task.
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

    /// Creates a task that `parent` spawns, with a new id.
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

    /// The time spent in the task itself and in waiting for the host.
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

    /// Returns why this task must stop now, if it must.
    pub(crate) fn must_stop(&self) -> Option<Ending> {
        self.run.stopped().or_else(|| (self.is_cancelled() && !self.is_replaying_on()).then(Ending::of_cancelled_task))
    }

    /// Whether this task has recorded calls left. A cancelled task continues until it has made them all, because the
    /// moment of its cancellation differs between runs.
    fn is_replaying_on(&self) -> bool {
        self.run.replaying().is_some_and(|replaying| replaying.has_calls_left(self))
    }

    /// Sleeps for `duration`, or until the task must stop.
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
