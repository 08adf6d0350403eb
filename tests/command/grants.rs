//! `cove-trace grants`.

use cove_trace::{CallSite, ValueCapture};
use serde_json::{Value, json};

use crate::harness::{Place, run_on, run_on_stdin};
use crate::known_run::{NASTY, SUCCESS, call, known_run, record};
use crate::traces;

#[test]
fn what_the_known_run_needed() {
    let trace = known_run(ValueCapture::Redacted);
    for run in [run_on(&trace, &["grants", "--json"]), run_on_stdin(&trace, &["grants", "--json"])] {
        run.assert_clean();
        let expected = json!({
            "needed": {
                "console.write": {"console": {"print": 100}},
                "documents.read": {"documents": {"read": 2}},
                "process.exit": {"process": {"exit": 1}},
            },
            "refused": {"documents.read": {"documents": {"read": 1}}},
            "granted_unused": null,
        });
        assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), expected);
    }
}

#[test]
fn several_traces_are_taken_together() {
    let place = Place::new();
    place.write("refused.jsonl", traces::run_that_was_refused());
    place.write("failed.jsonl", traces::run_that_failed());
    let granted = "documents.read, documents.write,console.write,net.connect";
    let args = ["grants", "--granted", granted, "refused.jsonl", "failed.jsonl"];
    let run = place.run(args);
    run.assert_clean();
    let expected = "\
needed
  console.write
    console.print  2 calls
  documents.read
    documents.read  2 calls
  process.exit
    process.exit  1 call
refused
  documents.read
    documents.read  2 calls
  net.connect
    http.get  1 call
granted and never used
  documents.write
  net.connect
";
    assert_eq!(run.stdout, expected);
    let run = place.run(args.iter().chain(&["--toml"]));
    run.assert_clean();
    let expected = r#"capabilities = ["console.write", "documents.read", "process.exit"]
granted_unused = ["documents.write", "net.connect"]

[needed]
"console.write" = ["console.print"]
"documents.read" = ["documents.read"]
"process.exit" = ["process.exit"]

[refused]
"documents.read" = ["documents.read"]
"net.connect" = ["http.get"]
"#;
    assert_eq!(run.stdout, expected);
}

#[test]
fn nothing_needed_nothing_refused() {
    let run = run_on(record(ValueCapture::Full, &[SUCCESS]), &["grants", "--granted", "a"]);
    run.assert_clean();
    assert_eq!(run.stdout, "needed: nothing\nrefused: nothing\ngranted and never used\n  a\n");
}

#[test]
fn hostile_names() {
    let site = CallSite::new(NASTY, "op\nrefused", NASTY);
    let trace = record(ValueCapture::Full, &[call(site, 1, &[], None), SUCCESS]);
    for (form, rows) in [(&[][..], 4), (&["--toml"], 6), (&["--json"], 1)] {
        let run = run_on(&trace, &[&["grants"], form].concat());
        run.assert_clean();
        assert_eq!(run.stdout.lines().count(), rows, "{}", run.stdout);
        let harmful = run.stdout.chars().find(|c| *c != '\n' && cove_trace::display::is_unsafe_to_show(*c));
        assert_eq!(harmful, None, "{:?}", run.stdout);
    }
}

#[test]
fn faults_are_said_and_the_rest_taken() {
    let place = Place::new();
    place.write("torn.jsonl", traces::torn());
    place.write("failed.jsonl", traces::run_that_failed());
    let run = place.run(["grants", "torn.jsonl", "missing.jsonl", "failed.jsonl"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
    assert!(run.stdout.contains("documents.read  2 calls"), "{}", run.stdout);
    let run = place.run(["grants", "missing.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
}

#[test]
fn operations_with_dots_in_their_names_are_counted_apart() {
    let calls = [("a.b", "c"), ("a", "b.c"), ("a", "b.c")]
        .map(|(module, op)| call(CallSite::new(module, op, "x"), 1, &[], None));
    let trace = record(ValueCapture::Full, &calls);
    let run = run_on(&trace, &["grants", "--json"]);
    let given: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(given["needed"], json!({"x": {"a": {"b.c": 2}, "a.b": {"c": 1}}}));
    let run = run_on(&trace, &["grants"]);
    assert!(run.stdout.contains("    a.\"b.c\"  2 calls\n    \"a.b\".c  1 call\n"), "{}", run.stdout);
}
