//! A file, which several threads read, and the same as a stream, which one does.

use std::fmt::Write as _;

use crate::harness::{run_on, run_on_stdin};

/// A trace of several megabytes with faults and findings all over it.
fn long_trace() -> String {
    let mut trace =
        String::from(r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#);
    trace.push('\n');
    for number in 0..60_000 {
        let (task, op, wait, granted) = (number % 700, number % 7, number * 7919 % 60_000, number % 1000 != 999);
        writeln!(
            trace,
            r#"{{"event":"host_call","task":{task},"module":"m","op":"op{op}","capability":"c","wait_ns":{wait},"granted":{granted},"args":[],"outcome":null}}"#
        )
        .unwrap();
        match number % 501 {
            0 => writeln!(trace, r#"{{"event":"task_spawned","id":{task},"parent":0,"scope":"s"}}"#).unwrap(),
            100 => writeln!(trace, "hello {number}").unwrap(),
            200 => writeln!(trace, r#"{{"event":"task_completed","id":{task},"cpu_ns":5}}"#).unwrap(),
            _ => {}
        }
    }
    trace += r#"{"event":"run_en"#;
    trace
}

#[test]
fn a_file_and_a_stream_give_the_same_to_the_byte() {
    let trace = long_trace();
    for args in [&["summary"][..], &["summary", "--json"], &["check"], &["check", "--partial"]] {
        let (file, stream) = (run_on(&trace, args), run_on_stdin(&trace, args));
        assert_eq!((file.code, stream.code), (Some(1), Some(1)));
        let renamed = |text: &str| text.replace("run.jsonl", "-");
        assert!(renamed(&file.stderr) == stream.stderr, "{args:?}: standard error");
        assert!(stream.stderr.lines().count() > 100, "{args:?}: {}", stream.stderr);
        if !args.contains(&"summary") || args.contains(&"--json") {
            assert_eq!(renamed(&file.stdout), stream.stdout, "{args:?}");
        } else {
            // The first line is aligned to the name.
            assert_eq!(
                file.stdout.lines().skip(2).collect::<Vec<_>>(),
                stream.stdout.lines().skip(2).collect::<Vec<_>>()
            );
        }
    }
}
