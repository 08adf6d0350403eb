//! Checks whether the events of a trace can have happened together.
//!
//! A [`Checker`] is a state machine over events and their line numbers. It passes each finding to the caller at once.
//!
//! Each event takes constant time, apart from looking up its task and its names. Memory grows with the number of tasks,
//! by 20 to 60 bytes each, and with the names of the entries that are open at the same time. Nothing is kept of values,
//! nor of the names of host calls. [`Checker::read_parallel`] also keeps the names of each part until it is merged.
//!
//! ```
//! use cove_trace::TraceEvent;
//! use cove_trace::check::Checker;
//!
//! let mut findings = Vec::new();
//! let mut checker = Checker::new();
//! checker.event(2, &TraceEvent::TaskCancelled { id: 7 }, &mut |finding| findings.push(finding));
//! assert_eq!(findings[0].line, 2);
//! assert_eq!(findings[0].message, "task 7 is cancelled, but was never spawned");
//! ```

mod entries;
mod fact;
mod parallel;
mod redaction;
mod seen_names;
mod task_table;
mod tasks;

use std::convert::Infallible;
use std::fmt;

use self::entries::OpenEntries;
use self::fact::{Fact, QualifiedName};
use self::tasks::TaskStates;
use crate::event::{TraceEvent, TraceHeader};
use crate::names::ValueCapture;
use crate::parallel::Extent;
use crate::reader::{ReadError, Source, TracePart, TraceReader};

/// A contradiction in a trace, or a warning about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The physical line, from 1, of the event that shows it.
    pub line: u64,
    /// The severity.
    pub severity: Severity,
    /// The finding in words, with the lines of other events involved. Names are as in the trace, so
    /// [escape](crate::display::escaped) the message before printing it. It contains no recorded value.
    pub message: String,
}

/// The severity of a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// No run can have produced this trace.
    Error,
    /// A run can have produced it, but something may be missing.
    Warning,
}

/// A fault or a finding in a trace that is read and checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckEvent {
    /// A part of the trace cannot be read. Reading goes on after it unless the error is final.
    Fault(ReadError),
    /// The events contradict each other, or the trace needs a warning.
    Finding(Finding),
}

/// The amount of a trace that was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CheckStats {
    /// Events, the header not counted.
    pub events: u64,
    /// Lines and bytes.
    pub extent: Extent,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Checks a trace's events in order and reports contradictions.
///
/// It reports: a task that ends without having been spawned, or twice; a spawn of an id that was seen before, or of the
/// entry's; a parent that was never spawned; a host call by a task that was never spawned, or after it completed (a
/// cancelled one may still have a call in flight); an `entry_exit` without its `entry_enter`; an outcome on a call that
/// was not granted; anything after `run_ended`; and, in a redacted trace, a value that is not redacted. That
/// `run_ended` is missing is a warning.
///
/// A task that was never spawned is reported once, not for each of its calls.
#[derive(Debug, Clone, Default)]
pub struct Checker {
    partial: bool,
    /// The header's declaration; `None` without a header.
    capture: Option<ValueCapture>,
    tasks: TaskStates,
    entries: OpenEntries,
    /// The line of the first `run_ended`.
    ended_on: Option<u64>,
    /// The line of the last event or header.
    last_line: Option<u64>,
    events: u64,
}

impl Checker {
    /// Creates a checker for a whole trace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the beginning of the trace may be missing, as in the dump of a flight recorder. If so, the checker
    /// does not report what earlier events would explain: a task never spawned, an entry never entered.
    #[must_use]
    pub fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Checks the header.
    pub fn header(&mut self, line: u64, header: &TraceHeader, report: &mut impl FnMut(Finding)) {
        self.last_line = Some(line);
        self.capture = Some(header.values);
        if header.values == ValueCapture::Redacted {
            redaction::header(header, &mut error_on(line, report));
        }
    }

    /// Checks the event on a line.
    pub fn event(&mut self, line: u64, event: &TraceEvent<'_>, report: &mut impl FnMut(Finding)) {
        self.fact(line, Fact::of(event), report);
        if self.capture == Some(ValueCapture::Redacted) {
            redaction::event(event, &mut error_on(line, report));
        }
    }

    fn fact(&mut self, line: u64, fact: Fact<QualifiedName<'_>>, report: &mut impl FnMut(Finding)) {
        self.last_line = Some(line);
        self.events += 1;
        let error = &mut error_on(line, report);
        if let Some(end) = self.ended_on {
            error(format!("{} after the run ended on line {end}", fact.kind()));
        }
        match fact {
            Fact::Spawned { id, parent } => self.tasks.spawned(line, id, parent, self.partial, error),
            Fact::Completed { id } => self.tasks.completed(line, id, self.partial, error),
            Fact::Cancelled { id } => self.tasks.cancelled(line, id, self.partial, error),
            Fact::Called { task, names, has_ungranted_outcome } => {
                self.tasks.called(line, task, names, self.partial, error);
                if has_ungranted_outcome {
                    let QualifiedName { module, name: op } = names;
                    error(format!("{module}.{op} was not granted, but the call has an outcome"));
                }
            }
            Fact::Entered(QualifiedName { module, name }) => self.entries.enter(module, name),
            Fact::Exited(QualifiedName { module, name }) => {
                if !self.entries.exit(module, name) && !self.partial {
                    error(format!("entry_exit of {module}.{name} without its entry_enter"));
                }
            }
            Fact::HeapCollected | Fact::HeapSummary => {}
            Fact::Ended => {
                self.ended_on.get_or_insert(line);
            }
        }
    }

    /// Reads the rest of a trace, continuing after faults that are not final, and checks all of it including its end.
    pub fn read<S: Source>(mut self, reader: &mut TraceReader<S>, mut report: impl FnMut(CheckEvent)) -> CheckStats {
        let Ok(()) = reader.walk(|part| {
            self.part(part, &mut report);
            Ok::<_, Infallible>(())
        });
        let extent = Extent { lines: reader.lines_read(), bytes: reader.bytes_read() };
        self.conclude(extent, &mut report)
    }

    fn part(&mut self, part: TracePart<'_>, report: &mut impl FnMut(CheckEvent)) {
        let mut found = |finding| report(CheckEvent::Finding(finding));
        match part {
            TracePart::Header { line, header } => self.header(line, header, &mut found),
            TracePart::Event { line, ref event } => self.event(line, event, &mut found),
            TracePart::Fault(error) => report(CheckEvent::Fault(error)),
        }
    }

    fn conclude(self, extent: Extent, report: &mut impl FnMut(CheckEvent)) -> CheckStats {
        let events = self.events;
        self.finish(&mut |finding| report(CheckEvent::Finding(finding)));
        CheckStats { events, extent }
    }

    /// Reports what the end of the trace shows. Reports nothing if the trace had no readable line, since the reader
    /// reported why.
    pub fn finish(self, report: &mut impl FnMut(Finding)) {
        if let (Some(line), None) = (self.last_line, self.ended_on) {
            report(Finding {
                line,
                severity: Severity::Warning,
                message: "no run_ended: the run is still going, or was killed".to_owned(),
            });
        }
    }
}

/// Returns a function that reports messages as errors on a line.
fn error_on(line: u64, report: &mut impl FnMut(Finding)) -> impl FnMut(String) {
    move |message| report(Finding { line, severity: Severity::Error, message })
}

#[cfg(test)]
mod tests;
