//! Records one run into two sinks.

use super::TraceSink;
use crate::event::TraceEvent;

/// Records every event into two sinks, the first one first; for example a full trace to keep and a redacted one to
/// share.
///
/// Each sink encodes the event for itself. Pass sinks, references to them or `Arc`s. Move the sinks out of the public
/// fields to finish them.
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

/// Records if either sink does.
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
