//! [`CallGuard`]: a host call from its beginning to its end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::event::{CallSite, HostCall, HostOutcome, TraceEvent};
use crate::sink::TraceSink;
use crate::value::{Encoded, LiveArgs, NeverReturned, RecordedValue, TraceValue, discard};

/// A host call that has begun. It records the call when it is finished, and also when the call never returns.
///
/// It asks the sink once whether it records, reads the clock only then, and measures the wait. If it is dropped
/// unfinished, by a panic, an early return or a cancelled future, the call is recorded as one that
/// [never returned](HostOutcome::never_returned). A replay answers such a call with
/// [`Answer::NeverReturned`](crate::replay::Answer::NeverReturned).
///
/// ```
/// use cove_trace::{CallGuard, HostOutcome, RecordedValue, RenderedCallSite, TraceSink, Value};
///
/// struct Operation { site: RenderedCallSite, run: fn(&[Value]) -> Result<Value, String> }
///
/// fn call_host(
///     sink: &dyn TraceSink,
///     task: u64,
///     operation: &Operation,
///     granted: bool,
///     args: &[Value],
/// ) -> Result<Value, String> {
///     let call = CallGuard::begin(sink, task, operation.site.site(), args);
///     if !granted {
///         call.refused();
///         return Err("not granted".to_owned());
///     }
///     let result = (operation.run)(args);
///     call.finish(match &result {
///         Ok(value) => HostOutcome::Value(RecordedValue::Live(value)),
///         Err(message) => HostOutcome::Error(message),
///     });
///     result
/// }
/// # use cove_trace::{JsonlSink, RecordingBackend, TraceHeader, ValueCapture};
/// # let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "doc");
/// # let sink = JsonlSink::new(Vec::new(), &header).unwrap();
/// # let operation = Operation { site: RenderedCallSite::new("m", "o", "c"), run: |_| Ok(Value::Unit) };
/// # assert!(call_host(&sink, 0, &operation, true, &[Value::Int(1)]).is_ok());
/// # assert!(call_host(&sink, 0, &operation, false, &[Value::Int(1)]).is_err());
/// # let trace = String::from_utf8(sink.finish().writer).unwrap();
/// # let calls: Vec<&str> = trace.lines().skip(1).collect();
/// # assert!(calls[0].contains(r#""granted":true,"args":[{"type":"int","value":1}]"#));
/// # assert!(calls[0].ends_with(r#""outcome":{"kind":"value","value":{"type":"unit"}}}"#));
/// # assert!(calls[1].ends_with(r#""wait_ns":0,"granted":false,"args":[{"type":"int","value":1}],"outcome":null}"#));
/// ```
///
/// The arguments are written when the call ends. If the host or the program may change them meanwhile, or if the guard
/// has to move to another thread with a future, give it a [`Snapshot`] of them.
#[must_use = "a guard that is dropped records a call that never returned"]
pub struct CallGuard<'c, S: TraceSink, A: CallArgs> {
    sink: S,
    task: u64,
    site: CallSite<'c>,
    args: A,
    /// `None` if nothing is to be recorded.
    started: Option<Instant>,
}

