//! Encodes events into bytes, without I/O or locks.
//!
//! [`event`] is the schema of lines; [`crate::value`] has the schema of values. Lines are written directly into a byte
//! buffer. Only the buffer's growth allocates.

mod event;
mod thread_buffer;

pub use self::thread_buffer::with_line;
pub(crate) use self::thread_buffer::{Line, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};
use crate::line::LINE_LIMIT;
use crate::names::ValueCapture;
use crate::value::Encoder;

/// How events are encoded: the capture of their values, and the limit of a line.
///
/// A [`ValueCapture`] converts into options with the default limit, so `ValueCapture::Full` can be passed instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    capture: ValueCapture,
    pub(crate) line_limit: usize,
}

impl EncodeOptions {
    /// Creates options with this capture and lines of at most [`LINE_LIMIT`] bytes.
    #[must_use]
    pub const fn new(capture: ValueCapture) -> Self {
        Self { capture, line_limit: LINE_LIMIT }
    }

    /// Limits each line to `bytes` bytes, its newline included.
    ///
    /// An argument or result that ends beyond the limit is replaced by an opaque with the text `longer than N bytes`. A
    /// line that is longer because of anything else is not written: its names, its messages, its number of arguments,
    /// or what follows a value that ends just within the limit.
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

/// Appends the line of `event` to `out`, its newline included. Returns whether it was written.
///
/// For sinks that collect lines in a buffer. It appends exactly one line, whatever the code of the event's values does,
/// and allocates only when `out` has to grow. It appends nothing and returns false if the line would be longer than the
/// [limit](EncodeOptions::line_limit), or if there is no memory for it.
///
/// ```
/// use cove_trace::{TraceEvent, ValueCapture, encode_event};
///
/// let mut out = Vec::new();
/// assert!(encode_event(&TraceEvent::TaskCancelled { id: 7 }, ValueCapture::Full, &mut out));
/// assert_eq!(out, b"{\"event\":\"task_cancelled\",\"id\":7}\n");
/// ```
pub fn encode_event(event: &TraceEvent<'_>, options: impl Into<EncodeOptions>, out: &mut Vec<u8>) -> bool {
    let options = options.into();
    Encoder::append(out, options.line_limit, |encoder| encoder.event(event, options.capture))
}

/// Appends the line of `header` to `out`, its newline included. A trace begins with it.
///
/// The arguments are redacted if the header declares redacted values. No limit applies to the line. Returns false, and
/// appends nothing, if there is no memory for it.
pub fn encode_header(header: &TraceHeader, out: &mut Vec<u8>) -> bool {
    Encoder::append(out, usize::MAX, |encoder| encoder.header(header))
}
