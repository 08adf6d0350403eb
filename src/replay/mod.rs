//! Replays a run without its host: the host calls of a program are answered from the trace of an earlier run.
//!
//! A [`Replay`] takes the place of the host. It compares each call with the recorded one and answers it with the
//! recorded outcome. The first call that differs is a [`Divergence`], with its position, the recorded and the actual
//! call, and the calls before it. [`finish`](Replay::finish) compares the end of the run and reports recorded calls
//! that were not made.
//!
//! ```
//! use cove_trace::replay::{Answer, Verdict};
//! use cove_trace::{CallSite, ENTRY_TASK, RecordedValue, Replay, RunOutcome, Value};
//!
//! # let trace = concat!(
//! #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
//! #     r#"{"event":"host_call","task":0,"module":"env","op":"get","capability":"env.read","wait_ns":9,"granted":true,"#,
//! #     r#""args":[{"type":"string","value":"HOME"}],"outcome":{"kind":"value","value":{"type":"string","value":"/root"}}}"#,
//! #     "\n", r#"{"event":"run_ended","outcome":"success","message":null}"#, "\n",
//! # ).as_bytes();
//! let replay = Replay::open(trace)?;
//!
//! // In the one place that host calls go through, instead of calling the host.
//! let args = [RecordedValue::String("HOME")]; // or `LiveArgs::new(args)`: the interpreter's own values
//! match replay.call(ENTRY_TASK, CallSite::new("env", "get", "env.read"), &args)? {
//!     Answer::Value(value) => assert_eq!(value, Value::String("/root".into())), // into the interpreter's own
//!     Answer::Error(_message) => unreachable!("raise it as the host would"),
//!     Answer::Thrown(_error) => unreachable!("throw it as the host did"),
//!     Answer::NeverReturned => unreachable!("stop what waits for the call"),
//!     Answer::NotGranted => unreachable!("refuse it"),
//!     Answer::NotDispatched => unreachable!("fail as for wrong arguments"),
//!     Answer::NotRecordable => unreachable!("end the run as `Replay::recorded_end` says"),
//!     Answer::Perform => unreachable!("do it: an operation of the interpreter's own"),
//!     Answer::Stopped => unreachable!("stop this task as a cancelled one"),
//!     Answer::Incomplete => unreachable!("stop the run: nothing more was recorded"),
//! }
//!
//! // When the run has ended.
//! let conclusion = replay.finish(RunOutcome::Success, None);
//! assert_eq!(conclusion.verdict, Verdict::Reproduced);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is compared
//!
//! The operation, the capability, and every argument, as a full trace would record it: floats by their bits, whatever
//! the spelling in the trace. Of a redacted or opaque part, only the type name is compared, and the part is
//! [counted](ReplayReport::unchecked) as unchecked. Times are not compared.
//!
//! # Tasks
//!
//! The calls of each task have their own order, so the interleaving of tasks is not a divergence; see [`Order`] and
//! [`TaskMatching`]. How far a cancelled task got depended on scheduling. After its last recorded call, the answer is
//! [`Answer::Stopped`], and recorded calls that it does not make are not a divergence. To make such a task repeat
//! exactly the recorded calls, let a cancelled task go on while it [has calls left](Replay::has_calls_left).
//!
//! Some operations are the interpreter's own work, such as spawning a task or waiting for one. Pass their module to
//! [`passthrough`](Replay::passthrough): such calls are compared, but not answered.
//!
//! # Incomplete traces
//!
//! A trace without its *end* (the run was killed, or a limit stopped it) is replayed as far as it goes;
//! the result is [`Verdict::Incomplete`]. A trace without its *beginning*, such as the dump of a flight recorder, is
//! refused, since the calls of a task are matched from the first on. The signs of a missing beginning are an entry that
//! exits without having been entered, and a task that calls or ends without having been spawned. A dump without these
//! signs cannot be detected; the divergence at its first call says so.
//!
//! # Costs
//!
//! A replay keeps the bytes of the arguments and the result of each call, and 90 bytes more; in all less than the size
//! of the file. To answer a call, it compares bytes and creates the result. It takes no lock, and threads that call for
//! different tasks write to no memory in common.

