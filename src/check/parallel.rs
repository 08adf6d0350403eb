//! Checking a trace on several threads: workers collect facts from the parts, and one checker takes them in file order.

use super::fact::Fact;
use super::seen_names::SeenNames;
use super::{CheckEvent, CheckStats, Checker, Finding, error_on, redaction};
use crate::event::TraceHeader;
use crate::names::ValueCapture;
use crate::parallel::{Collect, Extent, ParallelReader, ReadAt};
use crate::reader::{ReadError, TracePart};

impl Checker {
    /// Reads a trace to its end on several threads and checks all of it. It reports what [`read`](Self::read) reports,
    /// in the same order.
    pub fn read_parallel<F: ReadAt + ?Sized>(
        self,
        parts: &ParallelReader<'_, F>,
        report: impl FnMut(CheckEvent),
    ) -> CheckStats {
        let mut check = ParallelCheck { checker: self, report };
        let extent = parts.read(&mut check);
        check.checker.conclude(extent, &mut check.report)
    }
}

/// The facts and faults of one piece of a trace.
#[derive(Default)]
struct CheckPiece {
    seen: Vec<Seen>,
    names: SeenNames,
    problems: usize,
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
struct ParallelCheck<R> {
    checker: Checker,
    report: R,
}

impl<R: FnMut(CheckEvent)> Collect for ParallelCheck<R> {
    type Piece = CheckPiece;

    fn part(&mut self, part: TracePart<'_>) {
        self.checker.part(part, &mut self.report);
    }

    fn collect(header: &TraceHeader, part: TracePart<'_>, piece: &mut CheckPiece) {
        match part {
            // The header precedes all pieces.
            TracePart::Header { .. } => {}
            TracePart::Event { line, event } => {
                let fact = Fact::of(&event).map_names(|names| piece.names.keep(names));
                piece.seen.push(Seen::Fact { line, fact });
                if header.values == ValueCapture::Redacted {
                    redaction::event(&event, &mut |message| {
                        piece.problems += 1;
                        piece.seen.push(Seen::Error { line, message: message.into() });
                    });
                }
            }
            TracePart::Fault(error) => {
                piece.problems += 1;
                piece.seen.push(Seen::Fault(Box::new(error)));
            }
        }
    }

    fn problems(piece: &CheckPiece) -> usize {
        piece.problems
    }

    fn take(&mut self, piece: CheckPiece, before: Extent) {
        let Self { checker, report } = self;
        for seen in piece.seen {
            match seen {
                Seen::Fact { line, fact } => {
                    let fact = fact.map_names(|number| piece.names.get(number));
                    checker.fact(line + before.lines, fact, &mut |finding| report(CheckEvent::Finding(finding)));
                }
                Seen::Error { line, message } => {
                    let finding = &mut |finding: Finding| report(CheckEvent::Finding(finding));
                    error_on(line + before.lines, finding)(message.into());
                }
                Seen::Fault(error) => report(CheckEvent::Fault(error.after(before))),
            }
        }
    }
}
