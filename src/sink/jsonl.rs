//! A sink that writes one JSON object per line.

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::TraceSink;
use crate::encode::{Line, discard, encode_header, with_line};
use crate::event::{TraceEvent, TraceHeader};
use crate::names::ValueCapture;

/// Writes one JSON object per line to `W`, flushing after every event so that a trace is visible as it happens rather than
/// only at exit.
///
/// Each event is encoded on the thread that records it, outside the lock; then the whole line goes out with a single
/// `write`. From the header on nothing that fails is ever raised, printed or panicked at: the program must not notice. What
/// was lost is counted and can be asked for:
///
/// - an event whose text did not get out whole is [dropped](Self::dropped); it leaves at most one fragment, and the next
///   line starts on a line of its own;
/// - a flush that fails is remembered ([`last_error`](Self::last_error)) and loses nothing by itself;
/// - `Interrupted` is tried again; any other error, `WouldBlock` too, is a failure.
///
/// Over a writer with a buffer of its own ([`BufWriter`](io::BufWriter)) the count can't be exact: such a writer says that
/// bytes are written when they are not.
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
pub struct JsonlSink<W> {
    capture: ValueCapture,
    output: Mutex<Output<W>>,
}

/// A sink's writer, and what the sink lost on the way.
#[derive(Debug)]
pub struct Finished<W> {
    /// The writer, as it was handed in.
    pub writer: W,
    /// Events that did not get out whole.
    pub dropped: u64,
    /// The last error that the writer gave, if it gave any.
    pub last_error: Option<Arc<io::Error>>,
}

struct Output<W> {
    writer: W,
    /// The last byte that got out was not a newline, so the next line needs one before it.
    inside_line: bool,
    dropped: u64,
    last_error: Option<Arc<io::Error>>,
}

impl<W: Write> JsonlSink<W> {
    /// Writes the header to `writer` and flushes it, and gives the sink that records after it, values as
    /// `header.values` says.
    ///
    /// # Errors
    ///
    /// When the header can't be written: the caller is told, since nothing that follows could be read.
    pub fn new(mut writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut line = Vec::new();
        encode_header(header, header.values, &mut line);
        writer.write_all(&line)?;
        writer.flush()?;
        let output = Output { writer, inside_line: false, dropped: 0, last_error: None };
        Ok(Self { capture: header.values, output: Mutex::new(output) })
    }
}

impl<W> JsonlSink<W> {
    /// How many events were lost so far: those whose text did not get out whole.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// The last error that the writer gave, if it gave any.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        self.lock().last_error.clone()
    }

    /// Hands the writer back, with the account of what was lost.
    pub fn finish(self) -> Finished<W> {
        let Output { writer, dropped, last_error, .. } =
            self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        Finished { writer, dropped, last_error }
    }

    /// The output, whether or not some thread died while it held it.
    fn lock(&self) -> MutexGuard<'_, Output<W>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write + Send> TraceSink for JsonlSink<W> {
    fn record(&self, event: &TraceEvent<'_>) {
        with_line(event, self.capture, |line| self.lock().send(line));
    }
}

impl<W> fmt::Debug for JsonlSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlSink").field("capture", &self.capture).finish_non_exhaustive()
    }
}

impl<W: Write> Output<W> {
    fn send(&mut self, line: Line<'_>) {
        let (bytes, before) = if self.inside_line { (line.on_a_fresh_line(), 1) } else { (line.bytes(), 0) };
        let mut sent = 0;
        let outcome = contained(|| send_all(&mut self.writer, bytes, &mut sent));
        if sent > 0 {
            self.inside_line = bytes[sent - 1] != b'\n';
        }
        if let Err(failure) = outcome {
            // A writer that panicked may have let some of the bytes out before it did.
            self.inside_line |= failure.is_panic();
            let text_end = bytes.len() - 1;
            if sent < text_end {
                self.dropped += 1;
            }
            debug_assert!(before <= bytes.len());
            self.remember(failure);
        }
        if let Err(failure) = contained(|| flush(&mut self.writer)) {
            self.remember(failure);
        }
    }

    fn remember(&mut self, failure: Failure) {
        self.last_error = Some(Arc::new(failure.into_error()));
    }
}

/// Sends all of `bytes`, counting in `sent` what the writer took.
fn send_all(writer: &mut impl Write, bytes: &[u8], sent: &mut usize) -> io::Result<()> {
    while *sent < bytes.len() {
        match writer.write(&bytes[*sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            // A writer that claims more than it was given is not believed.
            Ok(taken) => *sent = bytes.len().min(*sent + taken),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn flush(writer: &mut impl Write) -> io::Result<()> {
    loop {
        match writer.flush() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Why the writer did not do what it was asked to.
enum Failure {
    Error(io::Error),
    Panic,
}

impl Failure {
    const fn is_panic(&self) -> bool {
        matches!(self, Self::Panic)
    }

    fn into_error(self) -> io::Error {
        match self {
            Self::Error(error) => error,
            Self::Panic => io::Error::other("the trace's writer panicked"),
        }
    }
}

/// Runs the writer's code; a panic in it goes no further.
fn contained(code: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::Error(error)),
        Err(panic) => {
            discard(panic);
            Err(Failure::Panic)
        }
    }
}
