//! Where trace events go.

mod closing;
mod exclusive;
mod file;
mod fork;
mod jsonl;
mod losses;
#[cfg(all(feature = "mmap", unix))]
mod mapped;
#[cfg(all(loom, test))]
mod model;
mod output;
mod ring;
mod sync;
mod tee;

use std::sync::Arc;

pub use self::file::create_trace_file;
pub use self::jsonl::{Finished, JsonlSink};
#[cfg(all(feature = "mmap", unix))]
pub use self::mapped::MappedFile;
pub use self::ring::{DumpOnPanic, RingSink};
pub use self::tee::TeeSink;
use crate::event::TraceEvent;

/// Where trace events go.
///
/// A runtime keeps one behind a pointer (`&dyn TraceSink`, `Arc<dyn TraceSink>`, an `Option` of either) and shares it
/// between all its tasks.
///
/// ```
/// use cove_trace::{NullSink, TraceEvent, TraceSink};
///
/// fn cancel(sink: &dyn TraceSink, id: u64) {
///     sink.record(&TraceEvent::TaskCancelled { id });
/// }
/// # cancel(&NullSink, 3);
/// ```
pub trait TraceSink: Send + Sync {
    /// Records one event. Must not panic and must not fail visibly: whatever becomes of the trace, the program goes on.
    fn record(&self, event: &TraceEvent<'_>);

    /// Whether recording does anything. A runtime asks before it gathers an event's parts; where the answer is no,
    /// tracing costs that question and nothing else: through a `&dyn TraceSink` a call that returns at once, through an
    /// `Option` of it that is `None` a test of a pointer, a quarter of that.
    fn is_recording(&self) -> bool {
        true
    }
}

/// Discards every event. The default when a run is not being traced.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullSink;

impl TraceSink for NullSink {
    #[inline]
    fn record(&self, _: &TraceEvent<'_>) {}

    #[inline]
    fn is_recording(&self) -> bool {
        false
    }
}

macro_rules! forward_to_pointee {
    ($( $pointer:ty ),+) => { $(
        impl<S: TraceSink + ?Sized> TraceSink for $pointer {
            #[inline]
            fn record(&self, event: &TraceEvent<'_>) {
                (**self).record(event);
            }

            #[inline]
            fn is_recording(&self) -> bool {
                (**self).is_recording()
            }
        }
    )+ };
}

forward_to_pointee!(&S, Box<S>, Arc<S>);

/// No sink records nothing.
impl<S: TraceSink> TraceSink for Option<S> {
    #[inline]
    fn record(&self, event: &TraceEvent<'_>) {
        if let Some(sink) = self {
            sink.record(event);
        }
    }

    #[inline]
    fn is_recording(&self) -> bool {
        self.as_ref().is_some_and(TraceSink::is_recording)
    }
}
