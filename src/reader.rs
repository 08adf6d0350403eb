//! Traces read as a stream: any `Read`, line by line, in constant memory.

use std::fmt;
use std::io::{self, Read};

use crate::decode::{DecodeError, DecodeErrorKind};
use crate::event::{TraceEvent, TraceHeader};

/// Reads a trace from any [`Read`]: a file, a pipe, a socket.
pub struct TraceReader<R> {
    source: R,
}

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Physical lines, from 1.
    pub line: u64,
    /// Bytes in the line, from 1.
    pub column: u64,
    /// Bytes in the file, from 0.
    pub offset: u64,
}

/// Why a trace can't be read on, or not without a gap.
#[derive(Debug)]
pub struct ReadError {
    position: Position,
    kind: ReadErrorKind,
}

/// The kinds of [`ReadError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The source gave an error. Nothing can be read after it.
    Io(io::Error),
    /// A line that is not an event. Reading can go on with the next line, unless the trace is of another version.
    Line(DecodeError),
    /// A line longer than the reader's limit. Reading can go on with the next line.
    LineTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The last line ends inside an event: its writer died there. All before it stands.
    Torn {
        /// The bytes of that line.
        bytes: u64,
    },
}

impl<R: Read> TraceReader<R> {
    /// A reader with the default line limit.
    pub fn new(source: R) -> Self {
        Self { source }
    }

    /// The same reader with another limit for the length of a line, in bytes.
    #[must_use]
    pub fn with_line_limit(self, _limit: usize) -> Self {
        self
    }

    /// The trace's header, read from the first line when it was not yet.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event). The same error is not given twice: after it there is no header (`Ok(None)`),
    /// and the events can be asked for.
    pub fn header(&mut self) -> Result<Option<&TraceHeader>, ReadError> {
        unimplemented!()
    }

    /// The next event; `None` at the end.
    ///
    /// Reading stops at the first fault if the caller does (`?`). To go on after one, call again: the next line is read.
    /// After an error that [ends the trace](ReadError::is_final), and after the end, `None` is all that comes.
    ///
    /// # Errors
    ///
    /// For a line that can't be read, a torn end, and an error of the source.
    pub fn next_event(&mut self) -> Result<Option<TraceEvent<'_>>, ReadError> {
        unimplemented!()
    }

    /// The physical line, from 1, on which the last event or header stood.
    #[must_use]
    pub fn line(&self) -> u64 {
        unimplemented!()
    }

    /// Physical lines read so far, blank and broken ones included, and an unterminated last one.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        unimplemented!()
    }

    /// Bytes read from the source so far, up to the end of the last line that was looked at; at the end, all of them.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        unimplemented!()
    }
}

impl ReadError {
    /// Where: the byte that is blamed.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }

    /// Whether nothing more can be read after it.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match &self.kind {
            ReadErrorKind::Io(_) | ReadErrorKind::Torn { .. } => true,
            ReadErrorKind::Line(error) => error.kind() == DecodeErrorKind::UnsupportedVersion,
            ReadErrorKind::LineTooLong { .. } => false,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ReadErrorKind::Io(error) => write!(f, "{error}"),
            ReadErrorKind::Line(error) => write!(f, "{error}"),
            ReadErrorKind::LineTooLong { limit } => {
                write!(f, "expected a line of at most {limit} bytes, found a longer one")
            }
            ReadErrorKind::Torn { bytes } => {
                write!(f, "the last line is torn: {bytes} bytes of an event that was not written to its end")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ReadErrorKind::Io(error) => Some(error),
            ReadErrorKind::Line(error) => Some(error),
            ReadErrorKind::LineTooLong { .. } | ReadErrorKind::Torn { .. } => None,
        }
    }
}
