//! Events to bytes. No I/O, no locks.
//!
//! [`event`] is the schema of lines, readable from top to bottom; that of values stands in [`crate::value`]. A line is
//! written straight into a byte buffer. Nothing is allocated but the room that the buffer needs.

mod event;

mod thread_buffer;

pub use self::thread_buffer::with_line;
pub(crate) use self::thread_buffer::{Line, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};
use crate::line::LINE_LIMIT;
use crate::names::ValueCapture;
use crate::value::Encoder;

/// How events are encoded: how much of their values, and how long a line may be.
///
/// A [`ValueCapture`] stands for itself with the default limit, so `ValueCapture::Full` can be given where options are asked
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    capture: ValueCapture,
    pub(crate) line_limit: usize,
}

impl EncodeOptions {
    /// Options with that capture, and lines of at most [`LINE_LIMIT`] bytes.
    #[must_use]
    pub const fn new(capture: ValueCapture) -> Self {
        Self { capture, line_limit: LINE_LIMIT }
    }

    /// Sets the most bytes of a line, newline included. An argument or result that makes its line longer is replaced by an
    /// opaque, `longer than N bytes`; a line that is longer by its names, its messages or its number of arguments is not
    /// written.
    #[must_use]
    pub const fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Returns how much of each value is encoded.
    #[must_use]
    pub const fn capture(&self) -> ValueCapture {
        self.capture
    }
}

impl From<ValueCapture> for EncodeOptions {
    fn from(capture: ValueCapture) -> Self {
        Self::new(capture)
    }
}

/// Appends the line of `event` to `out`, its newline included. Returns whether it did.
///
/// Sinks are made of it. It appends exactly one line, whatever the event's values do, and allocates only when `out` has to
/// grow. It appends nothing when the line would be longer than the [limit](EncodeOptions::line_limit), or when there is no
/// memory for it.
///
/// ```
/// use cove_trace::{TraceEvent, ValueCapture, encode_event};
///
/// let mut out = Vec::new();
/// encode_event(&TraceEvent::TaskCancelled { id: 7 }, ValueCapture::Full, &mut out);
/// assert_eq!(out, b"{\"event\":\"task_cancelled\",\"id\":7}\n");
/// ```
pub fn encode_event(event: &TraceEvent<'_>, options: impl Into<EncodeOptions>, out: &mut Vec<u8>) -> bool {
    let options = options.into();
    Encoder::append(out, options.line_limit, |encoder| encoder.event(event, options.capture))
}

/// Appends the line of `header` to `out`, its newline included. Its arguments are redacted if the header declares redacted
/// values.
pub fn encode_header(header: &TraceHeader, out: &mut Vec<u8>) {
    Encoder::append(out, usize::MAX, |encoder| encoder.header(header));
}
