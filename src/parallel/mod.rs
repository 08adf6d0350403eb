//! A trace in a file, read by several threads at once.
//!
//! The file is cut into parts of equal length; a line belongs to the part in which it begins. Threads take the parts to
//! pieces, each with a buffer of its own, and what they make of them is put together in the order of the file, on the
//! calling thread: what comes out is what one thread would have said, to the byte. A file is not mapped into memory, since one
//! that is cut short meanwhile would kill the process.
//!
//! [`Checker::read_parallel`](crate::check::Checker::read_parallel) uses it, and with the feature `summary` so does
//! `Summary::read_parallel`.

mod line_start;
mod part;
mod read;
mod read_at;
mod workers;

use std::fmt;
use std::num::NonZero;

pub(crate) use self::part::Collect;
pub use self::read_at::ReadAt;
use self::read_at::Stretch;
use crate::reader::DEFAULT_LINE_LIMIT;
pub use crate::reader::position::Extent;

/// A trace that can be read at any offset, and how it is to be read.
pub struct ParallelReader<'f, F: ?Sized> {
    file: &'f F,
    len: u64,
    threads: NonZero<usize>,
    part_bytes: NonZero<u64>,
    line_limit: usize,
    kept_problems: usize,
}

/// Long enough for what a part costs besides its reading, short enough to be kept.
const PART_BYTES: NonZero<u64> = NonZero::new(2 * 1024 * 1024).expect("it is not zero");

/// A worker stops reading a part after this many faults and findings, which bounds the memory for results that wait for
/// their turn. The calling thread reads the rest of the part.
const KEPT_PROBLEMS: usize = 1000;

impl<'f, F: ReadAt + ?Sized> ParallelReader<'f, F> {
    /// All of a file that has this length in bytes. What is appended meanwhile is read, too.
    ///
    /// As many threads as the machine has cores for this process, if the file is long enough to have something to do for them.
    pub fn new(file: &'f F, len: u64) -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self {
            file,
            len,
            threads,
            part_bytes: PART_BYTES,
            line_limit: DEFAULT_LINE_LIMIT,
            kept_problems: KEPT_PROBLEMS,
        }
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

    /// Sets the limit for the length of a line, as [`TraceReader::with_line_limit`](crate::TraceReader::with_line_limit).
    #[must_use]
    pub fn line_limit(mut self, limit: usize) -> Self {
        self.line_limit = limit;
        self
    }

    /// Sets the number of faults and findings after which a worker leaves the rest of its part to the calling thread.
    #[cfg(feature = "__fuzzing")]
    #[doc(hidden)]
    #[must_use]
    pub fn kept_problems(mut self, count: usize) -> Self {
        self.kept_problems = count;
        self
    }

    /// The file from this byte on, as a stream.
    fn from(&self, offset: u64) -> Stretch<'f, F> {
        Stretch { file: self.file, offset }
    }
}

impl<F: ?Sized> fmt::Debug for ParallelReader<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParallelReader")
            .field("len", &self.len)
            .field("threads", &self.threads)
            .field("part_bytes", &self.part_bytes)
            .field("line_limit", &self.line_limit)
            .finish_non_exhaustive()
    }
}
