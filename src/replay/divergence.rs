//! Where a run went another way than the recorded one, as data and as a report.

use std::fmt;
use std::sync::Arc;

use crate::display::{Name, task_name};

/// Where, and how, a run went another way than the recorded one.
///
/// An error, and data. Printed, it is a report of several lines that says where, what was recorded beside what was asked, and
/// what came before. Texts out of the trace and the program are cut where they are long, and what could act on a terminal
/// is escaped in them. Cloning one is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence(Arc<Details>);

/// What went another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DivergenceKind {
    /// Another operation was called than the recorded one, or one that takes another capability, or, in the recorded global
    /// order, another task called.
    OtherCall,
    /// The recorded operation was called with other arguments.
    OtherArguments,
    /// A task called more often than recorded.
    MoreCalls,
    /// A task called that the recording does not have.
    UnknownTask,
    /// The recorded result can't be given back: it, or a part of it, is redacted or opaque.
    Unanswerable,
    /// The run ended in another way than the recorded one.
    EndedDifferently,
    /// The run ended, and recorded calls were not asked for.
    UnusedCalls,
    /// The run ended without a single call, and the recorded one made some.
    NoCalls,
    /// A call was granted and the recorded one was not, or the other way round. Only when a live run is checked.
    OtherVerdict,
    /// A call came to an outcome of another kind, or of another type. Only when a live run is checked.
    OtherOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) kind: DivergenceKind,
    /// What happened, in words.
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
    /// More that helps, below the rest.
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
    /// The call and its outcome, as they are shown to people.
    pub shown: String,
}

impl Divergence {
    pub(super) fn new(details: Details) -> Self {
        Self(Arc::new(details))
    }

    /// What went another way.
    #[must_use]
    pub fn kind(&self) -> DivergenceKind {
        self.0.kind
    }

    /// The task, by the id it has in this run.
    #[must_use]
    pub fn task(&self) -> u64 {
        self.0.task
    }

    /// The task that it was matched with, by its recorded id. None for a task that the recording does not have.
    #[must_use]
    pub fn recorded_task(&self) -> Option<u64> {
        self.0.recorded_task
    }

    /// The number of the call among those of its task, from 1. None when it is not about a call.
    #[must_use]
    pub fn call_in_task(&self) -> Option<u64> {
        self.0.call_in_task
    }

    /// The number of the recorded call among all calls of the trace, from 1. None when no recorded call stands against what
    /// was asked.
    #[must_use]
    pub fn call_in_trace(&self) -> Option<u64> {
        self.0.call_in_trace
    }

    /// The physical line of the trace, from 1, on which the recorded side stands, if there is one.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The first part that differs: `args[1].fields.token`, `capability`, `outcome.value.items[3]`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// What was recorded there, as it is shown to people.
    #[must_use]
    pub fn recorded(&self) -> &str {
        &self.0.recorded
    }

    /// What was asked there, as it is shown to people.
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
