//! Answers host calls from a trace.
//!
//! Replaying takes this file and the one call of it in `host.rs`.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use cove_trace::replay::{Answer as Recorded, Completeness, ReplayReport, TaskMatching};
use cove_trace::{ENTRY_TASK, LiveArgs, Replay, RunOutcome, Value};
use rhai::{Array, Dynamic, Map};

use super::failure::{Failure, PANICKED, WOKEN};
use super::host::{Answer, Args, Operation};
use super::modules::PERFORMED;
use super::modules::documents::Document;
use super::task::Task;
use super::value::Traced;
use super::{Ending, Limits};

/// Answers the calls of a run from a trace.
#[derive(Clone)]
pub(crate) struct Replaying {
    replay: Arc<Replay>,
    /// Whether to print what the script prints.
    shows: bool,
}

impl Replaying {
    pub(crate) fn new(replay: Replay, shows: bool) -> Self {
        // All tasks share one counter for the ids of new tasks, so ids depend on scheduling.
        Self { replay: Arc::new(replay.passthrough(PERFORMED).tasks(TaskMatching::ByScope)), shows }
    }

    /// Returns the recorded result of this call.
    pub(super) fn answer(&self, task: &Arc<Task>, operation: &Operation, args: Args<'_>) -> Answer {
        let answer = LiveArgs::with(args.all().map(Traced), |args| self.replay.call(task.id(), operation.site(), args));
        match answer {
            Ok(Recorded::Value(value)) => {
                self.show(operation, args);
                dynamic(value).ok_or_else(|| self.end(task, RunOutcome::Invariant, "a value of another interpreter"))
            }
            Ok(Recorded::Error(message)) if message == PANICKED => {
                Err(self.end(task, RunOutcome::Invariant, "a panic in the host"))
            }
            Ok(Recorded::Error(message)) if message == WOKEN => Err(Failure::stopped(WOKEN, self.stop(task))),
            Ok(Recorded::Error(message)) => Err(Failure::error(message)),
            Ok(Recorded::Thrown(_) | Recorded::NeverReturned) => {
                Err(self.end(task, RunOutcome::Invariant, "no call of this host ends like this"))
            }
            Ok(Recorded::NotGranted) => Err(Failure::NotGranted),
            // The call that exceeded a limit is the last one.
            Ok(Recorded::NotDispatched) if self.is_at_a_limit(task) => Err(Failure::Limit(self.end_of_run(task))),
            Ok(Recorded::NotDispatched) => Err(Failure::Arguments),
            Ok(Recorded::NotRecordable) => Err(Failure::NotRecordable(self.end_of_run(task))),
            Ok(Recorded::Perform) => operation.perform(task, args),
            Ok(Recorded::Stopped) => Err(Failure::Limit(self.stop(task))),
            Ok(Recorded::Incomplete) => Err(self.end(task, RunOutcome::Cancelled, "the recording ends here")),
            // The conclusion has the report.
            Err(_) => Err(self.end(task, RunOutcome::Cancelled, "the replay diverged")),
        }
    }

    /// Returns the limits of a replayed run. The number of tasks at a time depends on scheduling, so it is not limited.
    pub(crate) fn limits(&self, limits: Limits) -> Limits {
        Limits { tasks: usize::MAX, ..limits }
    }

    pub(super) fn spawned(&self, task: &Task, parent: &Task, scope: &str) {
        self.replay.spawned(task.id(), Some(parent.id()), scope);
    }

    pub(super) fn has_calls_left(&self, task: &Task) -> bool {
        self.replay.has_calls_left(task.id())
    }

    /// Ends the replay of a run that ended like this.
    pub(crate) fn finish(&self, ending: &Ending) -> ReplayReport {
        self.replay.finish(ending.outcome, ending.message.as_deref())
    }

    fn show(&self, operation: &Operation, args: Args<'_>) {
        if let Some(line) = self.shows.then(|| operation.shown(args)).flatten() {
            // The recorded call succeeded, so a closed terminal does not matter.
            let _ = writeln!(io::stdout().lock(), "{line}");
        }
    }

    fn is_at_a_limit(&self, task: &Task) -> bool {
        matches!(self.replay.completeness(), Completeness::Stopped(_)) && !self.has_calls_left(task)
    }

    /// Ends the run. No script can prevent it.
    fn end(&self, task: &Task, outcome: RunOutcome, message: &str) -> Failure {
        Failure::Limit(task.run().stop(Ending::new(outcome, message)))
    }

    /// Ends the run as the recorded one ended.
    fn end_of_run(&self, task: &Task) -> Ending {
        let recorded = self.replay.recorded_end();
        let ending = recorded.map(|(outcome, message)| Ending { outcome, message: message.map(str::to_owned) });
        task.run().stop(ending.unwrap_or_else(|| Ending::new(RunOutcome::Cancelled, "the recording ends here")))
    }

    /// Stops a task where the recorded one was stopped by its cancellation or by the end of the run.
    fn stop(&self, task: &Task) -> Ending {
        if task.id() == ENTRY_TASK {
            return self.end_of_run(task);
        }
        task.cancel();
        Ending::of_cancelled_task()
    }
}

/// Converts a recorded value. Returns `None` for a value that no operation of this host returns.
fn dynamic(value: Value) -> Option<Dynamic> {
    Some(match value {
        Value::Unit => Dynamic::UNIT,
        Value::Bool(truth) => truth.into(),
        Value::Int(int) => int.into(),
        Value::Float(float) => float.into(),
        Value::Duration { ns } => Dynamic::from(Duration::from_nanos(ns.try_into().ok()?)),
        Value::String(text) => text.into(),
        Value::Array(items) => items.into_iter().map(dynamic).collect::<Option<Array>>()?.into(),
        Value::Struct { fields, .. } => {
            let fields = fields.into_iter().map(|(name, value)| Some((name.into(), dynamic(value)?)));
            fields.collect::<Option<Map>>()?.into()
        }
        Value::Resource { id, .. } => Dynamic::from(Document::replayed(id)),
        _ => return None,
    })
}
