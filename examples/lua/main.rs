//! A second real interpreter, recorded: Lua, with a host that its scripts talk to.
//!
//!     cargo run --release --example lua
//!     cargo run --release --example lua -- examples/lua/scripts/access_log.lua
//!
//! The first records a day at an order book, read from files and kept in a key-value store. Lua's values are of another kind
//! than those a trace knows: strings are bytes, one type of table is array and record at once and can hold itself, and
//! nothing may leave its thread. What it takes to record them stands in two small files: `runtime/value.rs` wraps the
//! values, and `runtime/call.rs` is the one place that every host call goes through.

mod options;
#[path = "../interpreter/report.rs"]
mod report;
mod runtime;

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use cove_trace::{JsonlSink, RecordingBackend, RunOutcome, TraceHeader, create_trace_file};

use self::options::Options;
use self::report::Report;
use self::runtime::{Program, Run, Setup, modules};

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        // Where standard error is gone, the exit code has to do.
        let _ = writeln!(io::stderr(), "lua: {error}");
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
            files: options.files.clone(),
            args: options.args.clone(),
            granted: options.granted(),
            limits: options.limits(),
            sink: Arc::clone(&sink) as _,
        },
    );

    let finished = Arc::into_inner(sink).ok_or("something outlived the run")?.finish();
    let report = Report::read(&path, false)?;
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
    let header = TraceHeader::new(RecordingBackend::Vm, options.capture(), entry).with_args(&options.args);
    JsonlSink::new(create_trace_file(path)?, &header)
}
