//! The texts of divergences.

use super::compare::Difference;
use super::divergence::{CallBefore, Details, Divergence, DivergenceKind};
use super::matching::{Matching, NextCall, Realigned, TaskMatching};
use super::recording::{Call, RecordedOutcome, Recording, decoded, lines};
use super::tapes::TapeEnd;
use crate::arena::Arena;
use crate::decode::Decoder;
use crate::display::{Name, Operation, count, names_beside, operation_marks, shown, shown_list, task_name};
use crate::event::CallSite;
use crate::owned::OwnedValue;
use crate::value::RecordedValue;

/// Formats the arguments on these lines.
pub(super) fn shown_args(args: &[u8]) -> String {
    with_values(args, shown_list)
}

/// Passes the values of some lines to a function.
pub(crate) fn with_values<R>(bytes: &[u8], use_them: impl FnOnce(&[RecordedValue<'_>]) -> R) -> R {
    let mut decoder = Decoder::new();
    let owned: Vec<OwnedValue> = lines(bytes).map(|line| OwnedValue::from(&decoded(&mut decoder, line))).collect();
    let arena = Arena::new();
    let views: Vec<RecordedValue<'_>> = owned.iter().map(|value| value.view(&arena)).collect();
    use_them(&views)
}

/// Passes the value of an outcome to a function; a unit if it has none.
pub(crate) fn with_result<R>(outcome: RecordedOutcome<'_>, use_it: impl FnOnce(&RecordedValue<'_>) -> R) -> R {
    let value = match outcome {
        RecordedOutcome::Value(packed) => OwnedValue::from(&RecordedValue::Live(&packed.unpack())),
        RecordedOutcome::Partial(line) => OwnedValue::from(&decoded(&mut Decoder::new(), line)),
        RecordedOutcome::None | RecordedOutcome::Error(_) | RecordedOutcome::NotRecordable => OwnedValue::Unit,
    };
    use_it(&value.view(&Arena::new()))
}

/// Formats an actual call: `documents.read("a")`.
pub(super) fn shown_actual(site: CallSite<'_>, args: &[u8]) -> String {
    format!("{}({})", operation(site), shown_args(args))
}

/// Formats a recorded call without its outcome.
fn shown_recorded(recording: &Recording, call: &Call) -> String {
    shown_actual(recording.site(call), recording.args(call))
}

/// Formats a recorded call with its outcome.
pub(crate) fn shown_whole(recording: &Recording, call: &Call) -> String {
    let outcome = match recording.outcome(call) {
        _ if !call.granted => " was not granted".to_owned(),
        RecordedOutcome::None => " did not reach the host".to_owned(),
        outcome @ (RecordedOutcome::Value(_) | RecordedOutcome::Partial(_)) => {
            format!(" -> {}", with_result(outcome, shown))
        }
        RecordedOutcome::Error(message) => format!(" -> error: {}", Name(message)),
        RecordedOutcome::NotRecordable => " can't be recorded".to_owned(),
    };
    shown_recorded(recording, call) + &outcome
}

fn operation(site: CallSite<'_>) -> Operation<'_> {
    Operation(site.module(), site.op())
}

fn number(place: usize) -> u64 {
    place as u64 + 1
}

impl Realigned<'_> {
    /// Describes the answer for the report.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Ahead { passed_over, .. } => {
                let calls = count(*passed_over as u64, "recorded call");
                Some(format!("{calls} passed over, and the call answered from further on"))
            }
            Self::Before(recorded) => {
                Some(format!("answered as recorded call {} of the task, which is the same", number(recorded.in_task)))
            }
            Self::OtherArguments | Self::No => None,
        }
    }
}

impl Matching {
    fn calls_before(&self, recorded_task: u64, in_task: usize) -> Vec<CallBefore> {
        self.before(recorded_task, in_task)
            .map(|(place, call)| CallBefore {
                call_in_task: number(place),
                line: call.line,
                shown: shown_whole(&self.recording, call),
            })
            .collect()
    }

