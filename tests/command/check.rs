//! `cove-trace check`.

use std::time::Duration;

use cove_trace::{HostCall, HostOutcome, RecordedValue, TraceEvent, ValueCapture};

use crate::harness::{Place, run_on, run_on_stdin};
use crate::known_run::{READ, SUCCESS, known_run, record};

#[test]
fn a_run_that_nothing_is_wrong_with() {
    for capture in [ValueCapture::Full, ValueCapture::Redacted] {
        let trace = known_run(capture);
        let run = run_on(&trace, &["check"]);
        run.assert_clean();
        assert_eq!(run.stdout, "run.jsonl: 114 events on 115 lines, no findings\n");
        let run = run_on_stdin(&trace, &["check", "--partial"]);
        run.assert_clean();
        assert_eq!(run.stdout, "-: 114 events on 115 lines, no findings\n");
    }
}

fn spawn(id: u64, parent: Option<u64>) -> TraceEvent<'static> {
    TraceEvent::TaskSpawned { id, parent, scope: "main" }
}

fn complete(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCompleted { id, cpu: Duration::ZERO }
}

fn cancel(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCancelled { id }
}

fn call(task: u64, granted: bool, outcome: Option<HostOutcome<'_>>) -> TraceEvent<'_> {
    TraceEvent::HostCall(HostCall { task, site: READ, wait: Duration::ZERO, granted, args: &[], outcome })
}

const EXIT: TraceEvent<'_> =
    TraceEvent::EntryExit { module: "main", function: "run", cpu: Duration::ZERO, wait: Duration::ZERO };

const DONE: Option<HostOutcome<'_>> = Some(HostOutcome::Value(RecordedValue::Unit));

/// That a trace of these events, the first of them on line 2, has exactly this finding, and none if its beginning may be
/// missing and would explain it.
#[track_caller]
fn assert_finding(events: &[TraceEvent<'_>], finding: &str, explained_by_cut: bool) {
    let trace = record(ValueCapture::Full, &[events, &[SUCCESS]].concat());
    run_on(&trace, &["check"]).assert_said(1, &[&format!("run.jsonl:{finding}")]);
    let partial = run_on(&trace, &["check", "--partial"]);
    if explained_by_cut {
        partial.assert_clean();
    } else {
        partial.assert_said(1, &[&format!("run.jsonl:{finding}")]);
    }
}

#[test]
fn each_finding_on_its_line() {
    assert_finding(&[complete(3)], "2:1: error: task 3 completes, but was never spawned", true);
    assert_finding(&[cancel(3)], "2:1: error: task 3 is cancelled, but was never spawned", true);
    assert_finding(
        &[spawn(3, None), complete(3), complete(3)],
        "4:1: error: task 3 completes, but it already completed on line 3",
        false,
    );
    assert_finding(
        &[spawn(3, None), cancel(3), complete(3)],
        "4:1: error: task 3 completes, but it already was cancelled on line 3",
        false,
    );
    assert_finding(
        &[spawn(3, None), spawn(3, None)],
        "3:1: error: task 3 is spawned, but it already was spawned on line 2",
        false,
    );
    assert_finding(&[spawn(0, None)], "2:1: error: task 0 is spawned, but that is the entry's id", false);
    assert_finding(&[spawn(3, Some(9))], "2:1: error: task 3 is spawned by task 9, which was never spawned", true);
    assert_finding(&[call(3, true, DONE)], "2:1: error: task 3 calls documents.read, but was never spawned", true);
    assert_finding(
        &[spawn(3, None), complete(3), call(3, true, DONE)],
        "4:1: error: task 3 calls documents.read, but it already completed on line 3",
        false,
    );
    assert_finding(&[EXIT], "2:1: error: entry_exit of main.run without its entry_enter", true);
    assert_finding(
        &[call(0, false, DONE)],
        "2:1: error: documents.read was not granted, but the call has an outcome",
        false,
    );
}

#[test]
fn events_after_the_end() {
    let trace = record(ValueCapture::Full, &[SUCCESS, call(0, true, DONE)]);
    let run = run_on(&trace, &["check"]);
    run.assert_said(1, &["run.jsonl:3:1: error: host_call after the run ended on line 2"]);
    assert_eq!(run.stdout, "run.jsonl: 2 events on 3 lines, 1 finding\n");
}

#[test]
fn values_in_a_redacted_trace_are_found_and_not_repeated() {
    let trace = String::from_utf8(record(
        ValueCapture::Full,
        &[
            TraceEvent::HostCall(HostCall {
                task: 0,
                site: READ,
                wait: Duration::ZERO,
                granted: true,
                args: &[RecordedValue::Redacted { of: "String" }, RecordedValue::String("secret")],
                outcome: Some(HostOutcome::Value(RecordedValue::String("secret"))),
            }),
            TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Error, message: Some("secret") },
        ],
    ))
    .unwrap();
    let trace = trace.replacen("\"values\":\"full\"", "\"values\":\"redacted\"", 1).replacen("--fast", "<redacted>", 1);
    let run = run_on(&trace, &["check"]);
    run.assert_said(
        1,
        &[
            "run.jsonl:1:1: error: the trace is redacted, but args[1] of its header is not",
            "run.jsonl:2:1: error: the trace is redacted, but args[1] of documents.read is not",
            "run.jsonl:2:1: error: the trace is redacted, but the result of documents.read is not",
            "run.jsonl:3:1: error: the trace is redacted, but the program's message about its error is not",
        ],
    );
    assert_eq!(run.stdout, "run.jsonl: 2 events on 3 lines, 4 findings\n");
}

#[test]
fn a_run_without_an_end_is_a_warning() {
    let run = run_on(record(ValueCapture::Full, &[spawn(1, None)]), &["check"]);
    run.assert_said(0, &["run.jsonl:2:1: warning: no run_ended: the run is still going, or was killed"]);
    assert_eq!(run.stdout, "run.jsonl: 1 event on 2 lines, no findings, 1 warning\n");
}

#[test]
fn errors_of_the_reader_stand_beside_findings() {
    let trace = String::from_utf8(record(ValueCapture::Full, &[complete(3), SUCCESS])).unwrap();
    let trace = trace.replacen('\n', "\nnonsense\n", 1) + "{\"event\":";
    let run = run_on(&trace, &["check"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.stdout, "run.jsonl: 2 events on 5 lines, 1 unreadable line, a torn end, 1 finding\n");
    let places: Vec<&str> = run.stderr.lines().filter_map(|line| line.split(": error: ").next()).collect();
    assert_eq!(places, ["run.jsonl:2:1", "run.jsonl:3:1", "run.jsonl:5:10"], "{}", run.stderr);
}

#[test]
fn a_header_below_a_foreign_line_still_counts() {
    let trace = String::from_utf8(known_run(ValueCapture::Redacted)).unwrap();
    let clean = run_on(format!("hello\n{trace}"), &["check"]);
    assert_eq!(
        clean.stdout, "run.jsonl: 114 events on 116 lines, 1 unreadable line, no findings\n",
        "{}",
        clean.stderr
    );
    let leaking = trace.replacen("<redacted>", "secret", 1);
    let run = run_on(format!("hello\n{leaking}"), &["check"]);
    assert!(run.stderr.contains("run.jsonl:2:1: error: the trace is redacted, but args[0]"), "{}", run.stderr);
}

#[test]
fn each_file_is_checked_and_the_worst_decides() {
    let place = Place::new();
    place.write("good.jsonl", known_run(ValueCapture::Full));
    place.write("bad.jsonl", record(ValueCapture::Full, &[complete(3), SUCCESS]));
    let good_line = "good.jsonl: 114 events on 115 lines, no findings\n";
    let bad_line = "bad.jsonl: 2 events on 3 lines, 1 finding\n";

    let run = place.run(["check", "good.jsonl", "bad.jsonl", "good.jsonl"]);
    assert_eq!((run.code, run.stdout), (Some(1), format!("{good_line}{bad_line}{good_line}")));

    let run = place.run(["check", "missing.jsonl", "bad.jsonl", "good.jsonl"]);
    assert_eq!((run.code, run.stdout), (Some(2), format!("{bad_line}{good_line}")));
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
}

/// A fault of the source is no unreadable line.
#[test]
fn a_source_of_which_nothing_can_be_read_has_no_count_of_lines() {
    // Gzip data with a block of five bytes, cut off behind it.
    let cut = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\0\x05\0\xfa\xff{\"eve";
    let run = run_on_stdin(cut, &["check"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), "-: nothing could be read\n"), "{}", run.stderr);
}
