//! Reading one part of a file.

use std::ops::{ControlFlow, Range};

use super::line_start::first_line_start;
use super::{ParallelReader, ReadAt};
use crate::event::TraceHeader;
use crate::reader::position::{Extent, Position};
use crate::reader::{ReadError, ReadErrorKind, TracePart, TraceReader};

/// Collects a trace in file order: from events and faults one by one, and from pieces that worker threads collected.
pub(crate) trait Collect {
    type Piece: Default + Send;

    /// Takes the next event or fault of the trace.
    fn part(&mut self, part: TracePart<'_>);

    /// Puts an event or a fault into a piece. Lines and positions count from the piece's first line.
    fn collect(header: &TraceHeader, part: TracePart<'_>, piece: &mut Self::Piece);

    /// The number of faults and findings in a piece.
    fn problems(piece: &Self::Piece) -> usize;

    /// Takes the next piece of the trace; `before` is the extent of all that precedes it.
    fn take(&mut self, piece: Self::Piece, before: Extent);
}

/// Where reading begins in a part.
pub(super) enum Begin {
    /// At the first line that begins in it.
    AtFirstLine {
        /// Whether its first byte is known to begin one.
        is_line_start: bool,
    },
    /// At this byte of the file, which begins a line.
    At(u64),
}

/// What is done about a line that is longer than the limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LongLine {
    /// It is a fault.
    IsFault,
    /// Reading stops before it.
    Stops,
}

/// How far a part was read.
pub(super) struct PartRead {
    pub(super) extent: Extent,
    /// The offset in the file of the first line that was not read, if reading stopped before the end. The last line
    /// read may be longer than the part, so this offset may lie behind the part.
    pub(super) stopped_at: Option<u64>,
    /// Whether a fault was final.
    pub(super) is_final: bool,
}

/// Reads the lines that begin in `bounds`, and passes events and faults to `visit`, until it breaks.
pub(super) fn read_part<F: ReadAt + ?Sized>(
    parts: &ParallelReader<'_, F>,
    bounds: Range<u64>,
    begin: Begin,
    line_limit: usize,
    long_line: LongLine,
    mut visit: impl FnMut(TracePart<'_>) -> ControlFlow<()>,
) -> PartRead {
    let mut read = PartRead { extent: Extent::default(), stopped_at: None, is_final: false };
    let start = match begin {
        Begin::At(start) => start,
        Begin::AtFirstLine { is_line_start: true } => bounds.start,
        Begin::AtFirstLine { is_line_start: false } => match first_line_start(parts.file, &bounds) {
            Ok(Some(start)) => start,
            Ok(None) => return read,
            Err(error) => {
                read.is_final = true;
                let _ = visit(TracePart::Fault(ReadError::at_start(error)));
                return read;
            }
        },
    };
    let source = parts.from(start);
    let len = bounds.end.saturating_sub(start);
    let mut reader = TraceReader::new(source).with_line_limit(line_limit).behind_header(len);
    while !read.is_final {
        let flow = match reader.next_event_with_line() {
            Ok(Some((line, event))) => visit(TracePart::Event { line, event }),
            Ok(None) => break,
            Err(error) if long_line == LongLine::Stops && matches!(error.kind(), ReadErrorKind::LineTooLong { .. }) => {
                let Position { line, column, offset } = error.position();
                let bytes = offset - (column - 1);
                read.extent = Extent { lines: line - 1, bytes };
                read.stopped_at = Some(start + bytes);
                return read;
            }
            Err(error) => {
                read.is_final = error.is_final();
                visit(TracePart::Fault(error))
            }
        };
        // After a final error there is nothing left to read.
        if flow.is_break() && !read.is_final {
            read.stopped_at = Some(start + reader.bytes_read());
            break;
        }
    }
    read.extent = Extent { lines: reader.lines_read(), bytes: reader.bytes_read() };
    read
}
