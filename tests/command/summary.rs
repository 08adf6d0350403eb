//! `cove-trace summary`.

use cove_trace::{CallSite, TraceEvent, ValueCapture};
use serde_json::{Value, json};

use crate::harness::{Run, run_on, run_on_stdin};
use crate::known_run::{KNOWN_EVENTS, NASTY, PRINT, SUCCESS, call, known_figures, known_run, record};

/// The one object that `--json` gives, on its one line.
#[track_caller]
fn figures(run: &Run) -> Value {
    assert_eq!(run.stdout.find('\n'), Some(run.stdout.len() - 1), "one line: {:?}", run.stdout);
    serde_json::from_str(&run.stdout).unwrap()
}

#[track_caller]
fn take_within_one_percent(quantile: &mut Value, exact: u64) {
    let found = quantile.take().as_u64().unwrap();
    assert!(found.abs_diff(exact) <= exact / 100, "{found} for {exact}");
}

#[test]
fn the_known_run_has_its_known_figures() {
    let trace = known_run(ValueCapture::Full);
    for (run, file) in
        [(run_on(&trace, &["summary", "--json"]), "run.jsonl"), (run_on_stdin(&trace, &["summary", "--json"]), "-")]
    {
        run.assert_clean();
        let mut figures = figures(&run);
        take_within_one_percent(&mut figures["operations"][0]["wait_p50_ns"], 50_000);
        take_within_one_percent(&mut figures["operations"][0]["wait_p99_ns"], 99_000);
        assert_eq!(figures, known_figures(file, trace.len()));
    }
}

#[test]
fn a_redacted_run_has_the_same_figures() {
    let trace = known_run(ValueCapture::Redacted);
    let run = run_on(&trace, &["summary", "--json"]);
    run.assert_clean();
    let (found, known) = (figures(&run), known_figures("run.jsonl", trace.len()));
    let keys = ["lines", "events", "tasks", "calls", "capabilities", "refusals", "slowest_calls", "by_task", "entries"];
    for key in keys.into_iter().chain(["collections", "heap", "outcome"]) {
        assert_eq!(found[key], known[key], "{key}");
    }
    assert_eq!(found["header"]["values"], "redacted");
    assert_eq!(found["header"]["args"], json!(["<redacted>", "<redacted>"]));
}

#[test]
fn people_get_tables() {
    let run = run_on(known_run(ValueCapture::Full), &["summary"]);
    run.assert_clean();
    for part in [
        "run.jsonl: events 114, lines 115,",
        "main.cove (backend vm, values full) \"--fast\"",
        "fuel: out of fuel\n",
        "spawned 2, completed 1, cancelled 1, cpu 320255h58m (without the entry)\n",
        "granted 103 (failed 1, not recordable 1), refused 1, wait 5.05 ms over all tasks\n",
        "recorded 2, objects allocated 30, freed 9, pause 15 ns\n",
        "collections 2, bytes alive 4, pause 15 ns\n",
    ] {
        assert!(run.stdout.contains(part), "{part} in\n{}", run.stdout);
    }
    let rows: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    for row in [
        &["documents.read", "documents.read", "2", "1", "1", "100 ns", "30 ns", "70 ns", "70 ns"][..],
        &["documents.read", "documents.read", "1", "7"],
        &["console.print", "100 µs", "1", "110"],
        &["1", "103", "1", "1", "5.05 ms", "320255h58m", "completed"],
        &["18446744073709551615", "0", "0", "0", "0 ns", "-", "cancelled"],
    ] {
        assert!(rows.iter().any(|cells| cells == row), "{row:?} in\n{}", run.stdout);
    }
}

