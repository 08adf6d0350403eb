//! A flight recorder: the last events of a run, in memory.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread;

use super::TraceSink;
use super::fork::Origin;
use super::losses::Losses;
use super::sync::{Mutex, MutexGuard};
use crate::encode::{encode_header, with_whole_line};
use crate::event::{TraceEvent, TraceHeader};
use crate::names::ValueCapture;
use crate::value::discard;

/// Keeps the last events of a run in memory, as many as fit, and writes them out as a trace when asked to.
///
/// What it keeps are whole lines, the newest of them, in the order in which they came; `capacity` bytes of them at most,
/// allocated once. A [dump](Self::dump) is a trace whose beginning is missing: `cove-trace check --partial` takes it for
/// what it is, and a replay refuses it. It can be asked for at any time, from any thread, while recording goes on; it copies what is held before it
/// writes, and needs that much memory again meanwhile.
///
/// Recording encodes on the thread that records, outside the lock, which is held to copy a line and nothing else: values,
/// and the writer of a dump, may record into the ring themselves. Nothing is allocated per event.
///
/// A child forked from the process that made the ring (Unix) records nothing into it and can't dump it: the lock may have
/// been held when the child was made. The child can make a ring of its own.
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
    capture: ValueCapture,
    /// None when the system has no memory left to watch forks: then a child is taken for its parent.
    origin: Option<Origin>,
    /// The header's line, which is never overwritten.
    header: Vec<u8>,
    ring: Mutex<Ring>,
    losses: Losses,
}

/// Whole lines, oldest first.
struct Ring {
    lines: VecDeque<u8>,
    /// What may be held. The deque may have room for more.
    capacity: usize,
    overwritten: u64,
}

impl RingSink {
    /// A ring for `capacity` bytes of lines, which it allocates; it records values as `header.values` says.
    #[must_use]
    pub fn new(capacity: usize, header: &TraceHeader) -> Self {
        let mut line = Vec::new();
        encode_header(header, &mut line);
        Self {
            capture: header.values,
            origin: Origin::here().ok(),
            header: line,
            ring: Mutex::new(Ring { lines: VecDeque::with_capacity(capacity), capacity, overwritten: 0 }),
            losses: Losses::default(),
        }
    }

    /// Writes the header and all events that are held to `out`, and flushes it. The ring keeps them.
    ///
    /// Recording goes on meanwhile: what is written is the ring as it was at one moment.
    ///
    /// # Errors
    ///
    /// Those of `out`; and in a forked child.
    pub fn dump<W: Write + ?Sized>(&self, out: &mut W) -> io::Result<()> {
        if !self.is_here() {
            return Err(io::Error::other("the ring belongs to the process that this one was forked from"));
        }
        let held = self.held();
        out.write_all(&self.header)?;
        out.write_all(&held)?;
        out.flush()
    }

    /// A guard that dumps the ring when it is dropped by a panic of the thread that holds it.
    ///
    /// `open` is called then, and not before; with [`create_trace_file`](super::create_trace_file) it makes the file of the
    /// dump. An error of it, or of what it opens, goes to [`last_error`](Self::last_error). Where a panic aborts the process
    /// no guard is dropped; there, call [`dump`](Self::dump) in a panic hook.
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

    /// How many events were lost because each alone is larger than the ring.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.losses.dropped()
    }

    /// How many events were held once and made room for newer ones. 0 in a forked child.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        if self.is_here() { self.lock().overwritten } else { 0 }
    }

    /// The last error there was: an event that was dropped, or a dump by a guard that failed. None in a forked child.
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<io::Error>> {
        if self.is_here() { self.losses.last_error() } else { None }
    }

    /// Whether this is the process that made the ring. In a forked child the locks may never be free.
    #[inline]
    fn is_here(&self) -> bool {
        self.origin.as_ref().is_none_or(Origin::is_here)
    }

    /// A copy of the lines.
    fn held(&self) -> Vec<u8> {
        // Allocated outside the lock: the allocator may be somebody's who records.
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
            // Lines that come meanwhile most likely fit, too.
            held.reserve_exact(needed + needed / 8);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TraceSink for RingSink {
    fn record(&self, event: &TraceEvent<'_>) {
        with_whole_line(event, self.capture.into(), |line| {
            // Asked after the event was encoded: a value's own code may have forked.
            if !self.is_here() {
                return;
            }
            let line = line.bytes();
            let kept = self.lock().push(line);
            if !kept {
                self.losses.count(1);
                self.losses.remember(io::Error::new(
                    io::ErrorKind::StorageFull,
                    format!("an event of {} bytes is larger than the whole ring", line.len()),
                ));
            }
        });
    }

    fn is_recording(&self) -> bool {
        self.is_here()
    }
}

impl Ring {
    /// Appends a line, in the place of the oldest ones. Says whether it could.
    fn push(&mut self, line: &[u8]) -> bool {
        if line.len() > self.capacity {
            return false;
        }
        let excess = (self.lines.len() + line.len()).saturating_sub(self.capacity);
        self.forget(excess);
        self.lines.extend(line);
        true
    }

    /// Drops the oldest lines, as few as hold `bytes` bytes.
    fn forget(&mut self, bytes: usize) {
        let mut forgotten = 0;
        while forgotten < bytes {
            forgotten = self.end_of_line(forgotten);
            self.overwritten += 1;
        }
        self.lines.drain(..forgotten);
    }

    /// Where the line ends that begins at `start`.
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
        f.debug_struct("RingSink").field("capture", &self.capture).finish_non_exhaustive()
    }
}

/// Dumps a [`RingSink`] when the thread that holds it panics; made by [`RingSink::dump_on_panic`].
pub struct DumpOnPanic<'r, W: Write, F: FnOnce() -> io::Result<W>> {
    ring: &'r RingSink,
    open: Option<F>,
    /// Made while the thread was unwinding from a panic that is not this guard's.
    was_panicking: bool,
}

impl<W: Write, F: FnOnce() -> io::Result<W>> Drop for DumpOnPanic<'_, W, F> {
    fn drop(&mut self) {
        if self.was_panicking || !thread::panicking() || !self.ring.is_here() {
            return;
        }
        let Some(open) = self.open.take() else { return };
        // A second panic, out of a drop, would abort the process.
        let outcome = catch_unwind(AssertUnwindSafe(|| open().and_then(|mut out| self.ring.dump(&mut out))));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.ring.losses.remember(error),
            Err(panic) => {
                discard(panic);
                self.ring.losses.remember(io::Error::other("the writer of the dump panicked"));
            }
        }
    }
}

impl<W: Write, F: FnOnce() -> io::Result<W>> fmt::Debug for DumpOnPanic<'_, W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DumpOnPanic").field("ring", self.ring).finish_non_exhaustive()
    }
}
