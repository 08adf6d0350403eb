//! `cove-trace completions`.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::output::Output;

/// Writes a shell's completions for this command.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cove-trace completions bash > ~/.local/share/bash-completion/completions/cove-trace
  cove-trace completions fish > ~/.config/fish/completions/cove-trace.fish")]
pub(crate) struct Args {
    shell: Shell,
}

/// Writes the completions of `command`.
pub(crate) fn run(args: &Args, mut command: clap::Command, output: &mut Output) -> io::Result<()> {
    // Into memory first: the generator does not pass on errors of what it writes to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "cove-trace", &mut script);
    output.write_all(&script)
}
