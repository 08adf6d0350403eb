//! A live run held against a trace that need not hold its values.

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

/// A live run held against a trace, which may be redacted: a [`TraceSink`] to record the run into. Made by
/// [`Replay::check_only`](super::Replay::check_only).
///
/// A redacted trace can't be replayed: it has no results. But a run with its real host can be compared with it, and an
/// interpreter that records needs nothing more for that than this sink in the place of its own, or beside it.
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
/// What it compares: for each task, which operations it called in which order, under which capabilities; how many
/// arguments it passed and of what types; whether the call was granted; whether it came to a value (and of what type), to an
/// error, or to nothing; and with what outcome the run ended. What that proves is that the program took the same way through
/// its host's API, and was given the same rights, as far as operations and types tell.
///
/// What it does not prove: that any argument or result was the same, of which each is counted as
/// [unchecked](ReplayReport::unchecked), nor that messages were. Two runs that read different files, or send different
/// things to different places, through the same operations, are the same to it. All this holds of a trace with full values
/// too: a host's results differ from run to run for good reasons, and only types are compared.
#[derive(Debug)]
pub struct LiveCheck {
    matching: Matching,
    findings: Findings,
    ended: Mutex<Option<RunOutcome>>,
    guard: ForkGuard,
}

impl LiveCheck {
    /// Loads the trace that `reader` is at the beginning of.
    ///
    /// # Errors
    ///
    /// When the trace can't be read, or [has no beginning](OpenError::NoBeginning).
    ///
    /// # Panics
    ///
    /// If the system has no memory to watch for forks.
    pub fn from_reader<S: Source>(reader: &mut TraceReader<S>) -> Result<Self, OpenError> {
        let recording = Recording::load(reader, ValueCapture::Redacted)?;
        let guard = ForkGuard::new().expect("no memory for a fork handler");
        Ok(Self { matching: Matching::new(recording), findings: Findings::default(), ended: Mutex::default(), guard })
    }

    /// The same check, matching calls in another order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.matching.order = order;
        self
    }

    /// The same check, matching tasks in another way. The spawns are told by the run's events.
    #[must_use]
    pub fn tasks(mut self, tasks: TaskMatching) -> Self {
        self.matching.tasks = tasks;
        self
    }

    /// The trace's header.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.matching.recording.header
    }

    /// How much of the run the trace holds.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.matching.recording.completeness()
    }

    /// The first divergence, if there is one by now. What comes after it is not compared any more.
    #[must_use]
    pub fn divergence(&self) -> Option<&Divergence> {
        self.findings.first()
    }

    /// Sums up, when the run has ended. One that recorded no end is taken for cancelled.
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

    /// Compares a call with the one that is next, and gives how many values were compared by their types.
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
