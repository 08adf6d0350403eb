//! `cove-trace man`.

use std::io::{self, Write};

use clap_mangen::Man;

use crate::command_line;
use crate::output::Output;

/// Writes the manual page of the command, or of a subcommand, in roff.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cove-trace man | man -l -
  cove-trace man timeline > cove-trace-timeline.1")]
pub(crate) struct Args {
    /// The subcommand whose page is wanted.
    #[arg(value_parser = known_subcommand)]
    subcommand: Option<String>,
}

fn known_subcommand(name: &str) -> Result<String, String> {
    match command_line().find_subcommand(name) {
        Some(subcommand) => Ok(subcommand.get_name().to_owned()),
        None => Err("expected the name of a subcommand".to_owned()),
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> io::Result<()> {
    let mut command = command_line();
    command.build();
    let wanted = match &args.subcommand {
        Some(name) => command.find_subcommand(name).cloned().unwrap_or(command),
        None => command,
    };
    let mut page = Vec::new();
    Man::new(wanted).render(&mut page)?;
    output.write_all(&page)
}
