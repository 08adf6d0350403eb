//! The run of a script, from its entry to its end.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cove_trace::{HeapSummary, RunOutcome, TraceEvent, TraceSink};
use rhai::{AST, Scope};

use super::Ending;
use super::engine;
use super::failure::Failure;
use super::host::Operation;
use super::modules::tasks::Spawned;
use super::replaying::Replaying;
use super::task::Task;

/// A compiled script.
#[derive(Clone)]
pub(crate) struct Program {
    /// The script's file name without its extension.
    module: String,
    script: AST,
}

/// The function with which a run begins.
const ENTRY: &str = "main";

impl Program {
    pub(crate) fn load(path: &Path) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(path)?;
        let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { module, script: engine::language(&Limits::default()).compile(text)? })
    }
}

/// The surroundings of a program.
pub(crate) struct Setup {
    /// The directory of its documents.
    pub(crate) documents: PathBuf,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// The capabilities that it holds.
    pub(crate) granted: BTreeSet<String>,
    pub(crate) limits: Limits,
    /// The sink of the trace.
    pub(crate) sink: Arc<dyn TraceSink>,
    /// Answers host calls in a replay.
    pub(crate) replaying: Option<Replaying>,
    /// Set from outside to stop the run early.
    pub(crate) stop: Arc<OnceLock<Ending>>,
}

/// The limits of a run.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// rhai's operations, in each task.
    pub(crate) operations: u64,
    /// The depth of nested calls.
    pub(crate) call_depth: usize,
    /// Host calls of all tasks together.
    pub(crate) host_calls: u64,
    /// Tasks at a time, without the entry.
    pub(crate) tasks: usize,
    pub(crate) time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            operations: 100_000_000,
            call_depth: 32,
            host_calls: 1_000_000,
            tasks: 32,
            time: Duration::from_secs(60),
        }
    }
}

/// The state that the tasks of a run share.
pub(crate) struct Run {
    program: Program,
    operations: Vec<Arc<Operation>>,
    setup: Setup,
    began: Instant,
    host_calls: AtomicU64,
    last_task: AtomicU64,
    running: AtomicUsize,
    /// The spawned tasks for which the run itself has not waited yet.
    spawned: Mutex<Vec<Spawned>>,
}

impl Run {
    /// Runs `program` with a host of these `operations`, and records the run. Its end is recorded, however it ends.
    pub(crate) fn execute(program: Program, operations: Vec<Operation>, setup: Setup) -> Ending {
        let run = Arc::new(Self {
            program,
            operations: operations.into_iter().map(Arc::new).collect(),
            setup,
            began: Instant::now(),
            host_calls: AtomicU64::new(0),
            last_task: AtomicU64::new(cove_trace::ENTRY_TASK),
            running: AtomicUsize::new(0),
            spawned: Mutex::default(),
        });
        let (sink, module) = (run.sink(), run.program.module.as_str());

        sink.record(&TraceEvent::EntryEnter { module, function: ENTRY });
        let entry = Arc::new(Task::entry(Arc::clone(&run)));
        let result = engine::run(&entry, |engine, script| engine.call_fn(&mut Scope::new(), script, ENTRY, ()));
        let timing = entry.timing();
        sink.record(&TraceEvent::EntryExit { module, function: ENTRY, cpu: timing.cpu(), wait: timing.wait() });

        if let Err(error) = result {
            run.stop(Ending::from(&*error));
        }
        run.wait_for_all();
        let ending = run.stop(Ending::SUCCESS);
        // rhai counts references, so it has no collections and reports no figures.
        sink.record(&TraceEvent::HeapSummary(HeapSummary::default()));
        sink.record(&TraceEvent::RunEnded { outcome: ending.outcome, message: ending.message.as_deref() });
        ending
    }

    pub(super) fn script(&self) -> &AST {
        &self.program.script
    }

    pub(super) fn operations(&self) -> &[Arc<Operation>] {
        &self.operations
    }

    pub(super) fn documents(&self) -> &Path {
        &self.setup.documents
    }

    pub(super) fn args(&self) -> &[String] {
        &self.setup.args
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.setup.limits
    }

    pub(super) fn replaying(&self) -> Option<&Replaying> {
        self.setup.replaying.as_ref()
    }

    pub(super) fn sink(&self) -> &dyn TraceSink {
        &self.setup.sink
    }

    /// The time since the run began.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Checks that the program holds the capability and has calls left.
    pub(super) fn admit(&self, operation: &Operation) -> Result<(), Failure> {
        if !self.setup.granted.contains(operation.site().capability()) {
            return Err(Failure::NotGranted);
        }
        if self.host_calls.fetch_add(1, Ordering::Relaxed) >= self.limits().host_calls {
            return Err(Failure::Limit(self.stop(Ending::new(RunOutcome::HostCalls, "too many host calls"))));
        }
        Ok(())
    }

    /// Stops the run with `ending`, unless it was stopped before. Returns how it ends.
    pub(super) fn stop(&self, ending: Ending) -> Ending {
        self.setup.stop.get_or_init(|| ending).clone()
    }

    /// Returns the end of the run once it is decided. All tasks then stop.
    pub(super) fn stopped(&self) -> Option<Ending> {
        if self.elapsed() > self.limits().time {
            return Some(self.stop(Ending::new(RunOutcome::Deadline, "the time is up")));
        }
        self.setup.stop.get().cloned()
    }

    /// Returns an id that no task of this run has had.
    pub(super) fn next_task(&self) -> u64 {
        self.last_task.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts one more running task, if the limit allows it.
    pub(super) fn take_a_place(&self) -> bool {
        let places = self.limits().tasks;
        let more = |running| (running < places).then_some(running + 1);
        self.running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub(super) fn leave_a_place(&self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    /// Keeps a task until the end of the run, which waits for it.
    pub(super) fn keep(&self, task: Spawned) {
        self.spawned.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// Waits for the tasks for which no script has waited. An error of one of them ends the run.
    fn wait_for_all(&self) {
        let next = || self.spawned.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Outside the lock, because the task may spawn others meanwhile.
        while let Some(task) = next() {
            match task.join() {
                // An error that no script can catch has ended the run already, or belongs to a cancelled task.
                Some(Err(error)) if error.unwrap_inner().is_catchable() => {
                    self.stop(Ending::from(&*error));
                }
                _ => {}
            }
        }
    }
}
