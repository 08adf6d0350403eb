//! Traces many times as long as the memory that the command may have.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::io;
use std::process::{Command, Stdio};
use std::thread;

use cove_trace::ValueCapture;

use crate::harness::Run;
use crate::known_run::record;

/// Two gigabytes under 200 megabytes, and without optimization, which takes its time, a part of both.
const SHARE: u64 = if cfg!(debug_assertions) { 48 } else { 1 };
const STREAM: u64 = 2 * 1024 * 1024 * 1024 / SHARE;
const MEMORY: u64 = 200 * 1024 * 1024 / if cfg!(debug_assertions) { 10 } else { 1 };

/// Runs the command on what `write` writes into its standard input, with so many bytes of address space. Its output is counted.
fn run_within(
    memory: u64,
    args: &[&str],
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
) -> (Run, u64) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v \"$0\" && exec \"$@\""]).arg((memory / 1024).to_string());
    shell.arg(env!("CARGO_BIN_EXE_cove-trace")).args(args);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || write(&mut stdin));
    let mut stdout = child.stdout.take().unwrap();
    let counter = thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
    let run = Run::from(child.wait_with_output().unwrap());
    writer.join().unwrap().unwrap();
    (run, counter.join().unwrap().unwrap())
}

const CALL: &str = r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":1500,"granted":true,"args":[{"type":"string","value":"hello \u65e5"},{"type":"array","items":[{"type":"int","value":-3}]}],"outcome":{"kind":"value","value":{"type":"unit"}}}
"#;

fn write_calls(out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(&record(ValueCapture::Full, &[]))?;
    let many = CALL.repeat(1_000);
    (0..STREAM / many.len() as u64).try_for_each(|_| out.write_all(many.as_bytes()))?;
    out.write_all(b"{\"event\":\"run_ended\",\"outcome\":\"success\",\"message\":null}\n")
}

#[test]
fn a_stream_many_times_as_long_as_the_memory_there_is() {
    for args in [&["summary", "-"][..], &["timeline", "-"], &["redact", "-"]] {
        let (run, given) = run_within(MEMORY, args, write_calls);
        run.assert_clean();
        let is_short = args[0] == "summary";
        assert_eq!(is_short, given < STREAM / 10, "{args:?}: {given} bytes");
    }
}

/// What must be kept is kept for each task that is open, and nothing else.
#[test]
fn many_open_tasks() {
    const TASKS: u64 = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };
    /// The process itself, and a table that is twice there while it grows.
    const MEMORY: u64 = 32 * 1024 * 1024 + 200 * TASKS;
    for args in [&["summary", "-"][..], &["check", "-"]] {
        let (run, given) = run_within(MEMORY, args, |out| {
            out.write_all(&record(ValueCapture::Full, &[]))?;
            let mut lines = String::new();
            for id in 1..=TASKS {
                writeln!(lines, r#"{{"event":"task_spawned","id":{id},"parent":null,"scope":"s"}}"#).unwrap();
                if id % 1_000 == 0 {
                    out.write_all(lines.as_bytes())?;
                    lines.clear();
                }
            }
            out.write_all(b"{\"event\":\"run_ended\",\"outcome\":\"success\",\"message\":null}\n")
        });
        run.assert_clean();
        assert!(given > 0 && given < 10_000, "{args:?}: {given} bytes");
    }
}

/// The limit works: what is asked to keep all of a trace can't, within as much memory.
#[test]
fn what_keeps_a_trace_does_not_fit() {
    let (run, _) = run_within(MEMORY, &["timeline", "--tail", "1000000000", "-"], |out| {
        // Whoever reads it may be gone.
        let _ = write_calls(out);
        Ok(())
    });
    assert_ne!(run.code, Some(0));
    assert!(run.stderr.contains("memory"), "{}", run.stderr);
}
