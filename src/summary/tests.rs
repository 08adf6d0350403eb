use super::*;
use crate::event::CallSite;
use crate::names::{RecordingBackend, RunOutcome, ValueCapture};
use crate::value::RecordedValue;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

fn call<'a>(
    (module, op, capability): (&'a str, &'a str, &'a str),
    wait: u64,
    granted: bool,
    outcome: Option<HostOutcome<'a>>,
) -> TraceEvent<'a> {
    TraceEvent::HostCall(HostCall {
        task: 0,
        site: CallSite::new(module, op, capability),
        wait: Duration::from_nanos(wait),
        granted,
        args: &[],
        outcome,
    })
}

fn of(events: &[TraceEvent<'_>]) -> Summary {
    let mut summary = Summary::default();
    events.iter().for_each(|event| summary.add(event));
    summary
}

const DONE: Option<HostOutcome<'_>> = Some(HostOutcome::Value(RecordedValue::Unit));
const READ: (&str, &str, &str) = ("documents", "read", "documents.read");
const LIST: (&str, &str, &str) = ("documents", "list", "documents.read");
const PRINT: (&str, &str, &str) = ("console", "print", "console.write");

fn a_run() -> Vec<TraceEvent<'static>> {
    vec![
        TraceEvent::EntryEnter { module: "main", function: "run" },
        TraceEvent::TaskSpawned { id: 1, parent: None, scope: "main" },
        TraceEvent::TaskSpawned { id: 2, parent: Some(1), scope: "main" },
        call(READ, 100, true, DONE),
        call(READ, 300, true, Some(HostOutcome::Error("no such file"))),
        call(LIST, 50, false, None),
        call(PRINT, 450, true, DONE),
        call(("process", "exit", "process"), 0, true, Some(HostOutcome::NotRecordable)),
        TraceEvent::HeapCollected {
            task: 1,
            allocated: u64::MAX,
            freed: 7,
            live_objects: 1,
            live_bytes: 2,
            pause: Duration::from_nanos(5),
        },
        TraceEvent::HeapCollected {
            task: 1,
            allocated: u64::MAX,
            freed: 8,
            live_objects: 1,
            live_bytes: 2,
            pause: Duration::from_nanos(6),
        },
        TraceEvent::TaskCompleted { id: 1, cpu: Duration::from_nanos(40) },
        TraceEvent::TaskCancelled { id: 2 },
        TraceEvent::EntryExit {
            module: "main",
            function: "run",
            cpu: Duration::from_nanos(70),
            wait: Duration::from_nanos(900),
        },
        TraceEvent::HeapSummary(HeapSummary {
            collections: 2,
            live_bytes: Some(2),
            pause: Some(Duration::from_nanos(11)),
            ..HeapSummary::default()
        }),
        TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("no such file") },
    ]
}

