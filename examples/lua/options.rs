//! The command line.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use cove_trace::ValueCapture;

use crate::runtime::{Limits, modules};

/// Runs a Lua script against a small host, records the run, shows and checks the record, and replays it.
///
/// Exit code 0: the script came to its end; 1: it came to another end, or could not be run; 2: the command line is wrong;
/// 3: something is wrong with the trace; 4: the replay did something else than the recorded run.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The script.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lua/scripts/order_book.lua"))]
    pub(crate) script: PathBuf,
    /// What the script finds in `...`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
    /// Where the trace goes; a file named after the script in the directory for temporary files when not given.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record of each argument and result nothing but its type.
    #[arg(long)]
    redacted: bool,
    /// The directory that scripts find their files in.
    #[arg(long, value_name = "DIRECTORY", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/lua/files"))]
    pub(crate) files: PathBuf,
    /// Grant a capability that is otherwise withheld.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    allow: Vec<String>,
    /// Withhold a capability.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    deny: Vec<String>,
    /// Instructions of Lua's virtual machine.
    #[arg(long, value_name = "COUNT")]
    max_instructions: Option<u64>,
    /// Bytes that Lua may use at a time.
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,
    /// Host calls.
    #[arg(long, value_name = "COUNT")]
    max_host_calls: Option<u64>,
    /// Milliseconds that the run may take.
    #[arg(long, value_name = "MILLISECONDS")]
    deadline: Option<u64>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs the script of a trace again, with every answer of its host taken from the trace and no host there to ask.
    Replay {
        /// A trace that this interpreter recorded.
        recorded: PathBuf,
    },
}

/// What a program is granted only when it is asked for on the command line.
const WITHHELD: [&str; 1] = ["files.write"];

fn capabilities() -> BTreeSet<String> {
    modules::operations().iter().map(|operation| operation.site().capability().to_owned()).collect()
}

/// A capability, by its name.
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
