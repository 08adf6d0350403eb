//! Traces of the kinds that a person is handed: two that the examples recorded, and some that stand for a situation.

use std::time::Duration;

use cove_trace::{CallSite, HostCall, HostOutcome, RecordedValue, RunOutcome, TraceEvent, ValueCapture};

use crate::known_run::{PRINT, READ, SUCCESS, call, known_run, record, refused};

/// Each of them with its name.
pub(crate) fn all() -> [(&'static str, Vec<u8>); 6] {
    [
        ("access_log", include_bytes!("traces/access_log.jsonl").to_vec()),
        ("backup", include_bytes!("traces/backup.jsonl").to_vec()),
        ("torn", torn()),
        ("refused", run_that_was_refused()),
        ("error", run_that_failed()),
        ("twelve_tasks", twelve_tasks()),
    ]
}

/// A run that was killed while it wrote its fourth event.
pub(crate) fn torn() -> Vec<u8> {
    let mut trace = known_run(ValueCapture::Full);
    let fifth_line = trace.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(3).map(|(at, _)| at + 1).unwrap();
    trace.truncate(fifth_line + 300);
    trace
}

/// A run that asks for what it was not granted, and ends there.
pub(crate) fn run_that_was_refused() -> Vec<u8> {
    let path = [RecordedValue::String("/etc/passwd")];
    let events = [
        TraceEvent::EntryEnter { module: "main", function: "run" },
        refused(call(READ, 0, &path, None)),
        refused(call(CallSite::new("http", "get", "net.connect"), 0, &path, None)),
        refused(call(READ, 0, &path, None)),
        call(PRINT, 1_500, &[], Some(HostOutcome::Value(RecordedValue::Unit))),
        TraceEvent::RunEnded { outcome: RunOutcome::HostBoundary, message: Some("documents.read is not granted") },
    ];
    record(ValueCapture::Full, &entry_calls(&events))
}

/// A run whose host gives an error, which the program passes on.
pub(crate) fn run_that_failed() -> Vec<u8> {
    let path = [RecordedValue::String("notes.txt")];
    let events = [
        TraceEvent::EntryEnter { module: "main", function: "run" },
        call(READ, 2_000_000, &path, Some(HostOutcome::Value(RecordedValue::String("first\nsecond")))),
        call(READ, 7_000_000, &path, Some(HostOutcome::Error("notes.txt: no such file\nforged row"))),
        call(CallSite::new("process", "exit", "process.exit"), 10, &[], Some(HostOutcome::NotRecordable)),
        call(PRINT, 0, &path, None),
        TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("could not read notes.txt") },
    ];
    record(ValueCapture::Full, &entry_calls(&events))
}

/// The same events, each call made by the entry.
fn entry_calls<'a>(events: &[TraceEvent<'a>]) -> Vec<TraceEvent<'a>> {
    let by_entry = |event: &TraceEvent<'a>| match *event {
        TraceEvent::HostCall(call) => TraceEvent::HostCall(HostCall { task: cove_trace::ENTRY_TASK, ..call }),
        other => other,
    };
    events.iter().map(by_entry).collect()
}

/// A run of twelve tasks: all are spawned, each reads and prints, every fourth is cancelled and the others complete.
pub(crate) fn twelve_tasks() -> Vec<u8> {
    let path = [RecordedValue::String("日本語.txt")];
    let mut events = Vec::new();
    for id in 1..=12 {
        events.push(TraceEvent::TaskSpawned { id, parent: Some(id.saturating_sub(6)), scope: "workers" });
    }
    for (site, wait) in [(READ, 1_000_000), (PRINT, 3_000)] {
        for task in 1..=12 {
            let outcome = Some(HostOutcome::Value(RecordedValue::Int(task as i64)));
            let wait = Duration::from_nanos(wait * task);
            events.push(TraceEvent::HostCall(HostCall { task, site, wait, granted: true, args: &path, outcome }));
        }
    }
    for id in 1..=12 {
        let cpu = Duration::from_micros(id);
        events.push(if id % 4 == 0 { TraceEvent::TaskCancelled { id } } else { TraceEvent::TaskCompleted { id, cpu } });
    }
    events.push(SUCCESS);
    record(ValueCapture::Full, &events)
}
