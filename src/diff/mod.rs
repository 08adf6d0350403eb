//! Compares two runs, task by task and call by call.
//!
//! Times are ignored by default, since they differ between any two runs. The interleaving of tasks is always ignored.
//! An inserted or omitted call is one difference: the calls after it are aligned and compared as usual.
//!
//! ```
//! use cove_trace::diff::{Change, Diff, Times};
//! use cove_trace::TraceReader;
//!
//! # let header = concat!(r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"m","args":[]}"#, "\n");
//! # let call = |op| format!(concat!(
//! #     r#"{{"event":"host_call","task":0,"module":"clock","op":"{}","capability":"c","wait_ns":1,"granted":true,"#,
//! #     r#""args":[],"outcome":null}}"#, "\n"), op);
//! # let (first, second) = (format!("{header}{}", call("now")), format!("{header}{}{}", call("zone"), call("now")));
//! let diff = Diff::load(&mut TraceReader::new(first.as_bytes()), &mut TraceReader::new(second.as_bytes()))?;
//! let mut changes = Vec::new();
//! diff.compare(Times::Ignored, |change| changes.push(change));
//! assert!(matches!(&changes[..], [Change::Added(call)] if call.shown.starts_with("clock.zone()")));
//! # Ok::<(), cove_trace::diff::LoadError>(())
//! ```
//!
//! # How calls are aligned
//!
//! A task is matched with a task that the same parent spawned in the same scope: with one that made exactly the same
//! calls if there is one, and otherwise in the order of spawns. The calls of two matched tasks are aligned by operation
//! and arguments, and the calls between those by operation alone. The alignment is a longest common subsequence if few
//! calls differ. After 256 differences in a row, the search settles for a shorter one.
//!
//! The host assigns the ids of resources, so ids may differ between two equal runs. Two resources are equal if the same
//! call returned them. The ids of resources that no compared call returned are compared directly.
//!
//! # Time and memory
//!
//! Loading and comparing take time proportional to the size of both files, and at most a few hundred steps per call to
//! align very different runs. A diff keeps what a [replay](crate::replay) keeps of each trace: less than the size of
//! both files, and a hundred bytes for each task. Comparing two tasks takes another fifty bytes for each of their calls
//! between the first and the last difference, and two hundred bytes for each resource. Changes are reported as they are
//! found. Example: two traces of 106 MB with 240 000 calls each take 151 MB.

mod align;
mod change;
mod common;
mod resources;
mod tasks;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use self::align::{Segment, align};
pub use self::change::{CallRef, Change, ChangedPart, Compared, Side};
use self::resources::{Resources, without_ids};
use crate::display::{Name, Operation, mark_of, names_beside, shown, values_beside};
use crate::names::ValueCapture;
use crate::reader::{ReadError, Source, TraceReader};
use crate::replay::OpenError;
use crate::replay::compare::{Comparison, Difference};
use crate::replay::recording::{Call, RecordedOutcome, Recording, RunEnding};
use crate::replay::report::{with_result, with_values};
use crate::value::{RecordedResource, RecordedValue};

/// Two traces to be compared.
#[derive(Debug)]
pub struct Diff {
    first: Recording,
    second: Recording,
    /// Whether one of the traces is redacted, so that only the types of values are compared.
    by_type: bool,
}

