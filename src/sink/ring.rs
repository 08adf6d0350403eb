//! A flight recorder: keeps the last events of a run in memory.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, PoisonError};
use std::thread;

use super::TraceSink;
use super::fork::ForkGuard;
use super::losses::Losses;
use super::output::catch_panic;
use super::sync::{Mutex, MutexGuard};
use crate::encode::{EncodeOptions, encode_header, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};

/// Keeps the last events of a run in memory, and writes them out as a trace on request.
///
/// The ring holds whole lines, the newest ones, in the order in which they were recorded. They take `capacity` bytes at
/// most. A [dump](Self::dump) is a trace whose beginning is missing: `cove-trace check --partial` accepts it, and a
/// replay refuses it. Any thread can dump at any time while others record.
///
/// Events are encoded on the thread that records, outside the lock, which is held only to copy a line. Values, and the
/// writer of a dump, may record into the ring themselves. Recording allocates nothing in steady state.
///
/// In a forked child (Unix) the parent's ring counts each event as [dropped](Self::dropped) and cannot be dumped,
/// because another thread may have held the lock during the fork. The child can create a ring of its own. A child made
/// by `_Fork` or a raw `clone` system call is not recognised.
///
/// ```
/// use cove_trace::{RecordingBackend, RingSink, TraceEvent, TraceHeader, TraceSink, ValueCapture};
///
/// let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// let ring = RingSink::new(64, &header);
/// for id in 1..=3 {
///     ring.record(&TraceEvent::TaskCancelled { id });
/// }
/// let mut dump = Vec::new();
/// ring.dump(&mut dump)?;
/// let dump = String::from_utf8_lossy(&dump);
/// assert_eq!(dump.lines().skip(1).collect::<Vec<_>>(), [r#"{"event":"task_cancelled","id":3}"#]);
/// assert_eq!(ring.overwritten(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RingSink {
    options: EncodeOptions,
    guard: ForkGuard,
    /// The line of the header, which is never overwritten.
    header: Vec<u8>,
    ring: Mutex<Ring>,
    losses: Losses,
}

/// Whole lines, oldest first.
struct Ring {
    lines: VecDeque<u8>,
    /// The most bytes that may be held. The deque may have room for more.
    capacity: usize,
    overwritten: u64,
}

impl RingSink {
    /// Creates a ring for `capacity` bytes of lines, which it allocates at once. It records values as `header.values`
    /// says.
    ///
    /// An event whose line is longer than `capacity` is [dropped](Self::dropped). So with 0 every event is.
    ///
    /// # Panics
    ///
    /// If `capacity` is more than `isize::MAX`, or if there is no memory for the header or to watch for forks.
    #[must_use]
    pub fn new(capacity: usize, header: &TraceHeader) -> Self {
        let mut line = Vec::new();
        assert!(encode_header(header, &mut line), "no memory for the header");
        Self {
            options: header.values.into(),
            guard: ForkGuard::new().expect("no memory for a fork handler"),
            header: line,
            ring: Mutex::new(Ring { lines: VecDeque::with_capacity(capacity), capacity, overwritten: 0 }),
            losses: Losses::default(),
        }
    }

    /// Writes the header and all events that the ring holds to `out`, and flushes it. The ring keeps them.
    ///
    /// The dump is the ring as it was at one moment; recording goes on meanwhile. Allocates a copy of what the ring
    /// holds.
    ///
    /// # Errors
    ///
    /// Those of `out`. In a forked child, always.
    pub fn dump<W: Write + ?Sized>(&self, out: &mut W) -> io::Result<()> {
        if !self.guard.is_owner() {
            return Err(io::Error::other("this process was forked from the one that created the ring; dump it there"));
        }
        let held = self.held();
        out.write_all(&self.header)?;
        out.write_all(&held)?;
        out.flush()
    }

    /// Returns a guard that dumps the ring if a panic drops it.
    ///
    /// The guard calls `open` only then; use [`create_trace_file`](super::create_trace_file) to dump into a file. An
    /// error or a panic of `open` or of its writer becomes the [last error](Self::last_error). With `panic = "abort"`
    /// no guard is dropped; call [`dump`](Self::dump) in a panic hook instead.
    ///
    /// ```no_run
    /// # use cove_trace::{RecordingBackend, RingSink, TraceHeader, ValueCapture, create_trace_file};
    /// # let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
    /// let ring = RingSink::new(1024 * 1024, &header);
    /// let _dump = ring.dump_on_panic(|| create_trace_file("crash.trace.jsonl"));
    /// // Run the program here.
    /// ```
    #[must_use = "the guard dumps when it is dropped"]
    pub fn dump_on_panic<W, F>(&self, open: F) -> DumpOnPanic<'_, W, F>
    where
        W: Write,
        F: FnOnce() -> io::Result<W>,
    {
        DumpOnPanic { ring: self, open: Some(open), was_panicking: thread::panicking() }
    }

