//! `cove-trace grants`.

mod needs;
mod toml;

use std::convert::Infallible;
use std::io::{self, Write};

use cove_trace::display::{count, escaped};
use cove_trace::{TraceEvent, TracePart};

use self::needs::{Grants, Operations, operations};
use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::json;
use crate::output::Output;

/// Shows the least that the runs needed to be granted, what they were refused, and what was granted for nothing.
#[derive(clap::Args)]
#[command(after_help = "\
Needed is what a call was made of that was granted. The traces are taken together.

Examples:
  cove-trace grants run.jsonl
  cove-trace grants --granted documents.read,documents.write,net.connect monday.jsonl tuesday.jsonl
  cove-trace grants --toml *.jsonl > grants.toml")]
pub(crate) struct Args {
    /// The capabilities that the runs were granted, to learn which of them none needed.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    granted: Vec<String>,
    /// Give it as TOML.
    #[arg(long, conflicts_with = "json")]
    toml: bool,
    /// Give it as one JSON object on one line.
    #[arg(long)]
    json: bool,
    /// The traces; - is standard input.
    #[arg(required = true)]
    files: Vec<Input>,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    let mut grants = Grants::new(&args.granted);
    let mut opened = false;
    for file in &args.files {
        let Some(mut reader) = file.open_whole(diagnostics) else { continue };
        opened = true;
        let name = file.name();
        let Ok(()) = reader.walk(|part| {
            match part {
                TracePart::Event { event: TraceEvent::HostCall(call), .. } => grants.add(&call),
                TracePart::Fault(error) => diagnostics.fault(&name, &error),
                TracePart::Header { .. } | TracePart::Event { .. } => {}
            }
            Ok::<_, Infallible>(())
        });
    }
    diagnostics.end();
    match (opened, args.json, args.toml) {
        (false, ..) => Ok(()),
        (_, true, _) => json::write_line(output, &grants),
        (_, _, true) => toml::write(output, &grants),
        _ => write_text(output, &grants),
    }
}

fn write_text(output: &mut Output, grants: &Grants) -> io::Result<()> {
    write_operations(output, "needed", &grants.needed)?;
    write_operations(output, "refused", &grants.refused)?;
    let Some(unused) = &grants.granted_unused else { return Ok(()) };
    writeln!(output, "granted and never used{}", if unused.is_empty() { ": nothing" } else { "" })?;
    unused.iter().try_for_each(|capability| writeln!(output, "  {}", escaped(capability)))
}

fn write_operations(output: &mut Output, title: &str, capabilities: &Operations) -> io::Result<()> {
    writeln!(output, "{title}{}", if capabilities.is_empty() { ": nothing" } else { "" })?;
    for (capability, modules) in capabilities {
        writeln!(output, "  {}", escaped(capability))?;
        for (operation, calls) in operations(modules) {
            writeln!(output, "    {}  {}", escaped(&operation), count(calls, "call"))?;
        }
    }
    Ok(())
}
