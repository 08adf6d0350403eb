//! Physical lines out of a source, each held whole, none longer than the limit.

use std::io::{self, Read};
use std::ops::Range;

use super::Position;

/// Where lines come from. Lines are handed out as ranges of the buffer, valid until the next is asked for.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The bytes in `buffer` that were read and not yet handed out.
    unread: Range<usize>,
    /// How many of those were searched for a newline already.
    searched: usize,
    /// Lines handed out or passed.
    passed: u64,
    /// Bytes in the source before `unread`.
    offset: u64,
    limit: usize,
    source_ended: bool,
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

impl<R> Lines<R> {
    pub(super) fn new(source: R, limit: usize) -> Self {
        Self { source, buffer: Vec::new(), unread: 0..0, searched: 0, passed: 0, offset: 0, limit, source_ended: false }
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

    /// The position after the last line that was handed out.
    pub(super) fn position(&self) -> Position {
        Position { line: self.passed + 1, column: 1, offset: self.offset }
    }

    pub(super) fn text(&self, line: &RawLine) -> &[u8] {
        &self.buffer[line.bytes.clone()]
    }

    /// Hands the line, which was the last one, out again.
    pub(super) fn step_back(&mut self, line: &RawLine) {
        self.unread.start = line.bytes.start;
        self.searched = 0;
        self.passed -= 1;
        self.offset = line.offset;
    }

    /// Takes the next `len` bytes, and a newline after them if there is one, out of what is unread.
    fn hand_out(&mut self, len: usize, terminated: bool) -> RawLine {
        let start = self.unread.start;
        let taken = len + usize::from(terminated);
        self.unread.start += taken;
        self.searched = 0;
        self.passed += 1;
        let offset = self.offset;
        self.offset += taken as u64;
        RawLine { number: self.passed, terminated, offset, len: len as u64, bytes: start..start + len }
    }
}

impl<R: Read> Lines<R> {
    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RawLine>, LineFault> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            if let Some(found) = memchr::memchr(b'\n', &unread[self.searched..]) {
                let line = self.hand_out(self.searched + found, true);
                return if line.bytes.len() > self.limit { Err(LineFault::TooLong(line)) } else { Ok(Some(line)) };
            }
            self.searched = unread.len();
            if unread.len() > self.limit {
                return self.pass_long_line();
            }
            if self.source_ended {
                return self.last_line();
            }
            self.fill()?;
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

    /// Passes a line that is longer than the limit, keeping none of it.
    fn pass_long_line(&mut self) -> Result<Option<RawLine>, LineFault> {
        let mut line = self.hand_out(0, false);
        let mut first_nul = None;
        loop {
            let unread = &self.buffer[self.unread.clone()];
            let newline = memchr::memchr(b'\n', unread);
            let of_line = newline.unwrap_or(unread.len());
            if first_nul.is_none() {
                first_nul = memchr::memchr(0, &unread[..of_line]).map(|nul| line.len as usize + nul);
            }
            line.len += of_line as u64;
            line.terminated = newline.is_some();
            let taken = of_line + usize::from(line.terminated);
            self.unread.start += taken;
            self.offset += taken as u64;
            if line.terminated || self.source_ended {
                break;
            }
            self.fill()?;
        }
        self.searched = 0;
        line.bytes = self.unread.start..self.unread.start;
        Err(match first_nul {
            // A file that was laid out ahead of its writer, who died: nothing but NUL bytes to the end.
            Some(nul) if !line.terminated => LineFault::Torn { line, nul },
            _ => LineFault::TooLong(line),
        })
    }

    /// Reads more into the buffer, once, or learns that there is no more.
    fn fill(&mut self) -> Result<(), LineFault> {
        if self.buffer.len() > KEPT && self.unread.len() < CHUNK {
            self.buffer = self.buffer[self.unread.clone()].to_vec();
            self.unread = 0..self.unread.len();
        } else if self.unread.is_empty() {
            self.unread = 0..0;
        }
        let room = |lines: &Self| lines.buffer.len() - lines.unread.end;
        if room(self) < CHUNK / 2 && self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if room(self) < CHUNK / 2 {
            // What is unread is not much longer than the limit: it would not be read on otherwise.
            let grown = (self.buffer.len() * 2).min(self.limit.saturating_add(CHUNK)).max(self.unread.end + CHUNK);
            self.buffer.reserve_exact(grown - self.buffer.len());
            self.buffer.resize(grown, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => {
                    self.source_ended = true;
                    return Ok(());
                }
                Ok(read) => {
                    // A source that claims more than it was given room for is not believed.
                    self.unread.end = self.buffer.len().min(self.unread.end.saturating_add(read));
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LineFault::Io(error)),
            }
        }
    }
}
