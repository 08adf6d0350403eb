//! A run whose every figure is known, recorded through the sink.

use std::time::Duration;

use cove_trace::{
    CallSite, HeapSummary, HostCall, HostOutcome, JsonlSink, RecordedEnum, RecordedField, RecordedOpaque,
    RecordedResource, RecordedStruct, RecordedValue, RecordingBackend, RunOutcome, TraceEvent, TraceHeader, TraceSink,
    ValueCapture,
};
use serde_json::{Value, json};

pub(crate) const READ: CallSite<'_> = CallSite::new("documents", "read", "documents.read");
pub(crate) const PRINT: CallSite<'_> = CallSite::new("console", "print", "console.write");
pub(crate) const SUCCESS: TraceEvent<'_> = TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None };

/// Text with what a writer has to escape, what it must not, and what harms a terminal.
pub(crate) const NASTY: &str = "\"\\/\n\r\t\u{0}\u{1b}[31m\u{7f}\u{9b}\u{202e}\u{2028}é日本🚀";

/// What a sink writes of these events.
pub(crate) fn record(capture: ValueCapture, events: &[TraceEvent<'_>]) -> Vec<u8> {
    let header = TraceHeader::new(RecordingBackend::Vm, capture, "main.cove").with_args(["--fast", NASTY]);
    let sink = JsonlSink::new(Vec::new(), &header).unwrap();
    events.iter().for_each(|event| sink.record(event));
    let finished = sink.finish();
    assert_eq!(finished.dropped, 0);
    finished.writer
}

pub(crate) fn call<'a>(
    site: CallSite<'a>,
    wait_ns: u64,
    args: &'a [RecordedValue<'a>],
    outcome: Option<HostOutcome<'a>>,
) -> TraceEvent<'a> {
    let wait = Duration::from_nanos(wait_ns);
    TraceEvent::HostCall(HostCall { task: 1, site, wait, granted: true, args, outcome })
}

