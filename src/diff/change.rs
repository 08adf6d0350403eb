//! The differences between two runs.

use serde::Serialize;

use crate::display::mark_of;
use crate::replay::recording::Recording;
use crate::replay::report::shown_whole;

/// One of the two traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// A call in one of the traces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallRef {
    /// The task that made it, by its id in that trace.
    pub task: u64,
    /// The number of the call in its task, from 1.
    pub call_in_task: u64,
    /// The physical line of the trace, from 1, on which it stands.
    pub line: u64,
    /// The call and its outcome, formatted for people: cut where they are long, and escaped.
    pub shown: String,
}

impl CallRef {
    /// Describes the call with these indices in the trace and in its task.
    pub(super) fn new(trace: &Recording, in_trace: usize, in_task: usize) -> Self {
        let call = &trace.calls[in_trace];
        Self { task: call.task, call_in_task: in_task as u64 + 1, line: call.line, shown: shown_whole(trace, call) }
    }

    /// A call that only one of the traces has. A mark tells its operation from one that looks alike.
    pub(super) fn alone(trace: &Recording, in_trace: usize, in_task: usize) -> Self {
        let site = trace.site(&trace.calls[in_trace]);
        let mut call = Self::new(trace, in_trace, in_task);
        call.shown += &mark_of(&format!("{}.{}", site.module(), site.op()));
        call
    }
}

/// One difference between two runs. Texts out of the traces are cut where they are long, and escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// The runs were started differently.
    Header {
        /// The part of the header that differs: `entry`, `backend`, `args`, or `number of args` of a redacted trace.
        part: &'static str,
        /// What the first trace has there.
        first: String,
        /// What the second has.
        second: String,
    },
    /// A task with calls that only one of the runs has.
    Task {
        /// The trace that has the task.
        side: Side,
        /// Its id in that trace.
        task: u64,
        /// How many calls it made.
        calls: u64,
    },
    /// A call that only the first run made.
    Removed(CallRef),
    /// A call that only the second run made.
    Added(CallRef),
    /// A call that both made, and differently.
    Changed {
        /// The call in the first trace.
        first: CallRef,
        /// The call in the second.
        second: CallRef,
        /// The parts of it that differ, at least one and at most a hundred.
        parts: Vec<ChangedPart>,
        /// The number of parts that differ and are not listed.
        more: u64,
    },
    /// A capability that only one of the runs called under, granted or not.
    Capability {
        /// The trace that has the capability.
        side: Side,
        /// The capability.
        capability: String,
    },
    /// The sums of the waits of an operation's calls differ.
    Wait {
        /// The operation.
        operation: String,
        /// Nanoseconds in the first run.
        first_ns: u128,
        /// Nanoseconds in the second.
        second_ns: u128,
    },
    /// The runs ended differently.
    Ended {
        /// How the first ended.
        first: String,
        /// How the second ended.
        second: String,
    },
}

/// A part of a call that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedPart {
    /// The path of the part: `args[1].fields.token`, `capability`, `granted`, `outcome.value`.
    pub path: String,
    /// The part in the first trace, formatted for people.
    pub was: String,
    /// The part in the second trace.
    pub is: String,
}

/// The amount that was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The number of differences.
    pub differences: u64,
    /// The number of pairs of calls that were compared.
    pub calls: u64,
    /// The number of values of which only the type could be compared.
    pub unchecked: u64,
}
