//! `cove-trace cat`.

use std::io::{self, Write};

use cove_trace::{EncodeOptions, TracePart, ValueCapture, encode_event, encode_header};

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;

/// Writes a trace in its canonical form: the same events, each spelt the one way that a sink spells it.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  cove-trace cat edited.jsonl > canonical.jsonl")]
pub(crate) struct Args {
    /// The trace; - is standard input.
    file: Input,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    let Some(mut trace) = args.file.open(diagnostics) else { return Ok(()) };
    let name = args.file.name();
    let mut line = Vec::new();
    // Events keep what they have, however long their lines become.
    let whole = EncodeOptions::new(ValueCapture::Full).line_limit(usize::MAX);
    trace.walk(|part| {
        line.clear();
        let mut is_whole = true;
        match part {
            TracePart::Header { header, .. } => is_whole = encode_header(header, &mut line),
            TracePart::Event { event, .. } => is_whole = encode_event(&event, whole, &mut line),
            TracePart::Fault(error) => diagnostics.fault(&name, &error),
        }
        if !is_whole {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        output.write_all(&line)
    })
}
