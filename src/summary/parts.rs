//! A summary that several threads make.

use std::ops::ControlFlow;

use super::Summary;
use crate::event::TraceHeader;
use crate::parallel::{Extent, Gather, Parts, ReadAt};
use crate::reader::{ReadError, TracePart};

/// So many faults of a piece are kept until its turn.
const KEPT_FAULTS: usize = 1000;

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

    fn gather(_: &TraceHeader, part: TracePart<'_>, piece: &mut Piece) -> ControlFlow<()> {
        piece.summary.part(part, |error| piece.faults.push(error));
        if piece.faults.len() < KEPT_FAULTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn take(&mut self, piece: Piece, before: Extent) {
        // The piece's own lines are not in it, but in `before` of the next one.
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
