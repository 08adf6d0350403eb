//! A difference between a run and the recorded one, as data and as a report.

use std::fmt;
use std::sync::Arc;

use crate::display::{Name, task_name};

/// The difference at which a run diverged from the recorded one.
///
/// Its `Display` is a report of several lines: the position, the recorded part and the actual one, and the calls
/// before. Texts from the trace and the program are escaped, and cut where they are long. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence(Arc<Details>);

/// The kind of a divergence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DivergenceKind {
    /// The call has another operation or another capability than the recorded one, or, in the global order, another
    /// task.
    OtherCall,
    /// The call has other arguments than the recorded one.
    OtherArguments,
    /// A task made more calls than recorded.
    MoreCalls,
    /// A task made a call that the recording does not contain.
    UnknownTask,
    /// The recorded result cannot be given back, since a part of it is redacted or opaque.
    Unanswerable,
    /// The run ended with another outcome or message than the recorded one.
    EndedDifferently,
    /// The run ended without making some of the recorded calls.
    UnusedCalls,
    /// The run made no call at all, and the recorded one made some.
    NoCalls,
    /// The call was granted and the recorded one was not, or the reverse. Only when a live run is checked.
    OtherVerdict,
    /// The call has an outcome of another kind or type. Only when a live run is checked.
    OtherOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) kind: DivergenceKind,
    /// The first line of the report.
    pub(super) headline: String,
    pub(super) task: u64,
    pub(super) recorded_task: Option<u64>,
    pub(super) call_in_task: Option<u64>,
    pub(super) call_in_trace: Option<u64>,
    pub(super) line: Option<u64>,
    pub(super) path: Option<String>,
    pub(super) recorded: String,
    pub(super) actual: String,
    pub(super) before: Vec<CallBefore>,
    /// Hints at the end of the report.
    pub(super) notes: Vec<String>,
}

/// A recorded call of the same task that came before a divergence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallBefore {
    /// The number of the call in its task, from 1.
    pub call_in_task: u64,
    /// The line of the trace on which it stands.
    pub line: u64,
    /// The call and its outcome, formatted for people.
    pub shown: String,
}

impl Divergence {
    pub(super) fn new(details: Details) -> Self {
        Self(Arc::new(details))
    }

    /// Returns the kind of divergence.
    #[must_use]
    pub fn kind(&self) -> DivergenceKind {
        self.0.kind
    }

    /// Returns the id of the task in this run.
    #[must_use]
    pub fn task(&self) -> u64 {
        self.0.task
    }

    /// Returns the recorded id of the task. `None` for a task that the recording does not contain.
    #[must_use]
    pub fn recorded_task(&self) -> Option<u64> {
        self.0.recorded_task
    }

    /// Returns the number of the call in its task, from 1. `None` if the divergence is not at a call.
    #[must_use]
    pub fn call_in_task(&self) -> Option<u64> {
        self.0.call_in_task
    }

    /// Returns the number of the recorded call in the trace, from 1. `None` if there is no corresponding recorded call.
    #[must_use]
    pub fn call_in_trace(&self) -> Option<u64> {
        self.0.call_in_trace
    }

    /// Returns the physical line, from 1, of the recorded call or event, if there is one.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// Returns the path of the first part that differs: `args[1].fields.token`, `capability`, `outcome.value.items[3]`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Returns the recorded part, formatted for people.
    #[must_use]
    pub fn recorded(&self) -> &str {
        &self.0.recorded
    }

    /// Returns the actual part, formatted for people.
    #[must_use]
    pub fn actual(&self) -> &str {
        &self.0.actual
    }

    /// The recorded calls of the task that came before, two at most, the earlier one first.
    #[must_use]
    pub fn before(&self) -> &[CallBefore] {
        &self.0.before
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.0;
        write!(f, "{}\n\n", details.headline)?;
        if let Some(place) = self.place() {
            writeln!(f, "  where     {place}")?;
        }
        if let Some(path) = &details.path {
            writeln!(f, "  differs   {}", Name(path))?;
        }
        writeln!(f, "  recorded  {}", details.recorded)?;
        writeln!(f, "  actual    {}", details.actual)?;
        if !details.before.is_empty() {
            write!(f, "\n  before it, as recorded:\n")?;
            for call in &details.before {
                writeln!(f, "    call {}, line {}: {}", call.call_in_task, call.line, call.shown)?;
            }
        }
        details.notes.iter().try_for_each(|note| write!(f, "\n  {note}\n"))
    }
}

impl Divergence {
    fn place(&self) -> Option<String> {
        let details = &*self.0;
        let mut parts = Vec::new();
        if let Some(number) = details.call_in_task {
            parts.push(format!("call {number} of {}", task_name(details.task)));
        }
        if let Some(recorded) = details.recorded_task.filter(|recorded| *recorded != details.task) {
            parts.push(format!("recorded as {}", task_name(recorded)));
        }
        if let Some(number) = details.call_in_trace {
            parts.push(format!("call {number} of the trace"));
        }
        if let Some(line) = details.line {
            parts.push(format!("line {line}"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl std::error::Error for Divergence {}