/// The arguments of a host call. Implemented for slices of values, for [`LiveArgs`], and for a [`Snapshot`].
///
/// Implement it for the arguments of an engine whose values need a wrapper:
///
/// ```
/// # use std::borrow::Cow;
/// # use cove_trace::{CallArgs, LiveArgs, RecordedValue, TraceValue, ValueWriter};
/// # mod engine { pub struct Object(pub f64); }
/// # struct Traced<'a>(&'a engine::Object);
/// # impl TraceValue for Traced<'_> {
/// #     fn type_name(&self) -> Cow<'_, str> { "Float".into() }
/// #     fn write(&self, out: ValueWriter<'_>) { out.exact_float(self.0.0) }
/// # }
/// struct Args<'a>(&'a [engine::Object]);
///
/// impl CallArgs for Args<'_> {
///     fn with(&self, record: impl FnOnce(&[RecordedValue<'_>])) {
///         LiveArgs::with(self.0.iter().map(Traced), record);
///     }
/// }
/// ```
pub trait CallArgs {
    /// Passes the arguments to `record`, in order.
    fn with(&self, record: impl FnOnce(&[RecordedValue<'_>]));
}

impl<V: TraceValue> CallArgs for &[V] {
    #[inline]
    fn with(&self, record: impl FnOnce(&[RecordedValue<'_>])) {
        record(&LiveArgs::new(self));
    }
}

impl CallArgs for LiveArgs<'_> {
    #[inline]
    fn with(&self, record: impl FnOnce(&[RecordedValue<'_>])) {
        record(self);
    }
}

impl<'c, S: TraceSink, A: CallArgs> CallGuard<'c, S, A> {
    /// Begins the call of `site` by `task`. Reads the clock if `sink` is recording.
    #[inline]
    pub fn begin(sink: S, task: u64, site: CallSite<'c>, args: A) -> Self {
        let started = sink.is_recording().then(Instant::now);
        Self { sink, task, site, args, started }
    }

    /// Records that the call returned with `outcome`. Returns how long it took, for
    /// [`Timing::add_wait`](crate::Timing::add_wait); zero if nothing is recorded.
    #[inline]
    pub fn finish(mut self, outcome: HostOutcome<'_>) -> Duration {
        self.end(true, Some(outcome))
    }

    /// Records that the call was refused: the task did not hold the capability. The call has no wait.
    pub fn refused(mut self) {
        self.end(false, None);
    }

    /// Records that the call was granted and did not reach the host, because its arguments were wrong, for example.
    pub fn not_dispatched(mut self) {
        self.end(true, None);
    }

    #[inline]
    fn end(&mut self, granted: bool, outcome: Option<HostOutcome<'_>>) -> Duration {
        let Some(started) = self.started.take() else { return Duration::ZERO };
        let wait = if outcome.is_some() { started.elapsed() } else { Duration::ZERO };
        let (task, site) = (self.task, self.site);
        self.args.with(|args| {
            self.sink.record(&TraceEvent::HostCall(HostCall { task, site, wait, granted, args, outcome }));
        });
        wait
    }
}

impl<S: TraceSink, A: CallArgs> Drop for CallGuard<'_, S, A> {
    #[inline]
    fn drop(&mut self) {
        if self.started.is_some() {
            let never = if std::thread::panicking() { NeverReturned::Panicked } else { NeverReturned::Dropped };
            // A second panic would abort the process.
            let ended = catch_unwind(AssertUnwindSafe(|| {
                self.end(true, Some(HostOutcome::Value(RecordedValue::Live(&never))));
            }));
            if let Err(panic) = ended {
                discard(panic);
            }
        }
    }
}

impl<S: TraceSink, A: CallArgs> fmt::Debug for CallGuard<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallGuard")
            .field("task", &self.task)
            .field("site", &self.site)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}

/// Arguments as they were at one moment, encoded. It is `Send`, and allocates for each argument.
///
/// ```
/// use cove_trace::{CallGuard, CallSite, HostOutcome, RecordedValue, Snapshot, TraceSink, Value};
///
/// fn fill(sink: &dyn TraceSink, list: &mut Vec<Value>) {
///     let args = Snapshot::of_all(sink, &[Value::Array(list.clone())]);
///     let call = CallGuard::begin(sink, 0, CallSite::new("list", "fill", "list"), args);
///     list.push(Value::Int(7));
///     call.finish(HostOutcome::Value(RecordedValue::Unit));
/// }
/// # use cove_trace::{JsonlSink, RecordingBackend, TraceHeader, ValueCapture};
/// # let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "doc");
/// # let sink = JsonlSink::new(Vec::new(), &header).unwrap();
/// # fill(&sink, &mut vec![]);
/// # let trace = String::from_utf8(sink.finish().writer).unwrap();
/// # assert!(trace.contains(r#""args":[{"type":"array","items":[]}]"#));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Snapshot(Vec<Encoded>);

impl Snapshot {
    /// Encodes `args` if `sink` is recording; otherwise the snapshot is empty.
    pub fn of_all<V: TraceValue>(sink: &(impl TraceSink + ?Sized), args: &[V]) -> Self {
        if !sink.is_recording() {
            return Self::default();
        }
        Self(args.iter().map(Encoded::new).collect())
    }
}

impl CallArgs for Snapshot {
    fn with(&self, record: impl FnOnce(&[RecordedValue<'_>])) {
        record(&LiveArgs::new(&self.0));
    }
}
