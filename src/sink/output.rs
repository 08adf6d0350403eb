//! The state of a sink that is kept under its lock: the writer, and the lines that wait for it.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::backoff::{Backoff, is_lack_of_room};
use super::losses::Losses;
use crate::encode::Line;
use crate::event::TraceEvent;
use crate::value::discard;

/// A writer, its buffer and its limits.
pub(super) struct Output<W> {
    /// `None` after it was taken out, which ends the sink.
    writer: Option<W>,
    /// Whether the last byte written was not a newline, so that the next line needs one before it.
    is_inside_line: bool,
    /// Whole lines that are not written yet.
    buffer: Vec<u8>,
    /// The most bytes that the buffer may hold, or 0 if each line is written at once.
    buffer_size: usize,
    /// Bytes that the writer took.
    written: u64,
    limits: Limits,
    /// Whether an event did not fit within `limits.trace`. No event but those that close a run is written after it.
    is_full: bool,
    backoff: Backoff,
    /// A line that ends within this many bytes takes the fast path: `limits.trace` while lines are written at once and
    /// nothing is wrong, else 0.
    fast_limit: u64,
}

/// The most bytes that a trace may have, its header included.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The limit for all events but those that close a run. At most `file`.
    pub(super) trace: u64,
    /// A write beyond this would raise a signal.
    pub(super) file: u64,
}

/// Whether a run ends with this event. It is written even when the trace has reached its limit.
pub(super) const fn closes_a_run(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::EntryExit { .. } | TraceEvent::HeapSummary(_) | TraceEvent::RunEnded { .. })
}

impl<W: Write> Output<W> {
    /// `buffer` is empty; its lines are written at once if `buffer_size` is 0.
    pub(super) fn new(writer: W, buffer: Vec<u8>, buffer_size: usize, limits: Limits) -> Self {
        Self {
            writer: Some(writer),
            is_inside_line: false,
            buffer,
            buffer_size,
            written: 0,
            limits,
            is_full: false,
            backoff: Backoff::default(),
            fast_limit: if buffer_size == 0 { limits.trace } else { 0 },
        }
    }