#[test]
fn the_serialized_form_has_these_keys_in_this_order() {
    let mut summary = of(&a_run());
    summary.file = "run.jsonl".to_owned();
    summary.lines = 16;
    summary.bytes = 1234;
    summary.header =
        Some(TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove").with_args(["a", "b c"]));
    let expected = concat!(
        r#"{"file":"run.jsonl","lines":16,"events":15,"bytes":1234,"torn_bytes":0,"errors":0,"#,
        r#""header":{"version":4,"backend":"vm","values":"full","entry":"main.cove","args":["a","b c"]},"#,
        r#""tasks":{"spawned":2,"completed":1,"cancelled":1,"cpu_ns":40},"#,
        r#""calls":{"granted":4,"refused":1,"failed":1,"not_recordable":1,"wait_ns":900},"#,
        r#""capabilities":["#,
        r#"{"capability":"console.write","granted":1,"refused":0,"failed":0,"wait_ns":450},"#,
        r#"{"capability":"documents.read","granted":2,"refused":1,"failed":1,"wait_ns":450},"#,
        r#"{"capability":"process","granted":1,"refused":0,"failed":0,"wait_ns":0}],"#,
        r#""operations":["#,
        r#"{"module":"console","op":"print","capability":"console.write","granted":1,"refused":0,"failed":0,"#,
        r#""wait_ns":450,"wait_p50_ns":450,"wait_p99_ns":450,"wait_max_ns":450},"#,
        r#"{"module":"documents","op":"read","capability":"documents.read","granted":2,"refused":0,"failed":1,"#,
        r#""wait_ns":400,"wait_p50_ns":100,"wait_p99_ns":300,"wait_max_ns":300},"#,
        r#"{"module":"documents","op":"list","capability":"documents.read","granted":0,"refused":1,"failed":0,"#,
        r#""wait_ns":50,"wait_p50_ns":50,"wait_p99_ns":50,"wait_max_ns":50},"#,
        r#"{"module":"process","op":"exit","capability":"process","granted":1,"refused":0,"failed":0,"#,
        r#""wait_ns":0,"wait_p50_ns":0,"wait_p99_ns":0,"wait_max_ns":0}],"#,
        r#""entries":[{"module":"main","function":"run","cpu_ns":70,"wait_ns":900}],"#,
        r#""collections":{"count":2,"allocated":36893488147419103230,"freed":15,"pause_ns":11},"#,
        r#""heap":{"collections":2,"object_count":null,"allocated_bytes":null,"live_bytes":2,"peak_bytes":null,"#,
        r#""pause_ns":11,"allocated_words":null,"capacity_words":null,"live_words":null},"#,
        r#""outcome":{"name":"error","message":"no such file"}}"#,
    );
    assert_eq!(serde_json::to_string(&summary).unwrap(), expected);
}

#[test]
fn what_a_trace_does_not_say_is_null() {
    let summary = serde_json::to_value(Summary::default()).unwrap();
    for key in ["header", "heap", "outcome"] {
        assert_eq!(summary[key], json!(null), "{key}");
    }
    for key in ["capabilities", "operations", "entries"] {
        assert_eq!(summary[key], json!([]), "{key}");
    }
}

#[test]
fn sums_and_maxima_are_exact_past_u64() {
    let wait = u64::MAX - 1;
    let summary = of(&[call(READ, wait, true, DONE), call(READ, u64::MAX, true, DONE), call(READ, 3, true, DONE)]);
    let sum = u128::from(wait) + u128::from(u64::MAX) + 3;
    assert_eq!(summary.calls.wait_ns, sum);
    let row = summary.operations()[0];
    assert_eq!((row.wait_ns, row.wait_max_ns), (sum, u64::MAX));
    assert!(row.wait_p99_ns >= wait && row.wait_p50_ns >= wait);
    assert!(serde_json::to_string(&summary).unwrap().contains(&format!("\"wait_ns\":{sum},")));
}

#[test]
fn a_duration_counts_as_a_trace_would_hold_it() {
    let summary = of(&[TraceEvent::TaskCompleted { id: 1, cpu: Duration::MAX }]);
    assert_eq!(summary.tasks.cpu_ns, u64::MAX.into());
}

#[test]
fn rows_are_sorted_by_wait_and_then_by_name() {
    let sites = [("b", "x", "c"), ("a", "y", "c"), ("a", "x", "d"), ("a", "x", "c"), ("z", "z", "z")];
    let mut events: Vec<_> = sites.iter().map(|site| call(*site, 10, true, DONE)).collect();
    events.push(call(sites[4], 1, true, DONE));
    let summary = of(&events);
    let rows = summary.operations();
    let order: Vec<_> = rows.iter().map(|row| (row.module, row.op, row.capability)).collect();
    assert_eq!(order, [("z", "z", "z"), ("a", "x", "c"), ("a", "x", "d"), ("a", "y", "c"), ("b", "x", "c")]);
    let capabilities: Vec<_> = summary.capabilities().iter().map(|row| row.capability).collect();
    assert_eq!(capabilities, ["c", "z", "d"]);
}

#[test]
fn parts_merge_into_the_whole() {
    let events = a_run();
    let whole = serde_json::to_string(&of(&events)).unwrap();
    for cut in 0..=events.len() {
        let (first, later) = events.split_at(cut);
        let mut merged = of(first);
        merged.merge(of(later));
        assert_eq!(serde_json::to_string(&merged).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn merging_keeps_the_first_header_and_adds_up_the_text() {
    let header = |entry| Some(TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, entry));
    let part =
        |entry| Summary { header: header(entry), lines: 1, bytes: 20, torn_bytes: 3, errors: 4, ..Summary::default() };
    let mut merged = part("first");
    merged.merge(part("second"));
    assert_eq!(merged.header, header("first"));
    assert_eq!((merged.lines, merged.bytes, merged.torn_bytes, merged.errors), (2, 40, 6, 8));
    let mut merged = Summary::default();
    merged.merge(part("second"));
    assert_eq!(merged.header, header("second"));
}

#[test]
fn people_get_a_row_for_each_operation() {
    let shown = of(&a_run()).to_string();
    let row = shown.lines().find(|line| line.starts_with("documents.read  documents.read")).expect("its row");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(
        cells,
        ["documents.read", "documents.read", "2", "0", "1", "400 ns", "100 ns", "300 ns", "300 ns"],
        "{shown}"
    );
    assert!(shown.contains("error: no such file\n"), "{shown}");
    assert!(shown.contains("objects allocated 36893488147419103230"), "{shown}");
}

#[test]
fn hostile_names_stay_harmless_and_on_their_rows() {
    let forged = "read\nconsole.print  console.write  9\u{1b}[31m\u{202e}\u{9b}";
    let long = "日本".repeat(5_000);
    let events = [
        call((forged, forged, forged), 1, true, DONE),
        call((&long, "op", "capability"), 1, true, DONE),
        TraceEvent::EntryExit { module: forged, function: forged, cpu: Duration::ZERO, wait: Duration::ZERO },
        TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some(forged) },
    ];
    let plain = [
        call(("m", "o", "c"), 1, true, DONE),
        call(("l", "op", "capability"), 1, true, DONE),
        TraceEvent::EntryExit { module: "m", function: "f", cpu: Duration::ZERO, wait: Duration::ZERO },
        TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("message") },
    ];
    let with_names = |mut summary: Summary, name: &str| {
        summary.file = name.to_owned();
        summary.header =
            Some(TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, name).with_args([name, name]));
        summary.to_string()
    };
    let shown = with_names(of(&events), forged);
    assert_eq!(shown.lines().count(), with_names(of(&plain), "plain").lines().count(), "{shown}");
    assert!(!shown.chars().any(|c| c != '\n' && is_unsafe_to_show(c)), "{shown:?}");
    let operations: Vec<&str> = shown.lines().rev().take(3).collect();
    assert!(operations.iter().all(|row| row.width() == operations[0].width()), "{shown}");
    assert!(operations[0].width() < 250, "{shown}");
}