/// The error of [`Diff::load`]: one of the two traces cannot be compared.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadError {
    /// The trace that cannot be compared.
    pub side: Side,
    /// The reason.
    pub error: OpenError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace = match self.side {
            Side::First => "first",
            Side::Second => "second",
        };
        write!(f, "the {trace} trace: {}", self.error)
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl Diff {
    /// Loads two traces, each from a reader at its beginning. A truncated end is not an error.
    ///
    /// # Errors
    ///
    /// Fails if a trace cannot be read.
    pub fn load<A: Source, B: Source>(
        first: &mut TraceReader<A>,
        second: &mut TraceReader<B>,
    ) -> Result<Self, LoadError> {
        Self::load_past(first, second, |_, error| Err(error))
    }

    /// Loads two traces and passes each fault to `pass`, which returns the error to stop there. A truncated end is not
    /// a fault.
    ///
    /// # Errors
    ///
    /// Fails if a trace has no readable header, and with the first error that `pass` returns.
    pub fn load_past<A: Source, B: Source>(
        first: &mut TraceReader<A>,
        second: &mut TraceReader<B>,
        mut pass: impl FnMut(Side, ReadError) -> Result<(), ReadError>,
    ) -> Result<Self, LoadError> {
        let is_redacted = |values: Option<ValueCapture>| values == Some(ValueCapture::Redacted);
        let of = |side| move |error: OpenError| LoadError { side, error };
        let values = [
            first.header().map_err(OpenError::from).map_err(of(Side::First))?.map(|header| header.values),
            second.header().map_err(OpenError::from).map_err(of(Side::Second))?.map(|header| header.values),
        ];
        let by_type = values.into_iter().any(is_redacted);
        let capture = if by_type { ValueCapture::Redacted } else { ValueCapture::Full };
        let first = Recording::load_past(first, capture, |error| pass(Side::First, error)).map_err(of(Side::First))?;
        let second =
            Recording::load_past(second, capture, |error| pass(Side::Second, error)).map_err(of(Side::Second))?;
        Ok(Self { first, second, by_type })
    }

    /// Returns whether each trace is truncated.
    #[must_use]
    pub fn truncated(&self) -> [bool; 2] {
        [&self.first, &self.second].map(|trace| trace.completeness() == crate::replay::Completeness::Truncated)
    }

    /// Compares the traces and passes each difference to `found`, task by task in the order of the first trace. The
    /// module describes [time and memory](self#time-and-memory).
    pub fn compare(&self, times: Times, found: impl FnMut(Change)) -> Compared {
        let mut run = Comparing { diff: self, found, compared: Compared::default(), resources: Resources::default() };
        run.headers();
        run.tasks();
        run.capabilities();
        if let Times::Compared { tolerance_percent } = times {
            run.times(tolerance_percent);
        }
        run.ends();
        run.compared
    }
}

/// Whether times are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Times {
    /// Times are not compared.
    #[default]
    Ignored,
    /// The waits of each operation are added up and compared.
    Compared {
        /// A difference of at most this percentage of the longer time is not reported.
        tolerance_percent: u8,
    },
}

/// The state of a comparison.
struct Comparing<'d, F> {
    diff: &'d Diff,
    found: F,
    compared: Compared,
    resources: Resources,
}

