//! Reads traces line by line in constant memory: from any `Read`, from memory without copying, or from pieces as they
//! arrive.

mod events;
mod lines;
mod pieces;
pub(crate) mod position;
mod source;
mod walk;

use std::fmt;
use std::io;

pub use self::events::Events;
use self::lines::{LineFault, Lines, RawLine};
use self::position::Extent;
pub use self::position::Position;
pub use self::source::{Pieces, Slice, Source};
pub use self::walk::TracePart;
use crate::decode::{DecodeError, DecodeErrorKind, Decoder};
use crate::event::{TraceEvent, TraceHeader};

/// Reads a trace from any [`Read`](io::Read) with [`new`](Self::new), from memory with
/// [`from_slice`](TraceReader::from_slice), or from [pieces](TraceReader::from_pieces) that the caller passes as they
/// arrive. All three return the same events, errors and positions.
///
/// An event is returned as soon as its newline or the end of the source was read, and borrows from the reader until the
/// next call. Memory is constant: the longest line so far, and the parts of one event. Steady state allocates nothing.
/// The reader is buffered, so the source needs no buffer.
///
/// ```
/// use cove_trace::{TraceEvent, TraceReader};
///
/// let trace = br#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}
/// {"event":"task_cancelled","id":7}
/// "#;
/// let mut reader = TraceReader::new(&trace[..]);
/// assert_eq!(reader.header()?.map(|header| header.entry.as_str()), Some("main"));
/// while let Some(event) = reader.next_event()? {
///     assert_eq!(event, TraceEvent::TaskCancelled { id: 7 });
/// }
/// # Ok::<(), cove_trace::ReadError>(())
/// ```
#[derive(Debug)]
pub struct TraceReader<S> {
    lines: Lines<S>,
    decoder: Decoder,
    header: HeaderState,
    /// Whether a walk has come past the header.
    header_walked: bool,
    /// The physical line that was looked at last.
    line: u64,
    /// Stop before the first line that starts at or after this offset.
    until: u64,
    /// Set after the end or a final error; `next_event` then returns `None`.
    ended: bool,
}

/// What is known of the header.
#[derive(Debug)]
enum HeaderState {
    /// The next line has to be it.
    Due,
    Read(TraceHeader),
    /// It stands before the part that is read, and the caller has it.
    Elsewhere,
    /// Something else stood in its place, which was reported. A header that comes later is taken for it.
    Missing,
}

/// An error of reading a trace.
#[derive(Debug)]
pub struct ReadError {
    position: Position,
    kind: ReadErrorKind,
}

/// The kinds of [`ReadError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The source failed. Nothing can be read after this.
    Io(io::Error),
    /// A line is not an event. Reading can go on with the next line, unless the trace has another version.
    Line(DecodeError),
    /// A line exceeds the reader's limit. Reading can go on with the next line.
    LineTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The last line ends inside an event, for example because its writer was killed. All lines before it are valid.
    Truncated {
        /// The length of the line in bytes.
        bytes: u64,
    },
}

/// The default line limit in bytes.
pub const DEFAULT_LINE_LIMIT: usize = 64 * 1024 * 1024;

impl<R: io::Read> TraceReader<R> {
    /// Creates a reader of a stream, with the [default line limit](DEFAULT_LINE_LIMIT). It reads nothing yet.
    pub fn new(source: R) -> Self {
        Self::of(source)
    }
}

impl<'t> TraceReader<Slice<'t>> {
    /// Creates a reader of a trace in memory. Strings without an escape are borrowed from there.
    ///
    /// ```
    /// use cove_trace::TraceReader;
    ///
    /// # let path = std::env::temp_dir().join(format!("from_slice_{}.jsonl", std::process::id()));
    /// # std::fs::write(&path, r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#)?;
    /// let trace = std::fs::read(&path)?;
    /// let mut reader = TraceReader::from_slice(&trace);
    /// assert!(reader.header()?.is_some());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_slice(trace: &'t [u8]) -> Self {
        Self::of(Slice(trace))
    }
}

