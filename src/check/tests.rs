use super::*;
use crate::event::{CallSite, HostCall, HostOutcome};
use crate::names::{RecordingBackend, RunOutcome};
use crate::value::{RecordedOpaque, RecordedValue};
use std::time::Duration;

const END: TraceEvent<'_> = TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None };
const ENTER: TraceEvent<'_> = TraceEvent::EntryEnter { module: "main", function: "run" };
const EXIT: TraceEvent<'_> =
    TraceEvent::EntryExit { module: "main", function: "run", cpu: Duration::ZERO, wait: Duration::ZERO };

fn spawn(id: u64, parent: Option<u64>) -> TraceEvent<'static> {
    TraceEvent::TaskSpawned { id, parent, scope: "main" }
}

fn complete(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCompleted { id, cpu: Duration::ZERO }
}

fn cancel(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCancelled { id }
}

fn call<'a>(
    task: u64,
    granted: bool,
    args: &'a [RecordedValue<'a>],
    outcome: Option<HostOutcome<'a>>,
) -> TraceEvent<'a> {
    let site = CallSite::new("documents", "read", "documents.read");
    TraceEvent::HostCall(HostCall { task, site, wait: Duration::ZERO, granted, args, outcome })
}

fn plain_call(task: u64) -> TraceEvent<'static> {
    call(task, true, &[], Some(HostOutcome::Value(RecordedValue::Unit)))
}

fn header(values: ValueCapture, args: &[&str]) -> TraceHeader {
    TraceHeader::new(RecordingBackend::Ast, values, "main.cove").with_args(args)
}

