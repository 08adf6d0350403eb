//! A trace as a replay keeps it: for each task its calls, in the form in which they can be compared and given back.
//!
//! Of a call are kept its site, as numbers of names, its verdict, its arguments in the canonical value encoding, and
//! its result in a form that is quickly turned into a value. Two values are equal when their encodings are, so nothing
//! has to be decoded to compare. What the trace holds besides is dropped while it is read.

use std::collections::HashMap;
#[cfg(feature = "diff")]
use std::time::Duration;

use super::beginning::Beginning;
use super::open_error::{MissingBeginning, OpenError};
use super::packed::{Packed, Packer};
use super::tapes::{LoadingTapes, Tape, TapeEnd, Tapes};
use crate::decode::Decoder;
use crate::event::{CallSite, ENTRY_TASK, HostCall, HostOutcome, TraceEvent, TraceHeader};
use crate::name_map::{NameMap, index_of};
use crate::names::{RunOutcome, ValueCapture};
use crate::reader::{ReadError, ReadErrorKind, Source, TraceReader};
use crate::value::RecordedValue;
use crate::value::encode_value_lines;

/// A trace, loaded.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) header: TraceHeader,
    names: NameMap<1, ()>,
    /// In the order of the file.
    pub(crate) calls: Vec<Call>,
    /// What the calls' places point into.
    data: Vec<u8>,
    /// The texts of results, and of errors.
    texts: String,
    tapes: Tapes,
    /// What each parent spawned in each scope, in order.
    children: HashMap<Spawner, Vec<u64>>,
    pub(crate) ending: Option<RunEnding>,
    /// The last line is torn.
    is_truncated: bool,
    /// Whether the entry was entered. A trace without that may have lost it, or be of an interpreter that records no
    /// entry.
    pub(super) has_entry: bool,
    /// The first line that shows that the beginning is missing, and what it shows.
    missing_beginning: Option<(u64, MissingBeginning)>,
}

/// A task, and a scope in which it spawns others.
pub(crate) type Spawner = (Option<u64>, Box<str>);

/// One recorded host call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) task: u64,
    pub(crate) line: u64,
    #[cfg(feature = "diff")]
    pub(crate) wait: Duration,
    module: Name,
    op: Name,
    capability: Name,
    pub(crate) granted: bool,
    outcome: OutcomeKind,
    /// Whether a part of an argument is redacted or opaque.
    pub(super) has_gaps: bool,
    /// Whether a resource is among the arguments or in the result.
    #[cfg(feature = "diff")]
    pub(crate) has_resources: bool,
    args_at: usize,
    outcome_at: usize,
    end: usize,
    texts_at: usize,
    texts_end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutcomeKind {
    None,
    Value,
    Partial,
    Error,
    NotRecordable,
}

/// What a recorded call came to, in its encoded form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RecordedOutcome<'r> {
    None,
    Value(Packed<'r>),
    /// The line of a value of which a part is missing.
    Partial(&'r [u8]),
    Error(&'r str),
    NotRecordable,
}

/// How the recorded run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunEnding {
    pub(super) line: u64,
    pub(crate) outcome: RunOutcome,
    pub(crate) message: Option<String>,
}

/// How much of a run a trace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completeness {
    /// All of it, to an end that the program or the host API brought about.
    Complete,
    /// All until a limit of the host stopped it, this one.
    Stopped(RunOutcome),
    /// No `run_ended`: the run was killed, or was still going.
    Cut,
    /// The last line is torn: the run was killed while that was written.
    Truncated,
}

impl std::fmt::Display for Completeness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Complete => f.write_str("the recording is complete"),
            Self::Stopped(outcome) => write!(f, "the recorded run was stopped by a limit: {outcome}"),
            Self::Cut => f.write_str("the recording is cut off: it has no run_ended"),
            Self::Truncated => f.write_str("the recording is cut off: its last line is torn"),
        }
    }
}

/// Whether a run that ends like this was stopped by a limit of its host.
pub(super) const fn is_limit(outcome: RunOutcome) -> bool {
    match outcome {
        RunOutcome::Success | RunOutcome::Error | RunOutcome::Invariant | RunOutcome::HostBoundary => false,
        RunOutcome::Fuel
        | RunOutcome::Deadline
        | RunOutcome::Cancelled
        | RunOutcome::CallDepth
        | RunOutcome::HostCalls
        | RunOutcome::Concurrency => true,
    }
}

impl Recording {
    /// Reads a trace to its end, or to where it is torn. Of each value is kept what `capture` keeps. A trace whose
    /// beginning is missing is refused: which call would be the first is not in it.
    pub(super) fn load<S: Source>(reader: &mut TraceReader<S>, capture: ValueCapture) -> Result<Self, OpenError> {
        let recording = Self::load_past(reader, capture, Err)?;
        match recording.missing_beginning {
            Some((line, sign)) => Err(OpenError::NoBeginning { line, sign }),
            None => Ok(recording),
        }
    }

