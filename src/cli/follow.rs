//! `cove-trace follow`.

pub(crate) mod source;

use std::io;

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;
use crate::timeline::{Filter, Shape, follow};

/// Shows the events of a trace as they are written, until it is interrupted.
#[derive(clap::Args)]
#[command(after_help = "\
Begins with the events that are there; --tail 0 leaves those out. Waits for a file that is not there yet, and begins again with
one that is cut short or replaced, which standard error says. Compressed files are not followed. The same as cove-trace timeline --follow.

Examples:
  cove-trace follow run.jsonl
  cove-trace follow --tail 0 --refused --errors run.jsonl
  cove-trace follow --json run.jsonl | jq --unbuffered .op")]
pub(crate) struct Args {
    /// The trace; - is standard input.
    file: Input,
    #[command(flatten)]
    shape: Shape,
    #[command(flatten)]
    filter: Filter,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    follow(&args.file, &args.filter, &args.shape, output, diagnostics)
}
