//! Summing up a trace on several threads.

use super::Summary;
use crate::event::TraceHeader;
use crate::parallel::{Extent, Gather, Parts, ReadAt};
use crate::reader::{ReadError, TracePart};

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

pub(super) fn read<F: ReadAt + ?Sized>(parts: &Parts<'_, F>, on_error: impl FnMut(&ReadError)) -> Summary {
    let mut whole = Whole { summary: Summary::default(), on_error };
    let Extent { lines, bytes } = parts.read(&mut whole);
    Summary { lines, bytes, ..whole.summary }
}
