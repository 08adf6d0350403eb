//! Summarises a run: its calls, waits and refusals, and how it ended.
//!
//! A [`Summary`] takes events one by one. Its memory grows with the number of tasks, by at most 140 bytes each, and
//! with the number of different operations: for each, its names and a histogram of its waits. A histogram takes 24 to
//! 40 bytes for each wait that differs from the others by more than one percent, at most 300 KiB. `Display` formats a
//! summary as tables for people; [`serde::Serialize`] is for programs.
//!
//! ```
//! use std::time::Duration;
//! use cove_trace::summary::Summary;
//! use cove_trace::{CallSite, HostCall, TraceEvent};
//!
//! let mut summary = Summary::default();
//! summary.add(2, &TraceEvent::HostCall(HostCall {
//!     task: 0,
//!     site: CallSite::new("documents", "read", "documents.read"),
//!     wait: Duration::from_micros(1500),
//!     granted: true,
//!     args: &[],
//!     outcome: None,
//! }));
//! assert_eq!(summary.calls.granted, 1);
//! assert_eq!(summary.operations()[0].wait_max_ns, Some(1_500_000));
//! assert_eq!(summary.slowest_calls()[0].line, 2);
//! assert!(summary.to_string().contains("documents.read"));
//! ```

mod by_task;
mod parallel;
mod rows;
mod serialize;
mod table;
mod text;
mod top;
mod waits;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::convert::Infallible;

use self::by_task::ByTask;
pub use self::rows::{
    Calls, CapabilityRow, Collections, EntryRow, OperationRow, RefusalRow, RunEnd, SlowCallRow, TaskEnd, TaskRow,
    TaskTotals,
};
use self::top::Top;
use self::waits::Waits;
use crate::event::{ENTRY_TASK, HeapSummary, HostCall, HostOutcome, TraceEvent, TraceHeader};
use crate::line::number::nanoseconds;
use crate::name_map::{self, NameMap, sorted};
use crate::reader::{ReadError, ReadErrorKind, Source, TracePart, TraceReader};

/// The figures of one run.
///
/// All sums, counts and maxima are exact. Durations are whole nanoseconds, each one as a trace holds it (at most
/// `u64::MAX`).
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The name of the trace, which the caller sets.
    pub file: String,
    /// The number of physical lines, including blank and faulty ones.
    pub lines: u64,
    /// The number of events, without the header.
    pub events: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The length of a truncated last line in bytes; 0 if there is none.
    pub truncated_bytes: u64,
    /// The number of faults. A truncated end is not a fault, which distinguishes damage from an interrupted writer.
    pub errors: u64,
    /// The header, if it could be read.
    pub header: Option<TraceHeader>,
    /// The totals of all tasks.
    pub tasks: TaskTotals,
    /// The totals of all host calls.
    pub calls: Calls,
    /// The totals of all recorded collections.
    pub collections: Collections,
    /// The heap summary, if the runtime recorded one.
    pub heap: Option<HeapSummary>,
    /// The end of the run, if it was recorded.
    pub outcome: Option<RunEnd>,
    by_operation: NameMap<3, Operation>,
    by_entry: NameMap<2, EntryTimes>,
    by_task: ByTask,
    slowest: Top<SlowCall, SLOWEST_CALLS>,
}

/// The number of slowest calls that are kept.
const SLOWEST_CALLS: usize = 10;

#[derive(Debug, Clone, Default)]
struct Operation {
    calls: Calls,
    waits: Waits,
    /// The line of the first refused call.
    first_refused: Option<u64>,
}

/// A call, ordered by its wait. Of two equal waits, the earlier call is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SlowCall {
    wait_ns: u64,
    line: Reverse<u64>,
    task: u64,
    /// The index in `by_operation`.
    operation: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct EntryTimes {
    cpu_ns: u128,
    wait_ns: u128,
}

impl Summary {
    /// Reads a trace to its end, continuing after faults that are not final. Each fault is counted and passed to
    /// `on_error`.
    pub fn read<S: Source>(reader: &mut TraceReader<S>, mut on_error: impl FnMut(&ReadError)) -> Self {
        let mut summary = Self::default();
        let Ok(()) = reader.walk(|part| {
            summary.part(part, |error| on_error(&error));
            Ok::<_, Infallible>(())
        });
        summary.lines = reader.lines_read();
        summary.bytes = reader.bytes_read();
        summary
    }

