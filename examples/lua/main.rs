//! Records and replays Lua, with a host that its scripts call.
//!
//!     cargo run --release --example lua
//!     cargo run --release --example lua -- examples/lua/scripts/access_log.lua
//!     cargo run --release --example lua -- replay /tmp/access_log.trace.jsonl
//!
//! The first command records a day at an order book, which is read from files and kept in a key-value store. Lua's
//! values differ from those of a trace: strings are bytes, a table is both array and record and can contain itself, and
//! values cannot leave their thread. Recording them takes two small files: `runtime/value.rs` wraps the values, and
//! `runtime/call.rs` has the one function through which all host calls go.

mod options;
#[path = "../interpreter/report.rs"]
mod report;
mod runtime;

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use clap::Parser;
use cove_trace::display::escaped;
use cove_trace::replay::{ReplayReport, Verdict};
use cove_trace::{JsonlSink, NullSink, RecordingBackend, Replay, RunOutcome, TraceHeader, ValueCapture};

use self::options::{Command, Options};
use self::report::Report;
use self::runtime::{Ending, Limits, Program, Replaying, Run, Setup, modules};

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        // If standard error is closed, the exit code must do.
        let _ = writeln!(io::stderr(), "lua: {error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    match &options.command {
        None => record(options),
        Some(Command::Replay { recorded }) => replay(recorded),
    }
}

/// Records a run of the script, shows a summary of the trace, and replays it.
fn record(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let program = Program::load(&options.script)?;
    let path = options.trace_path();
    let sink = Arc::new(open_sink(&path, options)?);

    let ending = Run::execute(
        program.clone(),
        modules::operations(),
        Setup {
            files: options.files.clone(),
            args: options.args.clone(),
            granted: options.granted(),
            limits: options.limits(),
            sink: Arc::clone(&sink) as _,
            replaying: None,
        },
    );

    let finished = Arc::into_inner(sink).ok_or("something outlived the run")?.finish();
    let report = Report::read(&path, false)?;
    report.show(&mut io::stdout().lock(), &path, &ending, finished.dropped)?;
    if finished.dropped > 0 || !report.is_clean() {
        return Ok(ExitCode::from(3));
    }
    if options.capture() == ValueCapture::Redacted {
        return Ok(exit_code(&ending));
    }
    let replaying = Rc::new(Replaying::new(Replay::open_file(&path)?, false));
    let again = execute_again(program, options.args.clone(), options.limits(), &replaying);
    show_conclusion(&replaying.finish(&again), &ending)
}

/// Runs the script of a trace again, with the trace in place of the host.
fn replay(recorded: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let replay = Replay::open_file(recorded)?;
    let program = Program::load(Path::new(&replay.header().entry))?;
    let args = replay.header().args.iter().map(Into::into).collect();
    let replaying = Rc::new(Replaying::new(replay, true));
    let ending = execute_again(program, args, Limits::default(), &replaying);
    writeln!(io::stdout().lock(), "\nThe run ended: {}", escaped(&ending.to_string()))?;
    show_conclusion(&replaying.finish(&ending), &ending)
}

/// Runs a program with a trace in place of its host.
fn execute_again(program: Program, args: Vec<OsString>, limits: Limits, replaying: &Rc<Replaying>) -> Ending {
    Run::execute(
        program,
        modules::unplugged(),
        Setup {
            // The trace answers every call, so there is no host.
            files: PathBuf::new(),
            args,
            granted: BTreeSet::new(),
            limits,
            sink: Arc::new(NullSink),
            replaying: Some(Rc::clone(replaying)),
        },
    )
}

/// Prints the result of a replay.
fn show_conclusion(conclusion: &ReplayReport, ending: &Ending) -> Result<ExitCode, Box<dyn Error>> {
    // Safe to show: the report of a divergence escapes what it quotes.
    writeln!(io::stdout().lock(), "Replayed: {conclusion}")?;
    Ok(if conclusion.verdict == Verdict::Diverged { ExitCode::from(4) } else { exit_code(ending) })
}

fn exit_code(ending: &Ending) -> ExitCode {
    if ending.outcome == RunOutcome::Success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Creates the trace file, with its header.
fn open_sink(path: &Path, options: &Options) -> io::Result<JsonlSink<File>> {
    let entry = options.script.to_string_lossy();
    let header = TraceHeader::new(RecordingBackend::Vm, options.capture(), entry).with_args(&options.args);
    JsonlSink::builder(&header).create(path)
}
