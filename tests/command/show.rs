//! `cove-trace show`.

use cove_trace::display::is_unsafe_to_show;
use cove_trace::{CallSite, RecordedField, RecordedStruct, RecordedValue, ValueCapture};

use crate::harness::{Place, Run, command};
use crate::known_run::{KNOWN_EVENTS, NASTY, SUCCESS, call, known_run, record};
use crate::traces;

#[track_caller]
fn show(trace: &[u8], line: u64) -> Run {
    let place = Place::new();
    place.write("run.jsonl", trace);
    place.run(["show".to_owned(), format!("run.jsonl:{line}")])
}

#[test]
fn every_event_of_the_known_run() {
    let trace = known_run(ValueCapture::Full);
    for (number, line) in (1..).zip(String::from_utf8(trace.clone()).unwrap().lines()) {
        if (12..100).contains(&number) {
            continue; // The same call again and again.
        }
        let run = show(&trace, number);
        run.assert_clean();
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let title = format!("run.jsonl:{number}: {}", event["event"].as_str().unwrap());
        assert_eq!(run.stdout.lines().next().unwrap(), title);
        for key in
            event.as_object().unwrap().keys().filter(|key| *key != "event" && *key != "args" && *key != "version")
        {
            let name = format!("  {}", key.trim_end_matches("_ns"));
            assert!(
                run.stdout.lines().any(|row| row.starts_with(&name)) || key == "message",
                "{name} in\n{}",
                run.stdout
            );
        }
    }
}

#[test]
fn parts_stand_with_their_paths() {
    let run = show(&known_run(ValueCapture::Full), 5);
    run.assert_clean();
    for row in [
        "  wait            30 ns (30 ns)",
        "  args[0]: enum Option.Some",
        "    .payload[0]: struct Point",
        "  args[1]: Int -9223372036854775808",
        "    .items[5]: Float 1e16",
        "    .items[6]: opaque Float shown as NaN",
        "    .items[7]: Duration -5 ns (-5 ns)",
        "    .items[9]: resource File -1",
        "    .items[10]: redacted Token",
    ] {
        assert!(run.stdout.lines().any(|shown| shown == row), "{row} in\n{}", run.stdout);
    }
    assert!(run.stdout.contains("\n      .fields.: Array of 0\n"), "{}", run.stdout);
}

#[test]
fn one_part_is_one_row_whatever_it_holds() {
    let fields = [RecordedField { name: "a\n  granted         yes\u{1b}[2J", value: RecordedValue::String(NASTY) }];
    let value = RecordedValue::Struct(&RecordedStruct { name: NASTY, fields: &fields });
    let args = [value, RecordedValue::Redacted { of: NASTY }];
    let trace = record(ValueCapture::Full, &[call(CallSite::new(NASTY, NASTY, NASTY), 1, &args, None), SUCCESS]);
    let run = show(&trace, 2);
    run.assert_clean();
    assert_eq!(run.stdout.lines().count(), 7 + 3 + 1, "{}", run.stdout);
    assert_eq!(run.stdout.chars().find(|c| *c != '\n' && is_unsafe_to_show(*c)), None);
}

#[test]
fn a_deep_value() {
    let mut trace = record(ValueCapture::Full, &[]);
    let (open, close) = (r#"{"type":"array","items":["#.repeat(127), "]}".repeat(127));
    let call = format!(
        r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":0,"granted":true,"args":[{open}{{"type":"unit"}}{close}],"outcome":null}}"#
    );
    trace.extend_from_slice(call.as_bytes());
    let run = show(&trace, 2);
    run.assert_clean();
    assert!(run.stdout.contains("\n  args[0]: Array of 1\n    .items[0]: Array of 1\n"));
    assert!(run.stdout.contains(&format!("\n{}.items[0]: Unit\n", "  ".repeat(128))));
}

#[test]
fn lines_without_an_event() {
    let mut trace = known_run(ValueCapture::Full);
    show(&trace, KNOWN_EVENTS + 2)
        .assert_said(2, &["run.jsonl: error: there is no event on line 116: it ends with line 115"]);
    trace.splice(0..0, *b"\n");
    show(&trace, 1).assert_said(2, &["run.jsonl: error: there is no event on line 1"]);
    show(&trace, 2).assert_clean();
    let torn = traces::torn();
    show(&torn, 4).assert_clean();
    assert_eq!(show(&torn, 5).code, Some(1));
    // What is wrong before it is not what was asked for.
    let damaged = String::from_utf8(traces::twelve_tasks()).unwrap().replacen("task_spawned", "task_spawn", 1);
    show(damaged.as_bytes(), 3).assert_clean();
    let run = show(damaged.as_bytes(), 2);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("run.jsonl:2:10: error: "), "{}", run.stderr);
}

#[test]
fn names_of_places() {
    let place = Place::new();
    let trace = known_run(ValueCapture::Full);
    place.write("with:colon.jsonl", &trace);
    place.write("plain", &trace);
    place.run(["show", "with:colon.jsonl:3"]).assert_clean();
    let input = std::fs::File::open(place.path("plain")).unwrap();
    Run::from(place.command(["show", "-:3"]).stdin(input).output().unwrap()).assert_clean();
    for wrong in ["plain", "plain:", "plain:0", "plain:x", ":3", "plain:-1", "plain:18446744073709551616"] {
        let run = Run::from(command(["show", wrong]).output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{wrong}");
        assert!(run.stderr.contains("expected FILE:LINE"), "{wrong}: {}", run.stderr);
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let run = place.run(["show".as_ref(), std::ffi::OsStr::from_bytes(b"m\xffssing:3")]);
        assert!(run.stderr.starts_with("m\u{fffd}ssing: error: "), "{}", run.stderr);
    }
}