impl<F: FnMut(Change)> Comparing<'_, F> {
    fn report(&mut self, change: Change) {
        self.compared.differences += 1;
        (self.found)(change);
    }

    fn headers(&mut self) {
        let Diff { first, second, by_type } = self.diff;
        let [one, other] = [&first.header, &second.header];
        let mut differ = |part, [first, second]: [String; 2]| {
            if first != second {
                self.report(Change::Header { part, first, second });
            }
        };
        if *by_type {
            differ("number of args", [one, other].map(|header| header.args.len().to_string()));
        } else if one.args != other.args {
            differ("args", args_beside(&one.args, &other.args));
        }
        differ("backend", [one, other].map(|header| header.backend.to_string()));
        if one.entry != other.entry {
            differ("entry", names_beside(&one.entry, &other.entry));
        }
    }

    fn tasks(&mut self) {
        let (first, second) = (&self.diff.first, &self.diff.second);
        for pair in tasks::matched(first, second) {
            match pair {
                (Some(one), Some(other)) => self.task(one, other),
                (Some(task), None) => self.task_of_one_side(first, Side::First, task),
                (None, Some(task)) => self.task_of_one_side(second, Side::Second, task),
                (None, None) => {}
            }
        }
    }

    fn task_of_one_side(&mut self, trace: &Recording, side: Side, task: u64) {
        let calls = trace.tape(task).map_or(0, |tape| tape.calls.len() as u64);
        self.report(Change::Task { side, task, calls });
    }

    fn task(&mut self, one: u64, other: u64) {
        let (first, second) = (&self.diff.first, &self.diff.second);
        let calls = |trace: &'_ Recording, task| trace.tape(task).map_or_else(Vec::new, |tape| tape.calls.clone());
        let (one, other) = (calls(first, one), calls(second, other));
        let trace = |side| if side == Side::First { first } else { second };
        let operation = |place: &usize, side| {
            let site = trace(side).site(&trace(side).calls[*place]);
            (site.module(), site.op())
        };
        let with_args = |place: &usize, side| {
            let call = &trace(side).calls[*place];
            let args = trace(side).args(call);
            let args = if call.has_resources { without_ids(args) } else { Cow::Borrowed(args) };
            (operation(place, side), args)
        };
        for step in align(&one, &other, with_args, operation) {
            match step {
                Segment::Pairs(left, right) => left.zip(right).for_each(|(left, right)| {
                    self.pair((one[left], left), (other[right], right));
                }),
                Segment::Removed(calls) => {
                    calls.for_each(|place| self.report(Change::Removed(CallRef::alone(first, one[place], place))));
                }
                Segment::Added(calls) => {
                    calls.for_each(|place| self.report(Change::Added(CallRef::alone(second, other[place], place))));
                }
            }
        }
    }

    /// Two calls of the same operation, each by its place in its trace and in its task.
    fn pair(&mut self, left: (usize, usize), right: (usize, usize)) {
        let (first, second) = (&self.diff.first, &self.diff.second);
        let (one, other) = (&first.calls[left.0], &second.calls[right.0]);
        self.compared.calls += 1;
        let (differences, more) = self.differences(one, other);
        if !differences.is_empty() {
            let part = |Difference { path, first: was, second: is }| ChangedPart { path, was, is };
            self.report(Change::Changed {
                first: CallRef::new(first, left.0, left.1),
                second: CallRef::new(second, right.0, right.1),
                parts: differences.into_iter().map(part).collect(),
                more,
            });
        }
    }

    /// Returns the differences of two calls, and the number of those that are not listed.
    fn differences(&mut self, one: &Call, other: &Call) -> (Vec<Difference>, u64) {
        let (first, second) = (&self.diff.first, &self.diff.second);
        let mut found = Vec::new();
        let capabilities = [first.site(one).capability(), second.site(other).capability()];
        if capabilities[0] != capabilities[1] {
            found.push(Difference::new("capability", names_beside(capabilities[0], capabilities[1])));
        }
        if one.granted != other.granted {
            let verdict = |call: &Call| if call.granted { "granted" } else { "not granted" }.to_owned();
            found.push(Difference::new("granted", [one, other].map(verdict)));
        }
        // Without resources, equal values have equal bytes.
        let by_bytes = !self.diff.by_type && !one.has_resources && !other.has_resources;
        let mut more = 0;
        let (args, other_args) = (first.args(one), second.args(other));
        if !by_bytes || args != other_args {
            let resources = &self.resources;
            let mut same = |one: &RecordedResource<'_>, other: &RecordedResource<'_>| resources.are_same(one, other);
            let mut comparison = Comparison::of_traces(&mut same);
            with_values(args, |one| with_values(other_args, |other| comparison.args(one, other)));
            more += comparison.more;
            self.compared.unchecked += comparison.unchecked;
            found.append(&mut comparison.differences);
        }
        let (outcome, other_outcome) = (first.outcome(one), second.outcome(other));
        if !by_bytes || outcome != other_outcome {
            more += self.outcomes(outcome, other_outcome, &mut found);
        }
        (found, more)
    }

    /// Compares two outcomes, and returns the number of differences that are not listed.
    fn outcomes(&mut self, one: RecordedOutcome<'_>, other: RecordedOutcome<'_>, found: &mut Vec<Difference>) -> u64 {
        let is_value = |outcome| matches!(outcome, RecordedOutcome::Value(_) | RecordedOutcome::Partial(_));
        match (one, other) {
            _ if is_value(one) && is_value(other) => {
                let resources = &mut self.resources;
                let mut same = |one: &RecordedResource<'_>, other: &RecordedResource<'_>| resources.given(one, other);
                let mut comparison = Comparison::of_traces(&mut same);
                with_result(one, |one| with_result(other, |other| comparison.results(one, other)));
                self.compared.unchecked += comparison.unchecked;
                found.append(&mut comparison.differences);
                return comparison.more;
            }
            _ if one == other => {}
            (RecordedOutcome::Error(one), RecordedOutcome::Error(other)) => {
                let sides = values_beside(&RecordedValue::String(one), &RecordedValue::String(other));
                found.push(Difference::new("outcome.message", sides));
            }
            _ => found.push(Difference::new("outcome", [one, other].map(shown_outcome))),
        }
        0
    }

    fn capabilities(&mut self) {
        fn used(trace: &Recording) -> BTreeSet<&str> {
            trace.calls.iter().map(|call| trace.site(call).capability()).collect()
        }
        let (first, second) = (used(&self.diff.first), used(&self.diff.second));
        for capability in first.symmetric_difference(&second) {
            let side = if first.contains(capability) { Side::First } else { Side::Second };
            self.report(Change::Capability { side, capability: Name(capability).to_string() + &mark_of(capability) });
        }
    }

    fn times(&mut self, tolerance_percent: u8) {
        let mut waits: BTreeMap<(&str, &str), [Duration; 2]> = BTreeMap::new();
        for (side, trace) in [&self.diff.first, &self.diff.second].into_iter().enumerate() {
            for call in &trace.calls {
                let site = trace.site(call);
                let wait = &mut waits.entry((site.module(), site.op())).or_default()[side];
                *wait = wait.saturating_add(call.wait);
            }
        }
        for ((module, op), [first, second]) in waits {
            let tolerated = first.max(second).as_nanos() * u128::from(tolerance_percent) / 100;
            if first.abs_diff(second).as_nanos() > tolerated {
                let operation = Operation(module, op).to_string();
                self.report(Change::Wait { operation, first_ns: first.as_nanos(), second_ns: second.as_nanos() });
            }
        }
    }

    fn ends(&mut self) {
        let [one, other] = [&self.diff.first, &self.diff.second].map(|trace| trace.ending.as_ref());
        let outcome = |ending: Option<&RunEnding>| ending.map(|ending| ending.outcome);
        // A redacted trace does not contain the program's own message.
        let message = |ending: Option<&RunEnding>| {
            let kept = ending.filter(|ending| !(self.diff.by_type && ending.outcome.is_programs_own()));
            kept.and_then(|ending| ending.message.clone())
        };
        if (outcome(one), message(one)) == (outcome(other), message(other)) {
            return;
        }
        let [one_message, other_message] = match (message(one), message(other)) {
            (Some(one), Some(other)) => values_beside(&RecordedValue::String(&one), &RecordedValue::String(&other)),
            (one, other) => [one, other].map(|message| shown(&RecordedValue::String(&message.unwrap_or_default()))),
        };
        let ended = |ending, shown_message: &str| match (outcome(ending), message(ending)) {
            (None, _) => "no run_ended".to_owned(),
            (Some(outcome), None) => outcome.to_string(),
            (Some(outcome), Some(_)) => format!("{outcome}: {shown_message}"),
        };
        self.report(Change::Ended { first: ended(one, &one_message), second: ended(other, &other_message) });
    }
}

