//! Records only some of the calls of a run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use super::TraceSink;
use crate::event::TraceEvent;
use crate::value::discard;

/// Records only the host calls and collections that `keep` selects, and counts the others.
///
/// For a service that records all day and keeps only what matters: slow calls, refused calls, calls with one
/// capability, one task. The other events are always recorded, so `cove-trace check` accepts the trace. A replay does
/// not: it needs every call.
///
/// `keep` is called on the recording thread, before the event is encoded. If it panics, the event is recorded.
///
/// ```
/// use std::time::Duration;
/// use cove_trace::{
///     FilterSink, HostOutcome, JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture,
/// };
///
/// let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// let sink = FilterSink::new(JsonlSink::new(Vec::new(), &header)?, |event| match event {
///     TraceEvent::HostCall(call) => {
///         let failed = call.outcome.is_none_or(|outcome| outcome.is_failure());
///         failed || call.wait >= Duration::from_millis(1) || call.site.capability() == "secrets.read"
///     }
///     _ => true,
/// });
/// # use cove_trace::{CallSite, HostCall, RecordedValue};
/// # let wait = Duration::ZERO;
/// # let outcome = Some(HostOutcome::Value(RecordedValue::Unit));
/// # for capability in ["clock", "secrets.read"] {
/// #     let site = CallSite::new("m", "o", capability);
/// #     sink.record(&TraceEvent::HostCall(HostCall { task: 0, site, wait, granted: true, args: &[], outcome }));
/// # }
/// # assert_eq!(sink.left_out(), 1);
/// println!("{} events left out", sink.left_out());
/// let finished = sink.into_inner().finish();
/// # assert_eq!(finished.writer.iter().filter(|byte| **byte == b'\n').count(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FilterSink<S, F> {
    sink: S,
    keep: F,
    left_out: AtomicU64,
}

impl<S, F: Fn(&TraceEvent<'_>) -> bool> FilterSink<S, F> {
    /// Records into `sink` the events for which `keep` returns true.
    pub const fn new(sink: S, keep: F) -> Self {
        Self { sink, keep, left_out: AtomicU64::new(0) }
    }

    /// Returns the number of events that `keep` left out so far.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Returns a reference to the sink behind the filter.
    #[must_use]
    pub const fn get_ref(&self) -> &S {
        &self.sink
    }

    /// Returns the sink behind the filter.
    #[must_use]
    pub fn into_inner(self) -> S {
        self.sink
    }

    fn keeps(&self, event: &TraceEvent<'_>) -> bool {
        catch_unwind(AssertUnwindSafe(|| (self.keep)(event))).unwrap_or_else(|panic| {
            discard(panic);
            true
        })
    }
}

impl<S: TraceSink, F: Fn(&TraceEvent<'_>) -> bool + Send + Sync> TraceSink for FilterSink<S, F> {
    #[inline]
    fn record(&self, event: &TraceEvent<'_>) {
        let is_optional = matches!(event, TraceEvent::HostCall(_) | TraceEvent::HeapCollected { .. });
        if !is_optional || self.keeps(event) {
            self.sink.record(event);
        } else {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn is_recording(&self) -> bool {
        self.sink.is_recording()
    }
}
