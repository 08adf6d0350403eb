//! `cove-trace check --repair`.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use cove_trace::check::{Checker, Finding};
use cove_trace::decode::DecodeErrorKind;
use cove_trace::display::{count, escaped};
use cove_trace::parallel::Extent;
use cove_trace::{ReadErrorKind, TracePart, TraceReader};

use super::report::Report;
use super::salvage::{Amount, Gap, Salvage, Saved};
use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;
use crate::target::{Existing, Stop, Target};

/// So much is read at a time.
const PIECE: usize = 64 * 1024;

/// Checks the trace, and writes what can be saved of it to `path`, or to standard output for `-`.
pub(super) fn run(
    file: &Input,
    partial: bool,
    path: &Path,
    output: &mut Output,
    diagnostics: &mut Diagnostics,
) -> io::Result<()> {
    let Some(trace) = file.open_source(diagnostics) else { return Ok(()) };
    let path = (path.as_os_str() != "-").then_some(path);
    let name = file.name();
    let mut report = Report::new(&name, diagnostics);
    let salvage = Salvage::new(Target::new(path, Existing::Kept, output));
    let repaired = repair(trace.source(), Checker::new().partial(partial), &mut report, salvage);
    report.diagnostics.end();
    match repaired {
        Ok((checked, saved)) => write_conclusion(&report, checked, &saved, output),
        Err(stop) => stop.said(path, report.diagnostics),
    }
}

fn repair(
    mut source: impl io::Read,
    mut checker: Checker,
    report: &mut Report<'_>,
    mut salvage: Salvage<'_>,
) -> Result<((u64, Extent), Saved), Stop> {
    let mut reader = TraceReader::from_pieces();
    let mut piece = vec![0; PIECE];
    let (mut events, mut ended) = (0, false);
    while !ended {
        let read = match source.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                report.broken_off(&error);
                0
            }
        };
        if read == 0 {
            ended = true;
            reader.finish();
        }
        salvage.feed(&piece[..read]);
        reader.feed(&piece[..read]);
        reader.walk(|part| {
            let mut found = |finding: Finding| report.finding(&finding);
            match part {
                TracePart::Header { line, header } => {
                    checker.header(line, header, &mut found);
                    salvage.header(line)?;
                }
                TracePart::Event { line, event } => {
                    events += 1;
                    checker.event(line, &event, &mut found);
                    salvage.event(line)?;
                }
                TracePart::Fault(error) => {
                    report.fault(&error);
                    // Of a trace of another version nothing more is read.
                    ended |= error.is_final();
                    let line = error.position().line;
                    match error.kind() {
                        ReadErrorKind::Line(error) if error.kind() == DecodeErrorKind::SecondHeader => {
                            salvage.second_header(line)?;
                        }
                        _ => salvage.leave_out(line)?,
                    }
                }
            }
            say_lost(salvage.take_gap(), report);
            Ok(())
        })?;
        salvage.passed(reader.bytes_read(), ended)?;
        say_lost(salvage.take_gap(), report);
    }
    salvage.end_gap();
    say_lost(salvage.take_gap(), report);
    checker.finish(&mut |finding| report.finding(&finding));
    let extent = Extent { lines: reader.lines_read(), bytes: reader.bytes_read() };
    Ok(((events, extent), salvage.finish()?))
}

fn say_lost(gap: Option<Gap>, report: &Report<'_>) {
    let Some(Gap { first_line, offset, amount, why }) = gap else { return };
    let bytes = count(amount.bytes, "byte");
    let lines = match amount.lines {
        0 | 1 => format!("line {first_line}"),
        lines => format!("lines {first_line} to {}", first_line + lines - 1),
    };
    report.note(&format!("lost {lines}, {bytes} from byte {offset} on: {why}"));
}

fn write_conclusion(
    report: &Report<'_>,
    (events, extent): (u64, Extent),
    saved: &Saved,
    output: &mut Output,
) -> io::Result<()> {
    let amount = |Amount { lines, bytes }| format!("{}, {}", count(lines, "line"), count(bytes, "byte"));
    let is_damaged = saved.lost.bytes > 0;
    if is_damaged {
        report.note(&format!("lost in all: {}", amount(saved.lost)));
    }
    match (&saved.file, saved.saved) {
        (_, None) => {
            report.note("nothing is saved: there is no header");
            writeln!(output, "{}", report.conclusion(events, extent))
        }
        (Some(file), Some(saved)) => {
            writeln!(output, "{}", report.conclusion(events, extent))?;
            writeln!(output, "{}: saved {}", escaped(file), amount(saved))
        }
        // Standard output has the trace. Where nothing was lost there is nothing to say.
        (None, Some(saved)) => {
            if is_damaged {
                report.note(&format!("saved {}", amount(saved)));
            }
            Ok(())
        }
    }
}
