//! A sink that writes one JSON object per line.

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::TraceSink;
use super::exclusive::Exclusive;
use super::losses::{Account, Losses};
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
/// - `Interrupted` is tried again; any other error, `WouldBlock` too, is a failure;
/// - an event that the writer itself records while it is at work (or that a panic hook does, when the writer panics) can't
///   be written: it is dropped.
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
    /// The last error that the writer gave, if it gave any.
    pub last_error: Option<Arc<io::Error>>,
}

struct Output<W> {
    writer: W,
    /// The last byte that got out was not a newline, so the next line needs one before it.
    inside_line: bool,
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
        contained(|| send_all(&mut writer, &line, &mut 0).and_then(|()| flush(&mut writer)))
            .map_err(Failure::into_error)?;
        let output = Exclusive::new(Output { writer, inside_line: false });
        Ok(Self { capture: header.values, output, losses: Losses::default() })
    }
}

impl<W> JsonlSink<W> {
    /// How many events were lost so far: those whose text did not get out whole.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.losses.dropped()
    }

    /// The last error that the writer gave, if it gave any.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        self.losses.last_error()
    }

    /// Hands the writer back, with the account of what was lost.
    pub fn finish(self) -> Finished<W> {
        let Output { writer, .. } = self.output.into_inner();
        let Account { dropped, last_error } = self.losses.into_account();
        Finished { writer, dropped, last_error }
    }
}

impl<W: Write + Send> TraceSink for JsonlSink<W> {
    fn record(&self, event: &TraceEvent<'_>) {
        with_line(event, self.capture, |line| {
            if self.output.with(|output| output.send(line, &self.losses)).is_none() {
                self.losses.event(io::Error::other("the trace's writer recorded an event while it was writing one"));
            }
        });
    }
}

impl<W> fmt::Debug for JsonlSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlSink").field("capture", &self.capture).finish_non_exhaustive()
    }
}

impl<W: Write> Output<W> {
    fn send(&mut self, line: Line<'_>, losses: &Losses) {
        let bytes = if self.inside_line { line.on_a_fresh_line() } else { line.bytes() };
        let mut sent = 0;
        let outcome = contained(|| send_all(&mut self.writer, bytes, &mut sent));
        if sent > 0 {
            self.inside_line = bytes[sent - 1] != b'\n';
        }
        if let Err(failure) = outcome {
            // A writer that panicked may have let some of the bytes out before it did.
            self.inside_line |= failure.is_panic();
            let only_the_newline_is_missing = sent == bytes.len() - 1;
            if only_the_newline_is_missing {
                losses.remember(failure.into_error());
            } else {
                losses.event(failure.into_error());
            }
        }
        if let Err(failure) = contained(|| flush(&mut self.writer)) {
            losses.remember(failure.into_error());
        }
    }
}

/// Sends all of `bytes`, counting in `sent` what the writer took.
fn send_all(writer: &mut impl Write, bytes: &[u8], sent: &mut usize) -> io::Result<()> {
    while *sent < bytes.len() {
        match writer.write(&bytes[*sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            // A writer that claims more than it was given is not believed.
            Ok(taken) => *sent = bytes.len().min(sent.saturating_add(taken)),
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
