//! `console`: the terminal.

use std::io::{self, Write};
use std::sync::Arc;

use rhai::Dynamic;

use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::task::Task;
use crate::runtime::value::Shown;

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::new("console", "log", "console", 1, log).showing(line)]
}

/// `console::log(value)`: prints a line to standard output.
fn log(_: &Arc<Task>, args: Args<'_>) -> Answer {
    writeln!(io::stdout().lock(), "{}", line(args)).map_err(|error| Failure::error(error.kind().to_string()))?;
    Ok(Dynamic::UNIT)
}

fn line(args: Args<'_>) -> String {
    args.all().map(|arg| Shown(arg).to_string()).collect()
}
