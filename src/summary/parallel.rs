//! Summarising a trace on several threads.

use super::Summary;
use crate::event::TraceHeader;
use crate::parallel::{Collect, Extent, ParallelReader, ReadAt};
use crate::reader::{ReadError, TracePart};

impl Summary {
    /// Reads a trace to its end on several threads. The summary equals that of [`read`](Self::read), and faults are
    /// reported in the same order.
    ///
    /// ```
    /// use std::fs::File;
    /// use cove_trace::parallel::ParallelReader;
    /// use cove_trace::summary::Summary;
    ///
    /// # let path = std::env::temp_dir().join(format!("read_parallel_{}.jsonl", std::process::id()));
    /// # std::fs::write(&path, r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#)?;
    /// let file = File::open(&path)?;
    /// let len = file.metadata()?.len();
    /// let summary = Summary::read_parallel(&ParallelReader::new(&file, len), |error| panic!("{error}"));
    /// assert_eq!(summary.bytes, len);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_parallel<F: ReadAt + ?Sized>(parts: &ParallelReader<'_, F>, on_error: impl FnMut(&ReadError)) -> Self {
        let mut whole = ParallelSummary { summary: Self::default(), on_error };
        let Extent { lines, bytes } = parts.read(&mut whole);
        Self { lines, bytes, ..whole.summary }
    }
}

struct ParallelSummary<E> {
    summary: Summary,
    on_error: E,
}

#[derive(Default)]
struct SummaryPiece {
    summary: Summary,
    faults: Vec<ReadError>,
}

impl<E: FnMut(&ReadError)> Collect for ParallelSummary<E> {
    type Piece = SummaryPiece;

    fn part(&mut self, part: TracePart<'_>) {
        self.summary.part(part, |error| (self.on_error)(&error));
    }

    fn collect(_: &TraceHeader, part: TracePart<'_>, piece: &mut SummaryPiece) {
        piece.summary.part(part, |error| piece.faults.push(error));
    }

    fn problems(piece: &SummaryPiece) -> usize {
        piece.faults.len()
    }

    fn take(&mut self, piece: SummaryPiece, before: Extent) {
        // A piece does not count its own lines; the next `before` includes them.
        self.summary.lines = before.lines;
        self.summary.merge(piece.summary);
        piece.faults.into_iter().for_each(|error| (self.on_error)(&error.after(before)));
    }
}
