//! What a sink does with its writer, once it has it to itself.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use super::losses::Losses;
use super::sync::AtomicBool;
use crate::encode::Line;
use crate::event::TraceEvent;
use crate::value::discard;

/// A writer, the lines that wait for it, and how far it is.
pub(super) struct Output<W> {
    writer: W,
    /// The last byte that got out was not a newline, so the next line needs one before it.
    inside_line: bool,
    /// Whole lines that are not written yet.
    buffer: Vec<u8>,
    /// The most bytes that the buffer holds; none when each line goes out at once.
    buffer_size: usize,
    /// How many bytes got out.
    out: u64,
    /// How long the trace may become.
    pub(super) limit: u64,
}

/// Whether a run ends with this event. A trace that has grown to its limit still takes it.
pub(super) const fn closes_a_run(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::EntryExit { .. } | TraceEvent::HeapSummary(_) | TraceEvent::RunEnded { .. })
}

impl<W: Write> Output<W> {
    pub(super) const fn new(writer: W) -> Self {
        Self { writer, inside_line: false, buffer: Vec::new(), buffer_size: 0, out: 0, limit: u64::MAX }
    }

    /// Writes and flushes the header. Here alone a failure is the caller's to deal with.
    pub(super) fn put_header(&mut self, line: &[u8]) -> io::Result<()> {
        let writer = &mut self.writer;
        contained(|| send_all(writer, line, &mut 0).and_then(|()| flush(writer)))?;
        self.out = line.len() as u64;
        Ok(())
    }

    pub(super) fn buffer_into(&mut self, size: usize, losses: &Losses) {
        self.flush_buffer(losses);
        self.buffer_size = size;
        self.buffer = Vec::with_capacity(size);
    }

    /// Takes the line of `event`; it is out when this returns, or in the buffer, or counted as lost.
    #[inline]
    pub(super) fn put(&mut self, line: Line<'_>, event: &TraceEvent<'_>, is_full: &AtomicBool, losses: &Losses) {
        let bytes = line.bytes();
        // What nearly all lines are: on their own, behind a whole line, and with room.
        if self.buffer_size == 0 && !self.inside_line && self.out + bytes.len() as u64 <= self.limit {
            self.put_out(bytes, losses);
        } else {
            self.put_any(line, event, is_full, losses);
        }
    }

    #[inline(never)]
    fn put_any(&mut self, line: Line<'_>, event: &TraceEvent<'_>, is_full: &AtomicBool, losses: &Losses) {
        let length = self.out + (self.buffer.len() + self.spelt(line).len()) as u64;
        if length > self.limit && !closes_a_run(event) {
            return self.reach_limit(is_full, losses);
        }
        if self.buffer_size == 0 {
            self.put_out_of_line(self.spelt(line), losses);
        } else {
            self.put_into_buffer(line, losses);
            if matches!(event, TraceEvent::RunEnded { .. }) {
                self.flush_buffer(losses);
            }
        }
    }

    /// The line as it has to be written behind what is there.
    #[inline]
    fn spelt<'l>(&self, line: Line<'l>) -> &'l [u8] {
        if self.inside_line && self.buffer.is_empty() { line.after_newline() } else { line.bytes() }
    }

    #[inline]
    fn put_into_buffer(&mut self, line: Line<'_>, losses: &Losses) {
        if self.buffer.len() + self.spelt(line).len() > self.buffer_size {
            self.flush_buffer(losses);
        }
        let bytes = self.spelt(line);
        if bytes.len() > self.buffer_size {
            self.put_out_of_line(bytes, losses);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Puts out what the buffer holds.
    #[inline(never)]
    pub(super) fn flush_buffer(&mut self, losses: &Losses) {
        if !self.buffer.is_empty() {
            let mut buffer = std::mem::take(&mut self.buffer);
            self.put_out_of_line(&buffer, losses);
            buffer.clear();
            self.buffer = buffer;
        }
    }

    pub(super) fn into_writer(self) -> W {
        self.writer
    }

    /// Hands whole lines to the writer and flushes it.
    #[inline]
    fn put_out(&mut self, lines: &[u8], losses: &Losses) {
        let mut sent = 0;
        let mut written = None;
        let writer = &mut self.writer;
        let flushed = contained(|| {
            written = Some(send_all(writer, lines, &mut sent));
            flush(writer)
        });
        self.out += sent as u64;
        match (&written, &flushed) {
            (Some(Ok(())), Ok(())) => self.inside_line = false,
            _ => self.failed(lines, sent, written, flushed, losses),
        }
    }

    #[inline(never)]
    fn put_out_of_line(&mut self, lines: &[u8], losses: &Losses) {
        self.put_out(lines, losses);
    }

    /// Takes account of a write or a flush that failed. `written` is none when the write panicked; then `flushed` says so.
    #[cold]
    #[inline(never)]
    fn failed(
        &mut self,
        lines: &[u8],
        sent: usize,
        written: Option<io::Result<()>>,
        flushed: io::Result<()>,
        losses: &Losses,
    ) {
        if sent > 0 {
            self.inside_line = lines[sent - 1] != b'\n';
        }
        let (written, flushed) = match written {
            Some(written) => (written, flushed),
            None => {
                // The writer may have let some of the bytes out before it panicked.
                self.inside_line = true;
                (flushed, contained(|| flush(&mut self.writer)))
            }
        };
        if let Err(error) = written {
            losses.count(lines_lost(lines, sent));
            losses.remember(error);
        }
        if let Err(error) = flushed {
            losses.remember(error);
        }
    }

    #[cold]
    #[inline(never)]
    fn reach_limit(&mut self, is_full: &AtomicBool, losses: &Losses) {
        losses.count(1);
        if !is_full.swap(true, Ordering::Relaxed) {
            // Not even a shorter event: what is there ends where the first one is missing.
            let limit = std::mem::take(&mut self.limit);
            losses.remember(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the trace has reached its limit of {limit} bytes"),
            ));
        }
    }
}

/// How many of `lines` have some of their text behind the first `sent` bytes. Before the first there may be a newline that
/// ends a fragment: no line of its own.
fn lines_lost(lines: &[u8], sent: usize) -> u64 {
    let behind = lines.get(sent + 1..).unwrap_or_default();
    memchr::memchr_iter(b'\n', behind).count() as u64
}

/// Sends all of `bytes`, counting in `sent` what the writer took.
#[inline]
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

#[inline]
fn flush(writer: &mut impl Write) -> io::Result<()> {
    loop {
        match writer.flush() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Runs the writer's code; a panic in it is an error like any other.
#[inline]
fn contained(code: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|panic| {
        discard(panic);
        Err(io::Error::other("the trace's writer panicked"))
    })
}
