//! Valid lines of every kind, in the canonical spelling, each beside what it means.

use std::time::Duration;

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::{HeapSummary, RecordingBackend, RunOutcome, TraceHeader, ValueCapture};

pub(crate) const HEADER: &str =
    r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main.cove","args":[]}"#;

/// A line that the tests use where any will do.
pub(crate) const CANCELLED: &str = r#"{"event":"task_cancelled","id":7}"#;

pub(crate) fn headers() -> Vec<(&'static str, TraceHeader)> {
    vec![
        (HEADER, TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")),
        (
            r#"{"event":"trace_header","version":4,"backend":"ast","values":"redacted","entry":"a\"\\é","args":["<redacted>","","\n\u001f😀"]}"#,
            TraceHeader::new(RecordingBackend::Ast, ValueCapture::Redacted, "a\"\\é").with_args([
                "<redacted>",
                "",
                "\n\u{1f}😀",
            ]),
        ),
    ]
}

/// Every value shape, scalars with their extremes.
pub(crate) fn values() -> Vec<(&'static str, OwnedValue)> {
    let name = || "Né".to_owned();
    vec![
        (r#"{"type":"unit"}"#, OwnedValue::Unit),
        (r#"{"type":"bool","value":true}"#, OwnedValue::Bool(true)),
        (r#"{"type":"bool","value":false}"#, OwnedValue::Bool(false)),
        (r#"{"type":"int","value":0}"#, OwnedValue::Int(0)),
        (r#"{"type":"int","value":9223372036854775807}"#, OwnedValue::Int(i64::MAX)),
        (r#"{"type":"int","value":-9223372036854775808}"#, OwnedValue::Int(i64::MIN)),
        (r#"{"type":"float","value":1.5}"#, OwnedValue::Float(1.5)),
        (r#"{"type":"float","value":-0.0}"#, OwnedValue::Float(-0.0)),
        (r#"{"type":"float","value":5e-324}"#, OwnedValue::Float(5e-324)),
        (r#"{"type":"float","value":-1.7976931348623157e308}"#, OwnedValue::Float(f64::MIN)),
        (r#"{"type":"float","value":9007199254740992.0}"#, OwnedValue::Float(9_007_199_254_740_992.0)),
        (r#"{"type":"duration","ns":-1}"#, OwnedValue::Duration { ns: -1 }),
        (r#"{"type":"duration","ns":9223372036854775807}"#, OwnedValue::Duration { ns: i64::MAX }),
        (r#"{"type":"string","value":""}"#, OwnedValue::String(String::new())),
        (
            r#"{"type":"string","value":"a\"b\\c\n\r\t\u0000\u001f/é€😀\u007f"}"#,
            OwnedValue::String("a\"b\\c\n\r\t\0\u{1f}/é€😀\u{7f}".into()),
        ),
        (r#"{"type":"array","items":[]}"#, OwnedValue::Array(vec![])),
        (
            r#"{"type":"array","items":[{"type":"int","value":-1},{"type":"array","items":[{"type":"unit"}]},{"type":"float","value":1e16}]}"#,
            OwnedValue::Array(vec![
                OwnedValue::Int(-1),
                OwnedValue::Array(vec![OwnedValue::Unit]),
                OwnedValue::Float(1e16),
            ]),
        ),
        (
            r#"{"type":"enum","name":"Né","case":"None","payload":[]}"#,
            OwnedValue::Enum { name: name(), case: "None".into(), payload: vec![] },
        ),
        (
            r#"{"type":"enum","name":"Né","case":"So\tme","payload":[{"type":"bool","value":true},{"type":"string","value":"x"}]}"#,
            OwnedValue::Enum {
                name: name(),
                case: "So\tme".into(),
                payload: vec![OwnedValue::Bool(true), OwnedValue::String("x".into())],
            },
        ),
        (r#"{"type":"struct","name":"Né","fields":[]}"#, OwnedValue::Struct { name: name(), fields: vec![] }),
        (
            r#"{"type":"struct","name":"Né","fields":[{"name":"x","value":{"type":"duration","ns":3}},{"name":"x","value":{"type":"struct","name":"","fields":[{"name":"\"","value":{"type":"unit"}}]}}]}"#,
            OwnedValue::Struct {
                name: name(),
                fields: vec![
                    ("x".into(), OwnedValue::Duration { ns: 3 }),
                    (
                        "x".into(),
                        OwnedValue::Struct { name: String::new(), fields: vec![("\"".into(), OwnedValue::Unit)] },
                    ),
                ],
            },
        ),
        (r#"{"type":"resource","name":"Né","id":-3}"#, OwnedValue::Resource { name: name(), id: -3 }),
        (r#"{"type":"redacted","of":"Né"}"#, OwnedValue::Redacted { of: name() }),
        (r#"{"type":"opaque","of":"Né","shown":"|x|\n"}"#, OwnedValue::Opaque { of: name(), shown: "|x|\n".into() }),
    ]
}

/// Every kind of event: its numbers at their limits, every outcome, every value shape in both places where one may stand.
pub(crate) fn events() -> Vec<(String, OwnedEvent)> {
    let ns = Duration::from_nanos;
    let simple = [
        (
            r#"{"event":"task_spawned","id":18446744073709551615,"parent":null,"scope":"main"}"#,
            OwnedEvent::TaskSpawned { id: u64::MAX, parent: None, scope: "main".into() },
        ),
        (
            r#"{"event":"task_spawned","id":2,"parent":1,"scope":"a\\\u000b\"€"}"#,
            OwnedEvent::TaskSpawned { id: 2, parent: Some(1), scope: "a\\\u{b}\"€".into() },
        ),
        (
            r#"{"event":"task_completed","id":2,"cpu_ns":18446744073709551615}"#,
            OwnedEvent::TaskCompleted { id: 2, cpu: ns(u64::MAX) },
        ),
        (CANCELLED, OwnedEvent::TaskCancelled { id: 7 }),
        (
            r#"{"event":"entry_enter","module":"m","function":"f\n"}"#,
            OwnedEvent::EntryEnter { module: "m".into(), function: "f\n".into() },
        ),
        (
            r#"{"event":"entry_exit","module":"","function":"f","cpu_ns":0,"wait_ns":12}"#,
            OwnedEvent::EntryExit { module: String::new(), function: "f".into(), cpu: ns(0), wait: ns(12) },
        ),
        (
            r#"{"event":"heap_collected","task":0,"allocated":1,"freed":2,"live_objects":3,"live_bytes":4,"pause_ns":5}"#,
            OwnedEvent::HeapCollected { task: 0, allocated: 1, freed: 2, live_objects: 3, live_bytes: 4, pause: ns(5) },
        ),
        (
            r#"{"event":"heap_summary","collections":1,"object_count":2,"allocated_bytes":3,"live_bytes":4,"peak_bytes":5,"pause_ns":6,"allocated_words":7,"capacity_words":8,"live_words":9}"#,
            OwnedEvent::HeapSummary(HeapSummary {
                collections: 1,
                object_count: Some(2),
                allocated_bytes: Some(3),
                live_bytes: Some(4),
                peak_bytes: Some(5),
                pause: Some(ns(6)),
                allocated_words: Some(7),
                capacity_words: Some(8),
                live_words: Some(9),
            }),
        ),
        (
            r#"{"event":"heap_summary","collections":0,"object_count":null,"allocated_bytes":null,"live_bytes":null,"peak_bytes":null,"pause_ns":null,"allocated_words":null,"capacity_words":null,"live_words":null}"#,
            OwnedEvent::HeapSummary(HeapSummary::default()),
        ),
        (
            r#"{"event":"run_ended","outcome":"success","message":null}"#,
            OwnedEvent::RunEnded { outcome: RunOutcome::Success, message: None },
        ),
        (
            r#"{"event":"run_ended","outcome":"host_boundary","message":"not \"granted\"\t😀"}"#,
            OwnedEvent::RunEnded { outcome: RunOutcome::HostBoundary, message: Some("not \"granted\"\t😀".into()) },
        ),
        (
            r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":false,"args":[],"outcome":null}"#,
            call(false, vec![], None),
        ),
        (
            r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[{"type":"unit"}],"outcome":{"kind":"error","message":"no \\ such\nfile"}}"#,
            call(true, vec![OwnedValue::Unit], Some(OwnedOutcome::Error("no \\ such\nfile".into()))),
        ),
        (
            r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[],"outcome":{"kind":"not_recordable"}}"#,
            call(true, vec![], Some(OwnedOutcome::NotRecordable)),
        ),
    ];
    let mut events: Vec<_> = simple.into_iter().map(|(line, event)| (line.to_owned(), event)).collect();
    for (text, value) in values() {
        let line = format!(
            r#"{{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[{text},{text}],"outcome":{{"kind":"value","value":{text}}}}}"#
        );
        events.push((line, call(true, vec![value.clone(), value.clone()], Some(OwnedOutcome::Value(value)))));
    }
    events
}

fn call(granted: bool, args: Vec<OwnedValue>, outcome: Option<OwnedOutcome>) -> OwnedEvent {
    OwnedEvent::HostCall(OwnedHostCall {
        task: 0,
        module: "console".into(),
        op: "print".into(),
        capability: "console.write".into(),
        wait: Duration::from_nanos(5),
        granted,
        args,
        outcome,
    })
}

/// A trace of all the [`events`], behind a header.
pub(crate) fn trace() -> String {
    let mut trace = format!("{HEADER}\n");
    for (line, _) in events() {
        trace.push_str(&line);
        trace.push('\n');
    }
    trace
}
