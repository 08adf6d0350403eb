//! A sink that writes one JSON object per line.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::TraceSink;
use super::builder::JsonlSinkBuilder;
use super::fork::ForkGuard;
use super::losses::Losses;
use super::mutex::ForeignCodeMutex;
use super::output::{Output, closes_a_run, drop_writer};
use super::sync::AtomicBool;
use crate::encode::{EncodeOptions, Line, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};

/// Writes one JSON object per line to `W`.
///
/// Each event is encoded on the thread that records it, outside the lock. Without a [buffer](JsonlSinkBuilder::buffer),
/// the line is then written with a single `write` and flushed, so a killed process loses no event whose `record`
/// returned.
///
/// Once the header is written, the sink raises no error, prints nothing and does not panic. It counts what it loses:
///
/// - An event that was not written whole is [dropped](Self::dropped). A failed write leaves at most one fragment, and
///   the next line starts on a line of its own.
/// - After a write that fails for lack of room (`StorageFull`, `QuotaExceeded`, `FileTooLarge`) the sink backs off: it
///   drops 1 event without an attempt to write it, then 2, 4, 8 and so on while attempts fail, but it always makes an
///   attempt when the last one is a second old. A dropped event is not encoded. The events that close a run
///   (`entry_exit`, `heap_summary`, `run_ended`) are always attempted. After any other error the next event is an
///   attempt.
/// - An event whose line would be longer than the [limit](JsonlSinkBuilder::line_limit) by its names, its messages or
///   its number of arguments is dropped. A value that makes a line too long is replaced.
/// - A failed flush loses nothing by itself and is kept as the [last error](Self::last_error).
/// - `Interrupted` is retried. `WouldBlock` is a failure, so give the sink a blocking writer.
/// - An event that the writer records into its own sink (or that a panic hook records when the writer panics) is
///   dropped. One that it records into another sink is dropped if another thread uses that sink at this moment.
///
/// A writer with a buffer of its own ([`BufWriter`](io::BufWriter)) makes the count inexact, because it reports bytes
/// as written that are not. Use [`buffer`](JsonlSinkBuilder::buffer) instead.
///
/// In a forked child (Unix) the parent's sink writes nothing: it counts each event as [dropped](Self::dropped), and
/// dropping the sink leaves the writer untouched, its `Drop` included. The writer that [`finish`](Self::finish) returns
/// in a child is the parent's; forget it if its `Drop` writes. The child can create a sink of its own, and a program
/// that goes into the background by a fork must create its sink after that. A child made by `_Fork` or a raw `clone`
/// system call is not recognised.
///
/// No library can prevent two things. A file that reaches the process's limit on the size of files (`ulimit -f`) raises
/// `SIGXFSZ`, which ends the program, unless the sink knows the limit: it does if it was opened by
/// [`create`](JsonlSinkBuilder::create) or [`open_file`](JsonlSinkBuilder::open_file). And with `panic = "abort"` a
/// panic in the writer ends the program.
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
/// For long-running programs with a size budget:
///
/// ```
/// # use cove_trace::{JsonlSink, RecordingBackend, TraceHeader, ValueCapture};
/// # let path = std::env::temp_dir().join(format!("cove-trace-jsonl-doc-{}", std::process::id()));
/// # let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// let sink = JsonlSink::builder(&header).buffer(64 * 1024).byte_limit(1 << 30).create(&path)?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JsonlSink<W: Write> {
    options: EncodeOptions,
    guard: ForkGuard,
    /// The last result of `Output::is_refusing`. It is read outside the lock, so that an event that will be lost need not
    /// be encoded.
    is_refusing: AtomicBool,
    output: ForeignCodeMutex<Output<W>>,
    losses: Losses,
}

/// The writer of a finished sink, and what the sink lost.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<W> {
    /// The writer, as it was passed to the sink.
    pub writer: W,
    /// The number of events that were not written whole.
    pub dropped: u64,
    /// The last error, if there was one.
    pub last_error: Option<Arc<io::Error>>,
}

impl JsonlSink<File> {
    /// Starts a sink that writes `header` first and records values as `header.values` says.
    ///
    /// The builder's last call chooses the writer, which need not be a file.
    pub const fn builder(header: &TraceHeader) -> JsonlSinkBuilder<'_> {
        JsonlSinkBuilder::new(header)
    }
}

