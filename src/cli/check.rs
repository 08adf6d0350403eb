//! `cove-trace check`.

mod repair;
mod salvage;

use std::io::{self, Write};
use std::path::PathBuf;

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
--repair writes what can be saved to another file, which its owner alone can read, and says on standard error what was lost.
Saved, byte by byte, are the header and every whole line after it that is an event. Lost are lines that can't be read, a torn end
and blocks of NUL bytes among them; what stands before the header; and another trace behind this one. What no run can have done
(a finding) is no damage, and is saved. A trace that nothing is wrong with is copied as it is. What was saved is checked with
check --partial, as lines may be missing.

Examples:
  cove-trace check run.jsonl
  cove-trace check --repair torn.jsonl -o saved.jsonl
  cove-trace check --partial flight-recorder.jsonl")]
pub(crate) struct Args {
    /// The traces begin in the middle of a run, as the dump of a flight recorder does: don't report what the missing
    /// beginning explains.
    #[arg(long)]
    partial: bool,
    /// Write what can be saved of the one trace to another file.
    #[arg(long, requires = "output")]
    repair: bool,
    /// Where to write it, where nothing is yet; - is standard output.
    #[arg(short, long, value_name = "FILE", requires = "repair")]
    output: Option<PathBuf>,
    /// The traces; - is standard input.
    #[arg(required = true)]
    files: Vec<Input>,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    if let Some(path) = args.output.as_deref() {
        let [file] = &args.files[..] else {
            diagnostics.usage("error: --repair takes one trace at a time");
            return Ok(());
        };
        return repair::run(file, args.partial, path, output, diagnostics);
    }
    for file in &args.files {
        if let Some(trace) = file.open_source(diagnostics) {
            let name = file.name();
            let mut report = Report::new(&name, diagnostics);
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
    file: &'d str,
    diagnostics: &'d mut Diagnostics,
    errors: u64,
    torn: bool,
    findings: u64,
    warnings: u64,
}

impl<'d> Report<'d> {
    fn new(file: &'d str, diagnostics: &'d mut Diagnostics) -> Self {
        Self { file, diagnostics, errors: 0, torn: false, findings: 0, warnings: 0 }
    }

    /// The source gave an error, and nothing more.
    fn broken_off(&mut self, error: &io::Error) {
        self.errors += 1;
        self.diagnostics.broken_off(self.file, error);
    }

    fn note(&self, message: &str) {
        self.diagnostics.note(self.file, message);
    }

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
        self.diagnostics.fault(self.file, error);
    }

    fn finding(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Warning => self.warnings += 1,
            _ => self.findings += 1,
        }
        self.diagnostics.finding(self.file, finding);
    }

    /// The line that sums it up.
    fn conclusion(&self, checked: &Checked) -> String {
        let (events, lines) = (count(checked.events, "event"), count(checked.extent.lines, "line"));
        let mut text = format!("{}: {events} on {lines}", escaped(self.file));
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
