//! A real interpreter, recorded: the scripting engine rhai, with a host that its scripts talk to.
//!
//!     cargo run --release --example interpreter
//!     cargo run --release --example interpreter -- examples/interpreter/scripts/inventory.rhai
//!
//! The first records a count of the words in a folder of documents, done by several tasks. What an interpreter has to do
//! to be recorded like this stands in two small files: `runtime/value.rs` wraps its values, and `runtime/host.rs` holds
//! the one place that every host call goes through.

mod options;
mod report;
mod runtime;

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;

use clap::Parser;
use cove_trace::{JsonlSink, RecordingBackend, RunOutcome, TraceHeader, create_trace_file};

use self::options::Options;
use self::report::Report;
use self::runtime::{Ending, Program, Run, Setup, modules};

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        // Where standard error is gone, the exit code has to do.
        let _ = writeln!(io::stderr(), "interpreter: {error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let program = Program::load(&options.script)?;
    let path = options.trace_path();
    let sink = Arc::new(open_sink(&path, options)?);

    let ending = Run::execute(
        program,
        modules::operations(),
        Setup {
            documents: options.documents.clone(),
            args: options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            granted: options.granted(),
            limits: options.limits(),
            sink: Arc::clone(&sink) as _,
            stop: stop_switch(options.stop_on_input),
        },
    );

    let finished = Arc::into_inner(sink).ok_or("a task outlived its run")?.finish();
    let report = Report::read(&path)?;
    report.show(&mut io::stdout().lock(), &path, &ending, finished.dropped)?;
    Ok(match ending.outcome {
        _ if finished.dropped > 0 || !report.is_clean() => ExitCode::from(3),
        RunOutcome::Success => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// A sink that writes to a fresh file, with the header already in it.
fn open_sink(path: &Path, options: &Options) -> io::Result<JsonlSink<File>> {
    let entry = options.script.to_string_lossy();
    let header = TraceHeader::new(RecordingBackend::Ast, options.capture(), entry).with_args(&options.args);
    JsonlSink::new(create_trace_file(path)?, &header)
}

/// What ends the run from outside: a line on standard input, if that was asked for.
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
