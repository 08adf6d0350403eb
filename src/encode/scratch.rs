//! The buffer that each thread keeps for the line it is writing.

use std::cell::RefCell;

use smallvec::SmallVec;

use super::append;
use crate::event::TraceEvent;
use crate::names::ValueCapture;

/// A buffer that has grown past this is given back after its event: next to writing so much, allocating it again is little.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// Buffers a thread keeps: one for the line being written, one for an event recorded by a value of that line.
const KEPT_BUFFERS: usize = 2;

thread_local! {
    /// Free buffers. One is taken out for as long as a line is being written, so a value that records an event while it
    /// is itself being written simply takes another.
    static FREE: RefCell<SmallVec<[Vec<u8>; KEPT_BUFFERS]>> = const { RefCell::new(SmallVec::new_const()) };
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
pub(crate) fn with_line<R>(event: &TraceEvent<'_>, capture: ValueCapture, consume: impl FnOnce(Line<'_>) -> R) -> R {
    let mut buffer = take();
    buffer.clear();
    buffer.push(b'\n');
    append(&mut buffer, |encoder| encoder.event(event, capture));
    let result = consume(Line { bytes: &buffer });
    give_back(buffer);
    result
}

fn take() -> Vec<u8> {
    FREE.try_with(|free| free.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

fn give_back(buffer: Vec<u8>) {
    if buffer.capacity() > KEPT_CAPACITY {
        return;
    }
    // Fails when the thread is ending and its buffers are gone: then this one goes too.
    let _ = FREE.try_with(|free| {
        let mut free = free.borrow_mut();
        if free.len() < KEPT_BUFFERS {
            free.push(buffer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::RecordedValue;
    use crate::{CallSite, HostCall};
    use std::time::Duration;

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
        let kept = FREE.with(|free| free.borrow().iter().map(Vec::capacity).sum::<usize>());
        assert!(kept <= KEPT_CAPACITY, "{kept} bytes kept");
    }
}
