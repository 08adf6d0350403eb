//! Reads the parts of a trace on several threads and merges the results in order.

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::part::{Begin, Collect, LongLine, read_part};
use super::read_at::Stretch;
use super::workers::in_order;
use super::{ParallelReader, ReadAt};
use crate::reader::position::Extent;
use crate::reader::{ReadError, TracePart, TraceReader};

impl<F: ReadAt + ?Sized> ParallelReader<'_, F> {
    /// Reads the trace to its end, past every fault that is not final.
    pub(crate) fn read<G: Collect>(&self, collector: &mut G) -> Extent {
        let mut reader = TraceReader::new(self.from(0)).with_line_limit(self.line_limit);
        let threads = self.affordable_threads();
        let header = match reader.header() {
            Ok(Some(header)) if threads > 1 => header.clone(),
            // Without a header, each line may be it, so the lines are read in order.
            given => {
                let fault = given.err();
                return read_alone(reader, fault, collector);
            }
        };
        collector.part(TracePart::Header { line: reader.line(), header: &header });
        let head = Extent { lines: reader.lines_read(), bytes: reader.bytes_read() };
        let count = self.len.saturating_sub(head.bytes).div_ceil(self.part_bytes.get()).max(1);
        let bounds = |number: u64| {
            let at = |number: u64| head.bytes.saturating_add(number.saturating_mul(self.part_bytes.get()));
            // Bytes that are appended meanwhile belong to the last part.
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
                G::collect(&header, part, &mut piece);
                if G::problems(&piece) < self.kept_problems {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            (piece, read)
        };
        let mut passed = head;
        in_order(threads, count, make, |number, (piece, read)| {
            collector.take(piece, passed);
            passed.add(read.extent);
            if let Some(at) = read.stopped_at {
                let (limit, long_line) = (self.line_limit, LongLine::IsFault);
                let rest = read_part(self, bounds(number), Begin::At(at), limit, long_line, |part| {
                    collector.part(part.after(passed));
                    ControlFlow::Continue(())
                });
                passed.add(rest.extent);
                return !rest.is_final;
            }
            !read.is_final
        });
        passed
    }
}

/// Reads the rest of a trace on this thread, after reporting the fault of its header.
fn read_alone<G: Collect, F: ReadAt + ?Sized>(
    mut reader: TraceReader<Stretch<'_, F>>,
    fault: Option<ReadError>,
    collector: &mut G,
) -> Extent {
    if let Some(error) = fault {
        collector.part(TracePart::Fault(error));
    }
    let Ok(()) = reader.walk(|part| {
        collector.part(part);
        Ok::<_, Infallible>(())
    });
    Extent { lines: reader.lines_read(), bytes: reader.bytes_read() }
}
