//! `cove-trace check`.

use std::io::{self, Write};

use cove_trace::check::{Checked, Checker, Finding, Remark, Severity};
use cove_trace::parallel::Parts;
use cove_trace::summary::escaped;
use cove_trace::{ReadError, ReadErrorKind};

use crate::diagnostics::Diagnostics;
use crate::input::{Input, Opened};
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
        if let Some(trace) = file.open_source(diagnostics) {
            let mut report =
                Report { file: file.name(), diagnostics, errors: 0, torn: false, findings: 0, warnings: 0 };
            let checker = Checker::new().partial(args.partial);
            let checked = match trace {
                Opened::File { file, len } => {
                    checker.read_parts(&Parts::new(&file, len), |remark| report.remark(remark))
                }
                stream @ Opened::Stream(_) => checker.read(&mut stream.stream(), |remark| report.remark(remark)),
            };
            report.diagnostics.end();
            writeln!(output, "{}", report.conclusion(&checked))?;
        }
    }
    Ok(())
}

/// What is said of one trace, and how much of it.
struct Report<'d> {
    file: String,
    diagnostics: &'d mut Diagnostics,
    errors: u64,
    torn: bool,
    findings: u64,
    warnings: u64,
}

impl Report<'_> {
    fn remark(&mut self, remark: Remark) {
        match remark {
            Remark::Fault(error) => self.fault(&error),
            Remark::Finding(finding) => self.finding(&finding),
        }
    }

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
    fn conclusion(&self, checked: &Checked) -> String {
        let (events, lines) = (count(checked.events, "event"), count(checked.extent.lines, "line"));
        let mut text = format!("{}: {events} on {lines}", escaped(&self.file));
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
