//! Compares a live run with a trace, which may be redacted.

use std::sync::{Mutex, PoisonError};

use super::compare::{Comparison, Difference, Gaps};
use super::divergence::{Details, Divergence, DivergenceKind};
use super::findings::Findings;
use super::matching::{Matching, NextCall, Order, TaskMatching};
use super::open_error::OpenError;
use super::recording::{Completeness, RecordedOutcome, Recording};
use super::replay_report::{ReplayReport, conclude};
use super::report::{with_result, with_values};
use super::scratch::{self, Scratch};
use super::unmatched::Unmatched;
use crate::display::{Name, Operation, names_beside, task_name};
use crate::event::{HostCall, HostOutcome, TraceEvent, TraceHeader};
use crate::names::{RunOutcome, ValueCapture};
use crate::reader::{Source, TraceReader};
use crate::sink::{ForkGuard, TraceSink};
use crate::value::encode_value_lines;
use crate::value::{RecordedValue, TraceValue};

/// Compares a live run with a trace, which may be redacted. It is a [`TraceSink`] to record the run into, created by
/// [`Replay::check_only`](super::Replay::check_only).
///
/// A redacted trace cannot be replayed, since it has no results. But a run with its real host can be compared with it:
/// pass this sink to the interpreter instead of its own sink, or beside it.
///
/// ```
/// use cove_trace::replay::Verdict;
/// use cove_trace::{Replay, RunOutcome, TraceEvent, TraceSink};
///
/// # let trace = concat!(
/// #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"redacted","entry":"main","args":[]}"#, "\n",
/// #     r#"{"event":"run_ended","outcome":"success","message":null}"#, "\n",
/// # ).as_bytes();
/// let check = Replay::check_only(trace)?;
/// fn run(sink: &dyn TraceSink) {
///     // The interpreter, with its host.
///     sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
/// }
/// run(&check);
/// assert_eq!(check.finish().verdict, Verdict::Reproduced);
/// # Ok::<(), cove_trace::replay::OpenError>(())
/// ```
///
/// For each task, it compares the operations and their order, the capabilities, the number and the types of arguments,
/// whether each call was granted, and the kind and type of its outcome; and the outcome of the run. This shows that the
/// program used its host's API in the same way and with the same rights, as far as operations and types tell.
///
/// It does not compare values or messages. Each value counts as [unchecked](ReplayReport::unchecked). Two runs that
/// read different files through the same operations are equal to it. This holds for a trace with full values too, since
/// a host's results legitimately differ between runs.
#[derive(Debug)]
pub struct LiveCheck {
    matching: Matching,
    findings: Findings,
    ended: Mutex<Option<RunOutcome>>,
    guard: ForkGuard,
}

impl LiveCheck {
    /// Loads the trace of a reader that is at its beginning.
    ///
    /// # Errors
    ///
    /// Fails if the trace cannot be read, or [has no beginning](OpenError::NoBeginning).
    ///
    /// # Panics
    ///
    /// If the system has no memory to watch for forks.
    pub fn from_reader<S: Source>(reader: &mut TraceReader<S>) -> Result<Self, OpenError> {
        let recording = Recording::load(reader, ValueCapture::Redacted)?;
        let guard = ForkGuard::new().expect("no memory for a fork handler");
        Ok(Self { matching: Matching::new(recording), findings: Findings::default(), ended: Mutex::default(), guard })
    }

