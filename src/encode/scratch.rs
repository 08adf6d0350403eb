//! The buffer that each thread keeps for the line it is writing.

use std::cell::Cell;

use super::value::Encoder;
use crate::event::TraceEvent;
use crate::names::ValueCapture;

/// A buffer that has grown past this is given back after its event: next to writing so much, allocating it again is little.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// The buffers that a thread keeps while it writes no line. One is taken out for as long as a line is being written, so a
/// value that records an event while it is itself being written simply takes the other.
struct Kept {
    next: Cell<Vec<u8>>,
    /// Filled once a value has recorded an event.
    other: Cell<Vec<u8>>,
}

thread_local! {
    static KEPT: Kept = const { Kept { next: Cell::new(Vec::new()), other: Cell::new(Vec::new()) } };
}

/// One whole line, its newline included.
#[derive(Clone, Copy)]
pub(crate) struct Line<'l> {
    /// A newline, and then the line.
    bytes: &'l [u8],
}

impl<'l> Line<'l> {
    /// The line.
    pub(crate) fn bytes(self) -> &'l [u8] {
        &self.bytes[1..]
    }

    /// The line with a newline before it: what goes out after a fragment, still in one piece.
    pub(crate) fn on_a_fresh_line(self) -> &'l [u8] {
        self.bytes
    }
}

/// Encodes `event` into this thread's buffer and lends the line to `consume`.
///
/// Allocates only while the buffer grows, for a line that is too long for a buffer to be kept, when values record events that
/// record events, and at the very end of a thread, when its buffers are gone already.
#[inline]
pub(crate) fn with_line<R>(event: &TraceEvent<'_>, capture: ValueCapture, consume: impl FnOnce(Line<'_>) -> R) -> R {
    let mut buffer = take();
    buffer.clear();
    buffer.push(b'\n');
    let mut encoder = Encoder::append_to(buffer);
    encoder.event(event, capture);
    let buffer = encoder.line.into_bytes();
    let result = consume(Line { bytes: &buffer });
    give_back(buffer);
    result
}

#[inline]
fn take() -> Vec<u8> {
    KEPT.try_with(|kept| {
        let buffer = kept.next.take();
        if buffer.capacity() == 0 { kept.other.take() } else { buffer }
    })
    // The thread is ending, and its buffers are gone.
    .unwrap_or_default()
}

#[inline]
fn give_back(buffer: Vec<u8>) {
    if buffer.capacity() > KEPT_CAPACITY {
        return;
    }
    // Fails when the thread is ending and its buffers are gone: then this one goes too.
    let _ = KEPT.try_with(|kept| {
        let from_a_value = kept.next.replace(buffer);
        if from_a_value.capacity() > 0 {
            kept.other.set(from_a_value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::RecordedValue;
    use crate::{CallSite, HostCall};
    use std::time::Duration;

    /// What this thread keeps, in bytes.
    fn kept() -> usize {
        KEPT.with(|kept| {
            let buffers = [kept.next.take(), kept.other.take()];
            let capacity = buffers.iter().map(Vec::capacity).sum();
            let [next, other] = buffers;
            kept.next.set(next);
            kept.other.set(other);
            capacity
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "a line so long takes very long")]
    fn a_huge_line_leaves_no_huge_buffer_behind() {
        let text = "x".repeat(2 * KEPT_CAPACITY);
        let event = TraceEvent::HostCall(HostCall {
            task: 0,
            site: CallSite::new("console", "print", "console.write"),
            wait: Duration::ZERO,
            granted: true,
            args: &[RecordedValue::String(&text)],
            outcome: None,
        });
        with_line(&event, ValueCapture::Full, |line| assert!(line.bytes().len() > text.len()));
        assert!(kept() <= KEPT_CAPACITY, "{} bytes kept", kept());
    }

    #[test]
    fn lines_within_lines_leave_two_buffers_at_most() {
        fn nested(depth: u64) -> usize {
            with_line(&TraceEvent::TaskCancelled { id: depth }, ValueCapture::Full, |line| {
                let below = if depth == 0 { 0 } else { nested(depth - 1) };
                assert!(line.bytes().ends_with(format!("\"id\":{depth}}}\n").as_bytes()));
                line.bytes().len().max(below)
            })
        }
        let longest = nested(9);
        let after_many = kept();
        assert!(after_many > 0);
        nested(1);
        assert_eq!(kept(), after_many, "a line within a line has a buffer of its own");
        assert!(after_many <= 8 * longest, "{after_many} bytes kept for lines of {longest} bytes");
    }
}
