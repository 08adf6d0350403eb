//! A trace in a file, read by several threads at once.
//!
//! The file is divided into parts of equal length; a line belongs to the part in which it begins. Worker threads read the
//! parts, each with a buffer of its own, and the calling thread puts their results together in file order. The result is
//! the same as that of a single reader. The file is not memory-mapped: if another process truncated it meanwhile, reading
//! the map would raise a signal.
//!
//! [`Summary::read_parts`](crate::summary::Summary::read_parts) and
//! [`Checker::read_parts`](crate::check::Checker::read_parts) use it.

mod line_start;
mod part;
mod read_at;
mod workers;

use std::convert::Infallible;
use std::fmt;
use std::num::NonZero;
use std::ops::ControlFlow;

pub(crate) use self::part::Gather;
use self::part::{Begin, LongLine, read_part};
pub use self::read_at::ReadAt;
use self::read_at::Stretch;
use self::workers::in_order;
use crate::reader::{DEFAULT_LINE_LIMIT, ReadError, TracePart, TraceReader};

/// A trace that can be read at any offset, and the settings for reading it.
pub struct Parts<'f, F: ?Sized> {
    file: &'f F,
    len: u64,
    threads: NonZero<usize>,
    part_bytes: NonZero<u64>,
    line_limit: usize,
    kept_remarks: usize,
}

/// How much of a trace was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Physical lines, blank and broken ones included, and an unterminated last one.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The default length of a part: long enough to amortise the overhead per part, short enough to keep its results in memory.
const PART_BYTES: NonZero<u64> = NonZero::new(2 * 1024 * 1024).expect("it is not zero");

/// A worker stops reading a part after this many faults and findings, which bounds the memory for results that wait for
/// their turn. The calling thread reads the rest of the part.
const KEPT_REMARKS: usize = 1000;

impl<'f, F: ReadAt + ?Sized> Parts<'f, F> {
    /// All of a file that has this length in bytes. What is appended meanwhile is read, too.
    ///
    /// As many threads as the machine has cores for this process, if the file is long enough to have something to do for them.
    pub fn new(file: &'f F, len: u64) -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self { file, len, threads, part_bytes: PART_BYTES, line_limit: DEFAULT_LINE_LIMIT, kept_remarks: KEPT_REMARKS }
    }

    /// Sets the number of threads besides the calling one; with 1, the calling thread reads alone.
    ///
    /// Memory grows with the threads, by a few times the length of a part each. It does not grow with the line limit: the
    /// calling thread alone reads lines that are longer than a part, and what follows them in the part.
    #[must_use]
    pub fn threads(mut self, threads: NonZero<usize>) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the length of a part in bytes.
    #[must_use]
    pub fn part_bytes(mut self, bytes: NonZero<u64>) -> Self {
        self.part_bytes = bytes;
        self
    }

    /// Sets the limit for the length of a line, as [`TraceReader::with_line_limit`].
    #[must_use]
    pub fn line_limit(mut self, limit: usize) -> Self {
        self.line_limit = limit;
        self
    }

    /// Sets the number of faults and findings after which a worker leaves the rest of its part to the calling thread.
    #[cfg(feature = "__fuzzing")]
    #[doc(hidden)]
    #[must_use]
    pub fn kept_remarks(mut self, count: usize) -> Self {
        self.kept_remarks = count;
        self
    }

    /// Reads the trace to its end, past every fault that can be passed.
    pub(crate) fn read<G: Gather>(&self, gather: &mut G) -> Extent {
        let mut reader = TraceReader::new(self.from(0)).with_line_limit(self.line_limit);
        let header = match reader.header() {
            Ok(Some(header)) if self.threads > NonZero::<usize>::MIN => header.clone(),
            // Without a header each line is looked at for it: one after the other.
            given => {
                let fault = given.err();
                return read_alone(reader, fault, gather);
            }
        };
        gather.part(TracePart::Header { line: reader.line(), header: &header });
        let head = Extent { lines: reader.lines_read(), bytes: reader.bytes_read() };
        let count = self.len.saturating_sub(head.bytes).div_ceil(self.part_bytes.get()).max(1);
        let bounds = |number: u64| {
            let at = |number: u64| head.bytes.saturating_add(number.saturating_mul(self.part_bytes.get()));
            // What is appended meanwhile belongs to the last part.
            at(number)..if number + 1 == count { u64::MAX } else { at(number + 1) }
        };
        let part_bytes = usize::try_from(self.part_bytes.get()).unwrap_or(usize::MAX);
        let (worker_limit, long_line) = match self.line_limit {
            limit if limit <= part_bytes => (limit, LongLine::IsFault),
            _ => (part_bytes, LongLine::Stops),
        };
        let make = |number| {
            let mut piece = G::Piece::default();
            let begin = Begin::AtFirstLine { is_line_start: number == 0 };
            let read = read_part(self, bounds(number), begin, worker_limit, long_line, |part| {
                G::gather(&header, part, &mut piece);
                if G::remarks(&piece) < self.kept_remarks { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            (piece, read)
        };
        let mut passed = head;
        in_order(self.threads, count, make, |number, (piece, read)| {
            gather.take(piece, passed);
            passed.add(read.extent);
            if let Some(at) = read.stopped_at {
                let (limit, long_line) = (self.line_limit, LongLine::IsFault);
                let rest = read_part(self, bounds(number), Begin::At(at), limit, long_line, |part| {
                    gather.part(part.after(passed));
                    ControlFlow::Continue(())
                });
                passed.add(rest.extent);
                return !rest.is_final;
            }
            !read.is_final
        });
        passed
    }

    /// The file from this byte on, as a stream.
    fn from(&self, offset: u64) -> Stretch<'f, F> {
        Stretch { file: self.file, offset }
    }
}

/// Reads what is left, and says first what the header's place had.
fn read_alone<G: Gather, F: ReadAt + ?Sized>(
    mut reader: TraceReader<Stretch<'_, F>>,
    fault: Option<ReadError>,
    gather: &mut G,
) -> Extent {
    if let Some(error) = fault {
        gather.part(TracePart::Fault(error));
    }
    let Ok(()) = reader.walk(|part| {
        gather.part(part);
        Ok::<_, Infallible>(())
    });
    Extent { lines: reader.lines_read(), bytes: reader.bytes_read() }
}

impl Extent {
    fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.bytes += more.bytes;
    }
}

impl<F: ?Sized> fmt::Debug for Parts<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("len", &self.len)
            .field("threads", &self.threads)
            .field("part_bytes", &self.part_bytes)
            .field("line_limit", &self.line_limit)
            .finish_non_exhaustive()
    }
}