/// What a checker says about a trace: a header on line 1, the events from line 2 on.
fn findings_of(checker: Checker, header: &TraceHeader, events: &[TraceEvent<'_>]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut checker = checker;
    let mut report =
        |finding: Finding| findings.push(format!("{}: {}: {}", finding.line, finding.severity, finding.message));
    checker.header(1, header, &mut report);
    for (event, line) in events.iter().zip(2..) {
        checker.event(line, event, &mut report);
    }
    checker.finish(&mut report);
    findings
}

fn in_whole(events: &[TraceEvent<'_>]) -> Vec<String> {
    findings_of(Checker::new(), &header(ValueCapture::Full, &["secret"]), &[events, &[END]].concat())
}

fn in_partial(events: &[TraceEvent<'_>]) -> Vec<String> {
    findings_of(Checker::new().partial(true), &header(ValueCapture::Full, &[]), &[events, &[END]].concat())
}

fn in_redacted(args: &[&str], events: &[TraceEvent<'_>]) -> Vec<String> {
    findings_of(Checker::new(), &header(ValueCapture::Redacted, args), events)
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_run_that_can_have_happened_has_no_findings() {
    let events = [
        ENTER,
        spawn(1, None),
        spawn(2, Some(0)),
        spawn(3, Some(2)),
        plain_call(0),
        plain_call(3),
        call(3, false, &[], None),
        call(3, true, &[], None),
        call(3, true, &[], Some(HostOutcome::NotRecordable)),
        cancel(3),
        // A call that was in flight when its task was cancelled.
        plain_call(3),
        complete(2),
        // A task may outlive the one that spawned it, and be spawned by one that ended.
        spawn(9, Some(2)),
        cancel(9),
        complete(1),
        TraceEvent::HeapSummary(crate::HeapSummary::default()),
        ENTER,
        EXIT,
        EXIT,
    ];
    assert_eq!(in_whole(&events), NOTHING);
    assert_eq!(in_partial(&events), NOTHING);
}

#[test]
fn an_end_without_a_spawn() {
    assert_eq!(in_whole(&[complete(3)]), ["2: error: task 3 completes, but was never spawned"]);
    assert_eq!(in_whole(&[cancel(3)]), ["2: error: task 3 is cancelled, but was never spawned"]);
    assert_eq!(in_partial(&[complete(3), cancel(4)]), NOTHING);
}

#[test]
fn two_ends() {
    let twice = ["4: error: task 3 is cancelled, but it already completed on line 3"];
    assert_eq!(in_whole(&[spawn(3, None), complete(3), cancel(3)]), twice);
    assert_eq!(in_partial(&[spawn(3, None), complete(3), cancel(3)]), twice);
    let after_cut = ["3: error: task 3 completes, but it already was cancelled on line 2"];
    assert_eq!(in_partial(&[cancel(3), complete(3)]), after_cut);
}

#[test]
fn the_entry_is_neither_spawned_nor_ended() {
    let found = [
        "2: error: task 0 is spawned, but that is the entry's id",
        "3: error: task 0 completes, but that is the entry, which is no spawned task",
        "4: error: task 0 is cancelled, but that is the entry, which is no spawned task",
    ];
    let events = [spawn(0, None), complete(0), cancel(0), plain_call(0)];
    assert_eq!(in_whole(&events), found);
    assert_eq!(in_partial(&events), found);
}

#[test]
fn an_id_that_was_seen_before() {
    for (before, how) in [(spawn(7, None), "was spawned"), (complete(7), "completed"), (cancel(7), "was cancelled")] {
        let again = [format!("3: error: task 7 is spawned, but it already {how} on line 2")];
        assert_eq!(in_partial(&[before, spawn(7, None)]), again);
    }
    let referred = ["3: error: task 7 is spawned, but it already was referred to on line 2"];
    assert_eq!(in_partial(&[plain_call(7), spawn(7, None)]), referred);
    assert_eq!(in_partial(&[spawn(8, Some(7)), spawn(7, None)]), referred);
}

#[test]
fn a_parent_that_was_never_spawned() {
    let orphan = ["2: error: task 4 is spawned by task 9, which was never spawned"];
    assert_eq!(in_whole(&[spawn(4, Some(9))]), orphan);
    assert_eq!(in_partial(&[spawn(4, Some(9))]), NOTHING);
    let own_parent = in_whole(&[spawn(4, Some(4))]);
    assert_eq!(own_parent[0], "2: error: task 4 is spawned by task 4, which was never spawned");
}

#[test]
fn a_call_by_a_task_that_was_never_spawned_is_reported_once() {
    let events = [plain_call(5), plain_call(5), plain_call(6)];
    let found = [
        "2: error: task 5 calls documents.read, but was never spawned",
        "4: error: task 6 calls documents.read, but was never spawned",
    ];
    assert_eq!(in_whole(&events), found);
    assert_eq!(in_partial(&events), NOTHING);
}

#[test]
fn a_call_after_the_task_completed() {
    let found = ["4: error: task 5 calls documents.read, but it already completed on line 3"];
    assert_eq!(in_whole(&[spawn(5, None), complete(5), plain_call(5)]), found);
    let found = in_partial(&[complete(5), cancel(5), plain_call(5)]);
    assert_eq!(found[1], "4: error: task 5 calls documents.read, but it already completed on line 2");
}

#[test]
fn an_exit_without_its_entry() {
    let found = ["4: error: entry_exit of main.run without its entry_enter"];
    assert_eq!(in_whole(&[ENTER, EXIT, EXIT]), found);
    let other = TraceEvent::EntryEnter { module: "main", function: "other" };
    assert_eq!(in_whole(&[other, EXIT]), ["3: error: entry_exit of main.run without its entry_enter"]);
    assert_eq!(in_partial(&[EXIT]), NOTHING);
}

#[test]
fn an_outcome_without_a_grant() {
    let found = ["2: error: documents.read was not granted, but the call has an outcome"];
    for outcome in [HostOutcome::Value(RecordedValue::Unit), HostOutcome::Error("no"), HostOutcome::NotRecordable] {
        assert_eq!(in_whole(&[call(0, false, &[], Some(outcome))]), found);
        assert_eq!(in_partial(&[call(0, false, &[], Some(outcome))]), found);
    }
}

#[test]
fn anything_after_the_end() {
    let found =
        ["3: error: host_call after the run ended on line 2", "4: error: run_ended after the run ended on line 2"];
    assert_eq!(in_whole(&[END, plain_call(0)]), found);
    assert_eq!(in_partial(&[END, plain_call(0)]), found);
}

#[test]
fn values_in_a_redacted_trace() {
    let redacted = RecordedValue::Redacted { of: "String" };
    let value = RecordedValue::String("secret");
    let opaque = RecordedValue::Opaque(&RecordedOpaque { of: "Closure", shown: "secret" });
    let of_error = TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("secret") };
    let found = in_redacted(
        &["<redacted>", "secret"],
        &[
            call(0, true, &[redacted, value, opaque], Some(HostOutcome::Value(redacted))),
            call(0, true, &[], Some(HostOutcome::Value(value))),
            of_error,
        ],
    );
    let expected = [
        "1: error: the trace is redacted, but args[1] of its header is not",
        "2: error: the trace is redacted, but args[1] of documents.read is not",
        "2: error: the trace is redacted, but args[2] of documents.read is not",
        "3: error: the trace is redacted, but the result of documents.read is not",
        "4: error: the trace is redacted, but the program's message about its error is not",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_a_redacted_trace_keeps() {
    let redacted = [RecordedValue::Redacted { of: "String" }];
    let events = [
        call(0, true, &redacted, Some(HostOutcome::Value(redacted[0]))),
        call(0, true, &[], Some(HostOutcome::Error("no such file"))),
        call(0, true, &[], Some(HostOutcome::NotRecordable)),
    ];
    for end in [END, TraceEvent::RunEnded { outcome: RunOutcome::Invariant, message: Some("division by zero") }] {
        assert_eq!(in_redacted(&["<redacted>"], &[&events[..], &[end]].concat()), NOTHING);
    }
}

#[test]
fn a_missing_end_is_a_warning_on_the_last_line() {
    let found = ["2: warning: no run_ended: the run is still going, or was killed"];
    assert_eq!(findings_of(Checker::new(), &header(ValueCapture::Full, &[]), &[ENTER]), found);
    assert_eq!(findings_of(Checker::new().partial(true), &header(ValueCapture::Full, &[]), &[ENTER]), found);
    let header_only = findings_of(Checker::new(), &header(ValueCapture::Full, &[]), &[]);
    assert_eq!(header_only, ["1: warning: no run_ended: the run is still going, or was killed"]);
}

#[test]
fn nothing_read_is_nothing_said() {
    Checker::new().finish(&mut |finding| panic!("{finding:?}"));
}

#[test]
fn events_without_a_header_are_checked_all_the_same() {
    let mut findings = Vec::new();
    Checker::new().event(1, &complete(3), &mut |finding| findings.push(finding));
    assert_eq!(findings.len(), 1);
}
