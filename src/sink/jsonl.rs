//! A sink that writes one JSON object per line.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::TraceSink;
use super::closing::{Close, Closing};
use super::exclusive::Exclusive;
use super::fork::Origin;
use super::losses::Losses;
use super::output::{Output, closes_a_run};
use super::sync::AtomicBool;
use crate::encode::{Line, encode_header, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};
use crate::names::ValueCapture;

/// Writes one JSON object per line to `W`.
///
/// Each event is encoded on the thread that records it, outside the lock. Unless the sink is given a
/// [buffer](Self::with_buffer), the whole line then goes out with a single `write` and is flushed, so that a trace is
/// visible as it happens and a program that is killed leaves every event whose `record` returned. From the header on nothing
/// that fails is ever raised, printed or panicked at: the program must not notice. What was lost is counted and can be asked
/// for:
///
/// - an event whose text did not get out whole is [dropped](Self::dropped); a write that fails leaves at most one fragment,
///   and the next line starts on a line of its own;
/// - a flush that fails is remembered ([`last_error`](Self::last_error)) and loses nothing by itself;
/// - `Interrupted` is tried again; any other error, `WouldBlock` too, is a failure;
/// - an event that the writer itself records while it is at work (or that a panic hook does, when the writer panics) can't
///   be written: it is dropped.
///
/// Over a writer with a buffer of its own ([`BufWriter`](io::BufWriter)) the count can't be exact: such a writer says that
/// bytes are written when they are not. Use [`with_buffer`](Self::with_buffer) instead.
///
/// A child forked from the process that made the sink (Unix) records nothing into it: its [`record`](TraceSink::record)
/// returns, [`is_recording`](TraceSink::is_recording) is false, and dropping the sink there leaves the writer untouched, its
/// own `Drop` included. The child can make a sink of its own.
///
/// ```
/// use cove_trace::{JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture};
///
/// let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// let sink = JsonlSink::new(Vec::new(), &header)?;
/// sink.record(&TraceEvent::EntryEnter { module: "main", function: "main" });
/// let finished = sink.finish();
/// assert_eq!(finished.dropped, 0);
/// assert_eq!(finished.writer.iter().filter(|byte| **byte == b'\n').count(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// For a program that records all day, into at most so much space, and can bear to lose its last lines when it is killed:
///
/// ```
/// # use cove_trace::{JsonlSink, RecordingBackend, TraceHeader, ValueCapture};
/// # let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// # let file = Vec::new();
/// let sink = JsonlSink::new(file, &header)?.with_buffer(64 * 1024).with_byte_limit(1 << 30);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JsonlSink<W: Write> {
    parts: Closing<Parts<W>>,
}

struct Parts<W: Write> {
    capture: ValueCapture,
    origin: Origin,
    /// The byte limit is reached. Stands outside the lock, so that what is not written need not be encoded either.
    is_full: AtomicBool,
    output: Exclusive<Output<W>>,
    losses: Losses,
}

/// A sink's writer, and what the sink lost on the way.
#[derive(Debug)]
pub struct Finished<W> {
    /// The writer, as it was handed in.
    pub writer: W,
    /// Events that did not get out whole.
    pub dropped: u64,
    /// The last error there was, if there was any.
    pub last_error: Option<Arc<io::Error>>,
}

