//! The command `cove-trace`: looks inside traces. Stands on the library's public interface alone.

mod cat;
mod check;
mod completions;
mod diagnostics;
mod diff;
mod follow;
mod grants;
mod identify;
mod input;
mod json;
mod man;
mod output;
mod progress;
mod redact;
mod show;
mod summary;
mod target;
mod terminal;
mod timeline;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory as _, Parser, Subcommand};

use crate::diagnostics::Diagnostics;
use crate::output::Output;

/// Looks inside the traces of a language runtime.
#[derive(Parser)]
#[command(version, color = ColorChoice::Never, after_help = AFTER_HELP)]
struct Cli {
    /// Whether to colour what is shown: by itself only on a terminal, and not when NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    /// The most errors to show on standard error; 0 shows all.
    #[arg(long, global = true, value_name = "N", default_value_t = 100)]
    max_errors: u64,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  cove-trace summary run.jsonl                      what it called, waited for and was refused, how it ended
  cove-trace timeline --refused --errors run.jsonl  what went wrong, and on which lines
  cove-trace timeline --min-wait 10ms run.jsonl     what it waited for long
  cove-trace show run.jsonl:57                      all of one event
  cove-trace diff yesterday.jsonl run.jsonl         what it did otherwise than another run
  cove-trace check run.jsonl                        whether the trace itself is sound

Exit codes:
  0  nothing is wrong (there may be warnings)
  1  a trace has errors, findings or a torn end, or two differ; what could be read of it is still given
  2  something could not be read or written at all, or the command line is wrong";

#[derive(Subcommand)]
enum Command {
    Summary(summary::Args),
    #[command(visible_alias = "print")]
    Timeline(timeline::Args),
    Show(show::Args),
    Follow(follow::Args),
    Grants(grants::Args),
    Check(check::Args),
    Diff(diff::Args),
    #[command(visible_alias = "scrub")]
    Redact(redact::Args),
    Cat(cat::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line as data, for what is generated from it.
fn command_line() -> clap::Command {
    Cli::command()
}

fn main() -> ExitCode {
    let mut output = Output::default();
    let mut diagnostics = Diagnostics::default();
    let written = run(&mut output, &mut diagnostics).and_then(|()| output.flush());
    diagnostics.finish();
    match written {
        Ok(()) => {}
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => diagnostics.unusable("standard output", &format_args!("can't be written: {error}")),
    }
    diagnostics.exit_code()
}

/// Does what the command line says.
///
/// # Errors
///
/// Those of standard output. All others go to `diagnostics`.
fn run(output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    match Cli::try_parse() {
        Ok(cli) => {
            output.set_colored(terminal::colored(cli.color));
            diagnostics.set_max_errors(cli.max_errors);
            match cli.command {
                Command::Summary(args) => summary::run(&args, output, diagnostics),
                Command::Timeline(args) => timeline::run(&args, output, diagnostics),
                Command::Show(args) => show::run(&args, output, diagnostics),
                Command::Follow(args) => follow::run(&args, output, diagnostics),
                Command::Grants(args) => grants::run(&args, output, diagnostics),
                Command::Redact(args) => redact::run(&args, output, diagnostics),
                Command::Completions(args) => completions::run(&args, command_line(), output),
                Command::Man(args) => man::run(&args, output),
                Command::Cat(args) => cat::run(&args, output, diagnostics),
                Command::Check(args) => check::run(&args, output, diagnostics),
                Command::Diff(args) => diff::run(&args, output, diagnostics),
            }
        }
        Err(refusal) if refusal.use_stderr() => {
            diagnostics.usage(&refusal.render().to_string());
            if refusal.kind() == ErrorKind::InvalidSubcommand {
                diagnostics.usage("To look inside a trace, begin with cove-trace summary FILE.");
            }
            Ok(())
        }
        // `--help` and `--version` come as errors, too.
        Err(help) => write!(output, "{}", help.render()),
    }
}