impl<W: Write> JsonlSink<W> {
    /// Creates a sink without a buffer or a limit. Short for [`builder(header).open(writer)`](JsonlSinkBuilder::open).
    ///
    /// # Errors
    ///
    /// If the header cannot be written and flushed, or if the system has no memory to watch for forks.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        JsonlSinkBuilder::new(header).open(writer)
    }

    /// `output` has no header yet.
    pub(super) fn start(
        output: Output<W>,
        header: &[u8],
        options: EncodeOptions,
        guard: ForkGuard,
    ) -> io::Result<Self> {
        let mut sink = Self {
            options,
            guard,
            is_refusing: AtomicBool::new(false),
            output: ForeignCodeMutex::new(output),
            losses: Losses::default(),
        };
        sink.output.get_mut().put_header(header)?;
        Ok(sink)
    }

    /// Writes the lines in the [buffer](JsonlSinkBuilder::buffer) and flushes the writer. Does nothing if the buffer is
    /// empty, if the writer itself calls it, or in a forked child.
    ///
    /// Waits for the lock, that is for the write of another thread. A failure is counted as any other.
    pub fn flush(&self) {
        if self.guard.is_owner() {
            // On re-entry this thread is writing the buffer already.
            self.output.try_with(|output| {
                output.flush_buffer(&self.losses);
                self.update_is_refusing(output);
            });
        }
    }

    /// Returns how many events were lost so far: those not written whole, and those over the byte limit.
    ///
    /// The trace itself does not say so. Report it to the user when the run is over. Takes no lock.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.losses.dropped()
    }

    /// Returns the last error, if there was one: the writer's, or that a limit is reached. `None` in a forked child.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        // Another thread may have held the lock during the fork; the child would wait forever.
        if self.guard.is_owner() { self.losses.last_error() } else { None }
    }

    /// Writes the lines in the buffer, and returns the writer with the number of lost events and the last error.
    pub fn finish(mut self) -> Finished<W> {
        self.flush();
        let (dropped, last_error) = (self.dropped(), self.last_error());
        let Some(writer) = self.output.get_mut().take_writer() else {
            unreachable!("the writer is only taken where the sink ends")
        };
        Finished { writer, dropped, last_error }
    }

    #[inline(never)]
    fn update_is_refusing(&self, output: &Output<W>) {
        let is_refusing = output.is_refusing();
        // A store takes the cache line from all other threads.
        if is_refusing != self.is_refusing.load(Ordering::Relaxed) {
            self.is_refusing.store(is_refusing, Ordering::Relaxed);
        }
    }

    /// Whether the event is lost, so that it need not be encoded. Counts it if it is.
    #[cold]
    fn refuses(&self, event: &TraceEvent<'_>) -> bool {
        if closes_a_run(event) || !self.guard.is_owner() {
            return false;
        }
        // On re-entry the event is encoded, and counted by `send`.
        self.output.try_with(|output| output.refuses(&self.losses)) == Some(true)
    }

    #[inline]
    fn send(&self, line: Line<'_>, event: &TraceEvent<'_>) {
        // Checked after encoding, because a value's own code may fork.
        if !self.guard.is_owner() {
            return self.losses.add_dropped(1);
        }
        let sent = self.output.try_with(|output| {
            if !output.put(line, event, &self.losses) {
                self.update_is_refusing(output);
            }
        });
        if sent.is_none() {
            self.recorded_by_the_writer();
        }
    }

    #[cold]
    fn recorded_by_the_writer(&self) {
        self.losses.add_dropped(1);
        self.losses.set_last_error(io::Error::other("the trace's writer recorded an event while it was writing one"));
    }
}

impl<W: Write + Send> TraceSink for JsonlSink<W> {
    fn record(&self, event: &TraceEvent<'_>) {
        if self.is_refusing.load(Ordering::Relaxed) && self.refuses(event) {
            return;
        }
        let written = with_whole_line(event, self.options, |line| self.send(line, event));
        if written.is_none() {
            self.losses.add_unwritten_line(self.options, &self.guard);
        }
    }
}

/// Writes the lines in the buffer and drops the writer. A panic in the writer's `Drop` goes no further.
impl<W: Write> Drop for JsonlSink<W> {
    fn drop(&mut self) {
        let output = self.output.get_mut();
        if self.guard.is_owner() {
            output.flush_buffer(&self.losses);
            drop_writer(output.take_writer());
        } else {
            // The parent's writer also writes whatever its `Drop` would write here.
            std::mem::forget(output.take_writer());
        }
    }
}

impl<W: Write> fmt::Debug for JsonlSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlSink").field("capture", &self.options.capture()).finish_non_exhaustive()
    }
}
