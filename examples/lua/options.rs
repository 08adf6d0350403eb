//! The command line.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use cove_trace::ValueCapture;

use crate::runtime::{Limits, modules};

/// Runs a Lua script with a small host, records the run, shows and checks the trace, and replays it.
///
/// Exit code 0: the script succeeded; 1: it failed or could not be run; 2: the command line is wrong; 3: the trace has
/// faults; 4: the replay differs from the recorded run.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The script.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lua/scripts/order_book.lua"))]
    pub(crate) script: PathBuf,
    /// The script's arguments, in `...`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
    /// Where to write the trace [default: a file named after the script in the directory for temporary files].
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record only the types of arguments and results.
    #[arg(long)]
    redacted: bool,
    /// The directory of the files.
    #[arg(long, value_name = "DIRECTORY", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lua/files"))]
    pub(crate) files: PathBuf,
    /// Grant a capability that is withheld by default.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    allow: Vec<String>,
    /// Withhold a capability.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    deny: Vec<String>,
    /// Limit of instructions of Lua's virtual machine.
    #[arg(long, value_name = "COUNT")]
    max_instructions: Option<u64>,
    /// Limit of Lua's memory, in bytes.
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,
    /// Limit of host calls.
    #[arg(long, value_name = "COUNT")]
    max_host_calls: Option<u64>,
    /// Limit of the run's time, in milliseconds.
    #[arg(long, value_name = "MILLISECONDS")]
    deadline: Option<u64>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs the script of a trace again, without the host. The trace answers all host calls.
    Replay {
        /// A trace that this interpreter recorded.
        recorded: PathBuf,
    },
}

/// The capabilities that only the command line grants.
const WITHHELD: [&str; 1] = ["files.write"];

fn capabilities() -> BTreeSet<String> {
    modules::operations().iter().map(|operation| operation.site().capability().to_owned()).collect()
}

/// Parses the name of a capability.
fn capability(name: &str) -> Result<String, String> {
    let known = capabilities();
    let listed = || known.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    known.get(name).cloned().ok_or_else(|| format!("the capabilities are {}", listed()))
}

impl Options {
    pub(crate) fn trace_path(&self) -> PathBuf {
        self.trace.clone().unwrap_or_else(|| {
            let mut name = self.script.file_stem().unwrap_or_default().to_owned();
            name.push(".trace.jsonl");
            std::env::temp_dir().join(name)
        })
    }

    pub(crate) fn capture(&self) -> ValueCapture {
        if self.redacted { ValueCapture::Redacted } else { ValueCapture::Full }
    }

    pub(crate) fn granted(&self) -> BTreeSet<String> {
        let mut granted = capabilities();
        granted.retain(|capability| {
            let withheld = WITHHELD.contains(&capability.as_str()) && !self.allow.contains(capability);
            !withheld && !self.deny.contains(capability)
        });
        granted
    }

    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            instructions: self.max_instructions.unwrap_or(default.instructions),
            memory: self.max_memory.unwrap_or(default.memory),
            host_calls: self.max_host_calls.unwrap_or(default.host_calls),
            time: self.deadline.map_or(default.time, Duration::from_millis),
        }
    }
}