impl<S: Source> TraceReader<S> {
    fn of(source: S) -> Self {
        let lines = Lines::new(source, DEFAULT_LINE_LIMIT);
        let header = HeaderState::Due;
        Self { lines, decoder: Decoder::new(), header, header_walked: false, line: 0, until: u64::MAX, ended: false }
    }

    /// Makes this a reader of a part of a trace behind the header: of the lines that begin in its first `len` bytes.
    pub(crate) fn behind_header(mut self, len: u64) -> Self {
        self.header = HeaderState::Elsewhere;
        self.until = len;
        self
    }

    /// Sets the limit for the length of a line in bytes, without its newline. A longer line is an error, and is skipped
    /// without being kept in memory. Memory stays below twelve times the limit, plus eight times the length of the
    /// header.
    #[must_use]
    pub fn with_line_limit(mut self, limit: usize) -> Self {
        self.lines.set_limit(limit);
        self
    }

    /// Returns the trace's header, which is read from the next line if necessary. `None` if that line was something
    /// else, which was reported as an error. A later line may still be the header.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event). An error is returned once; after it, events can be read.
    pub fn header(&mut self) -> Result<Option<&TraceHeader>, ReadError> {
        if matches!(self.header, HeaderState::Due | HeaderState::Missing) {
            self.read_header()?;
        }
        match &self.header {
            HeaderState::Read(header) => Ok(Some(header)),
            HeaderState::Due | HeaderState::Elsewhere | HeaderState::Missing => Ok(None),
        }
    }

    /// Reads the header if the next line is it.
    fn read_header(&mut self) -> Result<(), ReadError> {
        let missed_before = matches!(self.header, HeaderState::Missing);
        let line = self.next_line().inspect_err(|_| self.header = HeaderState::Missing)?;
        let Some(line) = line else {
            // Of a trace that arrives in pieces the first line may not be there yet.
            if !self.ended || missed_before {
                return Ok(());
            }
            self.header = HeaderState::Missing;
            let expected = DecodeError::new(0, DecodeErrorKind::NoHeader, "a trace_header", "the end of the trace");
            let position = self.lines.position();
            self.line = position.line;
            return Err(ReadError { position, kind: ReadErrorKind::Line(expected) });
        };
        // That there is no header was said of the first line.
        if missed_before && !may_be_header(self.lines.text(&line)) {
            self.lines.step_back(&line);
            return Ok(());
        }
        self.header = HeaderState::Missing;
        match self.decoder.decode_header(self.lines.text(&line)) {
            Ok(header) => {
                self.header = HeaderState::Read(header);
                Ok(())
            }
            Err(error) => {
                let is_event = error.kind() == DecodeErrorKind::NoHeader;
                if is_event {
                    // A good one, perhaps: it is given when events are asked for.
                    self.lines.step_back(&line);
                }
                let error = line_error(&self.lines, &line, error, &mut self.ended);
                if is_event && missed_before { Ok(()) } else { Err(error) }
            }
        }
    }