/// Formats the arguments of two headers: all of them, or the first that differs if it would not be visible.
fn args_beside(first: &[String], second: &[String]) -> [String; 2] {
    let sides = [first, second].map(|args| {
        let args: Vec<_> = args.iter().map(|arg| RecordedValue::String(arg)).collect();
        shown(&RecordedValue::Array(&args))
    });
    let differing = first.iter().zip(second).enumerate().find(|(_, (one, other))| one != other);
    match differing {
        Some((index, (one, other))) if sides[0] == sides[1] || !(one.is_ascii() && other.is_ascii()) => {
            let values = values_beside(&RecordedValue::String(one), &RecordedValue::String(other));
            values.map(|value| format!("args[{index}] {value}"))
        }
        None if sides[0] == sides[1] => [first, second].map(|args| format!("{} of them", args.len())),
        _ => sides,
    }
}

fn shown_outcome(outcome: RecordedOutcome<'_>) -> String {
    match outcome {
        RecordedOutcome::None => "nothing".to_owned(),
        RecordedOutcome::Value(_) | RecordedOutcome::Partial(_) => with_result(outcome, shown),
        RecordedOutcome::Error(message) => format!("error: {}", Name(message)),
        RecordedOutcome::NotRecordable => "not recordable".to_owned(),
    }
}