    /// Writes and flushes the header. Only here does a failure reach the caller.
    pub(super) fn put_header(&mut self, line: &[u8]) -> io::Result<()> {
        let (length, limit) = (line.len() as u64, self.limits.file);
        if length > limit {
            let text = format!("the header takes {length} bytes, and {FILE_LIMIT} leaves {limit}");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        if let Some(writer) = &mut self.writer {
            catch_panic(|| send_all(writer, line, &mut 0).and_then(|()| flush(writer)))?;
        }
        self.written = length;
        Ok(())
    }

    /// Whether events are being lost before they are encoded, so that asking [`refuses`](Self::refuses) is worth it.
    #[inline]
    pub(super) const fn is_refusing(&self) -> bool {
        self.is_full || self.backoff.is_active()
    }

    /// Whether an event that does not close a run is lost without an attempt to write it. Counts it if it is.
    pub(super) fn refuses(&mut self, losses: &Losses) -> bool {
        let refuses = self.is_full || self.backoff.skips();
        losses.add_dropped(u64::from(refuses));
        refuses
    }

    /// Writes the line of `event`, or appends it to the buffer, or counts it as lost. Returns true on the fast path,
    /// which leaves `is_refusing` false.
    #[inline]
    pub(super) fn put(&mut self, line: Line<'_>, event: &TraceEvent<'_>, losses: &Losses) -> bool {
        let bytes = line.bytes();
        if self.written + bytes.len() as u64 <= self.fast_limit {
            if self.write_lines(bytes, losses) {
                return true;
            }
        } else {
            self.put_slow(line, event, losses);
        }
        let is_slow = self.buffer_size > 0 || self.is_inside_line || self.is_refusing();
        self.fast_limit = if is_slow { 0 } else { self.limits.trace };
        false
    }

    #[inline(never)]
    fn put_slow(&mut self, line: Line<'_>, event: &TraceEvent<'_>, losses: &Losses) {
        let closes_a_run = closes_a_run(event);
        if !closes_a_run && self.refuses(losses) {
            return;
        }
        let limit = if closes_a_run { self.limits.file } else { self.limits.trace };
        if self.written + (self.buffer.len() + self.on_its_own_line(line).len()) as u64 > limit {
            return self.reach_limit(limit, losses);
        }
        if self.buffer_size == 0 {
            self.write_lines_cold(self.on_its_own_line(line), losses);
        } else {
            self.put_into_buffer(line, losses);
            if matches!(event, TraceEvent::RunEnded { .. }) {
                self.flush_buffer(losses);
            }
        }
    }

    /// The bytes of the line, after a newline if the output ends with a fragment.
    #[inline]
    fn on_its_own_line<'l>(&self, line: Line<'l>) -> &'l [u8] {
        if self.is_inside_line && self.buffer.is_empty() { line.after_newline() } else { line.bytes() }
    }

    #[inline]
    fn put_into_buffer(&mut self, line: Line<'_>, losses: &Losses) {
        if self.buffer.len() + self.on_its_own_line(line).len() > self.buffer_size {
            self.flush_buffer(losses);
        }
        let bytes = self.on_its_own_line(line);
        if bytes.len() > self.buffer_size {
            self.write_lines_cold(bytes, losses);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Writes the lines in the buffer.
    #[inline(never)]
    pub(super) fn flush_buffer(&mut self, losses: &Losses) {
        if !self.buffer.is_empty() {
            let mut buffer = std::mem::take(&mut self.buffer);
            self.write_lines_cold(&buffer, losses);
            buffer.clear();
            self.buffer = buffer;
        }
    }

    /// Takes the writer out. Nothing is written after this.
    pub(super) const fn take_writer(&mut self) -> Option<W> {
        self.writer.take()
    }

    /// Passes whole lines to the writer and flushes it. Returns whether that succeeded.
    #[inline]
    fn write_lines(&mut self, lines: &[u8], losses: &Losses) -> bool {
        let Some(writer) = &mut self.writer else { return false };
        let mut sent = 0;
        let mut written = None;
        let flushed = catch_panic(|| {
            written = Some(send_all(writer, lines, &mut sent));
            flush(writer)
        });
        self.written += sent as u64;
        match (&written, &flushed) {
            (Some(Ok(())), Ok(())) => {
                self.is_inside_line = false;
                self.backoff.reset();
                true
            }
            _ => {
                self.write_failed(lines, sent, written, flushed, losses);
                false
            }
        }
    }

    #[inline(never)]
    fn write_lines_cold(&mut self, lines: &[u8], losses: &Losses) {
        self.write_lines(lines, losses);
    }

    /// Accounts for a failed write or flush. If the write panicked, `written` is `None` and `flushed` has the error.
    #[cold]
    #[inline(never)]
    fn write_failed(
        &mut self,
        lines: &[u8],
        sent: usize,
        written: Option<io::Result<()>>,
        flushed: io::Result<()>,
        losses: &Losses,
    ) {
        if sent > 0 {
            self.is_inside_line = lines[sent - 1] != b'\n';
        }
        let (written, flushed) = match written {
            Some(written) => (written, flushed),
            None => {
                // The writer may have passed some bytes on before it panicked.
                self.is_inside_line = true;
                (flushed, self.writer.as_mut().map_or(Ok(()), |writer| catch_panic(|| flush(writer))))
            }
        };
        match written {
            Ok(()) => self.backoff.reset(),
            Err(error) => {
                if is_lack_of_room(&error) {
                    self.backoff.attempt_failed();
                } else {
                    self.backoff.reset();
                }
                losses.add_dropped(lines_lost(lines, sent));
                losses.set_last_error(error);
            }
        }
        if let Err(error) = flushed {
            losses.set_last_error(error);
        }
    }

    /// Counts an event that does not fit. Later events are lost even if they are shorter, so that the trace has no gap.
    #[cold]
    #[inline(never)]
    fn reach_limit(&mut self, limit: u64, losses: &Losses) {
        self.is_full = true;
        losses.add_dropped(1);
        let limit =
            if limit == self.limits.file { FILE_LIMIT.to_owned() } else { format!("its limit of {limit} bytes") };
        losses.set_last_error(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the trace has reached {limit}; later events are not recorded"),
        ));
    }
}

const FILE_LIMIT: &str = "this process's limit on the size of a file (RLIMIT_FSIZE, `ulimit -f`)";

/// Returns how many of `lines` have some of their text after the first `sent` bytes. A newline at the very beginning
/// ends a fragment and is no line of its own.
fn lines_lost(lines: &[u8], sent: usize) -> u64 {
    let rest = lines.get(sent + 1..).unwrap_or_default();
    memchr::memchr_iter(b'\n', rest).count() as u64
}

/// Writes all of `bytes`, and counts in `sent` what the writer took.
#[inline]
fn send_all(writer: &mut impl Write, bytes: &[u8], sent: &mut usize) -> io::Result<()> {
    while *sent < bytes.len() {
        match writer.write(&bytes[*sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            // A faulty writer can claim more than it was given.
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

/// Drops a writer. A panic in its `Drop` goes no further.
pub(super) fn drop_writer<W>(writer: W) {
    // There is no sink, so there is no place to keep the error.
    let _ = catch_panic(|| {
        drop(writer);
        Ok(())
    });
}

/// Runs the writer's code and turns a panic into an error.
#[inline]
pub(super) fn catch_panic<T>(code: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|panic| {
        discard(panic);
        Err(io::Error::other("the trace's writer panicked"))
    })
}
