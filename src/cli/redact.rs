//! `cove-trace redact`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cove_trace::TracePart;
use cove_trace::display::escaped;
use cove_trace::redact::Redactor;

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;
use crate::target::{Existing, Target};

/// Makes the form of a trace that can be shared: of every argument and result, its type's name and nothing else.
#[derive(clap::Args)]
#[command(after_help = "\
The trace stays as it is. Beside run.jsonl the redacted one is run-redacted.jsonl, which its owner alone can read; that of
standard input goes to standard output. Lines that can't be read are left out. The file has its name when it is whole: when the
disk is full, nothing is left of it, and what stood there before stays. (When the command is killed, it leaves a file whose name
starts with .cove-trace.)

Names, figures and error messages stay. Messages can name things, as in \"notes.txt: no such file\": see --messages.

Examples:
  cove-trace redact run.jsonl
  cove-trace redact --messages run.jsonl -o for-the-report.jsonl")]
pub(crate) struct Args {
    /// Replace the messages of errors and of the run's end, too.
    #[arg(long)]
    messages: bool,
    /// Where to write it; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The trace; - is standard input.
    file: Input,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    let path = match &args.output {
        Some(path) if path.as_os_str() == "-" => None,
        Some(path) => Some(path.clone()),
        None => args.file.path().map(beside),
    };
    if let (Some(path), Some(source)) = (&path, args.file.path())
        && is_same_file(path, source)
    {
        let problem = "it is the trace itself, which stays as it is; name another file with -o";
        diagnostics.unusable(&path.to_string_lossy(), &problem);
        return Ok(());
    }
    let opened = if path.is_some() { args.file.open_whole(diagnostics) } else { args.file.open(diagnostics) };
    let Some(mut reader) = opened else { return Ok(()) };
    let mut target = Target::new(path.as_deref(), Existing::Replaced, output);
    let mut events = 0;
    let redactor = Redactor::new().messages(args.messages);
    let mut line = Vec::new();
    let name = args.file.name();
    let copied = reader
        .walk(|part| {
            line.clear();
            match part {
                TracePart::Header { header, .. } => redactor.header(header, &mut line),
                TracePart::Event { event, .. } => {
                    events += 1;
                    redactor.event(&event, &mut line);
                }
                TracePart::Fault(error) => {
                    diagnostics.fault(&name, &error);
                    return Ok(());
                }
            }
            target.write(&line)
        })
        .and_then(|()| target.finish());
    diagnostics.end();
    match copied {
        Ok(None) => Ok(()),
        Ok(Some(file)) => writeln!(output, "{}: events {events}, redacted", escaped(&file)),
        Err(stop) => stop.said(path.as_deref(), diagnostics),
    }
}

/// The name beside a trace: `run-redacted.jsonl` for `run.jsonl`, and for `run.jsonl.gz`, as what is written is not
/// compressed.
fn beside(trace: &Path) -> PathBuf {
    let plain = match trace.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "zst") => trace.with_extension(""),
        _ => trace.to_owned(),
    };
    let stem = if plain.extension().is_some_and(|extension| extension == "jsonl") {
        plain.file_stem()
    } else {
        plain.file_name()
    };
    let mut name = stem.unwrap_or_default().to_owned();
    name.push("-redacted.jsonl");
    plain.with_file_name(name)
}

/// Whether both paths lead to one file. Another hard link to it is another file here: writing replaces the link alone.
fn is_same_file(target: &Path, source: &Path) -> bool {
    match (fs::canonicalize(target), fs::canonicalize(source)) {
        (Ok(target), Ok(source)) => target == source,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_traces() {
        for (trace, redacted) in [
            ("run.jsonl", "run-redacted.jsonl"),
            ("a/b.c/run.jsonl", "a/b.c/run-redacted.jsonl"),
            ("run.jsonl.gz", "run-redacted.jsonl"),
            ("run.jsonl.zst", "run-redacted.jsonl"),
            ("run.trace", "run.trace-redacted.jsonl"),
            ("run", "run-redacted.jsonl"),
            (".jsonl", ".jsonl-redacted.jsonl"),
        ] {
            assert_eq!(beside(Path::new(trace)), Path::new(redacted), "{trace}");
        }
    }
}
