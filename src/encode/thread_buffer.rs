//! The buffers in which each thread encodes its lines.

use std::cell::RefCell;

use super::EncodeOptions;
use crate::event::TraceEvent;
use crate::value::Encoder;

/// A larger buffer is freed after its event. Allocating it again is cheap compared with encoding such a line.
const KEPT_CAPACITY: usize = 1024 * 1024;

thread_local! {
    /// The buffers of this thread, each with a newline before the line. The second one serves values that record an
    /// event while they are being written.
    static BUFFERS: [RefCell<Vec<u8>>; 2] = const { [const { RefCell::new(Vec::new()) }; 2] };
}

/// One whole line, its newline included.
#[derive(Clone, Copy)]
pub(crate) struct Line<'l> {
    /// A newline, and then the line.
    bytes: &'l [u8],
}

impl<'l> Line<'l> {
    pub(crate) fn bytes(self) -> &'l [u8] {
        &self.bytes[1..]
    }

    /// The line with a newline before it, which ends a fragment of another line.
    pub(crate) fn after_newline(self) -> &'l [u8] {
        self.bytes
    }
}

/// Encodes `event` into a buffer of this thread and passes the line, its newline included, to `consume`.
///
/// Returns `None` without calling `consume` if the line would be longer than the [limit](EncodeOptions::line_limit), or
/// if there is no memory for it.
///
/// Sinks are built on it: they encode on the recording thread, and take their locks in `consume`. A value may record an
/// event while it is being written. It allocates while a buffer grows, for a line of more than 1 MiB, for events nested
/// more than two deep, and in destructors at the end of a thread.
///
/// ```
/// use std::io::{self, Write};
/// use std::sync::Mutex;
/// use cove_trace::{TraceEvent, TraceSink, ValueCapture, with_line};
///
/// struct StandardError(Mutex<()>);
///
/// impl TraceSink for StandardError {
///     fn record(&self, event: &TraceEvent<'_>) {
///         with_line(event, ValueCapture::Full, |line| {
///             let _lock = self.0.lock();
///             _ = io::stderr().write_all(line);
///         });
///     }
/// }
/// # StandardError(Mutex::new(())).record(&TraceEvent::TaskCancelled { id: 7 });
/// ```
#[inline]
pub fn with_line<R>(
    event: &TraceEvent<'_>,
    options: impl Into<EncodeOptions>,
    consume: impl FnOnce(&[u8]) -> R,
) -> Option<R> {
    with_whole_line(event, options.into(), |line| consume(line.bytes()))
}

/// Like [`with_line`], for sinks that may have to end a fragment first.
#[inline]
pub(crate) fn with_whole_line<R>(
    event: &TraceEvent<'_>,
    options: EncodeOptions,
    consume: impl FnOnce(Line<'_>) -> R,
) -> Option<R> {
    let mut consume = Some(consume);
    let mut write = |buffer: &mut Vec<u8>| {
        let freed = FreedIfLarge(buffer);
        let buffer = &mut *freed.0;
        buffer.clear();
        buffer.try_reserve(1).ok()?;
        buffer.push(b'\n');
        let is_whole = Encoder::append(buffer, options.line_limit, |encoder| encoder.event(event, options.capture));
        consume.take().filter(|_| is_whole).map(|consume| consume(Line { bytes: buffer }))
    };
    let written = BUFFERS.try_with(|buffers| {
        let mut free = buffers.iter().find_map(|buffer| buffer.try_borrow_mut().ok())?;
        Some(write(&mut free))
    });
    match written {
        Ok(Some(result)) => result,
        // The thread is ending and its buffers have been destroyed, or both are in use.
        Ok(None) | Err(_) => write(&mut Vec::new()),
    }
}

/// Frees a buffer that has grown past [`KEPT_CAPACITY`], also when `consume` panics.
struct FreedIfLarge<'b>(&'b mut Vec<u8>);

impl Drop for FreedIfLarge<'_> {
    fn drop(&mut self) {
        if self.0.capacity() > KEPT_CAPACITY {
            *self.0 = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ValueCapture;
    use crate::value::RecordedValue;
    use crate::{CallSite, HostCall};
    use std::time::Duration;

    /// The capacity of this thread's buffers, in bytes.
    fn kept() -> usize {
        BUFFERS.with(|buffers| buffers.iter().map(|buffer| buffer.borrow().capacity()).sum())
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
        with_line(&event, ValueCapture::Full, |line| assert!(line.len() > text.len())).expect("it is not too long");
        assert!(kept() <= KEPT_CAPACITY, "{} bytes kept", kept());
    }

    #[test]
    fn lines_within_lines_leave_two_buffers_at_most() {
        fn nested(depth: u64) -> usize {
            with_line(&TraceEvent::TaskCancelled { id: depth }, ValueCapture::Full, |line| {
                let below = if depth == 0 { 0 } else { nested(depth - 1) };
                assert!(line.ends_with(format!("\"id\":{depth}}}\n").as_bytes()));
                line.len().max(below)
            })
            .expect("it is not too long")
        }
        let longest = nested(9);
        let after_many = kept();
        assert!(after_many > 0);
        nested(1);
        assert_eq!(kept(), after_many, "a line within a line has a buffer of its own");
        assert!(after_many <= 8 * longest, "{after_many} bytes kept for lines of {longest} bytes");
    }
}