    /// Returns how many events were lost because their line alone is longer than the ring's capacity, or than
    /// [`LINE_LIMIT`](crate::LINE_LIMIT).
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.losses.dropped()
    }

    /// Returns how many events were overwritten by newer ones. 0 in a forked child.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        // Another thread may have held the lock during the fork; the child would wait forever.
        if self.guard.is_owner() { self.lock().overwritten } else { 0 }
    }

    /// Returns the last error, if there was one: an event that was dropped, or a failed dump by a guard. `None` in a
    /// forked child.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        if self.guard.is_owner() { self.losses.last_error() } else { None }
    }

    /// Copies the lines.
    fn held(&self) -> Vec<u8> {
        // Allocated outside the lock, because the program's allocator may record events.
        let mut held = Vec::new();
        loop {
            held.clear();
            let needed = {
                let ring = self.lock();
                let (older, newer) = ring.lines.as_slices();
                if ring.lines.len() <= held.capacity() {
                    held.extend_from_slice(older);
                    held.extend_from_slice(newer);
                    return held;
                }
                ring.lines.len()
            };
            // Leaves room for lines that are recorded meanwhile.
            held.reserve_exact(needed + needed / 8);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TraceSink for RingSink {
    fn record(&self, event: &TraceEvent<'_>) {
        let recorded = with_whole_line(event, self.options, |line| {
            // Checked after encoding, because a value's own code may fork.
            if !self.guard.is_owner() {
                return self.losses.add_dropped(1);
            }
            let line = line.bytes();
            let kept = self.lock().push(line);
            if !kept {
                self.losses.add_dropped(1);
                self.losses.set_last_error(io::Error::new(
                    io::ErrorKind::StorageFull,
                    format!("an event of {} bytes is larger than the whole ring", line.len()),
                ));
            }
        });
        if recorded.is_none() {
            self.losses.add_unwritten_line(self.options, &self.guard);
        }
    }
}

impl Ring {
    /// Appends a line and drops the oldest ones to make room. Returns false if the line is too long.
    fn push(&mut self, line: &[u8]) -> bool {
        if line.len() > self.capacity {
            return false;
        }
        let excess = (self.lines.len() + line.len()).saturating_sub(self.capacity);
        self.drop_oldest(excess);
        self.lines.extend(line);
        true
    }

    /// Drops the oldest lines, as few as free `bytes` bytes.
    fn drop_oldest(&mut self, bytes: usize) {
        let mut end = 0;
        while end < bytes {
            end = self.end_of_line(end);
            self.overwritten += 1;
        }
        self.lines.drain(..end);
    }

    /// Returns the end of the line that begins at `start`.
    fn end_of_line(&self, start: usize) -> usize {
        let (older, newer) = self.lines.as_slices();
        let in_older = older.get(start..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|at| start + at + 1);
        in_older.unwrap_or_else(|| {
            let skipped = start.saturating_sub(older.len());
            let end = memchr::memchr(b'\n', &newer[skipped..]).map_or(newer.len(), |at| skipped + at + 1);
            older.len() + end
        })
    }
}

impl fmt::Debug for RingSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingSink").field("capture", &self.options.capture()).finish_non_exhaustive()
    }
}

/// Dumps a [`RingSink`] if a panic drops it. Made by [`RingSink::dump_on_panic`].
pub struct DumpOnPanic<'r, W: Write, F: FnOnce() -> io::Result<W>> {
    ring: &'r RingSink,
    open: Option<F>,
    /// Whether the thread was unwinding already when the guard was made.
    was_panicking: bool,
}

impl<W: Write, F: FnOnce() -> io::Result<W>> Drop for DumpOnPanic<'_, W, F> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let dumps = !self.was_panicking && thread::panicking() && self.ring.guard.is_owner();
        // A second panic that leaves a `drop` would abort the process. So the closure is also dropped inside.
        let dumped = catch_panic(|| if dumps { open().and_then(|mut out| self.ring.dump(&mut out)) } else { Ok(()) });
        if let Err(error) = dumped
            && self.ring.guard.is_owner()
        {
            self.ring.losses.set_last_error(error);
        }
    }
}

impl<W: Write, F: FnOnce() -> io::Result<W>> fmt::Debug for DumpOnPanic<'_, W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DumpOnPanic").field("ring", self.ring).finish_non_exhaustive()
    }
}