    /// The same, asking `pass` about each fault other than a torn end whether to go on after it.
    pub(crate) fn load_past<S: Source>(
        reader: &mut TraceReader<S>,
        capture: ValueCapture,
        mut pass: impl FnMut(ReadError) -> Result<(), ReadError>,
    ) -> Result<Self, OpenError> {
        let header = reader.header()?.cloned();
        // Without an error there is a header.
        let header = header.ok_or(OpenError::NoHeader)?;
        let mut loader = Loader::new(header, capture);
        loop {
            match reader.next_event_with_line() {
                Ok(Some((line, event))) => loader.event(line, &event),
                Ok(None) => break,
                Err(error) if matches!(error.kind(), ReadErrorKind::Truncated { .. }) => {
                    loader.recording.is_truncated = true;
                }
                Err(error) => pass(error)?,
            }
        }
        Ok(loader.finish())
    }

    pub(crate) fn completeness(&self) -> Completeness {
        match &self.ending {
            _ if self.is_truncated => Completeness::Truncated,
            None => Completeness::Cut,
            Some(ending) if is_limit(ending.outcome) => Completeness::Stopped(ending.outcome),
            Some(_) => Completeness::Complete,
        }
    }

    pub(crate) fn tape(&self, task: u64) -> Option<&Tape> {
        self.tapes.get(task)
    }

    pub(crate) fn tapes(&self) -> impl Iterator<Item = (u64, &Tape)> {
        self.tapes.iter()
    }

    /// What each parent spawned in each scope.
    #[cfg(feature = "diff")]
    pub(crate) fn children(&self) -> &HashMap<Spawner, Vec<u64>> {
        &self.children
    }

    /// The task that `spawner` spawned as its `index`th, from 0.
    pub(super) fn child(&self, spawner: &Spawner, index: usize) -> Option<u64> {
        self.children.get(spawner)?.get(index).copied()
    }

    pub(crate) fn site(&self, call: &Call) -> CallSite<'_> {
        let name = |number: Name| self.names.get_index(number as usize).map_or("", |(names, ())| names.as_strs()[0]);
        CallSite::new(name(call.module), name(call.op), name(call.capability))
    }

    /// The arguments, each on a line of its own.
    pub(crate) fn args(&self, call: &Call) -> &[u8] {
        &self.data[call.args_at..call.outcome_at]
    }

    pub(crate) fn outcome(&self, call: &Call) -> RecordedOutcome<'_> {
        let (bytes, texts) = (&self.data[call.outcome_at..call.end], &self.texts[call.texts_at..call.texts_end]);
        match call.outcome {
            OutcomeKind::None => RecordedOutcome::None,
            OutcomeKind::Value => RecordedOutcome::Value(Packed { shape: bytes, texts }),
            OutcomeKind::Partial => RecordedOutcome::Partial(bytes),
            OutcomeKind::Error => RecordedOutcome::Error(texts),
            OutcomeKind::NotRecordable => RecordedOutcome::NotRecordable,
        }
    }
}

/// Takes up a trace, event by event.
struct Loader {
    recording: Recording,
    tapes: LoadingTapes,
    capture: ValueCapture,
    /// For each cancelled task, how many calls the trace had until then.
    cancelled: HashMap<u64, usize>,
    beginning: Beginning,
}

impl Loader {
    fn new(header: TraceHeader, capture: ValueCapture) -> Self {
        let recording = Recording {
            header,
            names: NameMap::default(),
            calls: Vec::new(),
            data: Vec::new(),
            texts: String::new(),
            tapes: Tapes::default(),
            children: HashMap::new(),
            ending: None,
            is_truncated: false,
            has_entry: false,
            missing_beginning: None,
        };
        let mut tapes = LoadingTapes::default();
        tapes.of(ENTRY_TASK);
        Self { recording, tapes, capture, cancelled: HashMap::new(), beginning: Beginning::default() }
    }