/// The same call, refused.
pub(crate) fn refused(event: TraceEvent<'_>) -> TraceEvent<'_> {
    match event {
        TraceEvent::HostCall(call) => TraceEvent::HostCall(HostCall { granted: false, outcome: None, ..call }),
        other => other,
    }
}

/// A run with every kind of event and every shape of value, which nothing is wrong with.
pub(crate) fn known_run(capture: ValueCapture) -> Vec<u8> {
    let int = RecordedValue::Int(i64::MIN);
    let leaves = [
        RecordedValue::Unit,
        RecordedValue::Bool(true),
        int,
        RecordedValue::Float(-0.0),
        RecordedValue::Float(1.5e-7),
        RecordedValue::Float(1e16),
        RecordedValue::Float(f64::NAN),
        RecordedValue::Duration { ns: -5 },
        RecordedValue::String(NASTY),
        RecordedValue::Resource(&RecordedResource { name: "File", id: -1 }),
        RecordedValue::Redacted { of: "Token" },
        RecordedValue::Opaque(&RecordedOpaque { of: "Closure", shown: "|x| x" }),
    ];
    let fields = [
        RecordedField { name: NASTY, value: RecordedValue::Array(&leaves) },
        RecordedField { name: "", value: RecordedValue::Array(&[]) },
    ];
    let structure = RecordedStruct { name: "Point", fields: &fields };
    let payload = [RecordedValue::Struct(&structure)];
    let case = RecordedEnum { name: "Option", case: "Some", payload: &payload };
    let args = [RecordedValue::Enum(&case), int];
    let text = [RecordedValue::String("notes.txt")];
    let done = Some(HostOutcome::Value(RecordedValue::Array(&leaves)));
    let collected = |task, allocated, freed, pause| TraceEvent::HeapCollected {
        task,
        allocated,
        freed,
        live_objects: 3,
        live_bytes: 4,
        pause: Duration::from_nanos(pause),
    };
    let mut events = vec![
        TraceEvent::EntryEnter { module: "main", function: "run" },
        TraceEvent::TaskSpawned { id: 1, parent: None, scope: "main" },
        TraceEvent::TaskSpawned { id: u64::MAX, parent: Some(1), scope: NASTY },
        call(READ, 30, &args, done),
        call(READ, 70, &text, Some(HostOutcome::Error("no such file"))),
        refused(call(READ, 0, &text, None)),
        call(CallSite::new("process", "exit", "process.exit"), 1, &[], Some(HostOutcome::NotRecordable)),
        collected(1, 10, 4, 7),
        collected(0, 20, 5, 8),
    ];
    // 100 waits of 1 to 100 µs.
    events.extend((1..=100).map(|wait| call(PRINT, wait * 1000, &text, done)));
    events.extend([
        TraceEvent::TaskCancelled { id: u64::MAX },
        TraceEvent::TaskCompleted { id: 1, cpu: Duration::from_nanos(1 << 60) },
        TraceEvent::EntryExit {
            module: "main",
            function: "run",
            cpu: Duration::from_nanos(11),
            wait: Duration::from_nanos(12),
        },
        TraceEvent::HeapSummary(HeapSummary {
            collections: 2,
            live_bytes: Some(4),
            pause: Some(Duration::from_nanos(15)),
            ..HeapSummary::default()
        }),
        TraceEvent::RunEnded { outcome: RunOutcome::Fuel, message: Some("out of fuel") },
    ]);
    record(capture, &events)
}

/// How many events that run has.
pub(crate) const KNOWN_EVENTS: u64 = 9 + 100 + 5;

/// The known run's figures, but for the quantiles over the hundred calls, which are rounded.
pub(crate) fn known_figures(file: &str, bytes: usize) -> Value {
    json!({
        "file": file, "lines": KNOWN_EVENTS + 1, "events": KNOWN_EVENTS, "bytes": bytes, "truncated_bytes": 0, "errors": 0,
        "header": {"version": 4, "backend": "vm", "values": "full", "entry": "main.cove", "args": ["--fast", NASTY]},
        "tasks": {"spawned": 2, "completed": 1, "cancelled": 1, "cpu_ns": 1u64 << 60},
        "calls": {"granted": 103, "refused": 1, "failed": 1, "not_recordable": 1, "wait_ns": 5_050_101},
        "capabilities": [
            {"capability": "console.write", "granted": 100, "refused": 0, "failed": 0, "wait_ns": 5_050_000},
            {"capability": "documents.read", "granted": 2, "refused": 1, "failed": 1, "wait_ns": 100},
            {"capability": "process.exit", "granted": 1, "refused": 0, "failed": 0, "wait_ns": 1},
        ],
        "quantile_error_percent": 1,
        "operations": [
            {"module": "console", "op": "print", "capability": "console.write", "granted": 100, "refused": 0, "failed": 0,
             "wait_ns": 5_050_000, "wait_p50_ns": null, "wait_p99_ns": null, "wait_max_ns": 100_000},
            {"module": "documents", "op": "read", "capability": "documents.read", "granted": 2, "refused": 1, "failed": 1,
             "wait_ns": 100, "wait_p50_ns": 30, "wait_p99_ns": 70, "wait_max_ns": 70},
            {"module": "process", "op": "exit", "capability": "process.exit", "granted": 1, "refused": 0, "failed": 0,
             "wait_ns": 1, "wait_p50_ns": 1, "wait_p99_ns": 1, "wait_max_ns": 1},
        ],
        "refusals": [
            {"module": "documents", "op": "read", "capability": "documents.read", "refused": 1, "first_line": 7},
        ],
        "slowest_calls": (0..10).map(|n| {
            json!({"line": 110 - n, "task": 1, "module": "console", "op": "print", "wait_ns": (100 - n) * 1000})
        }).collect::<Vec<_>>(),
        "by_task": [
            {"task": 0, "granted": 0, "refused": 0, "failed": 0, "wait_ns": 0, "cpu_ns": 11, "end": "completed"},
            {"task": 1, "granted": 103, "refused": 1, "failed": 1, "wait_ns": 5_050_101, "cpu_ns": 1u64 << 60,
             "end": "completed"},
            {"task": u64::MAX, "granted": 0, "refused": 0, "failed": 0, "wait_ns": 0, "cpu_ns": null, "end": "cancelled"},
        ],
        "entries": [{"module": "main", "function": "run", "cpu_ns": 11, "wait_ns": 12}],
        "collections": {"count": 2, "allocated": 30, "freed": 9, "pause_ns": 15},
        "heap": {"collections": 2, "object_count": null, "allocated_bytes": null, "live_bytes": 4, "peak_bytes": null,
                 "pause_ns": 15, "allocated_words": null, "capacity_words": null, "live_words": null},
        "outcome": {"name": "fuel", "message": "out of fuel"},
    })
}
