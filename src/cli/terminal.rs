//! What standard output is: how wide, and whether colours belong on it.

use std::io::{self, IsTerminal as _};

use anstream::AutoStream;
use clap::ColorChoice;

/// Rows are made at least this wide; a terminal that is narrower breaks them.
const NARROWEST: usize = 40;

/// Whether to colour what goes to standard output. By itself: on a terminal, unless `NO_COLOR` or `TERM=dumb` is set.
pub(crate) fn colored(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// Whether a person sees what goes to standard output.
pub(crate) fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

/// What a terminal is taken to have that does not say how wide it is.
const USUAL: usize = 80;

/// The columns that a row may take: those of the terminal, or what the variable `COLUMNS` says. None when there is
/// neither: then a program reads the rows, or a file keeps them, and they are given whole.
pub(crate) fn width() -> Option<usize> {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    let measured = || {
        let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(columns))
    };
    let columns = if io::stdout().is_terminal() { measured().or_else(told).or(Some(USUAL)) } else { told() };
    columns.map(|columns| columns.max(NARROWEST))
}
