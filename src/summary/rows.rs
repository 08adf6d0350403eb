//! What a summary is made of. The field names are the keys of its serialized form, a public interface.

use std::ops::AddAssign;

use serde::{Serialize, Serializer};

use crate::names::RunOutcome;

/// The tasks' figures. The entry is not one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct TaskTotals {
    /// TaskTotals spawned.
    pub spawned: u64,
    /// TaskTotals that ran to their end.
    pub completed: u64,
    /// TaskTotals stopped before it.
    pub cancelled: u64,
    /// Time that the completed ones spent in themselves.
    pub cpu_ns: u128,
}

/// What became of some host calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Calls {
    /// Calls by tasks that held the capability.
    pub granted: u64,
    /// Calls by tasks that did not.
    pub refused: u64,
    /// Calls that the host answered with an error.
    pub failed: u64,
    /// Calls that can't be answered from a trace.
    pub not_recordable: u64,
    /// Time waited for the host.
    pub wait_ns: u128,
}

/// The calls that asked for one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CapabilityRow<'s> {
    /// Its name.
    pub capability: &'s str,
    /// Calls by tasks that held the capability.
    pub granted: u64,
    /// Calls by tasks that did not.
    pub refused: u64,
    /// Calls that the host answered with an error.
    pub failed: u64,
    /// Time waited for the host.
    pub wait_ns: u128,
}

/// The calls of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperationRow<'s> {
    /// The host module.
    pub module: &'s str,
    /// The operation.
    pub op: &'s str,
    /// The capability that it asks for.
    pub capability: &'s str,
    /// Calls by tasks that held the capability.
    pub granted: u64,
    /// Calls by tasks that did not.
    pub refused: u64,
    /// Calls that the host answered with an error.
    pub failed: u64,
    /// Time waited for the host.
    pub wait_ns: u128,
    /// The wait that half of the granted calls did not exceed, at most one percent too high. `None` without such a call.
    pub wait_p50_ns: Option<u64>,
    /// The wait that 99 of 100 granted calls did not exceed, at most one percent too high. `None` without such a call.
    pub wait_p99_ns: Option<u64>,
    /// The longest wait of a granted call. `None` without such a call.
    pub wait_max_ns: Option<u64>,
}

/// The calls of one operation that were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusalRow<'s> {
    /// The host module.
    pub module: &'s str,
    /// The operation.
    pub op: &'s str,
    /// The capability that was not granted.
    pub capability: &'s str,
    /// How many calls.
    pub refused: u64,
    /// The physical line, from 1, of the first of them.
    pub first_line: u64,
}

/// One call that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SlowCallRow<'s> {
    /// The physical line, from 1, on which it stands.
    pub line: u64,
    /// The task that made it.
    pub task: u64,
    /// The host module.
    pub module: &'s str,
    /// The operation.
    pub op: &'s str,
    /// How long it waited for the host.
    pub wait_ns: u64,
}

/// What one task did. The entry is one of them: what it exits with counts as its time, and as its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskRow {
    /// Its id.
    pub task: u64,
    /// Calls of what it held the capability for.
    pub granted: u64,
    /// Calls of what it did not.
    pub refused: u64,
    /// Calls that the host answered with an error.
    pub failed: u64,
    /// Time that it waited for the host.
    pub wait_ns: u128,
    /// Time that it spent in itself, at most `u64::MAX`; known of one that completed.
    pub cpu_ns: Option<u64>,
    /// How it ended, if it did.
    pub end: Option<TaskEnd>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskEnd {
    /// It ran to its end.
    Completed,
    /// It was stopped before.
    Cancelled,
}

impl TaskEnd {
    /// The name that the serialized form has for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The times of one entry function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EntryRow<'s> {
    /// Its module.
    pub module: &'s str,
    /// Its name.
    pub function: &'s str,
    /// Time spent in it.
    pub cpu_ns: u128,
    /// Time that it waited for the host.
    pub wait_ns: u128,
}

/// The collections that were recorded one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Collections {
    /// How many.
    pub count: u64,
    /// Objects allocated before them.
    pub allocated: u128,
    /// Objects that they freed.
    pub freed: u128,
    /// How long they held tasks up.
    pub pause_ns: u128,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunEnd {
    /// The kind of end.
    #[serde(serialize_with = "run_outcome")]
    pub name: RunOutcome,
    /// What was said about it.
    pub message: Option<String>,
}

// By reference, since that is how serde hands the field over.
fn run_outcome<S: Serializer>(outcome: &RunOutcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.as_str())
}

impl AddAssign for TaskTotals {
    fn add_assign(&mut self, more: Self) {
        self.spawned += more.spawned;
        self.completed += more.completed;
        self.cancelled += more.cancelled;
        self.cpu_ns += more.cpu_ns;
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, more: Self) {
        self.granted += more.granted;
        self.refused += more.refused;
        self.failed += more.failed;
        self.not_recordable += more.not_recordable;
        self.wait_ns += more.wait_ns;
    }
}

impl AddAssign for Collections {
    fn add_assign(&mut self, more: Self) {
        self.count += more.count;
        self.allocated += more.allocated;
        self.freed += more.freed;
        self.pause_ns += more.pause_ns;
    }
}
