//! A recorded trace into the form to share.

use crate::encode::{EncodeOptions, encode_event, encode_header};
use crate::event::{HostCall, HostOutcome, TraceEvent, TraceHeader};
use crate::names::ValueCapture;

/// Rewrites a trace, line by line, as a [redacted](ValueCapture::Redacted) recording of the same run would have written
/// it: to the byte the same. A trace that is redacted already stays as it is.
///
/// The result keeps the same as a redacted recording: names, figures, a host's error messages, and the closing message
/// of a run that the runtime ended. Those messages can name things; [`messages`](Self::messages) replaces them too.
///
/// ```
/// use cove_trace::redact::Redactor;
/// use cove_trace::{RunOutcome, TraceEvent};
///
/// let mut line = Vec::new();
/// let ended = TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("no such user: ada") };
/// Redactor::new().event(&ended, &mut line);
/// assert_eq!(line, b"{\"event\":\"run_ended\",\"outcome\":\"error\",\"message\":null}\n");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Redactor {
    messages: bool,
}

/// What a message is replaced by, where messages are.
const REDACTED_MESSAGE: &str = TraceHeader::REDACTED_ARG;

impl Redactor {
    /// A redactor that keeps the messages that a redacted recording keeps.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether those messages are replaced too, each by `<redacted>`. No recording writes such a trace.
    #[must_use]
    pub fn messages(mut self, replaced: bool) -> Self {
        self.messages = replaced;
        self
    }

    /// Appends the redacted header's line to `out`, its newline included.
    pub fn header(&self, header: &TraceHeader, out: &mut Vec<u8>) {
        let header = TraceHeader { values: ValueCapture::Redacted, ..header.clone() };
        encode_header(&header, out);
    }

    /// Appends the redacted event's line to `out`, its newline included.
    pub fn event(&self, event: &TraceEvent<'_>, out: &mut Vec<u8>) {
        let event = if self.messages { without_message(event) } else { *event };
        // The line that was read was not too long, and a redacted one has to stand in its place.
        encode_event(&event, EncodeOptions::new(ValueCapture::Redacted).line_limit(usize::MAX), out);
    }
}

fn without_message<'a>(event: &TraceEvent<'a>) -> TraceEvent<'a> {
    match *event {
        TraceEvent::HostCall(call) if matches!(call.outcome, Some(HostOutcome::Error(_))) => {
            TraceEvent::HostCall(HostCall { outcome: Some(HostOutcome::Error(REDACTED_MESSAGE)), ..call })
        }
        TraceEvent::RunEnded { outcome, message: Some(_) } => {
            TraceEvent::RunEnded { outcome, message: Some(REDACTED_MESSAGE) }
        }
        other => other,
    }
}