    /// Creates a divergence at a recorded call. The caller fills in both sides.
    pub(super) fn at_call(&self, kind: DivergenceKind, task: u64, next: &NextCall<'_>) -> Details {
        Details {
            kind,
            headline: String::new(),
            task,
            recorded_task: Some(next.recorded_task),
            call_in_task: Some(number(next.in_task)),
            call_in_trace: Some(number(next.in_trace)),
            line: Some(next.call.line),
            path: None,
            recorded: String::new(),
            actual: String::new(),
            before: self.calls_before(next.recorded_task, next.in_task),
            notes: self.beginning_note(next).into_iter().collect(),
        }
    }

    /// Returns a hint for a divergence at the first call.
    fn beginning_note(&self, next: &NextCall<'_>) -> Option<String> {
        let may_be_missing = next.in_trace == 0 && !self.recording.has_entry;
        may_be_missing.then(|| {
            "The trace does not say where the entry was entered. If it is a flight recorder's dump, its beginning is \
             missing, and it can't be replayed."
                .to_owned()
        })
    }

    /// Creates a divergence that is not at a recorded call.
    pub(super) fn at_no_call(&self, kind: DivergenceKind, headline: String) -> Details {
        Details {
            kind,
            headline,
            task: crate::event::ENTRY_TASK,
            recorded_task: None,
            call_in_task: None,
            call_in_trace: None,
            line: None,
            path: None,
            recorded: String::new(),
            actual: String::new(),
            before: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates a divergence from the global order.
    pub(super) fn other_task(&self, task: u64, next: &NextCall<'_>, site: CallSite<'_>, args: &[u8]) -> Divergence {
        let (caller, recorded) = (task_name(task), task_name(next.recorded_task));
        Divergence::new(Details {
            headline: format!("{caller} called where the recorded order has a call of {recorded}"),
            path: Some("task".to_owned()),
            recorded: format!("{recorded}: {}", shown_recorded(&self.recording, next.call)),
            actual: format!("{caller}: {}", shown_actual(site, args)),
            ..self.at_call(DivergenceKind::OtherCall, task, next)
        })
    }

    pub(super) fn other_call(
        &self,
        task: u64,
        next: &NextCall<'_>,
        site: CallSite<'_>,
        args: &[u8],
        note: Option<String>,
    ) -> Divergence {
        let recorded = self.recording.site(next.call);
        let same_operation = (recorded.module(), recorded.op()) == (site.module(), site.op());
        let caller = task_name(task);
        let mut details = self.at_call(DivergenceKind::OtherCall, task, next);
        if same_operation {
            details.headline = format!("{caller} called {} under another capability than recorded", operation(site));
            details.path = Some("capability".to_owned());
            [details.recorded, details.actual] = names_beside(recorded.capability(), site.capability());
        } else {
            details.headline =
                format!("{caller} called {} where {} was recorded", operation(site), operation(recorded));
            let marks = operation_marks((recorded.module(), recorded.op()), (site.module(), site.op()));
            details.recorded = shown_recorded(&self.recording, next.call) + &marks[0];
            details.actual = shown_actual(site, args) + &marks[1];
        }
        details.notes.extend(note);
        Divergence::new(details)
    }

    pub(super) fn other_arguments(
        &self,
        task: u64,
        next: &NextCall<'_>,
        site: CallSite<'_>,
        difference: Difference,
        note: Option<String>,
    ) -> Divergence {
        let mut details = self.at_call(DivergenceKind::OtherArguments, task, next);
        details.notes.extend(note);
        Divergence::new(Details {
            headline: format!("{} called {} with other arguments than recorded", task_name(task), operation(site)),
            path: Some(difference.path),
            recorded: difference.first,
            actual: difference.second,
            ..details
        })
    }

    pub(super) fn more_calls(
        &self,
        task: u64,
        recorded_task: u64,
        recorded_calls: usize,
        site: CallSite<'_>,
        args: &[u8],
    ) -> Divergence {
        let calls = count(recorded_calls as u64, "call");
        let headline = format!("{} called {} after all of its recorded calls", task_name(task), operation(site));
        Divergence::new(Details {
            task,
            recorded_task: Some(recorded_task),
            call_in_task: Some(number(recorded_calls)),
            recorded: format!("nothing more: {} made {calls}", task_name(recorded_task)),
            actual: shown_actual(site, args),
            before: self.calls_before(recorded_task, recorded_calls),
            ..self.at_no_call(DivergenceKind::MoreCalls, headline)
        })
    }

    pub(super) fn unknown_task(&self, task: u64, site: CallSite<'_>, args: &[u8]) -> Divergence {
        let headline = format!("{} called {}, and the recording has no such task", task_name(task), operation(site));
        let recorded = match self.tasks {
            TaskMatching::ById => format!("no task with the id {task}"),
            TaskMatching::ByScope => "fewer tasks of that parent in that scope, or its spawn was not told".to_owned(),
        };
        Divergence::new(Details {
            task,
            recorded,
            actual: shown_actual(site, args),
            ..self.at_no_call(DivergenceKind::UnknownTask, headline)
        })
    }

    pub(super) fn unanswerable(
        &self,
        task: u64,
        next: &NextCall<'_>,
        missing: &crate::value::NotReplayable,
    ) -> Divergence {
        let site = self.recording.site(next.call);
        Divergence::new(Details {
            headline: format!("the recorded result of {} can't be given back", operation(site)),
            path: Some(format!("outcome.value{}", missing.path())),
            recorded: format!("{} {}", missing.what, Name(missing.type_name())),
            actual: shown_recorded(&self.recording, next.call),
            notes: vec![
                "An operation that the interpreter itself performs (spawning a task, say) is named to the replay with \
                 `passthrough`."
                    .to_owned(),
            ],
            ..self.at_call(DivergenceKind::Unanswerable, task, next)
        })
    }

    /// Returns the unused calls of each task, in the order of the trace.
    pub(super) fn unused(&self) -> Vec<Unused> {
        let mut unused: Vec<_> = self
            .recording
            .tapes()
            .filter_map(|(task, tape)| {
                let left = tape.left();
                let place = tape.calls.len() - left;
                let in_trace = *tape.calls.get(place)?;
                Some(Unused { task, left, place, in_trace, is_stopped: tape.end == TapeEnd::Stopped })
            })
            .collect();
        unused.sort_unstable_by_key(|unused| unused.in_trace);
        unused
    }

    /// Creates a divergence for unused calls, the first of which is `first`.
    pub(super) fn unused_calls(&self, first: &Unused, total: u64) -> Divergence {
        let call = &self.recording.calls[first.in_trace];
        let headline = format!("the run ended, and {} not asked for", were(total));
        Divergence::new(Details {
            task: first.task,
            recorded_task: Some(first.task),
            call_in_task: Some(number(first.place)),
            call_in_trace: Some(number(first.in_trace)),
            line: Some(call.line),
            recorded: shown_recorded(&self.recording, call),
            actual: "nothing".to_owned(),
            before: self.calls_before(first.task, first.place),
            ..self.at_no_call(DivergenceKind::UnusedCalls, headline)
        })
    }
}

/// "3 recorded calls were".
pub(super) fn were(calls: u64) -> String {
    format!("{} {}", count(calls, "recorded call"), if calls == 1 { "was" } else { "were" })
}

/// The unused calls of a task.
pub(super) struct Unused {
    task: u64,
    pub(super) left: usize,
    /// The index of the first such call in the task.
    place: usize,
    in_trace: usize,
    /// Whether the recorded task was stopped, so that unused calls are not a divergence.
    pub(super) is_stopped: bool,
}
