//! Reads a trace in a file on several threads at once.
//!
//! The file is divided into parts of equal length; a line belongs to the part in which it starts. Each thread reads one
//! part after the other and collects results. The calling thread merges the results in file order, so the outcome is
//! identical to that of a single reader. Files are not memory-mapped, since truncating a mapped file would kill the
//! process.
//!
//! [`Checker::read_parallel`](crate::check::Checker::read_parallel) uses this module, and with the feature `summary` so
//! does `Summary::read_parallel`.
//!
//! # Memory
//!
//! A thread needs at most twelve times the length of a part, 24 MiB by default, whatever the line limit is: the calling
//! thread alone reads lines that are longer than a part. The number of threads is limited so that all of them together
//! need at most 512 MiB. The calling thread needs at most twelve times the line limit.

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

/// A reader of a trace that can be read at any offset, and its options.
pub struct ParallelReader<'f, F: ?Sized> {
    file: &'f F,
    len: u64,
    threads: NonZero<usize>,
    part_bytes: NonZero<u64>,
    line_limit: usize,
    kept_problems: usize,
}

/// Long enough to amortise the fixed cost of a part, and short enough to keep the results of several parts in memory.
const PART_BYTES: NonZero<u64> = NonZero::new(2 * 1024 * 1024).expect("it is not zero");

/// A worker stops reading a part after this many faults and findings, which bounds the memory for results that wait for
/// their turn. The calling thread reads the rest of the part.
const KEPT_PROBLEMS: usize = 1000;

/// The memory that all threads together may need, in bytes.
const MEMORY: u64 = 512 * 1024 * 1024;

/// The bytes that a reader may need for each byte of its longest line.
const BYTES_PER_LINE_BYTE: u64 = 12;

impl<'f, F: ReadAt + ?Sized> ParallelReader<'f, F> {
    /// Creates a reader of a file of `len` bytes. It also reads what is appended to the file meanwhile.
    ///
    /// It uses a thread for each core that is available to the process, within the [limit of memory](self#memory).
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

    /// Sets the number of threads besides the calling one, within the [limit of memory](self#memory). With 1, the
    /// calling thread reads alone.
    #[must_use]
    pub fn threads(mut self, threads: NonZero<usize>) -> Self {
        self.threads = threads;
        self
    }

    /// Returns the number of threads to use.
    fn affordable_threads(&self) -> usize {
        let affordable = MEMORY / self.part_bytes.get().saturating_mul(BYTES_PER_LINE_BYTE);
        self.threads.get().min(usize::try_from(affordable).unwrap_or(usize::MAX)).max(1)
    }

    /// Sets the length of a part in bytes.
    #[must_use]
    pub fn part_bytes(mut self, bytes: NonZero<u64>) -> Self {
        self.part_bytes = bytes;
        self
    }

    /// Sets the limit for the length of a line, as
    /// [`TraceReader::with_line_limit`](crate::TraceReader::with_line_limit).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_a_limited_memory() {
        let many = NonZero::new(1_000).unwrap();
        for bytes in [1, 4096, PART_BYTES.get(), 64 * 1024 * 1024, u64::MAX] {
            let bytes = NonZero::new(bytes).unwrap();
            let threads = ParallelReader::new(&[][..], 0).threads(many).part_bytes(bytes).affordable_threads() as u64;
            assert!(threads == 1 || threads * BYTES_PER_LINE_BYTE * bytes.get() <= MEMORY, "{threads} of {bytes}");
        }
    }
}