impl<W: Write> JsonlSink<W> {
    /// Writes the header to `writer` and flushes it, and gives the sink that records after it, values as
    /// `header.values` says.
    ///
    /// # Errors
    ///
    /// When the header can't be written: the caller is told, since nothing that follows could be read.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut line = Vec::new();
        encode_header(header, &mut line);
        let mut output = Output::new(writer);
        output.put_header(&line)?;
        Ok(Self {
            parts: Closing::new(Parts {
                capture: header.values,
                origin: Origin::here()?,
                is_full: AtomicBool::new(false),
                output: Exclusive::new(output),
                losses: Losses::default(),
            }),
        })
    }

    /// Gathers lines in a buffer of so many bytes, allocated here, and writes and flushes them together: when the next line
    /// does not fit, after a `run_ended`, when asked to [`flush`](Self::flush), and when the sink is finished or dropped. A
    /// line longer than the buffer goes out by itself. Without this, or with 0, each event is written and flushed at once.
    ///
    /// A buffered line costs a copy instead of a system call. What it costs otherwise: a program that ends without any of
    /// these (`abort`, SIGKILL) loses what the buffer holds, and a write that fails all of it that did not get out; the
    /// count of [dropped](Self::dropped) events stays exact.
    #[must_use]
    pub fn with_buffer(mut self, bytes: usize) -> Self {
        let Parts { output, losses, .. } = &mut *self.parts;
        output.get_mut().buffer_into(bytes, losses);
        self
    }

    /// Lets the trace become so many bytes long, its header included. The first event that does not fit, and all after it,
    /// are counted as [dropped](Self::dropped) and not even encoded, so what is there is the run's beginning without a gap;
    /// but the events that close a run (`entry_exit`, `heap_summary`, `run_ended`) still go out, on top of the limit.
    #[must_use]
    pub fn with_byte_limit(mut self, bytes: u64) -> Self {
        self.parts.output.get_mut().limit = bytes;
        self
    }

    /// Writes and flushes what the [buffer](Self::with_buffer) holds.
    pub fn flush(&self) {
        self.parts.flush();
    }

    /// How many events were lost so far: those whose text did not get out whole, and those over the byte limit. The trace
    /// itself can't tell, so whoever made the sink tells the user when the run is over.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.parts.losses.dropped()
    }

    /// The last error there was, if there was any: the writer's, or that the byte limit is reached. None in a forked child.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        // The lock may have been held when the child was forked, and would never be free there.
        if self.parts.origin.is_here() { self.parts.losses.last_error() } else { None }
    }

    /// Writes what the buffer holds, and hands the writer back with the account of what was lost.
    pub fn finish(self) -> Finished<W> {
        self.flush();
        let (dropped, last_error) = (self.dropped(), self.last_error());
        Finished { writer: self.parts.into_inner().output.into_inner().into_writer(), dropped, last_error }
    }
}

impl<W: Write> Parts<W> {
    fn flush(&self) {
        if self.origin.is_here() {
            // Otherwise it is this very thread's writer that asks, while it writes the buffer.
            self.output.with(|output| output.flush_buffer(&self.losses));
        }
    }

    #[inline]
    fn send(&self, line: Line<'_>, event: &TraceEvent<'_>) {
        // Asked after the event was encoded: a value's own code may have forked.
        if !self.origin.is_here() {
            return;
        }
        let sent = self.output.with(|output| output.put(line, event, &self.is_full, &self.losses));
        if sent.is_none() {
            self.recorded_by_the_writer();
        }
    }

    #[cold]
    fn recorded_by_the_writer(&self) {
        self.losses.count(1);
        self.losses.remember(io::Error::other("the trace's writer recorded an event while it was writing one"));
    }
}

impl<W: Write + Send> TraceSink for JsonlSink<W> {
    fn record(&self, event: &TraceEvent<'_>) {
        let parts = &*self.parts;
        if parts.is_full.load(Ordering::Relaxed) && !closes_a_run(event) {
            if parts.origin.is_here() {
                parts.losses.count(1);
            }
            return;
        }
        with_whole_line(event, parts.capture.into(), |line| parts.send(line, event));
    }

    fn is_recording(&self) -> bool {
        self.parts.origin.is_here()
    }
}

/// When the sink is dropped.
impl<W: Write> Close for Parts<W> {
    fn close(self) {
        if self.origin.is_here() {
            self.flush();
        } else {
            // What the writer's own `Drop` would write, the parent writes too.
            std::mem::forget(self.output);
        }
    }
}

impl<W: Write> fmt::Debug for JsonlSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlSink").field("capture", &self.parts.capture).finish_non_exhaustive()
    }
}