    fn event(&mut self, line: u64, event: &TraceEvent<'_>) {
        self.beginning.event(line, event);
        let recording = &mut self.recording;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => {
                recording.children.entry((parent, scope.into())).or_default().push(id);
                self.tapes.of(id);
            }
            TraceEvent::TaskCompleted { id, .. } => {
                self.tapes.of(id).end = TapeEnd::Completed;
            }
            TraceEvent::TaskCancelled { id } => {
                self.cancelled.insert(id, recording.calls.len());
            }
            TraceEvent::HostCall(ref call) => {
                self.tapes.of(call.task).calls.push(recording.calls.len());
                recording.take_up(line, call, self.capture);
            }
            TraceEvent::EntryExit { .. } => {
                self.tapes.of(ENTRY_TASK).end = TapeEnd::Completed;
            }
            TraceEvent::RunEnded { outcome, message } => {
                recording.ending = Some(RunEnding { line, outcome, message: message.map(Into::into) });
            }
            TraceEvent::EntryEnter { .. } | TraceEvent::HeapCollected { .. } | TraceEvent::HeapSummary(_) => {}
        }
    }

    fn finish(self) -> Recording {
        let Self { mut recording, mut tapes, cancelled, beginning, .. } = self;
        recording.has_entry = beginning.has_entry;
        let first_line = |tape: &Tape| Some(recording.calls.get(*tape.calls.first()?)?.line);
        let first_calls = tapes.iter().filter_map(|tape| Some((tape.task, first_line(tape)?)));
        recording.missing_beginning = beginning.sign_of_missing(first_calls);
        let is_complete = recording.completeness() == Completeness::Complete;
        let total = recording.calls.len();
        for (id, calls_until_then) in &cancelled {
            // One that was cancelled when nobody called any more may have been stopped by the end of the run, and then
            // belongs to what is missing of a run that was not recorded to its own end.
            if is_complete || *calls_until_then < total {
                tapes.of(*id).end = TapeEnd::Stopped;
            }
        }
        if is_complete {
            let entry_may_be_stopped = !cancelled.is_empty() && recording.was_ended_from_within();
            for tape in tapes.iter_mut() {
                if tape.task == ENTRY_TASK {
                    tape.end = if entry_may_be_stopped { TapeEnd::Stopped } else { TapeEnd::Completed };
                } else if tape.end == TapeEnd::Unknown {
                    tape.end = TapeEnd::Stopped;
                }
            }
        }
        if matches!(recording.completeness(), Completeness::Stopped(_)) {
            // The entry exits when a limit stops it, too.
            tapes.of(ENTRY_TASK).end = TapeEnd::Unknown;
        }
        drop((cancelled, beginning));
        recording.tapes = tapes.finish();
        recording.calls.shrink_to_fit();
        recording.data.shrink_to_fit();
        recording.texts.shrink_to_fit();
        recording
    }
}

impl Recording {
    /// Whether the run may have been ended by another task than the entry: by its error, or by a call that leaves the
    /// program.
    fn was_ended_from_within(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.outcome != RunOutcome::Success)
            || self.calls.iter().any(|call| call.task != ENTRY_TASK && call.outcome == OutcomeKind::NotRecordable)
    }

    fn take_up(&mut self, line: u64, call: &HostCall<'_>, capture: ValueCapture) {
        let args_at = self.data.len();
        encode_value_lines(call.args, capture, &mut self.data);
        let (outcome_at, texts_at) = (self.data.len(), self.texts.len());
        let outcome = match call.outcome {
            None => OutcomeKind::None,
            Some(HostOutcome::Value(value)) if capture == ValueCapture::Full && !has_gap(&value) => {
                Packer { shapes: &mut self.data, texts: &mut self.texts }.pack(&value);
                OutcomeKind::Value
            }
            Some(HostOutcome::Value(value)) => {
                encode_value_lines(&[value], capture, &mut self.data);
                OutcomeKind::Partial
            }
            Some(HostOutcome::Error(message)) => {
                self.texts.push_str(message);
                OutcomeKind::Error
            }
            Some(HostOutcome::NotRecordable) => OutcomeKind::NotRecordable,
        };
        // More names than a `u32` counts do not fit into memory.
        let mut name = |name| Name::try_from(index_of(&mut self.names, [name])).unwrap_or(Name::MAX);
        let (module, op, capability) = (name(call.site.module()), name(call.site.op()), name(call.site.capability()));
        self.calls.push(Call {
            task: call.task,
            line,
            #[cfg(feature = "diff")]
            wait: call.wait,
            module,
            op,
            capability,
            granted: call.granted,
            outcome,
            has_gaps: call.args.iter().any(has_gap),
            #[cfg(feature = "diff")]
            has_resources: call.args.iter().any(has_resource)
                || matches!(&call.outcome, Some(HostOutcome::Value(value)) if has_resource(value)),
            args_at,
            outcome_at,
            end: self.data.len(),
            texts_at,
            texts_end: self.texts.len(),
        });
    }
}

/// Whether a part of the value is missing.
fn has_gap(value: &RecordedValue<'_>) -> bool {
    has_part(value, |part| matches!(part, RecordedValue::Redacted { .. } | RecordedValue::Opaque(_)))
}

/// Whether a resource is in the value.
#[cfg(feature = "diff")]
fn has_resource(value: &RecordedValue<'_>) -> bool {
    has_part(value, |part| matches!(part, RecordedValue::Resource(_)))
}

/// Whether the value is one of these, or a part of it is.
fn has_part(value: &RecordedValue<'_>, is_one: fn(&RecordedValue<'_>) -> bool) -> bool {
    match value {
        RecordedValue::Array(items) => items.iter().any(|item| has_part(item, is_one)),
        RecordedValue::Enum(value) => value.payload.iter().any(|item| has_part(item, is_one)),
        RecordedValue::Struct(value) => value.fields.iter().any(|field| has_part(&field.value, is_one)),
        part => is_one(part),
    }
}

/// The values of some lines, each decoded in its turn.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// The value that stands on a line which the encoder wrote.
pub(super) fn decoded<'a>(decoder: &'a mut Decoder, line: &'a [u8]) -> RecordedValue<'a> {
    // What the encoder writes the decoder reads; a fault of this crate in that would show as a difference.
    decoder.decode_value(line).unwrap_or(RecordedValue::Redacted { of: "Unreadable" })
}

/// The number of a name in a recording.
type Name = u32;
