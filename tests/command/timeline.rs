//! `cove-trace timeline`.

use cove_trace::{CallSite, RecordedValue, TraceEvent, TraceReader, ValueCapture};
use unicode_width::UnicodeWidthStr as _;

use crate::harness::{Place, Run, command, run_on, run_on_stdin};
use crate::known_run::{KNOWN_EVENTS, NASTY, PRINT, SUCCESS, call, known_run, record};
use crate::traces;

/// The lines of the file that a run of the command gave a row of.
fn lines_of(run: &Run) -> Vec<u64> {
    run.stdout.lines().skip(1).map(|row| row.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

/// The lines of the known run that the filters leave.
#[track_caller]
fn left_by(filters: &[&str]) -> Vec<u64> {
    let run = run_on(known_run(ValueCapture::Full), &[&["timeline"], filters].concat());
    run.assert_clean();
    lines_of(&run)
}

/// The lines of the known run whose events are of a sort.
fn known_lines(of_the_sort: impl Fn(&TraceEvent<'_>) -> bool) -> Vec<u64> {
    let trace = known_run(ValueCapture::Full);
    let mut reader = TraceReader::new(&trace[..]);
    let mut lines = Vec::new();
    while let Some((line, event)) = reader.next_event_with_line().unwrap() {
        if of_the_sort(&event) {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn each_event_has_its_row() {
    assert_eq!(left_by(&[]), (2..=KNOWN_EVENTS + 1).collect::<Vec<_>>());
    let trace = known_run(ValueCapture::Full);
    assert_eq!(run_on(&trace, &["print"]).stdout, run_on_stdin(&trace, &["timeline"]).stdout);
}

#[test]
fn each_filter() {
    let calls = |event: &TraceEvent<'_>, of: &dyn Fn(&cove_trace::HostCall<'_>) -> bool| matches!(event, TraceEvent::HostCall(call) if of(call));
    assert_eq!(left_by(&["--task", "18446744073709551615"]), [4, 111]);
    assert_eq!(
        left_by(&["--task", "0"]),
        known_lines(|event| matches!(
            event,
            TraceEvent::EntryEnter { .. } | TraceEvent::EntryExit { .. } | TraceEvent::HeapCollected { task: 0, .. }
        ))
    );
    let reads = known_lines(|event| calls(event, &|call| call.site.module() == "documents"));
    assert_eq!(reads.len(), 3);
    for filter in [
        ["--capability", "documents.read"],
        ["--capability", "documents.*"],
        ["--op", "documents.*"],
        ["--op", "read"],
        ["--op", "*s.read"],
    ] {
        assert_eq!(left_by(&filter), reads, "{filter:?}");
    }
    assert_eq!(left_by(&["--op", "documents"]), [0; 0]);
    assert_eq!(left_by(&["--event", "heap_collected", "--event", "run_ended"]), [9, 10, 115]);
    assert_eq!(left_by(&["--refused"]), [7]);
    assert_eq!(left_by(&["--errors"]), [6, 115]);
    assert_eq!(left_by(&["--refused", "--errors"]), [6, 7, 115]);
    assert_eq!(left_by(&["--min-wait", "99us"]), [109, 110]);
    assert_eq!(left_by(&["--min-wait", "1h"]), [0; 0]);
    assert_eq!(left_by(&["--lines", "3..4", "--lines", "115", "--lines", "..2"]), [2, 3, 4, 115]);
}

#[test]
fn text_is_found_wherever_it_stands() {
    for (text, lines) in [
        ("no such file", &[6][..]),
        ("out of fuel", &[115]),
        ("-9223372036854775808", &[5]),
        ("Point", &[5]),
        ("\u{1b}[31m\u{7f}", &[4, 5]),
        ("process", &[8]),
        ("nothing of the kind", &[]),
    ] {
        let found = left_by(&["--contains", text]);
        // The hundred prints give back a text with everything in it.
        assert_eq!(
            found.iter().copied().filter(|line| !(11..=110).contains(line)).collect::<Vec<_>>(),
            lines,
            "{text:?}"
        );
    }
}

#[test]
fn filters_combine() {
    assert_eq!(left_by(&["--task", "1", "--op", "documents.*", "--errors"]), [6]);
    assert_eq!(left_by(&["--op", "print", "--op", "exit", "--lines", "8..12"]), [8, 11, 12]);
    assert_eq!(left_by(&["--refused", "--min-wait", "1ns"]), [0; 0]);
}

#[test]
fn the_first_and_the_last() {
    assert_eq!(left_by(&["--limit", "2", "--event", "host_call"]), [5, 6]);
    assert_eq!(left_by(&["-n", "0"]), [0; 0]);
    assert_eq!(left_by(&["--tail", "2", "--event", "host_call"]), [109, 110]);
    assert_eq!(left_by(&["--tail", "0"]), [0; 0]);
    assert_eq!(left_by(&["--tail", "1000"]).len() as u64, KNOWN_EVENTS);
}

#[test]
fn what_stands_behind_the_last_that_can_be_wanted_is_not_read() {
    let mut trace = known_run(ValueCapture::Full);
    trace.extend_from_slice(b"nonsense\n");
    assert_eq!(run_on(&trace, &["timeline"]).code, Some(1));
    run_on(&trace, &["timeline", "--lines", "..115"]).assert_clean();
    run_on(&trace, &["timeline", "--limit", "3"]).assert_clean();
}

#[test]
fn json_is_the_lines_of_the_file() {
    // Spelt as no sink does, and without its last newline.
    let odd = "{ \"id\" :3, \"event\":\"task_\\u0063ancelled\"}";
    let mut trace = record(ValueCapture::Full, &[SUCCESS]);
    trace.extend_from_slice(odd.as_bytes());
    let run = run_on(&trace, &["timeline", "--json", "--task", "3"]);
    run.assert_clean();
    assert_eq!(run.stdout, format!("{odd}\n"));

    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let lines: Vec<&str> = known.lines().skip(1).collect();
    for (args, range) in
        [(&["--json"][..], 0..114), (&["--json", "--tail", "2"], 112..114), (&["--json", "-n", "2"], 0..2)]
    {
        let run = run_on(&known, &[&["timeline"], args].concat());
        run.assert_clean();
        assert_eq!(run.stdout.lines().collect::<Vec<_>>(), lines[range]);
    }
}

#[test]
fn damage_is_passed_and_said() {
    let trace = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let mut lines: Vec<&str> = trace.lines().collect();
    lines[2] = "no event";
    let run = run_on(lines.join("\n"), &["timeline", "--lines", "2..4"]);
    assert_eq!((run.code, lines_of(&run)), (Some(1), vec![2, 4]));
    assert!(run.stderr.starts_with("run.jsonl:3:1: error: "), "{}", run.stderr);
    let run = run_on(traces::torn(), &["timeline"]);
    assert_eq!((run.code, lines_of(&run)), (Some(1), vec![2, 3, 4]));
    assert!(run.stderr.contains("torn"), "{}", run.stderr);
}

#[test]
fn one_event_is_one_row_whatever_it_holds() {
    let forged = format!("x\n      9      0       0 ns  forged.call() -> ()\r\u{85}\u{2028}{NASTY}");
    let site = CallSite::new(&forged, &forged, &forged);
    let text = [RecordedValue::String(&forged)];
    let error = Some(cove_trace::HostOutcome::Error(&forged));
    let events = [
        call(site, 5, &text, error),
        TraceEvent::TaskSpawned { id: 9, parent: None, scope: &forged },
        TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Error, message: Some(&forged) },
    ];
    for args in [&["timeline"][..], &["timeline", "--full"], &["timeline", "--color", "never"]] {
        let run = run_on(record(ValueCapture::Full, &events), args);
        run.assert_clean();
        assert_eq!(run.stdout.lines().count(), 1 + events.len(), "{}", run.stdout);
        let harmful = run.stdout.chars().find(|c| *c != '\n' && cove_trace::display::is_unsafe_to_show(*c));
        assert_eq!(harmful, None, "{:?}", run.stdout);
    }
}

fn rows_in(columns: &str, trace: &[u8], args: &[&str]) -> Vec<String> {
    let place = Place::new();
    place.write("run.jsonl", trace);
    let mut command = place.command([&["timeline"], args, &["run.jsonl"]].concat());
    let run = Run::from(command.env("COLUMNS", columns).output().unwrap());
    run.assert_clean();
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn rows_keep_to_the_columns_there_are() {
    let texts = ["日本語".repeat(10_000), "e\u{301}".repeat(10_000), "👩\u{200d}🚀".repeat(10_000), "x".repeat(10_000)];
    let values: Vec<[RecordedValue<'_>; 1]> = texts.iter().map(|text| [RecordedValue::String(text)]).collect();
    let mut events: Vec<_> =
        values.iter().map(|args| call(PRINT, 5, args, Some(cove_trace::HostOutcome::Value(args[0])))).collect();
    events.push(call(PRINT, u64::MAX, &values[0], None));
    events.push(SUCCESS);
    let trace = record(ValueCapture::Full, &events);
    for (columns, widest) in [("1", 40), ("40", 40), ("80", 80), ("117", 117)] {
        for row in rows_in(columns, &trace, &[]) {
            assert!(row.width() <= widest, "{columns}: {row}");
        }
    }
    // An outcome is seen beside the longest arguments.
    assert!(rows_in("80", &trace, &[])[1].contains(" -> \"日"));
    for (columns, args) in [("80", &["--full"][..]), ("none", &[]), ("0", &[])] {
        assert!(rows_in(columns, &trace, args)[4].contains(&texts[3]), "{columns} {args:?}");
    }
}

#[test]
fn events_stand_under_each_other() {
    for row in rows_in("80", &traces::twelve_tasks(), &["--event", "host_call"]).iter().skip(1) {
        let before = row.find("documents.read(").or(row.find("console.print(")).unwrap();
        assert_eq!(row[..before].width(), 27, "{row}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let trace = traces::run_that_failed();
    let colored = |args: &[&str], variables: &[(&str, &str)]| {
        let place = Place::new();
        place.write("run.jsonl", &trace);
        let mut command = place.command([args, &["run.jsonl"]].concat());
        command.envs(variables.iter().copied());
        Run::from(command.output().unwrap()).stdout.contains('\u{1b}')
    };
    assert!(!colored(&["timeline"], &[]), "a pipe");
    assert!(!colored(&["timeline", "--color", "auto"], &[]));
    assert!(!colored(&["timeline", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colored(&["timeline", "--color", "always"], &[]));
    assert!(colored(&["--color=always", "timeline"], &[("NO_COLOR", "1")]), "asked for by name");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for args in [
        &["--limit", "1", "--tail", "1"][..],
        &["--json", "--full"],
        &["--min-wait", "5 parsecs"],
        &["--lines", "9..3"],
        &["--event", "call"],
        &["--task", "-1"],
    ] {
        let run = Run::from(command([&["timeline"], args, &["run.jsonl"]].concat()).output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
    }
}

#[test]
fn a_wait_is_exact_where_a_program_reads_it() {
    let events = [call(PRINT, u64::MAX, &[], None), call(PRINT, 1_234_567, &[], None), SUCCESS];
    let trace = record(ValueCapture::Full, &events);
    let rows = rows_in("200", &trace, &[]);
    assert!(rows[1].contains("5124095h35m") && rows[2].contains("1.23 ms"), "{rows:?}");
    let run = run_on(&trace, &["timeline", "--json"]);
    assert!(run.stdout.contains("\"wait_ns\":18446744073709551615") && run.stdout.contains("\"wait_ns\":1234567"));
}
