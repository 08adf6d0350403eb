//! `cove-trace check`.

use std::convert::Infallible;
use std::io::{self, Read, Write};

use cove_trace::check::{Checker, Finding, Severity};
use cove_trace::summary::escaped;
use cove_trace::{ReadError, ReadErrorKind, TracePart, TraceReader};

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;

/// Checks traces: that every line is right, and that the events together can have happened.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cove-trace check run.jsonl
  cove-trace check --partial flight-recorder.jsonl")]
pub(crate) struct Args {
    /// The traces begin in the middle of a run, as the dump of a flight recorder does: don't report what the missing
    /// beginning explains.
    #[arg(long)]
    partial: bool,
    /// The traces; - is standard input.
    #[arg(required = true)]
    files: Vec<Input>,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    for file in &args.files {
        if let Some(mut reader) = file.open(diagnostics) {
            let mut report =
                Report { file: file.name(), diagnostics, events: 0, errors: 0, torn: false, findings: 0, warnings: 0 };
            check(&mut reader, Checker::new().partial(args.partial), &mut report);
            writeln!(output, "{}", report.conclusion(reader.lines_read()))?;
        }
    }
    Ok(())
}

fn check(reader: &mut TraceReader<impl Read>, mut checker: Checker, report: &mut Report<'_>) {
    let Ok(()) = reader.walk(|part| {
        match part {
            TracePart::Header { line, header } => checker.header(line, header, &mut |finding| report.finding(&finding)),
            TracePart::Event { line, event } => {
                report.events += 1;
                checker.event(line, &event, &mut |finding| report.finding(&finding));
            }
            TracePart::Fault(error) => report.fault(&error),
        }
        Ok::<_, Infallible>(())
    });
    checker.finish(&mut |finding| report.finding(&finding));
}

/// What is said of one trace, and how much of it.
struct Report<'d> {
    file: String,
    diagnostics: &'d mut Diagnostics,
    events: u64,
    errors: u64,
    torn: bool,
    findings: u64,
    warnings: u64,
}

impl Report<'_> {
    fn fault(&mut self, error: &ReadError) {
        match error.kind() {
            ReadErrorKind::Torn { .. } => self.torn = true,
            _ => self.errors += 1,
        }
        self.diagnostics.fault(&self.file, error);
    }

    fn finding(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Error => self.findings += 1,
            Severity::Warning => self.warnings += 1,
        }
        self.diagnostics.finding(&self.file, finding);
    }

    /// The line that sums it up.
    fn conclusion(&self, lines: u64) -> String {
        let mut text = format!("{}: {} on {}", escaped(&self.file), count(self.events, "event"), count(lines, "line"));
        if self.errors > 0 {
            text = text + ", " + &count(self.errors, "unreadable line");
        }
        if self.torn {
            text += ", a torn end";
        }
        text = text + ", " + &count(self.findings, "finding");
        if self.warnings > 0 {
            text = text + ", " + &count(self.warnings, "warning");
        }
        text
    }
}

/// So many of them, in words.
pub(crate) fn count(number: u64, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
