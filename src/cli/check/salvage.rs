//! What can be saved of a damaged trace.

use crate::target::{Stop, Target};

/// Copies a trace's bytes line by line, leaving out what can't be part of a trace.
///
/// Kept, to the byte, are the header, the whole lines after it that are events, and blank lines. Left out is any other
/// line (a torn last one, NUL bytes and fragments with all that stands on their line), what stands before the header,
/// and another trace behind this one, which begins with a header.
///
/// Memory: what was fed and not yet judged, so at most the longest line that the reader takes.
pub(super) struct Salvage<'a> {
    target: Target<'a>,
    /// The bytes that were fed, up to `judged` written or left out.
    fed: Vec<u8>,
    judged: usize,
    /// The line that the next byte to judge is part of, from 1.
    line: u64,
    /// Where in the trace that byte stands.
    offset: u64,
    /// Whether a part of its line was left out already.
    is_inside_line: bool,
    place: Place,
    saved: Amount,
    lost: Amount,
    /// What was left out last, up to the next byte to judge.
    gap: Option<Gap>,
    /// One that is complete and was not yet asked for.
    complete_gap: Option<Gap>,
}

/// Where in the file the lines stand that come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeHeader,
    InTrace,
    BehindTrace,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// Lines left out one after the other.
pub(super) struct Gap {
    pub(super) first_line: u64,
    /// Of its first byte.
    pub(super) offset: u64,
    pub(super) amount: Amount,
    pub(super) why: &'static str,
}

/// What came of it.
pub(super) struct Saved {
    /// The file that was made; none for standard output, and when nothing could be saved.
    pub(super) file: Option<String>,
    /// None when there is no header, without which nothing is a trace.
    pub(super) saved: Option<Amount>,
    pub(super) lost: Amount,
}

impl<'a> Salvage<'a> {
    pub(super) fn new(target: Target<'a>) -> Self {
        Self {
            target,
            fed: Vec::new(),
            judged: 0,
            line: 1,
            offset: 0,
            is_inside_line: false,
            place: Place::BeforeHeader,
            saved: Amount::default(),
            lost: Amount::default(),
            gap: None,
            complete_gap: None,
        }
    }

    /// The next bytes of the trace, before the reader gets them.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.fed.drain(..self.judged);
        self.judged = 0;
        self.fed.extend_from_slice(bytes);
    }

    /// The header stands on that line.
    pub(super) fn header(&mut self, line: u64) -> Result<(), Stop> {
        self.place = Place::InTrace;
        self.event(line)
    }

    /// An event stands on that line.
    pub(super) fn event(&mut self, line: u64) -> Result<(), Stop> {
        if self.place != Place::InTrace {
            return self.leave_out(line);
        }
        self.pass_blank_lines_before(line)?;
        self.keep(self.next_line_len())
    }

    /// Another trace begins on that line.
    pub(super) fn second_header(&mut self, line: u64) -> Result<(), Stop> {
        self.pass_blank_lines_before(line)?;
        self.end_gap();
        self.place = Place::BehindTrace;
        self.leave_out(line)
    }

    /// What stands on that line is not kept: it can't be read.
    pub(super) fn leave_out(&mut self, line: u64) -> Result<(), Stop> {
        self.pass_blank_lines_before(line)?;
        if self.line == line {
            self.lose(self.next_line_len());
        }
        Ok(())
    }

    /// The reader has passed all bytes before `offset`, which are all there are if it `has_ended`, and said what it had
    /// to say about them. What is left of those are blank lines, and perhaps the beginning of a line that is too long,
    /// of which it is going to say so at its end.
    pub(super) fn passed(&mut self, offset: u64, has_ended: bool) -> Result<(), Stop> {
        let mut passed = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        while passed > 0 {
            let len = self.next_line_len().min(passed);
            let bytes = &self.fed[self.judged..self.judged + len];
            let is_whole_line = !self.is_inside_line && (has_ended || bytes.ends_with(b"\n"));
            if is_whole_line && bytes.iter().all(u8::is_ascii_whitespace) {
                self.pass_blank_line(len)?;
            } else {
                self.lose(len);
            }
            passed = if len == 0 { 0 } else { passed - len };
        }
        Ok(())
    }

    /// Lines that were left out, once it is known how many.
    pub(super) fn take_gap(&mut self) -> Option<Gap> {
        self.complete_gap.take()
    }

    /// Nothing more is added to the last gap: the trace is at its end, say.
    pub(super) fn end_gap(&mut self) {
        if let Some(gap) = self.gap.take() {
            self.complete_gap = Some(gap);
        }
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self) -> Result<Saved, Stop> {
        let has_header = self.place != Place::BeforeHeader;
        let file = if has_header { self.target.finish()? } else { None };
        Ok(Saved { file, saved: has_header.then_some(self.saved), lost: self.lost })
    }

    /// The bytes of the next line, its newline included, as far as they were fed.
    fn next_line_len(&self) -> usize {
        let rest = &self.fed[self.judged..];
        memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1)
    }

    fn pass_blank_lines_before(&mut self, line: u64) -> Result<(), Stop> {
        while self.line < line && self.judged < self.fed.len() {
            self.pass_blank_line(self.next_line_len())?;
        }
        Ok(())
    }

    fn pass_blank_line(&mut self, len: usize) -> Result<(), Stop> {
        if self.place == Place::BehindTrace {
            self.lose(len);
            return Ok(());
        }
        self.keep(len)
    }

    fn keep(&mut self, len: usize) -> Result<(), Stop> {
        self.end_gap();
        let bytes = &self.fed[self.judged..self.judged + len];
        self.target.write(bytes)?;
        self.saved.lines += 1;
        self.saved.bytes += len as u64;
        self.pass(len);
        Ok(())
    }

    fn lose(&mut self, len: usize) {
        if len == 0 {
            return;
        }
        let more = Amount { lines: u64::from(!self.is_inside_line), bytes: len as u64 };
        let (first_line, offset) = (self.line, self.offset);
        let why = match self.place {
            Place::BeforeHeader => "before the header",
            Place::InTrace => "can't be read",
            Place::BehindTrace => "of another trace",
        };
        self.gap.get_or_insert(Gap { first_line, offset, amount: Amount::default(), why }).amount.add(more);
        self.lost.add(more);
        self.pass(len);
    }

    fn pass(&mut self, len: usize) {
        self.judged += len;
        self.offset += len as u64;
        let ends_line = self.fed[..self.judged].ends_with(b"\n");
        self.line += u64::from(ends_line);
        self.is_inside_line = !ends_line;
    }
}

impl Amount {
    fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.bytes += more.bytes;
    }
}
