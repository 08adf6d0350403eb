//! The examples as processes, and the traces that they leave.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cove_trace::TraceReader;
use cove_trace::check::Checker;
use serde::Deserialize;
use serde_json::Value;

use super::scratch_dir::ScratchDir;

/// An example that runs scripts, by its name.
#[derive(Clone, Copy)]
pub(crate) struct Example(pub(crate) &'static str);

impl Example {
    /// The executable, which Cargo builds beside the tests.
    pub(crate) fn executable(self) -> PathBuf {
        let test = std::env::current_exe().expect("the path of this test");
        let profile = test.ancestors().nth(2).expect("the directory of the build profile");
        let path = profile.join("examples").join(format!("{}{}", self.0, std::env::consts::EXE_SUFFIX));
        assert!(path.exists(), "{} is missing; build it with `cargo build --example {}`", path.display(), self.0);
        path
    }

    /// What stands at `path` in the example's directory.
    pub(crate) fn file(self, path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.0).join(path)
    }

    /// Runs a script with these options before it and `input` on its standard input, and holds what is true of every run:
    /// its trace is sound, it begins with the entry and ends with the entry's exit, the heap's figures and the end of the
    /// run, and the exit code says what the end says.
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
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the example lets us write");
        let output = child.wait_with_output().expect("the example ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(trace.exists(), "no trace; it said: {stderr}");

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

/// A run of an example, and the trace that it left.
pub(crate) struct Ran {
    /// With U+FFFD in the place of what is not UTF-8.
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

    /// The figures of the heap, the last event but one.
    pub(crate) fn heap(&self) -> &Value {
        &self.events[self.events.len() - 2]
    }

    /// The outcome and the message of the run's end.
    pub(crate) fn end(&self) -> (&str, Option<&str>) {
        let end = self.events.last().expect("an event");
        assert_eq!(end["event"], "run_ended");
        (end["outcome"].as_str().expect("a name"), end["message"].as_str())
    }
}

/// The JSON value of a line, which may nest deeper than `serde_json` lets it by default.
fn parse(line: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer).expect("JSON")
}

/// Reads a trace strictly and checks that it can be true.
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
