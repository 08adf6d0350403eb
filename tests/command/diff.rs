//! `cove-trace diff`.

use std::time::Duration;

use cove_trace::{HostCall, HostOutcome, RecordedValue, RunOutcome, TraceEvent, ValueCapture};

use crate::harness::{Place, Run};
use crate::known_run::{READ, known_run, record};

fn diff(first: impl AsRef<[u8]>, second: impl AsRef<[u8]>, options: &[&str]) -> Run {
    let place = Place::new();
    place.write("first.jsonl", first);
    place.write("second.jsonl", second);
    place.run([&["diff"], options, &["first.jsonl", "second.jsonl"]].concat())
}

/// A run that reads these, one after the other.
fn reads(names: &[&str], outcome: RunOutcome) -> String {
    let args: Vec<_> = names.iter().map(|name| [RecordedValue::String(name)]).collect();
    let call = |args| {
        let outcome = Some(HostOutcome::Value(RecordedValue::Unit));
        TraceEvent::HostCall(HostCall {
            task: 0,
            site: READ,
            wait: Duration::from_nanos(3),
            granted: true,
            args,
            outcome,
        })
    };
    let mut events: Vec<_> = args.iter().map(|args| call(args)).collect();
    events.push(TraceEvent::RunEnded { outcome, message: None });
    String::from_utf8(record(ValueCapture::Full, &events)).unwrap()
}

#[test]
fn no_difference_is_exit_code_0() {
    let trace = known_run(ValueCapture::Full);
    let run = diff(&trace, &trace, &[]);
    run.assert_clean();
    assert!(run.stdout.starts_with("first.jsonl and second.jsonl: no differences, "), "{}", run.stdout);
    let run = diff(&trace, known_run(ValueCapture::Redacted), &[]);
    run.assert_clean();
    assert!(run.stdout.contains(" by type alone\n"), "{}", run.stdout);
}

#[test]
fn differences_are_shown_below_their_task_and_are_exit_code_1() {
    let (first, second) = (
        reads(&["a", "b", "c\u{1b}[31m", "d"], RunOutcome::Success),
        reads(&["a", "new", "b", "e\u{202e}", "d"], RunOutcome::Error),
    );
    let run = diff(&first, &second, &[]);
    run.assert_said(1, &[]);
    let operation = format!("{}.{}", READ.module(), READ.op());
    assert_eq!(
        run.stdout,
        format!(
            r#"the entry
  + line 3: {operation}("new") -> ()
  ~ lines 4 and 5: {operation}("c\u{{1b}}[31m") -> ()
      args[0]: "c\u{{1b}}[31m"
          now  "e\u{{202e}}"
ended: success
  now: error
first.jsonl and second.jsonl: 3 differences, 4 calls compared
"#
        )
    );
}

#[test]
fn as_json_each_difference_is_an_object() {
    let first = reads(&["a", "b"], RunOutcome::Success);
    let run = diff(first, reads(&["a", "c"], RunOutcome::Success), &["--json"]);
    run.assert_said(1, &[]);
    let objects: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!((&objects[0]["kind"], &objects[0]["more"]), (&"changed".into(), &0.into()));
    let part = serde_json::json!({"path": "args[0]", "was": "\"b\"", "is": "\"c\""});
    assert_eq!(objects[0]["parts"], serde_json::json!([part]));
    assert_eq!((&objects[0]["first"]["line"], &objects[0]["first"]["call_in_task"]), (&3.into(), &2.into()));
    assert_eq!(objects[1], serde_json::json!({"kind": "compared", "differences": 1, "calls": 2, "unchecked": 0}));
}

#[test]
fn times_differ_when_they_are_asked_for() {
    let first = reads(&["a"], RunOutcome::Success);
    let second = first.replace("\"wait_ns\":3", "\"wait_ns\":18446744073709551615");
    diff(&first, &second, &[]).assert_clean();
    let run = diff(&first, &second, &["--times"]);
    run.assert_said(1, &[]);
    let operation = format!("{}.{}", READ.module(), READ.op());
    assert!(
        run.stdout.contains(&format!("wait of {operation}: 3 ns, now 18446744073709551615 ns\n")),
        "{}",
        run.stdout
    );
}

#[test]
fn faults_are_said_and_the_rest_is_compared() {
    let trace = reads(&["a", "b"], RunOutcome::Success);
    let with_noise = trace.replacen('\n', "\nnoise\n", 1);
    let run = diff(&trace, &with_noise, &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("second.jsonl:2:1: error: "), "{}", run.stderr);
    assert!(run.stdout.contains("no differences, 2 calls compared"), "{}", run.stdout);

    let torn = &trace[..trace.len() - 10];
    let run = diff(torn, &trace, &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("first.jsonl: error: the last line is torn"), "{}", run.stderr);
    assert!(run.stdout.contains("ended: no run_ended\n  now: success\n"), "{}", run.stdout);
}

#[test]
fn what_can_not_be_read_is_exit_code_1_or_2() {
    let trace = reads(&["a"], RunOutcome::Success);
    let place = Place::new();
    place.write("first.jsonl", &trace);
    let run = place.run(["diff", "first.jsonl", "nowhere.jsonl"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("nowhere.jsonl: error: can't be read: "), "{}", run.stderr);
    let run = diff("", &trace, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with("first.jsonl: error: not a trace"), "{}", run.stderr);
    let run = diff(&trace, "", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with("second.jsonl: error: not a trace"), "{}", run.stderr);
    let events = trace.split_once('\n').unwrap().1;
    for (first, second, name) in [(events, &*trace, "first"), (&*trace, events, "second")] {
        let run = diff(first, second, &[]);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.lines().all(|line| line.starts_with(&format!("{name}.jsonl:1:"))), "{name}: {}", run.stderr);
    }
    let run = diff(&trace, trace.replace("\"version\":4", "\"version\":5"), &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("second.jsonl: error: a trace of version 5"), "{}", run.stderr);
}
