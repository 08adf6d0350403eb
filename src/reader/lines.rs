//! Physical lines out of a source, each held whole, none longer than the limit.

use std::io;
use std::ops::Range;

use super::position::Position;
use super::source::Pieces;
use super::source::sealed::Source;
use crate::cost::count_examined;

/// Where lines come from. Lines are handed out as ranges of the window, valid until the next is asked for.
///
/// The window is the whole source if that is in memory, and otherwise a buffer that bytes are read into, or put into.
#[derive(Debug)]
pub(super) struct Lines<S> {
    source: S,
    buffer: Vec<u8>,
    /// The bytes in the window of the line that was handed out last.
    last: Range<usize>,
    /// The bytes in the window that are there and were not yet handed out.
    unread: Range<usize>,
    /// How many of those were searched for a newline already.
    searched: usize,
    /// Lines handed out or passed.
    passed: u64,
    /// Bytes in the source before `unread`.
    offset: u64,
    /// Newlines among those bytes.
    newlines: u64,
    /// Bytes in the source before the line that the next byte is part of.
    line_start: u64,
    limit: usize,
    source_ended: bool,
    /// A line longer than the limit that the window has only a part of.
    long: Option<LongLine>,
}

/// A line that is passed piece by piece.
#[derive(Debug)]
struct LongLine {
    line: RawLine,
    first_nul: Option<usize>,
}

/// What came of asking the source for more.
enum Filled {
    /// More, or the end.
    Changed,
    /// Nothing for now.
    Waiting,
}

/// A line: where it stands in the source, and where its bytes are in the buffer, its newline left out.
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
    /// Longer than the limit. Its bytes are gone.
    TooLong(RawLine),
    /// The unterminated last line, with a NUL byte in it.
    Torn {
        line: RawLine,
        /// The first of them.
        nul: usize,
    },
}

/// Read at least this much at a time, if the source has it.
const CHUNK: usize = 64 * 1024;

/// A buffer that has grown past this is given back once there is little in it. (That it is empty may never come: a source
/// that fills it each time leaves a part of a line in it each time.)
const KEPT: usize = 1024 * 1024;

impl RawLine {
    /// The position of one of the line's bytes.
    pub(super) fn position(&self, byte: usize) -> Position {
        let byte = byte as u64;
        Position { line: self.number, column: byte + 1, offset: self.offset + byte }
    }

    /// The line's length in bytes, its newline not counted.
    pub(super) fn len(&self) -> u64 {
        self.len
    }
}

impl<S: Source> Lines<S> {
    pub(super) fn new(source: S, limit: usize) -> Self {
        let whole = source.whole().map(<[u8]>::len);
        Self {
            source,
            buffer: Vec::new(),
            last: 0..0,
            unread: 0..whole.unwrap_or(0),
            searched: 0,
            passed: 0,
            offset: 0,
            newlines: 0,
            line_start: 0,
            limit,
            source_ended: whole.is_some(),
            long: None,
        }
    }

    fn window(&self) -> &[u8] {
        self.source.whole().unwrap_or(&self.buffer)
    }

    fn unread(&self) -> &[u8] {
        &self.window()[self.unread.clone()]
    }

