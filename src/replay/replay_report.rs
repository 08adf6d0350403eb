//! The result of a replay.

use std::fmt;

use super::divergence::{Details, Divergence, DivergenceKind};
use super::findings::{Findings, Incomplete};
use super::matching::Matching;
use super::recording::{Completeness, is_limit};
use super::report::were;
use crate::display::{count, shown, values_beside};
use crate::names::RunOutcome;
use crate::value::RecordedValue;

/// The result of a replay, or of a check of a live run. Its `Display` is one line, or the first divergence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The verdict.
    pub verdict: Verdict,
    /// The divergences, in the order in which they were found: the first one, or, of a replay that keeps going, all.
    pub divergences: Vec<Divergence>,
    /// The number of divergences, including those that are not kept.
    pub divergences_found: u64,
    /// The number of host calls in the trace.
    pub calls_recorded: u64,
    /// The number of recorded calls that the run made, or that a replay that keeps going passed over.
    pub calls_used: u64,
    /// The number of recorded calls that the run did not make, except those of stopped tasks.
    pub unused: u64,
    /// The number of recorded calls of stopped tasks that the run did not make. How far such a task gets depends on
    /// scheduling.
    pub unused_by_stopped: u64,
    /// Parts of arguments, or of results when a live run is checked, of which nothing but the type could be compared.
    pub unchecked: u64,
}

/// The verdict of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The run did what was recorded, to its end.
    Reproduced,
    /// The run did what was recorded as far as that goes, and the recording goes no further.
    Incomplete(Incomplete),
    /// The run did something else.
    Diverged,
}

impl ReplayReport {
    /// Returns the first divergence.
    #[must_use]
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergences.first()
    }
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = count(self.calls_used, "call");
        match (&self.verdict, self.divergence()) {
            (Verdict::Incomplete(incomplete), _) => {
                write!(f, "As recorded for {asked}, and then incomplete: {incomplete}")?;
            }
            (_, None) => write!(f, "As recorded, to the end: {asked}")?,
            (_, Some(first)) => {
                write!(f, "{first}")?;
                if self.divergences_found > 1 {
                    write!(f, "\n{} in all", count(self.divergences_found, "divergence"))?;
                }
                return Ok(());
            }
        }
        if self.unchecked > 0 {
            write!(f, "; {} compared by type alone", count(self.unchecked, "value"))?;
        }
        if self.unused_by_stopped > 0 {
            write!(f, "; {} of stopped tasks not asked for", count(self.unused_by_stopped, "call"))?;
        }
        Ok(())
    }
}

/// Creates the report, given the end of the run. The message is not compared if it is `None`.
pub(super) fn conclude(
    matching: &Matching,
    findings: &Findings,
    outcome: RunOutcome,
    message: Option<Option<&str>>,
) -> ReplayReport {
    let completeness = matching.recording.completeness();
    let end = End { matching, findings, outcome, message, completeness };
    let (mut divergences, mut divergences_found) = findings.all();
    if divergences.is_empty() || findings.keep_going {
        let found = end.divergences();
        divergences_found += found.len() as u64;
        divergences.extend(found);
        if !findings.keep_going {
            divergences.truncate(1);
            divergences_found = divergences_found.min(1);
        }
    }
    let unused = matching.unused();
    let left = |is_stopped| unused.iter().filter(|one| one.is_stopped == is_stopped).map(|one| one.left as u64).sum();
    ReplayReport {
        verdict: if divergences.is_empty() { end.verdict() } else { Verdict::Diverged },
        divergences,
        divergences_found,
        calls_recorded: matching.recording.calls.len() as u64,
        calls_used: matching.calls_used() as u64,
        unused: left(false),
        unused_by_stopped: left(true),
        unchecked: findings.unchecked(),
    }
}

/// The end of a run, and all that there is to hold against it.
struct End<'r> {
    matching: &'r Matching,
    findings: &'r Findings,
    outcome: RunOutcome,
    message: Option<Option<&'r str>>,
    completeness: Completeness,
}

