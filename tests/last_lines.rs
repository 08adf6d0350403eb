//! All events that were recorded are in the file, however the program ends.

mod common;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use common::scratch_dir::ScratchDir;
use cove_trace::{JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture, create_trace_file};

/// The environment variable with how the recording process ends.
const END: &str = "COVE_TRACE_TEST_END";
/// The environment variable with the path of its trace.
const TRACE: &str = "COVE_TRACE_TEST_TRACE";
/// Printed once all events are recorded.
const RECORDED: &str = "recorded";

#[test]
#[ignore = "runs in processes of its own, started by the other tests"]
fn record_three_events_and_end() {
    let (Ok(end), Some(path)) = (env::var(END), env::var_os(TRACE)) else { return };
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::new(create_trace_file(path).unwrap(), &header).unwrap();
    for id in 1..=3 {
        sink.record(&TraceEvent::TaskCancelled { id });
    }
    writeln!(std::io::stdout(), "{RECORDED}").unwrap();
    match end.as_str() {
        "exit" => process::exit(3),
        "abort" => process::abort(),
        "panic" => panic!("the program's own"),
        // Waits to be killed.
        _ => thread::sleep(Duration::from_secs(60)),
    }
}

fn start(end: &str, trace: &Path) -> Child {
    Command::new(env::current_exe().expect("this test has a path"))
        .args(["--exact", "record_three_events_and_end", "--ignored", "--nocapture"])
        .env(END, end)
        .env(TRACE, trace)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test can be run")
}

/// Runs a process that records and ends, and asserts that its trace is complete. Returns its exit status.
#[track_caller]
fn assert_all_there(end: &str, stop: impl FnOnce(&mut Child)) -> ExitStatus {
    let directory = ScratchDir::new(end);
    let trace = directory.path().join("trace.jsonl");
    let mut child = start(end, &trace);
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let recorded = output.lines().any(|line| line.is_ok_and(|line| line.ends_with(RECORDED)));
    assert!(recorded, "the process ended before it recorded");
    stop(&mut child);
    let status = child.wait().expect("it ends");
    assert_eq!(
        fs::read_to_string(&trace).expect("the trace can be read"),
        concat!(
            r#"{"event":"trace_header","version":4,"backend":"ast","values":"full","entry":"main.cove","args":[]}"#,
            "\n",
            "{\"event\":\"task_cancelled\",\"id\":1}\n",
            "{\"event\":\"task_cancelled\",\"id\":2}\n",
            "{\"event\":\"task_cancelled\",\"id\":3}\n",
        )
    );
    status
}

#[test]
fn a_program_that_exits() {
    assert_eq!(assert_all_there("exit", |_| {}).code(), Some(3));
}

#[test]
fn a_program_that_aborts() {
    let status = assert_all_there("abort", |_| {});
    assert!(!status.success());
}

#[test]
fn a_program_that_panics() {
    let status = assert_all_there("panic", |_| {});
    assert!(!status.success());
}

#[test]
fn a_program_that_is_killed() {
    let status = assert_all_there("be killed", |child| child.kill().unwrap());
    assert!(!status.success());
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}
