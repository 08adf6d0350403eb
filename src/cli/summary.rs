//! `cove-trace summary`.

use std::io::{self, Write};

use cove_trace::ReadError;
use cove_trace::parallel::ParallelReader;
use cove_trace::summary::Summary;

use crate::diagnostics::Diagnostics;
use crate::input::{Input, Opened};
use crate::json;
use crate::output::Output;

/// Shows a run's figures: what it called and waited for, what was refused, how it ended.
#[derive(clap::Args)]
#[command(after_help = "\
In the tables:
  granted, refused  calls of a task that held the capability they take, or did not
  failed            calls that the host answered with an error
  wait              how long tasks waited for the host
  p50, p99, max     half, 99 of 100, or all of the granted calls waited no longer; p50 and p99 are up to 1 % too high
  cpu               how long they worked themselves; unknown where concurrent waits exceed the elapsed time

The ten slowest calls stand with their lines, which cove-trace show gives in full. Of many tasks the twenty that waited longest
are shown; --json has all. Memory: some 140 bytes for each task, whatever the length of the trace.

Examples:
  cove-trace summary run.jsonl
  cove-trace summary --json run.jsonl | jq .calls.refused")]
pub(crate) struct Args {
    /// Give the figures as one JSON object on one line.
    #[arg(long)]
    json: bool,
    /// The trace; - is standard input.
    file: Input,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    let Some(trace) = args.file.open_source(diagnostics) else { return Ok(()) };
    let name = args.file.name();
    let on_error = |error: &ReadError| diagnostics.fault(&name, error);
    let mut summary = match trace {
        Opened::File { file, len } => Summary::read_parallel(&ParallelReader::new(&file, len), on_error),
        stream @ Opened::Stream(_) => Summary::read(&mut stream.stream(), on_error),
    };
    diagnostics.end();
    summary.file = name;
    if args.json { json::write_line(output, &summary) } else { write!(output, "{summary}") }
}