impl End<'_> {
    /// Returns the divergences at the end, the most severe first.
    fn divergences(&self) -> Vec<Divergence> {
        // It asked for more than there is, so what is left at its end, and that end, say nothing.
        if self.findings.incomplete().is_some() {
            return Vec::new();
        }
        let unused = self.matching.unused();
        let total = unused.iter().filter(|one| !one.is_stopped).map(|one| one.left as u64).sum::<u64>();
        let mut found = Vec::new();
        found.extend(self.ended_differently(total));
        if !self.findings.has_calls() && !self.matching.recording.calls.is_empty() {
            found.push(self.nothing_asked());
        } else if let Some(first) = unused.iter().find(|one| !one.is_stopped)
            && !self.may_leave_calls()
        {
            found.push(self.matching.unused_calls(first, total));
        }
        found
    }

    /// Whether the run was stopped by a limit, as the recorded one was: then both stopped anywhere.
    fn may_leave_calls(&self) -> bool {
        matches!(self.completeness, Completeness::Stopped(_)) && is_limit(self.outcome)
    }

    fn verdict(&self) -> Verdict {
        let incomplete = Incomplete { reason: self.completeness, task: None, call_in_task: None };
        match (self.findings.incomplete(), self.completeness) {
            (Some(incomplete), _) => Verdict::Incomplete(incomplete),
            (None, Completeness::Complete) => Verdict::Reproduced,
            (None, Completeness::Stopped(outcome)) if outcome == self.outcome && self.all_are_used() => {
                Verdict::Reproduced
            }
            (None, _) => Verdict::Incomplete(incomplete),
        }
    }

    fn all_are_used(&self) -> bool {
        self.matching.calls_used() == self.matching.recording.calls.len()
    }

    fn ended_differently(&self, unused: u64) -> Option<Divergence> {
        let recorded = self.matching.recording.ending.as_ref()?;
        // A limit that was met elsewhere, or not at all, is not the program's doing.
        if matches!(self.completeness, Completeness::Stopped(_)) {
            return None;
        }
        let recorded_message = recorded.message.as_deref();
        let (path, recorded_shown, actual) = if recorded.outcome != self.outcome {
            let message = self.message.flatten();
            ("outcome", ending(recorded.outcome, recorded_message), ending(self.outcome, message))
        } else if let Some(message) = self.message.filter(|message| *message != recorded_message) {
            let text = |message: Option<&'_ str>| message.unwrap_or_default().to_owned();
            let (one, other) = (text(recorded_message), text(message));
            let [one, other] = values_beside(&RecordedValue::String(&one), &RecordedValue::String(&other));
            let none_or = |message: Option<&str>, shown| if message.is_some() { shown } else { "none".to_owned() };
            ("message", none_or(recorded_message, one), none_or(message, other))
        } else {
            return None;
        };
        let headline = match path {
            "outcome" => format!("the run ended as {}, the recorded one as {}", self.outcome, recorded.outcome),
            _ => format!("the run ended as {}, as recorded, with another message", self.outcome),
        };
        let notes = if unused > 0 { vec![format!("{} not asked for.", were(unused))] } else { Vec::new() };
        Some(Divergence::new(Details {
            line: Some(recorded.line),
            path: Some(path.to_owned()),
            recorded: recorded_shown,
            actual,
            notes,
            ..self.matching.at_no_call(DivergenceKind::EndedDifferently, headline)
        }))
    }

    fn nothing_asked(&self) -> Divergence {
        let calls = count(self.matching.recording.calls.len() as u64, "call");
        Divergence::new(Details {
            recorded: calls,
            actual: "nothing".to_owned(),
            notes: vec!["Is the replay in the place of the host, and is it the same program?".to_owned()],
            ..self.matching.at_no_call(
                DivergenceKind::NoCalls,
                "the run ended without a single host call, so nothing was compared".to_owned(),
            )
        })
    }
}

/// How a run ended, with its message.
fn ending(outcome: RunOutcome, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("{outcome}: {}", shown(&RecordedValue::String(message))),
        None => outcome.to_string(),
    }
}