    /// Sets the order in which calls are matched.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.matching.order = order;
        self
    }

    /// Sets how tasks are matched. The run's events report the spawns.
    #[must_use]
    pub fn tasks(mut self, tasks: TaskMatching) -> Self {
        self.matching.tasks = tasks;
        self
    }

    /// Returns the trace's header.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.matching.recording.header
    }

    /// Returns how much of the run the trace contains.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.matching.recording.completeness()
    }

    /// Returns the first divergence so far. Later calls are not compared.
    #[must_use]
    pub fn divergence(&self) -> Option<&Divergence> {
        self.findings.first()
    }

    /// Returns the report after the run. A run without a recorded end counts as cancelled.
    #[must_use]
    pub fn finish(&self) -> ReplayReport {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        conclude(&self.matching, &self.findings, ended.unwrap_or(RunOutcome::Cancelled), None)
    }

    fn host_call(&self, call: &HostCall<'_>) {
        self.findings.called();
        if self.findings.stopped_by().is_some() {
            return;
        }
        scratch::with(|scratch| {
            scratch.actual.clear();
            encode_value_lines(call.args, ValueCapture::Redacted, &mut scratch.actual);
            loop {
                let next = match self.matching.next(call.task) {
                    Ok(next) => next,
                    Err(unrecorded) => {
                        return match self.matching.unmatched(call.task, &unrecorded, call.site, &scratch.actual) {
                            Unmatched::Stopped => {}
                            Unmatched::Incomplete(incomplete) => self.findings.ended_at(incomplete),
                            Unmatched::Diverged(divergence) => drop(self.findings.diverged(divergence)),
                        };
                    }
                };
                match self.compare(call, &next, scratch) {
                    Ok(unchecked) if self.matching.take(&next, 0) => return self.findings.count_unchecked(unchecked),
                    Err(divergence) if self.matching.is_still_next(&next) => {
                        return drop(self.findings.diverged(*divergence));
                    }
                    // Another thread took it meanwhile.
                    Ok(_) | Err(_) => {}
                }
            }
        });
    }

    /// Compares a call with the next recorded one, and returns the number of values that were compared by type.
    fn compare(&self, live: &HostCall<'_>, next: &NextCall<'_>, scratch: &Scratch) -> Result<u64, Box<Divergence>> {
        let (recording, task) = (&self.matching.recording, live.task);
        if self.matching.is_turn_of_another(task, next) {
            return Err(Box::new(self.matching.other_task(task, next, live.site, &scratch.actual)));
        }
        if recording.site(next.call) != live.site {
            return Err(Box::new(self.matching.other_call(task, next, live.site, &scratch.actual, None)));
        }
        let mut unchecked = live.args.len() as u64;
        if recording.args(next.call) != scratch.actual
            && let Err(difference) = compared(recording.args(next.call), &scratch.actual)
        {
            return Err(Box::new(self.matching.other_arguments(task, next, live.site, *difference, None)));
        }
        let verdict = |granted| if granted { "granted" } else { "not granted" };
        if next.call.granted != live.granted {
            let sides = [verdict(next.call.granted), verdict(live.granted)].map(str::to_owned);
            return Err(self.other(DivergenceKind::OtherVerdict, "granted", "another verdict", sides, live, next));
        }
        let outcomes =
            [OutcomeType::of_recorded(recording.outcome(next.call)), OutcomeType::of_live(live.outcome.as_ref())];
        if outcomes[0] != outcomes[1] {
            let sides = OutcomeType::shown_beside(&outcomes[0], &outcomes[1]);
            return Err(self.other(DivergenceKind::OtherOutcome, "outcome", "another outcome", sides, live, next));
        }
        unchecked += u64::from(matches!(live.outcome, Some(HostOutcome::Value(_))));
        Ok(unchecked)
    }

    fn other(
        &self,
        kind: DivergenceKind,
        path: &str,
        what: &str,
        [recorded, actual]: [String; 2],
        live: &HostCall<'_>,
        next: &NextCall<'_>,
    ) -> Box<Divergence> {
        Box::new(Divergence::new(Details {
            headline: format!(
                "{}'s {} came to {what} than recorded",
                task_name(live.task),
                Operation(live.site.module(), live.site.op())
            ),
            path: Some(path.to_owned()),
            recorded,
            actual,
            ..self.matching.at_call(kind, live.task, next)
        }))
    }
}

impl TraceSink for LiveCheck {
    fn record(&self, event: &TraceEvent<'_>) {
        if !self.guard.is_owner() {
            // Another thread may have held a lock during the fork.
            return;
        }
        match event {
            TraceEvent::TaskSpawned { id, parent, scope } => self.matching.spawned(*id, *parent, scope),
            TraceEvent::HostCall(call) => self.host_call(call),
            TraceEvent::RunEnded { outcome, .. } => {
                *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(*outcome);
            }
            _ => {}
        }
    }

    fn is_recording(&self) -> bool {
        true
    }
}

/// Compares arguments by their types.
fn compared(recorded: &[u8], live: &[u8]) -> Result<(), Box<Difference>> {
    let mut comparison = Comparison::new(Gaps::InEither);
    with_values(recorded, |recorded| with_values(live, |live| comparison.args(recorded, live)));
    comparison.into_result().map(drop)
}

/// The part of an outcome that is compared.
#[derive(Debug, PartialEq, Eq)]
enum OutcomeType {
    None,
    /// A value of the type with this name.
    Value(String),
    Error,
    NotRecordable,
}

impl OutcomeType {
    fn of_recorded(outcome: RecordedOutcome<'_>) -> Self {
        match outcome {
            RecordedOutcome::None => Self::None,
            RecordedOutcome::Value(_) | RecordedOutcome::Partial(_) => Self::Value(with_result(outcome, type_name)),
            RecordedOutcome::Error(_) => Self::Error,
            RecordedOutcome::NotRecordable => Self::NotRecordable,
        }
    }

    fn of_live(outcome: Option<&HostOutcome<'_>>) -> Self {
        match outcome {
            None => Self::None,
            Some(HostOutcome::Value(value)) => {
                // A live value's type name is the runtime's own code. The encoder contains its failures.
                let mut line = Vec::new();
                encode_value_lines(&[*value], ValueCapture::Redacted, &mut line);
                Self::Value(with_values(&line, |values| values.iter().map(type_name).collect()))
            }
            Some(HostOutcome::Error(_)) => Self::Error,
            Some(HostOutcome::NotRecordable) => Self::NotRecordable,
        }
    }

    /// Two outcomes that differ, in words.
    fn shown_beside(recorded: &Self, live: &Self) -> [String; 2] {
        if let (Self::Value(recorded), Self::Value(live)) = (recorded, live) {
            return names_beside(recorded, live).map(|name| format!("a value of type {name}"));
        }
        [recorded, live].map(|kind| match kind {
            Self::None => "nothing".to_owned(),
            Self::Value(name) => format!("a value of type {}", Name(name)),
            Self::Error => "an error".to_owned(),
            Self::NotRecordable => "not recordable".to_owned(),
        })
    }
}

fn type_name(value: &RecordedValue<'_>) -> String {
    value.type_name().into_owned()
}
