//! Splits a source into physical lines. Each line is held in memory as a whole and is no longer than the limit.

use std::io;
use std::ops::Range;

use super::position::Position;
use super::source::Pieces;
use super::source::sealed::Source;
use crate::cost::count_examined;

/// The lines of a source.
///
/// The window is the whole source if that is in memory, and otherwise a buffer that bytes are read or fed into. Lines
/// are ranges of the window, valid until the next line is taken.
#[derive(Debug)]
pub(super) struct Lines<S> {
    source: S,
    buffer: Vec<u8>,
    cursor: Cursor,
    /// The end of the last line in the window that has its newline there.
    whole_end: usize,
    /// The number of unread bytes that were searched for a newline.
    searched: usize,
    limit: usize,
    source_ended: bool,
    /// A line longer than the limit of which the window has only a part.
    long: Option<LongLine>,
}

/// The position between the lines that were taken and the unread bytes.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The unread bytes of the window.
    unread: Range<usize>,
    /// The line in the window that was taken last.
    last: Range<usize>,
    /// The number of lines that were taken or passed.
    passed: u64,
    /// The offset in the source of the unread bytes.
    offset: u64,
    /// The number of newlines before that offset.
    newlines: u64,
    /// The offset in the source of the line that the next byte is part of.
    line_start: u64,
}

/// A line that is passed in parts.
#[derive(Debug)]
struct LongLine {
    line: RawLine,
    first_nul: Option<usize>,
}

/// The result of reading from the source.
enum Filled {
    /// There are more bytes, or the source ended.
    Changed,
    /// There are no more bytes yet.
    Waiting,
}

/// A line: its position in the source, and the range of its bytes in the window, without the newline.
#[derive(Debug)]
pub(super) struct RawLine {
    pub(super) number: u64,
    pub(super) terminated: bool,
    offset: u64,
    len: u64,
    bytes: Range<usize>,
}

pub(super) enum LineFault {
    Io(io::Error),
    /// The line is longer than the limit.
    TooLong(RawLine),
    /// The unterminated last line, with a NUL byte in it.
    Torn {
        line: RawLine,
        /// The offset of the first NUL byte.
        nul: usize,
    },
}

/// The size of the buffer, in bytes. Each read has room for at least half of it.
const CHUNK: usize = 64 * 1024;

/// A buffer larger than this, in bytes, is freed once it holds little. Waiting for an empty buffer may never succeed:
/// reads usually end in the middle of a line.
const KEPT: usize = 1024 * 1024;

impl RawLine {
    /// Returns the position of one of the line's bytes.
    pub(super) fn position(&self, byte: usize) -> Position {
        let byte = byte as u64;
        Position { line: self.number, column: byte + 1, offset: self.offset + byte }
    }

    /// Returns the line's length in bytes, without its newline.
    pub(super) fn len(&self) -> u64 {
        self.len
    }
}

impl Cursor {
    /// Returns the position of the unread bytes.
    fn position(&self) -> Position {
        Position { line: self.newlines + 1, column: self.offset - self.line_start + 1, offset: self.offset }
    }

    /// Takes the next `len` bytes as a line, and the newline after them if it has one.
    #[inline]
    pub(super) fn take_line(&mut self, len: usize, terminated: bool) -> RawLine {
        let (start, offset) = (self.unread.start, self.offset);
        self.advance(len + usize::from(terminated));
        self.passed += 1;
        if terminated {
            self.end_line();
        }
        self.last = start..start + len;
        RawLine { number: self.passed, terminated, offset, len: len as u64, bytes: start..start + len }
    }

    fn advance(&mut self, len: usize) {
        self.unread.start += len;
        self.offset += len as u64;
    }

    /// Counts a newline that was passed.
    fn end_line(&mut self) {
        self.newlines += 1;
        self.line_start = self.offset;
    }
}

impl<S: Source> Lines<S> {
    pub(super) fn new(source: S, limit: usize) -> Self {
        let whole = source.whole().unwrap_or_default();
        Self {
            buffer: Vec::new(),
            cursor: Cursor { unread: 0..whole.len(), ..Cursor::default() },
            whole_end: memchr::memrchr(b'\n', whole).map_or(0, |newline| newline + 1),
            searched: 0,
            limit,
            source_ended: source.whole().is_some(),
            long: None,
            source,
        }
    }

    #[inline(always)]
    fn window(&self) -> &[u8] {
        self.source.whole().unwrap_or(&self.buffer)
    }

    fn unread(&self) -> &[u8] {
        &self.window()[self.cursor.unread.clone()]
    }