    /// Returns the next event; `None` at the end, or if a trace that arrives in pieces has no further event yet.
    ///
    /// To go on after an error, call again: the next line is read. After an error that [is final](ReadError::is_final),
    /// and after the end, it always returns `None`.
    ///
    /// # Errors
    ///
    /// Fails for a line that cannot be read, for a truncated end, and for an error of the source.
    pub fn next_event(&mut self) -> Result<Option<TraceEvent<'_>>, ReadError> {
        self.next_with(|_, event| event)
    }

    /// Returns the [next event](Self::next_event) and its physical line, counted from 1. Useful because
    /// [`line`](Self::line) cannot be called while the event is borrowed.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn next_event_with_line(&mut self) -> Result<Option<(u64, TraceEvent<'_>)>, ReadError> {
        self.next_with(|line, event| (line, event))
    }

    /// Returns what `with` makes of the next event and its line. It is inlined, so that the event is built in place.
    #[inline(always)]
    fn next_with<'r, T>(&'r mut self, with: impl FnOnce(u64, TraceEvent<'r>) -> T) -> Result<Option<T>, ReadError> {
        let is_at_event = matches!(self.header, HeaderState::Read(_) | HeaderState::Elsewhere)
            && !self.ended
            && self.lines.offset() < self.until
            && self.lines.has_whole_line();
        if !is_at_event {
            let event = self.next_framed()?;
            return Ok(event.map(|(line, event)| with(line, event)));
        }
        let limit = self.lines.limit();
        let (lines, cursor) = self.lines.whole_lines();
        let mut decoder = self.decoder.start_line();
        if let Some((event, len)) = decoder.first_canonical_event(lines)
            && len <= limit
        {
            let line = cursor.take_line(len, true);
            self.line = line.number;
            return Ok(Some(with(line.number, event)));
        }
        let len = memchr::memchr(b'\n', lines).unwrap_or(lines.len());
        let line = cursor.take_line(len, true);
        self.line = line.number;
        if len > limit {
            return Err(too_long(&line, limit));
        }
        match decoder.event_slowly(&lines[..len]) {
            Ok(event) => Ok(Some(with(line.number, event))),
            Err(error) => Err(broken_line(&line, error, &mut self.ended)),
        }
    }

    /// The next event, after its line was found by its newline or the end of the source.
    #[inline(never)]
    fn next_framed(&mut self) -> Result<Option<(u64, TraceEvent<'_>)>, ReadError> {
        self.header()?;
        let Some(line) = self.next_line()? else {
            return Ok(None);
        };
        match self.decoder.decode_event(self.lines.text(&line)) {
            Ok(event) => Ok(Some((line.number, event))),
            Err(error) => Err(line_error(&self.lines, &line, error, &mut self.ended)),
        }
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> Result<Option<RawLine>, ReadError> {
        while !self.ended && self.lines.offset() < self.until {
            match self.lines.next() {
                Ok(Some(line)) if is_blank(self.lines.text(&line)) => {}
                Ok(Some(line)) => {
                    self.line = line.number;
                    return Ok(Some(line));
                }
                Ok(None) => {
                    self.ended = self.lines.has_ended();
                    break;
                }
                Err(fault) => {
                    let error = self.framing_error(fault);
                    self.line = error.position.line;
                    self.ended = error.is_final();
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Skips lines, without decoding them, until the given physical line, from 1, is the next. Returns whether that
    /// line exists and was not read before; otherwise the reader is at the end, or has not moved. The header is read
    /// first.
    ///
    /// # Errors
    ///
    /// Returns the errors of the header and of the source.
    pub fn pass_to_line(&mut self, line: u64) -> Result<bool, ReadError> {
        self.header()?;
        if self.ended || line <= self.lines.lines_passed() {
            return Ok(false);
        }
        self.lines.pass_to(line).map_err(|fault| {
            self.ended = true;
            self.framing_error(fault)
        })
    }

    /// The error for a line that can't be had.
    fn framing_error(&self, fault: LineFault) -> ReadError {
        match fault {
            LineFault::Io(error) => ReadError { position: self.lines.position(), kind: ReadErrorKind::Io(error) },
            LineFault::TooLong(line) => too_long(&line, self.lines.limit()),
            LineFault::Torn { line, nul } => torn(&line, nul),
        }
    }

    /// Returns the physical line, from 1, of the last event, header or fault.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the text of the last line without its newline, as it is in the trace. Empty after a fault whose line is
    /// not in memory: one that is too long, or an error of the source.
    #[must_use]
    pub fn line_text(&self) -> &[u8] {
        self.lines.text_of_last()
    }

    /// Returns the number of physical lines read so far, including blank and faulty ones and an unterminated last one.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        self.lines.lines_passed()
    }

    /// Returns the number of bytes of the lines read so far; after the end, of the whole trace.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.lines.offset()
    }
}

/// Whether a line may say that it is a header: in letters, or in escapes for them.
fn may_be_header(text: &[u8]) -> bool {
    let holds = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
    holds(b"trace_header") || holds(b"\\u")
}

/// Whether there is nothing but JSON white space in a line.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Returns the error for a line that can't be decoded: it is broken, or the torn end of the trace.
fn line_error<S: Source>(lines: &Lines<S>, line: &RawLine, error: DecodeError, ended: &mut bool) -> ReadError {
    if !line.terminated && is_cut(lines.text(line), &error) {
        *ended = true;
        return torn(line, lines.text(line).len());
    }
    broken_line(line, error, ended)
}

fn broken_line(line: &RawLine, error: DecodeError, ended: &mut bool) -> ReadError {
    *ended |= error.kind() == DecodeErrorKind::UnsupportedVersion;
    ReadError { position: line.position(error.offset()), kind: ReadErrorKind::Line(error) }
}

fn too_long(line: &RawLine, limit: usize) -> ReadError {
    ReadError { position: line.position(limit), kind: ReadErrorKind::LineTooLong { limit } }
}

fn torn(line: &RawLine, end: usize) -> ReadError {
    ReadError { position: line.position(end), kind: ReadErrorKind::Truncated { bytes: line.len() } }
}

/// Whether all that is wrong with a line is that it stops, perhaps inside a character.
fn is_cut(text: &[u8], error: &DecodeError) -> bool {
    match error.kind() {
        DecodeErrorKind::UnexpectedEnd => true,
        DecodeErrorKind::NotUtf8 => text
            .get(error.offset()..)
            .is_some_and(|rest| std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none())),
        _ => false,
    }
}

impl ReadError {
    /// Creates an error of a source from which nothing was read.
    pub(crate) fn at_start(error: io::Error) -> Self {
        Self { position: Position { line: 1, column: 1, offset: 0 }, kind: ReadErrorKind::Io(error) }
    }

    /// Moves the error behind the part `before` of the same trace.
    pub(crate) fn after(mut self, before: Extent) -> Self {
        self.position.line += before.lines;
        self.position.offset += before.bytes;
        self
    }

    /// Returns the position of the first wrong byte.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }

    /// Converts the error to its kind, which gives an [`io::Error`] of the source back.
    #[must_use]
    pub fn into_kind(self) -> ReadErrorKind {
        self.kind
    }

    /// Returns the message without the position.
    pub fn message(&self) -> impl fmt::Display + '_ {
        &self.kind
    }

    /// Returns whether nothing more can be read after this error.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match &self.kind {
            ReadErrorKind::Io(_) | ReadErrorKind::Truncated { .. } => true,
            ReadErrorKind::Line(error) => error.kind() == DecodeErrorKind::UnsupportedVersion,
            ReadErrorKind::LineTooLong { .. } => false,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.position.line, self.position.column, self.kind)
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Line(error) => write!(f, "{error}"),
            Self::LineTooLong { limit } => write!(f, "expected a line of at most {limit} bytes, found a longer one"),
            Self::Truncated { bytes } => {
                write!(f, "the last line is torn: {bytes} bytes of an event that was not written to its end")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message contains that of the I/O error, so only the cause of that error is left.
        match &self.kind {
            ReadErrorKind::Io(error) => error.source(),
            ReadErrorKind::Line(_) | ReadErrorKind::LineTooLong { .. } | ReadErrorKind::Truncated { .. } => None,
        }
    }
}

/// An error of the source is given back as it is. Other errors become [`InvalidData`](io::ErrorKind::InvalidData), or
/// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) for a truncated end.
impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error.kind {
            ReadErrorKind::Io(error) => error,
            ReadErrorKind::Truncated { .. } => Self::new(io::ErrorKind::UnexpectedEof, error),
            ReadErrorKind::Line(_) | ReadErrorKind::LineTooLong { .. } => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}