    /// Adds a part of a trace, and passes a fault on.
    fn part(&mut self, part: TracePart<'_>, on_fault: impl FnOnce(ReadError)) {
        match part {
            TracePart::Header { header, .. } => self.header = Some(header.clone()),
            TracePart::Event { line, event } => self.add(line, &event),
            TracePart::Fault(error) => {
                match error.kind() {
                    ReadErrorKind::Truncated { bytes } => self.truncated_bytes += bytes,
                    _ => self.errors += 1,
                }
                on_fault(error);
            }
        }
    }

    /// Adds the event on a physical line, counted from 1. It allocates only for a new name, a new task, or a wait of a
    /// new magnitude.
    pub fn add(&mut self, line: u64, event: &TraceEvent<'_>) {
        self.events += 1;
        match *event {
            TraceEvent::TaskSpawned { id, .. } => {
                self.tasks.spawned += 1;
                self.by_task.entry(id);
            }
            TraceEvent::TaskCompleted { id, cpu } => {
                self.tasks.completed += 1;
                self.tasks.cpu_ns += u128::from(nanoseconds(cpu));
                self.by_task.entry(id).completed(nanoseconds(cpu));
            }
            TraceEvent::TaskCancelled { id } => {
                self.tasks.cancelled += 1;
                self.by_task.entry(id).end = Some(TaskEnd::Cancelled);
            }
            TraceEvent::HostCall(ref call) => self.add_call(line, call),
            TraceEvent::EntryEnter { .. } => {
                self.by_task.entry(ENTRY_TASK);
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                self.by_task.entry(ENTRY_TASK).completed(nanoseconds(cpu));
                let index = name_map::index_of(&mut self.by_entry, [module, function]);
                let times = &mut self.by_entry[index];
                times.cpu_ns += u128::from(nanoseconds(cpu));
                times.wait_ns += u128::from(nanoseconds(wait));
            }
            TraceEvent::HeapCollected { allocated, freed, pause, .. } => {
                self.collections.count += 1;
                self.collections.allocated += u128::from(allocated);
                self.collections.freed += u128::from(freed);
                self.collections.pause_ns += u128::from(nanoseconds(pause));
            }
            TraceEvent::HeapSummary(figures) => self.heap = Some(figures),
            TraceEvent::RunEnded { outcome, message } => {
                self.outcome = Some(RunEnd { name: outcome, message: message.map(str::to_owned) });
            }
        }
    }

    fn add_call(&mut self, line: u64, call: &HostCall<'_>) {
        let wait_ns = nanoseconds(call.wait);
        let this = Calls {
            granted: u64::from(call.granted),
            refused: u64::from(!call.granted),
            failed: u64::from(call.outcome.is_some_and(|outcome| outcome.is_failure() || outcome.never_returned())),
            not_recordable: u64::from(matches!(call.outcome, Some(HostOutcome::NotRecordable))),
            wait_ns: wait_ns.into(),
        };
        let (module, op, capability) = (call.site.module(), call.site.op(), call.site.capability());
        self.calls += this;
        self.by_task.entry(call.task).calls += this;
        let index = name_map::index_of(&mut self.by_operation, [module, op, capability]);
        let operation = &mut self.by_operation[index];
        operation.calls += this;
        if call.granted {
            operation.waits.add(wait_ns);
        } else {
            operation.first_refused.get_or_insert(line);
        }
        if wait_ns > 0 {
            self.slowest.push(SlowCall { wait_ns, line: Reverse(line), task: call.task, operation: index });
        }
    }

