//! Records and replays rhai, a real scripting engine, with a host that its scripts call.
//!
//!     cargo run --release --example interpreter
//!     cargo run --release --example interpreter -- examples/interpreter/scripts/inventory.rhai
//!     cargo run --release --example interpreter -- replay /tmp/inventory.trace.jsonl
//!     cargo run --release --example interpreter -- --flight-recorder examples/interpreter/scripts/backup.rhai
//!
//! The first command records a script that counts the words of some documents in several tasks, and replays it.
//! Recording takes two small files: `runtime/value.rs` wraps the values, and `runtime/host.rs` has the one function
//! through which all host calls go. Replaying takes `runtime/replaying.rs`. With `--flight-recorder`, only the last
//! events are kept in memory. They are written when a run fails, as in the last command.

mod options;
mod report;
mod runtime;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;

use clap::Parser;
use cove_trace::display::escaped;
use cove_trace::replay::{ReplayReport, Verdict};
use cove_trace::{
    JsonlSink, NullSink, RecordingBackend, Replay, RingSink, RunOutcome, TraceHeader, TraceSink, ValueCapture,
    create_trace_file,
};

use self::options::{Command, Options};
use self::report::Report;
use self::runtime::{Ending, Limits, Program, Replaying, Run, Setup, modules};

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        // If standard error is closed, the exit code must do.
        let _ = writeln!(io::stderr(), "interpreter: {error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    match &options.command {
        None => record(options),
        Some(Command::Replay { recorded, trace }) => replay(recorded, trace.as_deref()),
    }
}

/// Runs the script and records the run.
fn record(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let program = Program::load(&options.script)?;
    let path = options.trace_path();
    match options.flight_recorder {
        Some(kilobytes) => run_with_flight_recorder(program, options, &path, kilobytes),
        None => run_to_file(program, options, &path),
    }
}

/// Writes every event to the file when it happens, shows a summary of the trace, and replays it.
fn run_to_file(program: Program, options: &Options, path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let sink = Arc::new(JsonlSink::builder(&header(options)).create(path)?);
    let ending = execute(program.clone(), options, Arc::clone(&sink) as _);
    let finished = Arc::into_inner(sink).ok_or("a task outlived its run")?.finish();
    let report = Report::read(path, false)?;
    report.show(&mut io::stdout().lock(), path, &ending, finished.dropped)?;
    if finished.dropped > 0 || !report.is_clean() {
        return Ok(ExitCode::from(3));
    }
    if options.capture() == ValueCapture::Redacted {
        return Ok(exit_code(&ending));
    }
    let replaying = Replaying::new(Replay::open_file(path)?, false);
    let again = execute_again(program, &replaying, options.limits(), Arc::new(NullSink));
    show_conclusion(&replaying.finish(&again), &ending)
}

/// Keeps the last events in memory, and writes them to the file if the run fails or panics.
fn run_with_flight_recorder(
    program: Program,
    options: &Options,
    path: &Path,
    kilobytes: usize,
) -> Result<ExitCode, Box<dyn Error>> {
    let ring = Arc::new(RingSink::new(kilobytes.saturating_mul(1024), &header(options)));
    let ending = {
        let _dump = ring.dump_on_panic(|| create_trace_file(path));
        execute(program, options, Arc::clone(&ring) as _)
    };
    if ending.outcome == RunOutcome::Success {
        return Ok(ExitCode::SUCCESS);
    }
    ring.dump(&mut create_trace_file(path)?)?;
    let report = Report::read(path, true)?;
    report.show(&mut io::stdout().lock(), path, &ending, ring.dropped())?;
    Ok(if ring.dropped() > 0 || !report.is_clean() { ExitCode::from(3) } else { exit_code(&ending) })
}

fn execute(program: Program, options: &Options, sink: Arc<dyn TraceSink>) -> Ending {
    Run::execute(
        program,
        modules::operations(),
        Setup {
            documents: options.documents.clone(),
            args: options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            granted: options.granted(),
            limits: options.limits(),
            sink,
            replaying: None,
            stop: stop_switch(options.stop_on_input),
        },
    )
}

/// Runs the script of a trace again, with the trace in place of the host.
fn replay(recorded: &Path, trace: Option<&Path>) -> Result<ExitCode, Box<dyn Error>> {
    let replay = Replay::open_file(recorded)?;
    let header = replay.header().clone();
    let program = Program::load(Path::new(&header.entry))?;
    let sink: Arc<dyn TraceSink> = match trace {
        None => Arc::new(NullSink),
        Some(path) => Arc::new(JsonlSink::builder(&header).create(path)?),
    };
    let replaying = Replaying::new(replay, true);
    let ending = execute_again(program, &replaying, Limits::default(), sink);
    writeln!(io::stdout().lock(), "\nThe run ended: {}", escaped(&ending.to_string()))?;
    show_conclusion(&replaying.finish(&ending), &ending)
}

/// Runs a program with a trace in place of its host.
fn execute_again(program: Program, replaying: &Replaying, limits: Limits, sink: Arc<dyn TraceSink>) -> Ending {
    Run::execute(
        program,
        modules::unplugged(),
        Setup {
            // The trace answers every call, so there is no host.
            documents: PathBuf::new(),
            args: Vec::new(),
            granted: BTreeSet::new(),
            limits: replaying.limits(limits),
            sink,
            replaying: Some(replaying.clone()),
            stop: Arc::new(OnceLock::new()),
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

fn header(options: &Options) -> TraceHeader {
    let entry = options.script.to_string_lossy();
    TraceHeader::new(RecordingBackend::Ast, options.capture(), entry).with_args(&options.args)
}

/// Returns the switch that stops the run. A line on standard input sets it, if `on_input`.
fn stop_switch(on_input: bool) -> Arc<OnceLock<Ending>> {
    let stop = Arc::new(OnceLock::new());
    if on_input {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            if io::stdin().read_line(&mut String::new()).is_ok() {
                stop.get_or_init(|| Ending::new(RunOutcome::Cancelled, "stopped from the terminal"));
            }
        });
    }
    stop
}