mod beginning;
pub(crate) mod compare;
mod divergence;
mod findings;
mod live_check;
mod matching;
mod open_error;
mod packed;
pub(crate) mod recording;
mod replay_report;
pub(crate) mod report;
mod scratch;
pub mod suite;
mod tapes;
mod unmatched;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use self::compare::{Comparison, Difference, Gaps};
pub use self::divergence::{CallBefore, Divergence, DivergenceKind};
use self::findings::Findings;
pub use self::findings::Incomplete;
pub use self::live_check::LiveCheck;
use self::matching::{Matching, NextCall, Realigned, Unrecorded};
pub use self::matching::{Order, TaskMatching};
pub use self::open_error::{MissingBeginning, OpenError};
pub use self::recording::Completeness;
use self::recording::{RecordedOutcome, Recording, decoded, lines};
pub use self::replay_report::{ReplayReport, Verdict};
use self::scratch::Scratch;
use self::unmatched::Unmatched;
use crate::decode::Decoder;
use crate::event::{CallSite, TraceHeader};
use crate::names::{RunOutcome, ValueCapture};
use crate::reader::{Source, TraceReader};
use crate::value::encode_value_lines;
use crate::value::{RecordedValue, Value};

/// Answers a program's host calls from the trace of an earlier run. The threads of all tasks can share one.
#[derive(Debug)]
pub struct Replay {
    matching: Matching,
    findings: Findings,
    /// The modules whose calls the interpreter performs itself.
    passthrough: Vec<String>,
}

/// The recorded outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The host's result.
    Value(Value),
    /// The host's error message.
    Error(String),
    /// The value that the operation [threw](crate::Thrown).
    Thrown(Value),
    /// The call did not return: a panic went through it, or it was given up. Stop what waits for it; the program must
    /// not be able to catch this.
    NeverReturned,
    /// The task did not hold the capability.
    NotGranted,
    /// The call was granted but did not reach the host, for example because its arguments were invalid.
    NotDispatched,
    /// The call cannot be answered, for example because it exits the program. End the run as
    /// [`recorded_end`](Replay::recorded_end) says.
    NotRecordable,
    /// The interpreter [performs the call itself](Replay::passthrough).
    Perform,
    /// The recorded task was stopped at this point, by a cancellation or by an event in another task. How far it got
    /// depended on scheduling. Stop this task in the same way.
    Stopped,
    /// The recording ends before this call: it is truncated, or a limit stopped the recorded run. Stop the run; all
    /// calls before this one were as recorded.
    Incomplete,
}

impl Answer {
    fn from_result(result: Value) -> Self {
        if result.is_never_returned() {
            return Self::NeverReturned;
        }
        result.into_thrown().map_or_else(Self::Value, Self::Thrown)
    }
}

impl Replay {
    /// Loads a whole trace from a file, a slice of bytes, or any other source.
    ///
    /// A truncated end is not an error; see [`completeness`](Self::completeness). The line limit is the reader's
    /// default; use [`from_reader`](Self::from_reader) for another.
    ///
    /// # Errors
    ///
    /// Fails if the trace cannot be read, is redacted, or [has no beginning](OpenError::NoBeginning).
    pub fn open(source: impl Read) -> Result<Self, OpenError> {
        Self::from_reader(&mut TraceReader::new(source))
    }

