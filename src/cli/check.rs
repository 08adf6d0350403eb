//! `cove-trace check`.

mod repair;
mod report;
mod salvage;

use std::io::{self, Write};
use std::path::PathBuf;

use cove_trace::check::Checker;
use cove_trace::parallel::ParallelReader;

use self::report::Report;
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
                    checker.read_parallel(&ParallelReader::new(&file, len), |remark| report.remark(remark))
                }
                stream @ Opened::Stream(_) => checker.read(&mut stream.stream(), |remark| report.remark(remark)),
            };
            report.diagnostics.end();
            writeln!(output, "{}", report.conclusion(checked.events, checked.extent))?;
        }
    }
    Ok(())
}
