use std::time::Duration;

use super::*;
use crate::display::is_unsafe_to_show;
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
    for (line, event) in (1..).zip(events) {
        summary.add(line, event);
    }
    summary.lines = events.len() as u64;
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
        r#"{"file":"run.jsonl","lines":16,"events":15,"bytes":1234,"truncated_bytes":0,"errors":0,"#,
        r#""header":{"version":4,"backend":"vm","values":"full","entry":"main.cove","args":["a","b c"]},"#,
        r#""tasks":{"spawned":2,"completed":1,"cancelled":1,"cpu_ns":40},"#,
        r#""calls":{"granted":4,"refused":1,"failed":1,"not_recordable":1,"wait_ns":900},"#,
        r#""capabilities":["#,
        r#"{"capability":"console.write","granted":1,"refused":0,"failed":0,"wait_ns":450},"#,
        r#"{"capability":"documents.read","granted":2,"refused":1,"failed":1,"wait_ns":450},"#,
        r#"{"capability":"process","granted":1,"refused":0,"failed":0,"wait_ns":0}],"#,
        r#""quantile_error_percent":1,"operations":["#,
        r#"{"module":"console","op":"print","capability":"console.write","granted":1,"refused":0,"failed":0,"#,
        r#""wait_ns":450,"wait_p50_ns":450,"wait_p99_ns":450,"wait_max_ns":450},"#,
        r#"{"module":"documents","op":"read","capability":"documents.read","granted":2,"refused":0,"failed":1,"#,
        r#""wait_ns":400,"wait_p50_ns":100,"wait_p99_ns":300,"wait_max_ns":300},"#,
        r#"{"module":"documents","op":"list","capability":"documents.read","granted":0,"refused":1,"failed":0,"#,
        r#""wait_ns":50,"wait_p50_ns":null,"wait_p99_ns":null,"wait_max_ns":null},"#,
        r#"{"module":"process","op":"exit","capability":"process","granted":1,"refused":0,"failed":0,"#,
        r#""wait_ns":0,"wait_p50_ns":0,"wait_p99_ns":0,"wait_max_ns":0}],"#,
        r#""refusals":[{"module":"documents","op":"list","capability":"documents.read","refused":1,"first_line":6}],"#,
        r#""slowest_calls":["#,
        r#"{"line":7,"task":0,"module":"console","op":"print","wait_ns":450},"#,
        r#"{"line":5,"task":0,"module":"documents","op":"read","wait_ns":300},"#,
        r#"{"line":4,"task":0,"module":"documents","op":"read","wait_ns":100},"#,
        r#"{"line":6,"task":0,"module":"documents","op":"list","wait_ns":50}],"#,
        r#""by_task":["#,
        r#"{"task":0,"granted":4,"refused":1,"failed":1,"wait_ns":900,"cpu_ns":70,"end":"completed"},"#,
        r#"{"task":1,"granted":0,"refused":0,"failed":0,"wait_ns":0,"cpu_ns":40,"end":"completed"},"#,
        r#"{"task":2,"granted":0,"refused":0,"failed":0,"wait_ns":0,"cpu_ns":null,"end":"cancelled"}],"#,
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
    for key in ["capabilities", "operations", "refusals", "slowest_calls", "by_task", "entries"] {
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
    assert_eq!((row.wait_ns, row.wait_max_ns), (sum, Some(u64::MAX)));
    assert!(row.wait_p99_ns >= Some(wait) && row.wait_p50_ns >= Some(wait));
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

/// Calls of many operations by many tasks: what is wanted of them, found by sorting all of them.
#[test]
fn the_slowest_the_refused_and_the_tasks_of_many_calls() {
    let noise = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let names: Vec<String> = (0..9).map(|n| format!("op{n}")).collect();
    let (mut events, mut calls) = (Vec::new(), Vec::new());
    for line in 1..=600 {
        let (op, task, wait, granted) =
            (noise(line) as usize % 9, noise(line + 1) % 40, noise(line + 2) % 90, noise(line + 3) % 9 > 0);
        let site = CallSite::new("m", &names[op], "c");
        let wait_ns = Duration::from_nanos(wait);
        events.push(TraceEvent::HostCall(HostCall { task, site, wait: wait_ns, granted, args: &[], outcome: None }));
        calls.push((wait, line, task, names[op].as_str(), granted));
    }

    let mut slowest = calls.clone();
    slowest.sort_by_key(|(wait, line, ..)| (std::cmp::Reverse(*wait), *line));
    let slowest: Vec<_> = slowest.iter().take(10).map(|(wait, line, task, op, _)| (*wait, *line, *task, *op)).collect();
    let mut refused: Vec<(&str, u64, u64)> = Vec::new();
    let mut by_task = BTreeMap::<u64, (u64, u64, u128)>::new();
    for (wait, line, task, op, granted) in &calls {
        let figures = by_task.entry(*task).or_default();
        *figures = (figures.0 + u64::from(*granted), figures.1 + u64::from(!granted), figures.2 + u128::from(*wait));
        match refused.iter_mut().find(|row| row.0 == *op) {
            _ if *granted => {}
            Some(row) => row.1 += 1,
            None => refused.push((op, 1, *line)),
        }
    }
    for cut in [0, 1, 9, 300, 595, 600] {
        let mut summary = of(&events[..cut]);
        summary.merge(of(&events[cut..]));
        let rows = summary.slowest_calls();
        let found: Vec<_> = rows.iter().map(|row| (row.wait_ns, row.line, row.task, row.op)).collect();
        assert_eq!(found, slowest, "cut at {cut}");
        let rows = summary.refusals();
        assert_eq!(rows.iter().map(|row| (row.op, row.refused, row.first_line)).collect::<Vec<_>>(), refused);
        let found: BTreeMap<_, _> =
            summary.by_task().map(|row| (row.task, (row.granted, row.refused, row.wait_ns))).collect();
        assert_eq!(found, by_task, "cut at {cut}");
        assert!(summary.by_task().all(|row| row.end.is_none() && row.cpu_ns.is_none()));
    }
}

#[test]
fn of_many_tasks_the_longest_waits_are_shown() {
    const COUNT: u64 = if cfg!(miri) { 100 } else { 100_000 };
    let mut summary = Summary::default();
    for id in 1..=COUNT {
        summary.add(id, &TraceEvent::TaskSpawned { id, parent: None, scope: "s" });
    }
    for task in [7, 50, 9] {
        let event = call(READ, 1000 - task, true, DONE);
        let TraceEvent::HostCall(call) = event else { unreachable!("a call was made") };
        summary.add(COUNT + task, &TraceEvent::HostCall(HostCall { task, ..call }));
    }
    let shown = summary.to_string();
    let table: Vec<&str> = shown.lines().skip_while(|row| !row.trim_start().starts_with("task  ")).collect();
    let ids: Vec<&str> = table[1..=20].iter().map(|row| row.split_whitespace().next().unwrap()).collect();
    assert_eq!(ids[..6], ["7", "9", "50", "1", "2", "3"], "{shown}");
    assert_eq!(table[21..], [format!("and {} more, none of which waited longer", COUNT - 20)], "{shown}");
}

#[test]
fn a_single_task_has_no_table_of_its_own() {
    let shown = of(&[call(READ, 5, true, DONE), call(READ, 7, false, None)]).to_string();
    assert!(!shown.lines().any(|row| row.starts_with("task  ")), "{shown}");
    assert!(shown.contains("slowest calls") && shown.contains("first on line"), "{shown}");
    let shown =
        of(&[call(READ, 0, true, DONE), TraceEvent::TaskSpawned { id: 1, parent: None, scope: "" }]).to_string();
    assert!(shown.lines().any(|row| row.starts_with("task  ")), "{shown}");
    assert!(!shown.contains("slowest calls") && !shown.contains("first on line"), "{shown}");
}

#[test]
fn merging_keeps_the_first_header_and_adds_up_the_text() {
    let header = |entry| Some(TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, entry));
    let part = |entry| Summary {
        header: header(entry),
        lines: 1,
        bytes: 20,
        truncated_bytes: 3,
        errors: 4,
        ..Summary::default()
    };
    let mut merged = part("first");
    merged.merge(part("second"));
    assert_eq!(merged.header, header("first"));
    assert_eq!((merged.lines, merged.bytes, merged.truncated_bytes, merged.errors), (2, 40, 6, 8));
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
    let broken = Summary { errors: 2, truncated_bytes: 17, ..Summary::default() };
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
    let summary = Summary::read(&mut TraceReader::new(trace.as_bytes()), |error| positions.push(error.position().line));
    assert_eq!(positions, [4, 6]);
    assert_eq!((summary.lines, summary.events, summary.bytes), (6, 2, trace.len() as u64));
    assert_eq!((summary.errors, summary.truncated_bytes), (1, 4));
    assert_eq!(summary.header.map(|header| header.entry).as_deref(), Some("main"));
}

