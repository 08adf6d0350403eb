//! Where trace events go.

mod backoff;
mod builder;
mod file;
mod file_limit;
mod filter;
mod fork;
mod jsonl;
mod losses;
#[cfg(all(feature = "mmap", unix))]
mod mapped;
#[cfg(all(loom, test))]
mod model;
mod mutex;
mod output;
mod ring;
mod sync;
mod tee;

use std::sync::Arc;

pub use self::builder::JsonlSinkBuilder;
pub use self::file::{FreshFile, create_trace_file};
pub use self::filter::FilterSink;
pub(crate) use self::fork::ForkGuard;
pub use self::jsonl::{Finished, JsonlSink};
#[cfg(all(feature = "mmap", unix))]
pub use self::mapped::MappedFile;
pub use self::ring::{DumpOnPanic, RingSink};
pub use self::tee::TeeSink;
use crate::event::TraceEvent;

/// Where trace events go.
///
/// A runtime keeps a sink behind one pointer (`&dyn TraceSink`, `Arc<dyn TraceSink>`, an `Option` of either) and shares
/// it between all its tasks.
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
    /// Records one event.
    ///
    /// An implementation must not panic and must not fail visibly: the program goes on, whatever happens to the trace.
    fn record(&self, event: &TraceEvent<'_>);

    /// Whether recording does anything.
    ///
    /// A runtime asks before it reads the clock or collects the parts of an event:
    ///
    /// ```
    /// # use std::time::Instant;
    /// # use cove_trace::{NullSink, TraceSink};
    /// # let sink: &dyn TraceSink = &NullSink;
    /// let started = sink.is_recording().then(Instant::now);
    /// // Run the host's function here.
    /// if let Some(started) = started {
    ///     // Record the call here, with `started.elapsed()`.
    /// #   let _ = started;
    /// }
    /// ```
    ///
    /// When it is false, tracing costs one virtual call, or one null check through `Option`.
    fn is_recording(&self) -> bool {
        true
    }
}

/// Discards every event. Use it when a run is not traced.
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

/// `None` records nothing.
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
