//! `cove-trace diff`.

use std::io::{self, Write};

use cove_trace::diff::{CallRef, Change, ChangedPart, Compared, Diff, LoadError, Side, Times};
use cove_trace::display::{count, escaped, task_name};
use cove_trace::replay::OpenError;
use serde::Serialize;

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::json;
use crate::output::Output;

/// Compares two runs, task by task: calls that were put in, left out or changed, capabilities, and how each ended.
///
/// Exit code 0: no difference; 1: there are differences, or a trace has faults; 2: one could not be read at all.
#[derive(clap::Args)]
#[command(after_help = "\
How calls of different tasks fell between each other is never a difference. Of a redacted trace, types are compared.
Memory: less than the size of both files and a hundred bytes for each task.

Examples:
  cove-trace diff yesterday.jsonl today.jsonl
  cove-trace diff --json before.jsonl after.jsonl | jq 'select(.kind == \"changed\") | .parts[].path'")]
pub(crate) struct Args {
    /// Compare waits too: for each operation, the sum of its calls. A difference of up to 10 % of the longer is
    /// ignored.
    #[arg(long)]
    times: bool,
    /// Give each difference as one JSON object on one line, and a last one that counts them.
    #[arg(long)]
    json: bool,
    /// The first trace; - is standard input.
    first: Input,
    /// The second trace.
    second: Input,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    if args.first.path().is_none() && args.second.path().is_none() {
        diagnostics.usage("error: standard input can be only one of the two traces");
        return Ok(());
    }
    let readers = [&args.first, &args.second].map(|input| input.open_whole(diagnostics));
    let [Some(mut first), Some(mut second)] = readers else { return Ok(()) };
    let names = [args.first.name(), args.second.name()];
    let loaded = Diff::load_past(&mut first, &mut second, |side, error| {
        diagnostics.fault(name_of(&names, side), &error);
        Ok(())
    });
    diagnostics.end();
    let diff = match loaded {
        Ok(diff) => diff,
        Err(LoadError { side, error, .. }) => {
            match error {
                OpenError::Read(error) => diagnostics.fault(name_of(&names, side), &error),
                error => diagnostics.unusable(name_of(&names, side), &error),
            }
            return Ok(());
        }
    };
    for (name, is_torn) in names.iter().zip(diff.truncated()) {
        if is_torn {
            diagnostics.torn(name);
        }
    }

    let times = if args.times { Times::Compared { tolerance_percent: TOLERANCE_PERCENT } } else { Times::Ignored };
    let mut task = None;
    let mut written = Ok(());
    let compared = diff.compare(times, |change| {
        if written.is_ok() {
            written = if args.json { json::write_line(output, &change) } else { show(output, &change, &mut task) };
        }
    });
    written?;
    if compared.differences > 0 {
        diagnostics.differs();
    }
    if args.json {
        json::write_line(output, &Last { kind: "compared", compared })
    } else {
        writeln!(output, "{}", conclusion(&compared, &names))
    }
}

/// A difference of times up to this percentage is noise.
const TOLERANCE_PERCENT: u8 = 10;

/// The line of JSON that comes last.
#[derive(Serialize)]
struct Last {
    kind: &'static str,
    #[serde(flatten)]
    compared: Compared,
}

fn name_of(names: &[String; 2], side: Side) -> &str {
    match side {
        Side::First => &names[0],
        Side::Second => &names[1],
    }
}

/// Shows a difference on a line, or a few, below the task that it is in.
fn show(output: &mut Output, change: &Change, shown_task: &mut Option<(u64, Side)>) -> io::Result<()> {
    let mut below = |call: &CallRef, side, output: &mut Output| {
        if shown_task.replace((call.task, side)) == Some((call.task, side)) {
            return Ok(());
        }
        writeln!(output, "{}", task_name(call.task))
    };
    match change {
        Change::Removed(call) => {
            below(call, Side::First, output)?;
            writeln!(output, "  - line {}: {}", call.line, call.shown)
        }
        Change::Added(call) => {
            // Below the first trace's task where the id is the same, which it mostly is.
            below(call, Side::First, output)?;
            writeln!(output, "  + line {}: {}", call.line, call.shown)
        }
        Change::Changed { first, second, parts, more, .. } => {
            below(first, Side::First, output)?;
            writeln!(output, "  ~ lines {} and {}: {}", first.line, second.line, first.shown)?;
            for ChangedPart { path, was, is, .. } in parts {
                writeln!(output, "      {path}: {was}\n      {:>width$}  {is}", "now", width = path.chars().count())?;
            }
            if *more > 0 { writeln!(output, "      and {} more", count(*more, "part")) } else { Ok(()) }
        }
        Change::Task { side, task, calls } => {
            writeln!(output, "{} task {task}, with {}", sign(*side), count(*calls, "call"))
        }
        Change::Header { part, first, second } => writeln!(output, "{part}: {first}, now {second}"),
        Change::Capability { side, capability } => writeln!(output, "{} capability {capability}", sign(*side)),
        Change::Wait { operation, first_ns, second_ns } => {
            writeln!(output, "wait of {operation}: {first_ns} ns, now {second_ns} ns")
        }
        Change::Ended { first, second } => writeln!(output, "ended: {first}\n  now: {second}"),
        _ => writeln!(output, "{change:?}"),
    }
}

fn sign(side: Side) -> char {
    match side {
        Side::First => '-',
        Side::Second => '+',
    }
}

fn conclusion(compared: &Compared, names: &[String; 2]) -> String {
    let names = names.each_ref().map(|name| escaped(name).to_string()).join(" and ");
    let mut text =
        format!("{names}: {}, {} compared", count(compared.differences, "difference"), count(compared.calls, "call"));
    if compared.unchecked > 0 {
        text = text + ", " + &count(compared.unchecked, "value") + " by type alone";
    }
    text
}