    /// Whether every line was handed out.
    pub(super) fn has_ended(&self) -> bool {
        self.source_ended && self.unread.is_empty()
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn lines_passed(&self) -> u64 {
        self.passed
    }

    /// The position after what was handed out or passed.
    pub(super) fn position(&self) -> Position {
        Position { line: self.newlines + 1, column: self.offset - self.line_start + 1, offset: self.offset }
    }

    /// A newline was taken.
    fn end_line(&mut self) {
        self.newlines += 1;
        self.line_start = self.offset;
    }

    pub(super) fn text(&self, line: &RawLine) -> &[u8] {
        &self.window()[line.bytes.clone()]
    }

    /// The bytes of the line that was handed out last; none once the buffer was refilled.
    pub(super) fn text_of_last(&self) -> &[u8] {
        &self.window()[self.last.clone()]
    }

    /// Hands the line, which was the last one, out again.
    pub(super) fn step_back(&mut self, line: &RawLine) {
        self.unread.start = line.bytes.start;
        self.searched = line.bytes.len();
        self.passed -= 1;
        self.offset = line.offset;
        self.newlines -= u64::from(line.terminated);
        self.line_start = line.offset;
    }

    /// Takes the next `len` bytes, and a newline after them if there is one, out of what is unread.
    fn hand_out(&mut self, len: usize, terminated: bool) -> RawLine {
        let (start, offset) = (self.unread.start, self.offset);
        self.take(len + usize::from(terminated));
        self.passed += 1;
        if terminated {
            self.end_line();
        }
        self.last = start..start + len;
        RawLine { number: self.passed, terminated, offset, len: len as u64, bytes: start..start + len }
    }

    fn take(&mut self, len: usize) {
        self.unread.start += len;
        self.offset += len as u64;
        self.searched = 0;
    }

    /// The next line; `None` at the end, or when no whole one is there yet.
    pub(super) fn next(&mut self) -> Result<Option<RawLine>, LineFault> {
        if self.long.is_some() {
            return self.pass_long_line();
        }
        loop {
            let unread = self.unread();
            count_examined(unread.len() - self.searched);
            if let Some(found) = memchr::memchr(b'\n', &unread[self.searched..]) {
                let line = self.hand_out(self.searched + found, true);
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

    /// What is left when the source has ended, and no newline is in it.
    fn last_line(&mut self) -> Result<Option<RawLine>, LineFault> {
        if self.unread.is_empty() {
            return Ok(None);
        }
        let line = self.hand_out(self.unread.len(), false);
        match memchr::memchr(0, self.text(&line)) {
            Some(nul) => Err(LineFault::Torn { line, nul }),
            None => Ok(Some(line)),
        }
    }

    /// Passes a line that is longer than the limit, keeping none of it. `None` when its end is not there yet.
    fn pass_long_line(&mut self) -> Result<Option<RawLine>, LineFault> {
        let LongLine { mut line, mut first_nul } = match self.long.take() {
            Some(begun) => begun,
            None => LongLine { line: self.hand_out(0, false), first_nul: None },
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
                self.end_line();
            }
            if line.terminated || self.source_ended {
                break;
            }
            if let Filled::Waiting = self.fill()? {
                self.long = Some(LongLine { line, first_nul });
                return Ok(None);
            }
        }
        line.bytes = self.unread.start..self.unread.start;
        Err(match first_nul {
            // A file that was laid out ahead of its writer, who died: nothing but NUL bytes to the end.
            Some(nul) if !line.terminated => LineFault::Torn { line, nul },
            _ => LineFault::TooLong(line),
        })
    }

    /// Passes lines by their newlines alone, however long they are, until line `number` is the next. Whether there is a
    /// byte of it.
    pub(super) fn pass_to(&mut self, number: u64) -> Result<bool, LineFault> {
        if self.long.is_some() {
            match self.pass_long_line() {
                Err(LineFault::TooLong(_)) => {}
                other => return other.map(|_| false),
            }
        }
        // The beginning of the line at hand was let go.
        let mut is_begun = false;
        loop {
            while self.passed + 1 < number {
                match memchr::memchr(b'\n', &self.unread()[self.searched..]) {
                    Some(found) => {
                        self.take(self.searched + found + 1);
                        self.passed += 1;
                        is_begun = false;
                        self.end_line();
                    }
                    None => break,
                }
            }
            let is_there = self.passed + 1 == number;
            if is_there && !self.unread.is_empty() {
                return Ok(true);
            }
            if self.source_ended {
                // An unterminated last line is one of those passed.
                self.passed += u64::from(is_begun || !self.unread.is_empty());
                self.take(self.unread.len());
                return Ok(false);
            }
            if is_there || self.source.is_open() {
                self.searched = self.unread.len();
            } else {
                // A part of a line is let go, or memory would be as long as the line.
                is_begun |= !self.unread.is_empty();
                self.take(self.unread.len());
            }
            if let Filled::Waiting = self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more into the buffer, once, or learns that there is no more.
    fn fill(&mut self) -> Result<Filled, LineFault> {
        if self.source.is_open() {
            return Ok(Filled::Waiting);
        }
        self.make_room(CHUNK / 2);
        loop {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => {
                    self.source_ended = true;
                    return Ok(Filled::Changed);
                }
                Ok(read) => {
                    // A source that claims more than it was given room for is not believed.
                    self.unread.end = self.buffer.len().min(self.unread.end.saturating_add(read));
                    return Ok(Filled::Changed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LineFault::Io(error)),
            }
        }
    }

    /// Makes room for so many bytes, and some more, after what is unread.
    fn make_room(&mut self, wanted: usize) {
        self.last = 0..0;
        if self.buffer.len() > KEPT && self.unread.len() < CHUNK {
            self.buffer = self.buffer[self.unread.clone()].to_vec();
            self.unread = 0..self.unread.len();
        } else if self.unread.is_empty() {
            self.unread = 0..0;
        }
        let room = |lines: &Self| lines.buffer.len() - lines.unread.end;
        if room(self) < wanted && self.unread.start > 0 {
            count_examined(self.unread.len());
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if room(self) < wanted {
            // What is unread is not much longer than the limit: it would not be read on otherwise.
            let doubled = (self.buffer.len() * 2).min(self.limit.saturating_add(CHUNK));
            let grown = doubled.max(self.unread.end + wanted.max(CHUNK));
            self.buffer.reserve_exact(grown - self.buffer.len());
            self.buffer.resize(grown, 0);
        }
    }
}

impl Lines<Pieces> {
    /// Puts the next piece after what is unread.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        if self.source.finished {
            return;
        }
        self.make_room(piece.len());
        let end = self.unread.end + piece.len();
        self.buffer[self.unread.end..end].copy_from_slice(piece);
        self.unread.end = end;
    }

    /// No piece comes any more.
    pub(super) fn finish(&mut self) {
        self.source.finished = true;
    }
}
