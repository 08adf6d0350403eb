//! `cove-trace summary`.

use std::io::{self, Write};

use cove_trace::summary::Summary;

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::json;
use crate::output::Output;

/// Shows a run's figures: what it called and waited for, what was refused, how it ended.
#[derive(clap::Args)]
#[command(after_help = "\
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
    let Some(reader) = args.file.open(diagnostics) else { return Ok(()) };
    let name = args.file.name();
    let mut summary = Summary::read(reader, |error| diagnostics.fault(&name, error));
    summary.file = name;
    if args.json { json::write_line(output, &summary) } else { write!(output, "{summary}") }
}