    /// Loads the trace at `path`, as [`open`](Self::open) does.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened, or if the trace cannot be read, is redacted, or has no beginning.
    pub fn open_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| OpenError::Io { path: path.to_owned(), error })?;
        Self::open(file)
    }

    /// Loads the trace of a reader that is at its beginning, as [`open`](Self::open) does.
    ///
    /// # Errors
    ///
    /// Fails if the trace cannot be read, is redacted, or has no beginning. A redacted trace is refused after its
    /// header.
    pub fn from_reader<S: Source>(reader: &mut TraceReader<S>) -> Result<Self, OpenError> {
        if reader.header()?.is_some_and(|header| header.values == ValueCapture::Redacted) {
            return Err(OpenError::Redacted);
        }
        let recording = Recording::load(reader, ValueCapture::Full)?;
        Ok(Self { matching: Matching::new(recording), findings: Findings::default(), passthrough: Vec::new() })
    }

    /// Loads a trace, redacted or not, to compare a live run with it; see [`LiveCheck`].
    ///
    /// # Errors
    ///
    /// Fails if the trace cannot be read, or has no beginning.
    pub fn check_only(source: impl Read) -> Result<LiveCheck, OpenError> {
        LiveCheck::from_reader(&mut TraceReader::new(source))
    }

    /// Requires that the trace was recorded from `entry`.
    ///
    /// # Errors
    ///
    /// Fails if the trace was recorded from another entry.
    pub fn require_entry(self, entry: &str) -> Result<Self, OpenError> {
        let recorded = &self.header().entry;
        if recorded == entry {
            return Ok(self);
        }
        Err(OpenError::OtherEntry { required: entry.to_owned(), recorded: recorded.clone() })
    }

    /// Sets the order in which calls are matched.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.matching.order = order;
        self
    }

    /// Sets how tasks are matched.
    #[must_use]
    pub fn tasks(mut self, tasks: TaskMatching) -> Self {
        self.matching.tasks = tasks;
        self
    }

    /// Leaves the operations of a module to the interpreter: their calls are compared, and answered with
    /// [`Answer::Perform`] if they were granted. Use this for operations without a host, such as spawning tasks and
    /// waiting for them. Their results belong to this run and cannot come from a trace.
    #[must_use]
    pub fn passthrough(mut self, module: impl Into<String>) -> Self {
        self.passthrough.push(module.into());
        self
    }

    /// Continues after a divergence, to collect all divergences.
    ///
    /// A call that is not the recorded one is a divergence, and is answered as the first of these:
    ///
    /// 1. the same call among the next sixteen recorded ones of the task: those before it are passed over;
    /// 2. the same call among the last sixteen: it was repeated, and the next recorded call stays the same;
    /// 3. the recorded call, if only the arguments differ.
    ///
    /// Otherwise the call gets its divergence and no answer, and the next recorded call stays the same. In the
    /// [strict order](Order::Strict), only the third is tried. The first thousand divergences are kept.
    ///
    /// Without this, every call after a divergence is answered with that divergence.
    #[must_use]
    pub fn keep_going(mut self) -> Self {
        self.findings.keep_going = true;
        self
    }

    /// Returns the recorded run's header, whose entry and arguments start the same run.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.matching.recording.header
    }

    /// Returns how much of the run the trace contains.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.matching.recording.completeness()
    }

    /// Returns how the recorded run ended, and its message. `None` if the trace is truncated.
    #[must_use]
    pub fn recorded_end(&self) -> Option<(RunOutcome, Option<&str>)> {
        self.matching.recording.ending.as_ref().map(|ending| (ending.outcome, ending.message.as_deref()))
    }

    /// Returns the number of host calls in the trace.
    #[must_use]
    pub fn calls_recorded(&self) -> u64 {
        self.matching.recording.calls.len() as u64
    }

    /// Reports that `parent` spawned `task` in `scope`. [`TaskMatching::ByScope`] needs this before the first call of
    /// the task; otherwise it has no effect.
    pub fn spawned(&self, task: u64, parent: Option<u64>, scope: &str) {
        self.matching.spawned(task, parent, scope);
    }

    /// Returns whether `task` has recorded calls that it has not made yet.
    #[must_use]
    pub fn has_calls_left(&self, task: u64) -> bool {
        self.matching.has_calls_left(task)
    }

    /// Answers a call of `task` with the recorded outcome.
    ///
    /// The arguments are the interpreter's own values, as [`HostCall::args`](crate::HostCall::args) takes them:
    /// [`LiveArgs`](crate::LiveArgs) makes them. Each is encoded once, into a buffer of the thread, and compared there.
    /// Only the contents of the answer are allocated.
    ///
    /// # Errors
    ///
    /// Fails if this is not the recorded call, or if its result cannot be given back. After that, every call of every
    /// task gets the same divergence, unless the replay [keeps going](Self::keep_going).
    pub fn call(&self, task: u64, site: CallSite<'_>, args: &[RecordedValue<'_>]) -> Result<Answer, Divergence> {
        if let Some(divergence) = self.findings.stopped_by() {
            return Err(divergence.clone());
        }
        self.findings.called();
        scratch::with(|scratch| {
            scratch.actual.clear();
            encode_value_lines(args, ValueCapture::Full, &mut scratch.actual);
            loop {
                let next = match self.matching.next(task) {
                    Ok(next) => next,
                    Err(unrecorded) => return self.unrecorded(task, &unrecorded, site, scratch),
                };
                if let Some(answer) = self.answer_if_next(task, &next, site, scratch) {
                    return answer;
                }
            }
        })
    }

    /// Compares the run's end with the recorded one and returns the report. Call this after the last call of all tasks.
    #[must_use]
    pub fn finish(&self, outcome: RunOutcome, message: Option<&str>) -> ReplayReport {
        replay_report::conclude(&self.matching, &self.findings, outcome, Some(message))
    }

    /// Answers a call if it equals the next recorded one. Returns `None` if another thread took that meanwhile.
    fn answer_if_next(
        &self,
        task: u64,
        next: &NextCall<'_>,
        site: CallSite<'_>,
        scratch: &mut Scratch,
    ) -> Option<Result<Answer, Divergence>> {
        let recording = &self.matching.recording;
        if self.matching.is_turn_of_another(task, next) {
            let is_due = self.matching.is_still_next(next);
            return is_due
                .then(|| Err(self.findings.diverged(self.matching.other_task(task, next, site, &scratch.actual))));
        }
        if recording.site(next.call) != site {
            return self.realigned(task, next, site, None, scratch);
        }
        let mut unchecked = 0;
        if next.call.has_gaps || recording.args(next.call) != scratch.actual {
            match compare_args(recording.args(next.call), scratch) {
                Ok(parts) => unchecked = parts,
                Err(difference) => return self.realigned(task, next, site, Some(difference), scratch),
            }
        }
        self.matching.take(next, 0).then(|| {
            self.findings.count_unchecked(unchecked);
            self.answer(task, next, site, &mut scratch.decoder)
        })
    }

    /// Answers a call that differs from the next recorded one; `difference` is given if only its arguments differ.
    /// Returns `None`, without a divergence, if another thread took the next call meanwhile.
    #[cold]
    fn realigned(
        &self,
        task: u64,
        next: &NextCall<'_>,
        site: CallSite<'_>,
        difference: Option<Box<Difference>>,
        scratch: &mut Scratch,
    ) -> Option<Result<Answer, Divergence>> {
        let realigned = if self.findings.keep_going {
            self.matching.realigned(next, site, &scratch.actual, difference.is_some())
        } else {
            Realigned::No
        };
        if !self.matching.take_realigned(next, &realigned) {
            return None;
        }
        let note = realigned.note();
        let divergence = self.findings.diverged(match difference {
            Some(difference) => self.matching.other_arguments(task, next, site, *difference, note),
            None => self.matching.other_call(task, next, site, &scratch.actual, note),
        });
        Some(match realigned.recorded(next) {
            Some(recorded) => self.answer(task, &recorded, site, &mut scratch.decoder),
            None => Err(divergence),
        })
    }

    fn answer(
        &self,
        task: u64,
        next: &NextCall<'_>,
        site: CallSite<'_>,
        decoder: &mut Decoder,
    ) -> Result<Answer, Divergence> {
        if !next.call.granted {
            return Ok(Answer::NotGranted);
        }
        if self.passthrough.iter().any(|module| module == site.module()) {
            return Ok(Answer::Perform);
        }
        match self.matching.recording.outcome(next.call) {
            RecordedOutcome::None => Ok(Answer::NotDispatched),
            RecordedOutcome::NotRecordable => Ok(Answer::NotRecordable),
            RecordedOutcome::Error(message) => Ok(Answer::Error(message.to_owned())),
            RecordedOutcome::Value(packed) => Ok(Answer::from_result(packed.unpack())),
            RecordedOutcome::Partial(line) => self.answer_in_part(task, next, line, decoder),
        }
    }

    #[cold]
    fn answer_in_part(
        &self,
        task: u64,
        next: &NextCall<'_>,
        line: &[u8],
        decoder: &mut Decoder,
    ) -> Result<Answer, Divergence> {
        match decoded(decoder, line).to_value() {
            Ok(value) => Ok(Answer::from_result(value)),
            Err(missing) => Err(self.findings.diverged(self.matching.unanswerable(task, next, &missing))),
        }
    }

    #[cold]
    fn unrecorded(
        &self,
        task: u64,
        unrecorded: &Unrecorded<'_>,
        site: CallSite<'_>,
        scratch: &mut Scratch,
    ) -> Result<Answer, Divergence> {
        match self.matching.unmatched(task, unrecorded, site, &scratch.actual) {
            Unmatched::Stopped => Ok(Answer::Stopped),
            Unmatched::Incomplete(incomplete) => {
                self.findings.ended_at(incomplete);
                Ok(Answer::Incomplete)
            }
            Unmatched::Diverged(divergence) => {
                let divergence = self.findings.diverged(divergence);
                let before = if self.findings.keep_going {
                    self.matching.same_before_end(unrecorded, site, &scratch.actual)
                } else {
                    None
                };
                match before {
                    Some(recorded) => self.answer(task, &recorded, site, &mut scratch.decoder),
                    None => Err(divergence),
                }
            }
        }
    }
}

/// Compares recorded arguments with actual ones, and returns the number of unchecked parts.
#[cold]
fn compare_args(recorded: &[u8], scratch: &mut Scratch) -> Result<u64, Box<Difference>> {
    let Scratch { actual, decoder, other_decoder } = scratch;
    let mut comparison = Comparison::new(Gaps::InFirst);
    let (mut recorded, mut actual) = (lines(recorded), lines(actual));
    for index in 0.. {
        let (one, other) = (recorded.next(), actual.next());
        let one = one.map(|line| decoded(decoder, line));
        let other = other.map(|line| decoded(other_decoder, line));
        if comparison.is_done() || (one.is_none() && other.is_none()) {
            break;
        }
        comparison.arg(index, one.as_ref(), other.as_ref());
    }
    comparison.into_result()
}