    /// Adds the summary of a later part of the same trace, whose lines follow the [`lines`](Self::lines) counted so
    /// far. The header is the first one; heap summary and outcome are the last ones.
    pub fn merge(&mut self, later: Self) {
        let lines_before = self.lines;
        self.lines += later.lines;
        self.events += later.events;
        self.bytes += later.bytes;
        self.truncated_bytes += later.truncated_bytes;
        self.errors += later.errors;
        self.header = self.header.take().or(later.header);
        self.tasks += later.tasks;
        self.calls += later.calls;
        self.collections += later.collections;
        self.heap = later.heap.or(self.heap);
        self.outcome = later.outcome.or_else(|| self.outcome.take());
        let mut by_operation = later.by_operation;
        for operation in by_operation.values_mut() {
            operation.first_refused = operation.first_refused.map(|line| line + lines_before);
        }
        let moved_to = name_map::merge(&mut self.by_operation, by_operation, |operation, more| {
            operation.calls += more.calls;
            operation.waits.merge(more.waits);
            operation.first_refused = operation.first_refused.or(more.first_refused);
        });
        for call in later.slowest.into_items() {
            let line = Reverse(call.line.0 + lines_before);
            self.slowest.push(SlowCall { line, operation: moved_to[call.operation], ..call });
        }
        self.by_task.merge(later.by_task);
        name_map::merge(&mut self.by_entry, later.by_entry, |times, more| {
            times.cpu_ns += more.cpu_ns;
            times.wait_ns += more.wait_ns;
        });
    }

    /// Returns the capabilities of all calls, sorted by total wait, longest first, then by name.
    #[must_use]
    pub fn capabilities(&self) -> Vec<CapabilityRow<'_>> {
        let mut by_capability: BTreeMap<&str, Calls> = BTreeMap::new();
        for ([_, _, capability], operation) in sorted(&self.by_operation) {
            *by_capability.entry(capability).or_default() += operation.calls;
        }
        let rows = by_capability.into_iter().map(|(capability, calls)| CapabilityRow {
            capability,
            granted: calls.granted,
            refused: calls.refused,
            failed: calls.failed,
            wait_ns: calls.wait_ns,
        });
        longest_wait_first(rows, |row| row.wait_ns)
    }

    /// Returns the operations of all calls, sorted by total wait, longest first, then by module, name and capability.
    #[must_use]
    pub fn operations(&self) -> Vec<OperationRow<'_>> {
        let rows = sorted(&self.by_operation).map(|([module, op, capability], operation)| OperationRow {
            module,
            op,
            capability,
            granted: operation.calls.granted,
            refused: operation.calls.refused,
            failed: operation.calls.failed,
            wait_ns: operation.calls.wait_ns,
            wait_p50_ns: operation.waits.percentile(50),
            wait_p99_ns: operation.waits.percentile(99),
            wait_max_ns: operation.waits.max(),
        });
        longest_wait_first(rows, |row| row.wait_ns)
    }

    /// Returns the refused operations, in the order of their first refusal.
    #[must_use]
    pub fn refusals(&self) -> Vec<RefusalRow<'_>> {
        let refused = sorted(&self.by_operation).filter_map(|([module, op, capability], operation)| {
            let first_line = operation.first_refused?;
            Some(RefusalRow { module, op, capability, refused: operation.calls.refused, first_line })
        });
        let mut rows: Vec<_> = refused.collect();
        rows.sort_by_key(|row| row.first_line);
        rows
    }

    /// Returns the ten calls with the longest waits, longest first. Of equal waits, the earlier call comes first. Calls
    /// without a wait are omitted.
    #[must_use]
    pub fn slowest_calls(&self) -> Vec<SlowCallRow<'_>> {
        let rows = self.slowest.iter().filter_map(|call| {
            let [module, op, _] = self.by_operation.get_index(call.operation)?.0.as_strs();
            Some(SlowCallRow { line: call.line.0, task: call.task, module, op, wait_ns: call.wait_ns })
        });
        rows.collect()
    }

    /// Iterates over all tasks, including the entry, by id.
    pub fn by_task(&self) -> impl Iterator<Item = TaskRow> {
        self.by_task.rows()
    }

    /// Returns the entry functions that ended, by name. Times of a function that ended repeatedly are added up.
    #[must_use]
    pub fn entries(&self) -> Vec<EntryRow<'_>> {
        let rows = sorted(&self.by_entry).map(|([module, function], times)| EntryRow {
            module,
            function,
            cpu_ns: times.cpu_ns,
            wait_ns: times.wait_ns,
        });
        rows.collect()
    }
}

/// Sorts rows by wait, longest first. Rows with equal waits keep their order.
fn longest_wait_first<R>(rows: impl Iterator<Item = R>, wait: impl Fn(&R) -> u128) -> Vec<R> {
    let mut rows: Vec<R> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(wait(row)));
    rows
}

#[cfg(test)]
mod tests;