    /// Returns whether the next line begins with a brace and is in the window with its newline.
    #[inline(always)]
    pub(super) fn has_whole_line(&self) -> bool {
        self.cursor.unread.start < self.whole_end
            && self.window().get(self.cursor.unread.start) == Some(&b'{')
            && self.long.is_none()
    }

    /// Returns the unread lines that are in the window with their newlines.
    #[inline(always)]
    pub(super) fn whole_lines(&mut self) -> (&[u8], &mut Cursor) {
        self.searched = 0;
        let window = self.source.whole().unwrap_or(&self.buffer);
        (&window[self.cursor.unread.start..self.whole_end], &mut self.cursor)
    }

    /// Returns whether every line was taken.
    pub(super) fn has_ended(&self) -> bool {
        self.source_ended && self.cursor.unread.is_empty()
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn lines_passed(&self) -> u64 {
        self.cursor.passed
    }

    /// Returns the position after the lines that were taken or passed.
    pub(super) fn position(&self) -> Position {
        self.cursor.position()
    }

    /// Returns the offset after the lines that were taken or passed.
    pub(super) fn offset(&self) -> u64 {
        self.cursor.offset
    }

    pub(super) fn text(&self, line: &RawLine) -> &[u8] {
        &self.window()[line.bytes.clone()]
    }

    /// Returns the bytes of the line that was taken last, or none once the buffer was refilled.
    pub(super) fn text_of_last(&self) -> &[u8] {
        &self.window()[self.cursor.last.clone()]
    }

    /// Puts the line, which was taken last, back.
    pub(super) fn step_back(&mut self, line: &RawLine) {
        let cursor = &mut self.cursor;
        cursor.unread.start = line.bytes.start;
        cursor.passed -= 1;
        cursor.offset = line.offset;
        cursor.newlines -= u64::from(line.terminated);
        cursor.line_start = line.offset;
        self.searched = line.bytes.len();
    }

    fn take_line(&mut self, len: usize, terminated: bool) -> RawLine {
        self.searched = 0;
        self.cursor.take_line(len, terminated)
    }

    fn take(&mut self, len: usize) {
        self.searched = 0;
        self.cursor.advance(len);
    }

    /// Takes the next line. Returns `None` at the end, or if the line has not arrived as a whole.
    pub(super) fn next(&mut self) -> Result<Option<RawLine>, LineFault> {
        if self.long.is_some() {
            return self.pass_long_line();
        }
        loop {
            let unread = self.unread();
            count_examined(unread.len() - self.searched);
            if let Some(found) = memchr::memchr(b'\n', &unread[self.searched..]) {
                let line = self.take_line(self.searched + found, true);
                return if line.bytes.len() > self.limit { Err(LineFault::TooLong(line)) } else { Ok(Some(line)) };
            }
            self.searched = unread.len();
            if self.searched > self.limit {
                return self.pass_long_line();
            }
            if self.source_ended {
                return self.last_line();
            }
            if let Filled::Waiting = self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Takes the unread bytes as the last line. The source has ended, and there is no newline among them.
    fn last_line(&mut self) -> Result<Option<RawLine>, LineFault> {
        if self.cursor.unread.is_empty() {
            return Ok(None);
        }
        let line = self.take_line(self.cursor.unread.len(), false);
        match memchr::memchr(0, self.text(&line)) {
            Some(nul) => Err(LineFault::Torn { line, nul }),
            None => Ok(Some(line)),
        }
    }

    /// Passes a line that is longer than the limit without keeping it. Returns `None` if its end has not arrived.
    fn pass_long_line(&mut self) -> Result<Option<RawLine>, LineFault> {
        let LongLine { mut line, mut first_nul } = match self.long.take() {
            Some(begun) => begun,
            None => LongLine { line: self.take_line(0, false), first_nul: None },
        };
        loop {
            let unread = self.unread();
            let newline = memchr::memchr(b'\n', unread);
            let of_line = newline.unwrap_or(unread.len());
            count_examined(of_line);
            if first_nul.is_none() {
                first_nul = memchr::memchr(0, &unread[..of_line]).map(|nul| line.len as usize + nul);
            }
            line.len += of_line as u64;
            line.terminated = newline.is_some();
            self.take(of_line + usize::from(line.terminated));
            if line.terminated {
                self.cursor.end_line();
            }
            if line.terminated || self.source_ended {
                break;
            }
            if let Filled::Waiting = self.fill()? {
                self.long = Some(LongLine { line, first_nul });
                return Ok(None);
            }
        }
        line.bytes = self.cursor.unread.start..self.cursor.unread.start;
        Err(match first_nul {
            // The writer of a preallocated file was killed: NUL bytes follow to the end.
            Some(nul) if !line.terminated => LineFault::Torn { line, nul },
            _ => LineFault::TooLong(line),
        })
    }

    /// Passes lines of any length until line `number` is the next one. Only newlines are examined. Returns whether the
    /// line has at least one byte.
    pub(super) fn pass_to(&mut self, number: u64) -> Result<bool, LineFault> {
        if self.long.is_some() {
            match self.pass_long_line() {
                Err(LineFault::TooLong(_)) => {}
                other => return other.map(|_| false),
            }
        }
        // Whether the beginning of the current line was discarded.
        let mut is_begun = false;
        loop {
            while self.cursor.passed + 1 < number {
                match memchr::memchr(b'\n', &self.unread()[self.searched..]) {
                    Some(found) => {
                        self.take(self.searched + found + 1);
                        self.cursor.passed += 1;
                        is_begun = false;
                        self.cursor.end_line();
                    }
                    None => break,
                }
            }
            let is_there = self.cursor.passed + 1 == number;
            if is_there && !self.cursor.unread.is_empty() {
                return Ok(true);
            }
            if self.source_ended {
                // An unterminated last line counts as passed.
                self.cursor.passed += u64::from(is_begun || !self.cursor.unread.is_empty());
                self.take(self.cursor.unread.len());
                return Ok(false);
            }
            if is_there || self.source.is_open() {
                self.searched = self.cursor.unread.len();
            } else {
                // Discards a part of a line, so that memory does not grow with the line.
                is_begun |= !self.cursor.unread.is_empty();
                self.take(self.cursor.unread.len());
            }
            if let Filled::Waiting = self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads once into the buffer.
    fn fill(&mut self) -> Result<Filled, LineFault> {
        if self.source.is_open() {
            return Ok(Filled::Waiting);
        }
        self.make_room(CHUNK / 2);
        loop {
            match self.source.read(&mut self.buffer[self.cursor.unread.end..]) {
                Ok(0) => {
                    self.source_ended = true;
                    return Ok(Filled::Changed);
                }
                Ok(read) => {
                    // A source may claim more bytes than it had room for.
                    self.add(read.min(self.buffer.len() - self.cursor.unread.end));
                    return Ok(Filled::Changed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LineFault::Io(error)),
            }
        }
    }

    /// Adds the next `len` bytes of the buffer to the unread ones.
    fn add(&mut self, len: usize) {
        let start = self.cursor.unread.end;
        self.cursor.unread.end += len;
        if let Some(newline) = memchr::memrchr(b'\n', &self.buffer[start..start + len]) {
            self.whole_end = start + newline + 1;
        }
    }

    /// Makes room for `wanted` bytes, and some more, after the unread ones.
    fn make_room(&mut self, wanted: usize) {
        self.cursor.last = 0..0;
        if self.buffer.len() > KEPT && self.cursor.unread.len() < CHUNK {
            self.buffer = self.buffer[self.cursor.unread.clone()].to_vec();
            self.unread_was_moved();
        } else if self.cursor.unread.is_empty() {
            self.unread_was_moved();
        }
        let room = |lines: &Self| lines.buffer.len() - lines.cursor.unread.end;
        if room(self) < wanted && self.cursor.unread.start > 0 {
            count_examined(self.cursor.unread.len());
            self.buffer.copy_within(self.cursor.unread.clone(), 0);
            self.unread_was_moved();
        }
        if room(self) < wanted {
            // There is not much more unread than the limit: otherwise no more would be read.
            let doubled = (self.buffer.len() * 2).min(self.limit.saturating_add(CHUNK));
            let grown = doubled.max(self.cursor.unread.end + wanted.max(CHUNK));
            self.buffer.reserve_exact(grown - self.buffer.len());
            self.buffer.resize(grown, 0);
        }
    }

    /// The unread bytes were moved to the start of the buffer.
    fn unread_was_moved(&mut self) {
        let unread = &mut self.cursor.unread;
        self.whole_end = self.whole_end.saturating_sub(unread.start);
        *unread = 0..unread.len();
    }
}

impl Lines<Pieces> {
    /// Appends a piece to the unread bytes.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        if self.source.finished {
            return;
        }
        self.make_room(piece.len());
        let start = self.cursor.unread.end;
        self.buffer[start..start + piece.len()].copy_from_slice(piece);
        self.add(piece.len());
    }

    /// Marks the end of the trace.
    pub(super) fn finish(&mut self) {
        self.source.finished = true;
    }
}
