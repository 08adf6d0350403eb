//! Checking a trace on several threads: workers collect facts from the parts, and one checker takes them in file order.

use super::fact::Fact;
use super::seen_names::SeenNames;
use super::{Checked, Checker, Finding, Remark, error_on, redaction};
use crate::event::TraceHeader;
use crate::names::ValueCapture;
use crate::parallel::{Extent, Gather, Parts, ReadAt};
use crate::reader::{ReadError, TracePart};

impl Checker {
    /// Reads a trace to its end on several threads, and looks at all of it. The remarks are those of
    /// [`read`](Self::read), in the same order.
    pub fn read_parts<F: ReadAt + ?Sized>(self, parts: &Parts<'_, F>, report: impl FnMut(Remark)) -> Checked {
        let mut judge = Judge { checker: self, report };
        let extent = parts.read(&mut judge);
        judge.checker.conclude(extent, &mut judge.report)
    }
}

/// The facts and faults of one piece of a trace.
#[derive(Default)]
struct Piece {
    seen: Vec<Seen>,
    names: SeenNames,
    remarks: usize,
}

enum Seen {
    Fact {
        line: u64,
        fact: Fact<usize>,
    },
    /// A finding that the event before it shows without any other.
    Error {
        line: u64,
        message: Box<str>,
    },
    Fault(Box<ReadError>),
}

/// A checker, and the callback for its remarks.
struct Judge<R> {
    checker: Checker,
    report: R,
}

impl<R: FnMut(Remark)> Gather for Judge<R> {
    type Piece = Piece;

    fn part(&mut self, part: TracePart<'_>) {
        self.checker.part(part, &mut self.report);
    }

    fn gather(header: &TraceHeader, part: TracePart<'_>, piece: &mut Piece) {
        match part {
            // The header precedes all pieces.
            TracePart::Header { .. } => {}
            TracePart::Event { line, event } => {
                let fact = Fact::of(&event).map_names(|names| piece.names.keep(names));
                piece.seen.push(Seen::Fact { line, fact });
                if header.values == ValueCapture::Redacted {
                    redaction::event(&event, &mut |message| {
                        piece.remarks += 1;
                        piece.seen.push(Seen::Error { line, message: message.into() });
                    });
                }
            }
            TracePart::Fault(error) => {
                piece.remarks += 1;
                piece.seen.push(Seen::Fault(Box::new(error)));
            }
        }
    }

    fn remarks(piece: &Piece) -> usize {
        piece.remarks
    }

    fn take(&mut self, piece: Piece, before: Extent) {
        let Self { checker, report } = self;
        for seen in piece.seen {
            match seen {
                Seen::Fact { line, fact } => {
                    let fact = fact.map_names(|number| piece.names.get(number));
                    checker.fact(line + before.lines, fact, &mut |finding| report(Remark::Finding(finding)));
                }
                Seen::Error { line, message } => {
                    let finding = &mut |finding: Finding| report(Remark::Finding(finding));
                    error_on(line + before.lines, finding)(message.into());
                }
                Seen::Fault(error) => report(Remark::Fault(error.after(before))),
            }
        }
    }
}