#[test]
fn sums_past_u64_are_exact() {
    let run = run_on(
        record(ValueCapture::Full, &[call(PRINT, u64::MAX, &[], None), call(PRINT, u64::MAX, &[], None), SUCCESS]),
        &["summary", "--json"],
    );
    run.assert_clean();
    assert!(run.stdout.contains(r#""wait_ns":36893488147419103230,"#), "{}", run.stdout);
    assert!(run.stdout.contains(r#""wait_max_ns":18446744073709551615}"#), "{}", run.stdout);
}

#[test]
fn damage_in_the_middle_is_said_and_the_rest_counted() {
    let trace = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let mut lines: Vec<&str> = trace.lines().collect();
    lines[4] = "no event";
    let damaged = lines.join("\n") + "\n";
    let run = run_on(&damaged, &["summary", "--json"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("run.jsonl:5:1: error: "), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    let figures = figures(&run);
    assert_eq!((&figures["errors"], &figures["truncated_bytes"]), (&json!(1), &json!(0)));
    assert_eq!((&figures["events"], &figures["lines"]), (&json!(KNOWN_EVENTS - 1), &json!(KNOWN_EVENTS + 1)));
    assert_eq!(figures["calls"]["granted"], 102);
}

#[test]
fn a_torn_end_is_told_apart_from_damage() {
    let trace = known_run(ValueCapture::Full);
    let torn = &trace[..trace.len() - 10];
    let last_line = torn.len() - (torn.iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
    let run = run_on(torn, &["summary", "--json"]);
    let said = format!("run.jsonl:115:{}: error: the last line is torn: {last_line} bytes of an event", last_line + 1);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with(&said), "{} for {said}", run.stderr);
    let figures = figures(&run);
    assert_eq!((&figures["errors"], &figures["truncated_bytes"]), (&json!(0), &json!(last_line)));
    assert_eq!((&figures["events"], &figures["lines"]), (&json!(KNOWN_EVENTS - 1), &json!(KNOWN_EVENTS + 1)));
    assert_eq!(figures["bytes"], torn.len());
    assert_eq!(figures["outcome"], json!(null));
}

#[test]
fn a_last_line_without_its_newline_counts() {
    let trace = known_run(ValueCapture::Full);
    let run = run_on(&trace[..trace.len() - 1], &["summary", "--json"]);
    run.assert_clean();
    assert_eq!(figures(&run)["events"], KNOWN_EVENTS);
}

#[test]
fn nothing_like_a_trace_has_no_figures() {
    let header = record(ValueCapture::Full, &[]);
    let other_version = String::from_utf8(header).unwrap().replace("\"version\":4", "\"version\":5");
    for content in ["", "\n", "hello\n", &other_version] {
        let run = run_on(content, &["summary", "--json"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{content:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{content:?}: {}", run.stderr);
    }
}

#[test]
fn hostile_names_stay_on_their_rows_and_act_on_nothing() {
    let forged = format!("print\nconsole.forged  console.write  9{NASTY}");
    let site = CallSite::new(&forged, &forged, &forged);
    let events = [
        call(site, 5, &[], None),
        TraceEvent::EntryExit {
            module: &forged,
            function: &forged,
            cpu: std::time::Duration::ZERO,
            wait: std::time::Duration::ZERO,
        },
        TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Error, message: Some(&forged) },
    ];
    let trace = record(ValueCapture::Full, &events);
    let run = run_on(&trace, &["summary"]);
    run.assert_clean();
    assert!(!run.stdout.lines().any(|line| line.starts_with("console.forged")), "{}", run.stdout);
    assert_harmless(&run.stdout);
    let run = run_on(&trace, &["summary", "--json"]);
    assert_harmless(&run.stdout);
    assert_eq!(figures(&run)["operations"][0]["op"], forged, "the meaning is kept");
}

#[track_caller]
fn assert_harmless(text: &str) {
    for character in text.chars() {
        assert!(character == '\n' || !character.is_control(), "{character:?} in {text:?}");
        assert!(!matches!(character, '\u{202e}' | '\u{2028}'), "{character:?} in {text:?}");
    }
}