#[test]
fn broken_traces_are_said_to_be_broken() {
    let broken = Summary { errors: 2, torn_bytes: 17, ..Summary::default() };
    let shown = Summary { events: 1, ..broken.clone() }.to_string();
    assert!(shown.lines().next().unwrap().ends_with("errors 2, bytes of a torn end 17"), "{shown}");
    assert!(shown.contains("no header could be read") && shown.contains("ends without a run_ended"), "{shown}");
    // No figures where there is nothing that they could be of.
    let nothing = broken.to_string();
    assert!(nothing.ends_with("Nothing could be read.\n") && !nothing.contains("outcome"), "{nothing}");
}

const HEADER: &str = r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#;

#[test]
fn reading_goes_on_past_faults_and_counts_them() {
    let trace = format!(
        "{HEADER}\n\n{{\"event\":\"task_cancelled\",\"id\":1}}\nnonsense\r\n{{\"event\":\"task_cancelled\",\"id\":2}}\n{{\"ev"
    );
    let mut positions = Vec::new();
    let summary = Summary::read(TraceReader::new(trace.as_bytes()), |error| positions.push(error.position().line));
    assert_eq!(positions, [4, 6]);
    assert_eq!((summary.lines, summary.events, summary.bytes), (6, 2, trace.len() as u64));
    assert_eq!((summary.errors, summary.torn_bytes), (1, 4));
    assert_eq!(summary.header.map(|header| header.entry).as_deref(), Some("main"));
}

#[test]
fn a_header_below_a_foreign_line_is_found() {
    let trace = format!("hello\n{HEADER}\n");
    let summary = Summary::read(TraceReader::new(trace.as_bytes()), |_| ());
    assert_eq!((summary.errors, summary.events), (1, 0));
    assert!(summary.header.is_some());
}
