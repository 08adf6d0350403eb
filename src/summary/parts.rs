//! Summaries made by several threads.

use super::Summary;
use crate::event::TraceHeader;
use crate::parallel::{Extent, Gather, Parts, ReadAt};
use crate::reader::{ReadError, TracePart};

impl Summary {
    /// Reads a trace to its end on several threads. It is the summary that [`read`](Self::read) gives, and the faults come
    /// in the same order.
    ///
    /// ```
    /// use std::fs::File;
    /// use cove_trace::parallel::Parts;
    /// use cove_trace::summary::Summary;
    ///
    /// # let path = std::env::temp_dir().join(format!("read_parts_{}.jsonl", std::process::id()));
    /// # std::fs::write(&path, r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#)?;
    /// let file = File::open(&path)?;
    /// let len = file.metadata()?.len();
    /// let summary = Summary::read_parts(&Parts::new(&file, len), |error| panic!("{error}"));
    /// assert_eq!(summary.bytes, len);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read_parts<F: ReadAt + ?Sized>(parts: &Parts<'_, F>, on_error: impl FnMut(&ReadError)) -> Self {
        let mut whole = Whole { summary: Self::default(), on_error };
        let Extent { lines, bytes } = parts.read(&mut whole);
        Self { lines, bytes, ..whole.summary }
    }
}

struct Whole<E> {
    summary: Summary,
    on_error: E,
}

#[derive(Default)]
struct Piece {
    summary: Summary,
    faults: Vec<ReadError>,
}

impl<E: FnMut(&ReadError)> Gather for Whole<E> {
    type Piece = Piece;

    fn part(&mut self, part: TracePart<'_>) {
        self.summary.part(part, |error| (self.on_error)(&error));
    }

    fn gather(_: &TraceHeader, part: TracePart<'_>, piece: &mut Piece) {
        piece.summary.part(part, |error| piece.faults.push(error));
    }

    fn remarks(piece: &Piece) -> usize {
        piece.faults.len()
    }

    fn take(&mut self, piece: Piece, before: Extent) {
        // A piece does not count its own lines: they are part of `before` for the next one.
        self.summary.lines = before.lines;
        self.summary.merge(piece.summary);
        piece.faults.into_iter().for_each(|error| (self.on_error)(&error.after(before)));
    }
}
