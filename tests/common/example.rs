//! Runs the examples as processes and checks their traces.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cove_trace::TraceReader;
use cove_trace::check::Checker;
use serde::Deserialize;
use serde_json::Value;

use super::scratch_dir::ScratchDir;

/// The name of an example that runs scripts.
#[derive(Clone, Copy)]
pub(crate) struct Example(pub(crate) &'static str);

impl Example {
    /// Returns the path of the executable, which Cargo builds with the tests.
    pub(crate) fn executable(self) -> PathBuf {
        let test = std::env::current_exe().expect("the path of this test");
        let profile = test.ancestors().nth(2).expect("the directory of the build profile");
        let path = profile.join("examples").join(format!("{}{}", self.0, std::env::consts::EXE_SUFFIX));
        assert!(path.exists(), "{} is missing; build it with `cargo build --example {}`", path.display(), self.0);
        path
    }

    /// Returns the path of a file in the example's directory.
    pub(crate) fn file(self, path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.0).join(path)
    }

    /// Runs a script with these options and arguments, and with `input` on its standard input.
    ///
    /// Asserts what holds for every run: the trace is valid, it begins with the entry, it ends with the entry's exit,
    /// the heap summary and the end of the run, and the exit code agrees with that end.
    pub(crate) fn run(self, scratch: &ScratchDir, options: &[&str], script: &Path, args: &[&str], input: &str) -> Ran {
        let trace = scratch.path().join("run.jsonl");
        let mut child = Command::new(self.executable())
            .arg("--trace")
            .arg(&trace)
            .args(options)
            .arg(script)
            .args(args)
            .env("EXAMPLE_TOKEN", "token-in-the-environment")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the example reads its standard input");
        let output = child.wait_with_output().expect("the example ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(trace.exists(), "no trace; standard error: {stderr}");

        check(&trace);
        let trace = fs::read_to_string(&trace).expect("the trace");
        let events: Vec<Value> = trace.lines().skip(1).map(parse).collect();
        let ran = Ran { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), trace, events };
        assert_eq!(ran.events[0]["event"], "entry_enter");
        assert_eq!(ran.count("entry_exit"), 1);
        assert_eq!(ran.count("task_spawned"), ran.count("task_completed") + ran.count("task_cancelled"));
        assert_eq!(ran.heap()["event"], "heap_summary");
        assert!(ran.stdout.contains("Checked: nothing is wrong with it."), "{}", ran.stdout);
        let expected_status = if ran.end().0 == "success" { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(expected_status), "{stderr}");
        ran
    }
}

/// The output and the trace of a run.
pub(crate) struct Ran {
    /// The standard output, with U+FFFD in place of invalid UTF-8.
    pub(crate) stdout: String,
    pub(crate) trace: String,
    pub(crate) events: Vec<Value>,
}

impl Ran {
    pub(crate) fn host_calls(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(|event| event["event"] == "host_call")
    }

    pub(crate) fn calls_of<'r>(&'r self, module: &'r str, op: &'r str) -> impl Iterator<Item = &'r Value> {
        self.host_calls().filter(move |call| call["module"] == module && call["op"] == op)
    }

    pub(crate) fn count(&self, event: &str) -> usize {
        self.events.iter().filter(|other| other["event"] == event).count()
    }

    /// Returns the heap summary, the last event but one.
    pub(crate) fn heap(&self) -> &Value {
        &self.events[self.events.len() - 2]
    }

    /// Returns the outcome and the message of the end of the run.
    pub(crate) fn end(&self) -> (&str, Option<&str>) {
        let end = self.events.last().expect("an event");
        assert_eq!(end["event"], "run_ended");
        (end["outcome"].as_str().expect("a name"), end["message"].as_str())
    }
}

/// Parses a line, which may nest deeper than `serde_json` accepts by default.
fn parse(line: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer).expect("JSON")
}

/// Asserts that a trace can be read and that the checker reports nothing.
fn check(trace: &Path) {
    let mut problems = Vec::new();
    let mut report = |finding| problems.push(finding);
    let mut checker = Checker::new();
    let mut reader = TraceReader::new(File::open(trace).expect("the trace"));
    checker.header(1, reader.header().expect("a sound header").expect("a header"), &mut report);
    while let Some((line, event)) = reader.next_event_with_line().expect("a sound line") {
        checker.event(line, &event, &mut report);
    }
    checker.finish(&mut report);
    assert_eq!(problems, []);
}
