//! The rows of a summary. Their field names are the keys of the serialized form, which is a public interface.

use std::ops::AddAssign;

use serde::{Serialize, Serializer};

use crate::names::RunOutcome;

/// The totals of all tasks, without the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct TaskTotals {
    /// The number of spawned tasks.
    pub spawned: u64,
    /// The number of tasks that ran to their end.
    pub completed: u64,
    /// The number of tasks that were cancelled.
    pub cancelled: u64,
    /// The CPU time of the completed tasks.
    pub cpu_ns: u128,
}

/// Totals of host calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Calls {
    /// The number of granted calls.
    pub granted: u64,
    /// The number of refused calls.
    pub refused: u64,
    /// The number of calls that the host answered with an error.
    pub failed: u64,
    /// The number of calls that cannot be answered from a trace.
    pub not_recordable: u64,
    /// The total time of waiting for the host.
    pub wait_ns: u128,
}

/// The calls under one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CapabilityRow<'s> {
    /// The capability.
    pub capability: &'s str,
    /// The number of granted calls.
    pub granted: u64,
    /// The number of refused calls.
    pub refused: u64,
    /// The number of calls that the host answered with an error.
    pub failed: u64,
    /// The total time of waiting for the host.
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
    /// The capability that it needs.
    pub capability: &'s str,
    /// The number of granted calls.
    pub granted: u64,
    /// The number of refused calls.
    pub refused: u64,
    /// The number of calls that the host answered with an error.
    pub failed: u64,
    /// The total time of waiting for the host.
    pub wait_ns: u128,
    /// The wait that half of the granted calls did not exceed, at most one percent too high. `None` without such a
    /// call.
    pub wait_p50_ns: Option<u64>,
    /// The wait that 99 of 100 granted calls did not exceed, at most one percent too high. `None` without such a call.
    pub wait_p99_ns: Option<u64>,
    /// The longest wait of a granted call. `None` without such a call.
    pub wait_max_ns: Option<u64>,
}

/// The refused calls of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusalRow<'s> {
    /// The host module.
    pub module: &'s str,
    /// The operation.
    pub op: &'s str,
    /// The capability that was not granted.
    pub capability: &'s str,
    /// The number of refused calls.
    pub refused: u64,
    /// The physical line, from 1, of the first refused call.
    pub first_line: u64,
}

/// A call with a long wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SlowCallRow<'s> {
    /// The physical line of the call, from 1.
    pub line: u64,
    /// The task that made it.
    pub task: u64,
    /// The host module.
    pub module: &'s str,
    /// The operation.
    pub op: &'s str,
    /// The time of waiting for the host.
    pub wait_ns: u64,
}

/// The totals of one task, or of the entry, whose exit counts as its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskRow {
    /// The id of the task.
    pub task: u64,
    /// The number of granted calls.
    pub granted: u64,
    /// The number of refused calls.
    pub refused: u64,
    /// The number of calls that the host answered with an error.
    pub failed: u64,
    /// The total time of waiting for the host.
    pub wait_ns: u128,
    /// The CPU time, saturating at `u64::MAX`. `None` for a task that did not complete.
    pub cpu_ns: Option<u64>,
    /// The end of the task, if it was recorded.
    pub end: Option<TaskEnd>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskEnd {
    /// The task ran to its end.
    Completed,
    /// The task was cancelled.
    Cancelled,
}

impl TaskEnd {
    /// Returns the name in the serialized form.
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
    /// The CPU time.
    pub cpu_ns: u128,
    /// The total time of waiting for the host.
    pub wait_ns: u128,
}

/// The totals of all recorded collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Collections {
    /// The number of collections.
    pub count: u64,
    /// The number of objects allocated before them.
    pub allocated: u128,
    /// The number of objects that they freed.
    pub freed: u128,
    /// The total pause of tasks.
    pub pause_ns: u128,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunEnd {
    /// The outcome.
    #[serde(serialize_with = "run_outcome")]
    pub name: RunOutcome,
    /// The closing message.
    pub message: Option<String>,
}

// Serde passes the field by reference.
fn run_outcome<S: Serializer>(outcome: &RunOutcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.as_str())
}

/// Implements `+=`, field by field.
macro_rules! impl_add_assign {
    ($( $type:ident { $( $field:ident ),+ } )+) => {
        $( impl AddAssign for $type {
            fn add_assign(&mut self, more: Self) {
                $( self.$field += more.$field; )+
            }
        } )+
    };
}

impl_add_assign! {
    TaskTotals { spawned, completed, cancelled, cpu_ns }
    Calls { granted, refused, failed, not_recordable, wait_ns }
    Collections { count, allocated, freed, pause_ns }
}