#[test]
fn a_header_below_a_foreign_line_is_found() {
    let trace = format!("hello\n{HEADER}\n");
    let summary = Summary::read(&mut TraceReader::new(trace.as_bytes()), |_| ());
    assert_eq!((summary.errors, summary.events), (1, 0));
    assert!(summary.header.is_some());
}

#[test]
fn refused_calls_have_no_part_in_quantiles() {
    let summary = of(&[call(READ, 0, false, None), call(READ, 0, false, None), call(READ, 70, true, DONE)]);
    let row = summary.operations()[0];
    assert_eq!([row.wait_p50_ns, row.wait_p99_ns, row.wait_max_ns], [Some(70); 3]);
    let summary = of(&[call(READ, 0, false, None)]);
    assert_eq!(summary.operations()[0].wait_p50_ns, None);
    assert!(summary.to_string().contains(" 0 ns    -    -    -\n"), "{summary}");
}

#[test]
fn cpu_time_is_unknown_where_waits_exceed_the_time() {
    let exit = |cpu, wait| {
        let [cpu, wait] = [cpu, wait].map(Duration::from_nanos);
        of(&[TraceEvent::EntryExit { module: "m", function: "f", cpu, wait }]).to_string()
    };
    assert!(exit(0, 9).contains("m.f    unknown  9 ns"), "{}", exit(0, 9));
    assert!(exit(0, 0).contains("m.f    0 ns  0 ns"), "{}", exit(0, 0));
}
