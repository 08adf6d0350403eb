//! One run, two traces.

use super::TraceSink;
use crate::event::TraceEvent;

/// Records every event into two sinks, the first one first: a whole trace to keep and a redacted one to share, say. Each
/// encodes it for itself.
///
/// Make the sinks beforehand and hand in references, `Arc`s or the sinks themselves; fields are public so that they can be
/// had back and finished.
///
/// ```
/// use cove_trace::{JsonlSink, RecordingBackend, TeeSink, TraceEvent, TraceHeader, TraceSink, ValueCapture};
///
/// let header = |values| TraceHeader::new(RecordingBackend::Ast, values, "main.cove");
/// let full = JsonlSink::new(Vec::new(), &header(ValueCapture::Full))?;
/// let redacted = JsonlSink::new(Vec::new(), &header(ValueCapture::Redacted))?;
/// let sink = TeeSink(full, redacted);
/// sink.record(&TraceEvent::TaskCancelled { id: 7 });
/// let TeeSink(full, redacted) = sink;
/// assert_eq!(full.finish().dropped + redacted.finish().dropped, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct TeeSink<A, B>(pub A, pub B);

/// Records when either does.
impl<A: TraceSink, B: TraceSink> TraceSink for TeeSink<A, B> {
    #[inline]
    fn record(&self, event: &TraceEvent<'_>) {
        self.0.record(event);
        self.1.record(event);
    }

    #[inline]
    fn is_recording(&self) -> bool {
        self.0.is_recording() || self.1.is_recording()
    }
}
