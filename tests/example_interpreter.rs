//! The example interpreter as a process: what its scripts do, what their traces say, and how each kind of end is recorded.
#![cfg(feature = "cli")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::example::{Example, Ran};
use common::scratch_dir::ScratchDir;
use cove_trace::Replay;
use cove_trace::replay::{MissingBeginning, OpenError};
use serde_json::{Value, json};

const INTERPRETER: Example = Example("interpreter");

fn script(name: &str) -> PathBuf {
    INTERPRETER.file("scripts").join(name)
}

fn run_with(scratch: &ScratchDir, options: &[&str], script: &Path, args: &[&str], input: &str) -> Ran {
    let ran = INTERPRETER.run(scratch, options, script, args, input);
    let heap = ran.heap();
    assert!(heap["live_bytes"].is_null() && heap["pause_ns"].is_null(), "rhai has no such figures: {heap}");
    ran
}

/// Runs a script given as text.
fn run_text(name: &str, options: &[&str], text: &str) -> Ran {
    run_text_with(name, options, text, "")
}

fn run_text_with(name: &str, options: &[&str], text: &str, input: &str) -> Ran {
    let scratch = ScratchDir::new(&format!("interpreter-{name}"));
    let script = scratch.path().join("test.rhai");
    fs::write(&script, text).expect("a script");
    run_with(&scratch, options, &script, &[], input)
}

#[test]
fn the_word_count_counts_and_is_recorded() {
    let scratch = ScratchDir::new("interpreter-word-count");
    let ran = run_with(&scratch, &[], &script("word_count.rhai"), &[], "");

    let modules: BTreeSet<_> = ran.host_calls().map(|call| call["module"].as_str()).collect();
    let tasks: BTreeSet<_> = ran.host_calls().map(|call| call["task"].as_u64()).collect();
    let refused: Vec<_> = ran.host_calls().filter(|call| call["granted"] == false).collect();
    assert!(ran.host_calls().count() >= 300, "{}", ran.host_calls().count());
    assert!(modules.len() >= 3, "{modules:?}");
    assert!(ran.count("task_spawned") >= 3 && tasks.len() >= 4, "{tasks:?}");
    assert!(!refused.is_empty() && refused.iter().all(|call| call["outcome"].is_null()), "{refused:?}");
    assert_eq!(ran.end(), ("success", None));

    // The same count, done at once.
    let folder = INTERPRETER.file("documents/harbour");
    let mut words = Vec::new();
    for document in fs::read_dir(folder).expect("the documents") {
        let text = fs::read_to_string(document.expect("a document").path()).expect("its text").to_lowercase();
        let text = text.replace(['.', ',', ':', ';', '?', '!', '(', ')'], " ");
        words.extend(text.split_whitespace().map(str::to_owned));
    }
    let different = words.iter().collect::<BTreeSet<_>>().len();
    let line = format!("{} words, {different} different ones.", words.len());
    assert!(ran.stdout.contains(&line), "expected {line} in {}", ran.stdout);

    let trace = scratch.path().join("run.jsonl");
    assert!(ran.stdout.contains(&format!("Its trace: {}", trace.display())), "{}", ran.stdout);
    assert!(ran.stdout.contains("documents.line"), "a summary: {}", ran.stdout);
}

#[test]
fn without_arguments_the_word_count_runs() {
    let scratch = ScratchDir::new("interpreter-default");
    let output =
        Command::new(INTERPRETER.executable()).env("TMPDIR", scratch.path()).output().expect("the interpreter runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(scratch.path().join("word_count.trace.jsonl").exists() || cfg!(not(unix)));
    assert!(String::from_utf8_lossy(&output.stdout).contains("different ones"));
}

#[test]
fn a_failing_lookup_is_an_error_of_the_host_and_a_throw_one_of_the_program() {
    let ran = run_with(&ScratchDir::new("interpreter-inventory"), &[], &script("inventory.rhai"), &[], "");
    let failed: Vec<_> = ran.calls_of("documents", "read").filter(|call| call["outcome"]["kind"] == "error").collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["args"], json!([{"type": "string", "value": "stock/compass.txt"}]));
    assert_eq!(failed[0]["outcome"]["message"], "no such document");
    assert_eq!(failed[0]["granted"], true);
    assert_eq!(ran.end(), ("error", Some(r#"not in stock, and never was: ["compass"]"#)));
}

#[test]
fn what_was_not_granted_does_not_reach_the_host() {
    let ran = run_with(&ScratchDir::new("interpreter-backup"), &[], &script("backup.rhai"), &[], "");
    assert!(ran.calls_of("documents", "write").count() > 1);
    assert!(ran.calls_of("documents", "write").all(|call| call["granted"] == false && call["outcome"].is_null()));
    assert_eq!(ran.end().0, "host_boundary");
    let stock = INTERPRETER.file("documents/stock");
    for document in fs::read_dir(stock).expect("the documents") {
        let name = document.expect("a document").file_name();
        assert!(!name.to_string_lossy().ends_with(".copy"), "{}", name.display());
    }
}

#[test]
fn what_is_granted_is_done() {
    let scratch = ScratchDir::new("interpreter-granted");
    fs::create_dir(scratch.path().join("stock")).expect("a folder");
    fs::write(scratch.path().join("stock/rope.txt"), "long").expect("a document");
    let documents = scratch.path().to_str().expect("a Unicode path");
    let options = ["--allow", "documents.write", "--documents", documents];
    let ran = run_with(&scratch, &options, &script("backup.rhai"), &[], "");
    assert_eq!(ran.end(), ("success", None));
    assert_eq!(fs::read_to_string(scratch.path().join("stock/rope.txt.copy")).expect("the copy"), "long");
}

#[test]
fn documents_stay_in_their_directory() {
    let ran = run_text("outside", &[], r#"fn main() { documents::read("../../../Cargo.toml") }"#);
    let call = ran.calls_of("documents", "read").next().expect("a call");
    assert_eq!(call["outcome"]["kind"], "error");
    assert_eq!(ran.end().0, "error");
}

#[test]
fn every_end_has_its_outcome() {
    let cases: &[(&str, &[&str], &str, &str)] = &[
        ("success", &[], "fn main() { 42 }", "success"),
        ("exit-0", &[], "fn main() { env::exit(0); console::log(1) }", "success"),
        ("exit-3", &[], "fn main() { env::exit(3); console::log(1) }", "error"),
        ("throw", &[], "fn main() { throw #{ code: 7 } }", "error"),
        ("failing-call", &[], "fn main() { documents::read(\"nowhere\") }", "error"),
        ("division", &[], "fn main() { let zero = 0; 1 / zero }", "invariant"),
        ("assertion", &[], "fn main() { try { assert(1 > 2) } catch {} }", "invariant"),
        ("bounds", &[], "fn main() { [1, 2][5] }", "invariant"),
        ("no-entry", &[], "fn other() {}", "invariant"),
        ("no-such-function", &[], "fn main() { unheard_of(0..7) }", "invariant"),
        ("refused", &["--deny", "clock"], "fn main() { clock::elapsed() }", "host_boundary"),
        (
            "rethrown",
            &["--deny", "clock"],
            "fn main() { try { clock::elapsed() } catch (e) { throw e } }",
            "host_boundary",
        ),
        ("no-such-op", &[], "fn main() { clock::stop() }", "host_boundary"),
        ("no-such-module", &[], "fn main() { network::get(\"x\") }", "host_boundary"),
        ("bad-arguments", &[], "fn main() { clock::sleep(\"long\") }", "host_boundary"),
        ("fuel", &["--max-operations", "5000"], "fn main() { loop {} }", "fuel"),
        (
            "fuel-in-task",
            &["--max-operations", "5000"],
            "fn main() { tasks::wait(tasks::start(\"t\", || loop {})) }",
            "fuel",
        ),
        ("deadline", &["--deadline", "50"], "fn main() { loop {} }", "deadline"),
        ("deadline-asleep", &["--deadline", "50"], "fn main() { clock::sleep(600000) }", "deadline"),
        ("call-depth", &[], "fn deeper() { deeper() } fn main() { deeper() }", "call_depth"),
        (
            "host-calls",
            &["--max-host-calls", "3"],
            "fn main() { loop { try { clock::elapsed() } catch {} } }",
            "host_calls",
        ),
        (
            "concurrency",
            &["--max-tasks", "1"],
            "fn main() { for i in 0..2 { tasks::start(\"t\", || clock::sleep(600000)) } }",
            "concurrency",
        ),
        ("orphan", &[], "fn main() { tasks::start(\"t\", || { throw \"alone\" }) }", "error"),
    ];
    for (name, options, text, outcome) in cases {
        assert_eq!(run_text(name, options, text).end().0, *outcome, "{name}");
    }
}

/// Runs a script with a flight recorder of one kilobyte, and gives its exit code and what it left.
fn fly(name: &str, text: &str) -> (Option<i32>, Option<String>) {
    let scratch = ScratchDir::new(&format!("interpreter-flight-{name}"));
    let (script, trace) = (scratch.path().join("test.rhai"), scratch.path().join("run.jsonl"));
    fs::write(&script, text).expect("a script");
    let output = Command::new(INTERPRETER.executable())
        .arg("--flight-recorder=1")
        .arg("--trace")
        .arg(&trace)
        .arg(&script)
        .output()
        .expect("the interpreter runs");
    (output.status.code(), fs::read_to_string(&trace).ok())
}

#[test]
fn a_flight_recorder_leaves_the_last_events_of_a_run_that_ends_badly() {
    let (code, dump) = fly("bad", "fn main() { for i in 0..100 { console::log(i) } throw \"over\" }");
    assert_eq!(code, Some(1));
    let dump = dump.expect("a dump");
    let lines: Vec<Value> = dump.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["event"], "trace_header");
    assert_eq!(lines[1]["event"], "host_call", "the beginning is overwritten");
    assert_eq!(lines[lines.len() - 1], json!({"event": "run_ended", "outcome": "error", "message": "over"}));
    let last_call = lines.iter().rfind(|line| line["event"] == "host_call").expect("a call");
    assert_eq!(last_call["args"], json!([{"type": "int", "value": 99}]));
    let refused = Replay::open(dump.as_bytes()).expect_err("a trace without its beginning");
    assert!(matches!(refused, OpenError::NoBeginning { sign: MissingBeginning::Entry, .. }), "{refused}");
    assert!(dump.len() < 2 * 1024);
}

#[test]
fn a_flight_recorder_leaves_nothing_of_a_run_that_ends_well() {
    assert_eq!(fly("good", "fn main() { console::log(1) }"), (Some(0), None));
}

#[test]
fn a_line_on_standard_input_cancels_the_run() {
    let text = r#"fn main() { tasks::start("beside", || loop {}); loop {} }"#;
    let ran = run_text_with("cancelled", &["--stop-on-input"], text, "stop\n");
    assert_eq!(ran.end(), ("cancelled", Some("stopped from the terminal")));
    assert_eq!(ran.count("task_completed"), 0);
}

#[test]
fn a_call_that_leaves_the_process_is_not_recordable() {
    let ran = run_text("exit", &[], "fn main() { env::exit(3) }");
    let call = ran.calls_of("env", "exit").next().expect("the call");
    assert_eq!(call["outcome"], json!({"kind": "not_recordable"}));
    assert_eq!(ran.end(), ("error", Some("exit status 3")));
}

#[test]
fn a_call_that_is_not_dispatched_is_granted_and_has_no_outcome() {
    let ran = run_text("not-dispatched", &[], r#"fn main() { clock::sleep("long") }"#);
    let call = ran.calls_of("clock", "sleep").next().expect("the call");
    assert_eq!(call["granted"], true);
    assert_eq!(call["outcome"], Value::Null);
    assert_eq!(call["args"], json!([{"type": "string", "value": "long"}]));
}

#[test]
fn each_call_belongs_to_the_task_that_made_it() {
    let ran = run_text(
        "tasks",
        &[],
        r#"
        fn main() {
            let outer = tasks::start("outer", || {
                console::log("outer");
                tasks::wait(tasks::start("inner", || { console::log("inner"); 7 }))
            });
            console::log("entry");
            assert(tasks::wait(outer) == 7);
        }
        "#,
    );
    let spawned = |scope: &str| {
        let position = ran.events.iter().position(|event| event["scope"] == scope).expect("a spawn");
        (position, ran.events[position]["id"].as_u64(), ran.events[position]["parent"].as_u64())
    };
    let logged = |text: &str| {
        let logs = |event: &Value| event["op"] == "log" && event["args"][0]["value"] == text;
        let position = ran.events.iter().position(logs).expect("a call");
        (position, ran.events[position]["task"].as_u64())
    };
    let (outer_spawned, outer, outer_parent) = spawned("outer");
    let (inner_spawned, inner, inner_parent) = spawned("inner");
    assert_eq!((outer_parent, inner_parent), (Some(0), outer));
    assert_eq!(logged("entry").1, Some(0));
    assert_eq!(logged("outer").1, outer);
    assert_eq!(logged("inner").1, inner);
    assert!(outer_spawned < logged("outer").0 && inner_spawned < logged("inner").0);
    assert_eq!(ran.count("task_completed"), 2);
}

#[test]
fn a_cancelled_task_stops_with_all_that_it_started() {
    let scratch = ScratchDir::new("interpreter-cancel");
    let script = scratch.path().join("test.rhai");
    let text = r#"
        fn main() {
            let task = tasks::start("outer", || {
                tasks::start("inner", || loop {});
                documents::write("started", "");
                clock::sleep(600000);
            });
            while !documents::list("").contains("started") { clock::sleep(1) }
            tasks::cancel(task);
            try { tasks::wait(task) } catch (why) { console::log(why) }
        }
    "#;
    fs::write(&script, text).expect("a script");
    let documents = scratch.path().to_str().expect("a Unicode path");
    let ran = run_with(&scratch, &["--allow", "documents.write", "--documents", documents], &script, &[], "");
    assert_eq!(ran.end(), ("success", None));
    assert_eq!(ran.count("task_cancelled"), 2);
    assert!(ran.stdout.contains("the task was cancelled"), "{}", ran.stdout);
}

#[test]
fn what_a_task_throws_reaches_who_waits_for_it() {
    let text = r#"
        fn main() {
            let task = tasks::start("throws", || { throw "from the task" });
            try { tasks::wait(task) } catch (thrown) { console::log(`caught: ${thrown}`) }
            tasks::wait(task)
        }
    "#;
    let ran = run_text("task-throws", &[], text);
    assert!(ran.stdout.contains("caught: from the task"), "{}", ran.stdout);
    let messages: Vec<_> = ran.calls_of("tasks", "wait").map(|call| &call["outcome"]["message"]).collect();
    assert_eq!(messages, ["the task failed", "the task was waited for before"]);
    assert_eq!(ran.end().0, "error");
}

#[test]
fn values_are_recorded_as_they_are() {
    let shapes: &[(&str, Value)] = &[
        ("()", json!({"type": "unit"})),
        ("1 > 2", json!({"type": "bool", "value": false})),
        ("-9223372036854775807 - 1", json!({"type": "int", "value": i64::MIN})),
        ("0.1 + 0.2", json!({"type": "float", "value": 0.1 + 0.2})),
        ("'\u{e9}'", json!({"type": "string", "value": "\u{e9}"})),
        (r#""say \"yes\"""#, json!({"type": "string", "value": "say \"yes\""})),
        (
            "[1, ['x']]",
            json!({"type": "array", "items": [
                {"type": "int", "value": 1},
                {"type": "array", "items": [{"type": "string", "value": "x"}]},
            ]}),
        ),
        (
            "#{ name: \"ada\", age: 36 }",
            json!({"type": "struct", "name": "Map", "fields": [
                {"name": "age", "value": {"type": "int", "value": 36}},
                {"name": "name", "value": {"type": "string", "value": "ada"}},
            ]}),
        ),
        ("\"bytes\".to_blob()", json!({"type": "string", "value": "bytes"})),
        (
            "blob(2, 0xff)",
            json!({"type": "enum", "name": "@String", "case": "hex", "payload": [{"type": "string", "value": "ffff"}]}),
        ),
        ("Fn(\"main\")", json!({"type": "opaque", "of": "Fn", "shown": "Fn(main)"})),
        ("captured", json!({"type": "array", "items": [{"type": "int", "value": 1}]})),
        ("task", json!({"type": "opaque", "of": "Task", "shown": "task 1"})),
        ("document", json!({"type": "resource", "name": "Document", "id": 1})),
    ];
    let calls: String = shapes.iter().map(|(text, _)| format!("console::log({text});\n")).collect();
    let text = format!(
        r#"
        fn main() {{
            let captured = [1];
            let closure = || captured.push(2);
            let task = tasks::start("t", || 1);
            let document = documents::open("orders.txt");
            {calls}
        }}
        "#
    );
    let ran = run_text("shapes", &[], &text);
    let recorded: Vec<_> = ran.calls_of("console", "log").map(|call| &call["args"][0]).collect();
    assert_eq!(recorded, shapes.iter().map(|(_, value)| value).collect::<Vec<_>>());
}

#[test]
fn a_redacted_trace_keeps_no_value() {
    let text = r#"
        fn main() {
            let secret = env::get("EXAMPLE_TOKEN");
            console::log(#{ secret_field: [secret] });
            let lines = documents::read("orders.txt");
            try { documents::read(`${secret}.txt`) } catch {}
            let task = tasks::start("scope", || { throw secret });
            try { tasks::wait(task) } catch {}
            throw secret;
        }
    "#;
    let secrets = ["token-in-the-environment", "secret_field", "compass", "an-argument"];
    let run = |name: &str, options: &[&str]| {
        let scratch = ScratchDir::new(name);
        let script = scratch.path().join("test.rhai");
        fs::write(&script, text).expect("a script");
        run_with(&scratch, options, &script, &["an-argument"], "")
    };

    let full = run("interpreter-full", &[]);
    for secret in secrets {
        assert!(full.trace.contains(secret), "a full trace holds {secret}");
    }
    let redacted = run("interpreter-redacted", &["--redacted"]);
    for secret in secrets {
        assert!(!redacted.trace.contains(secret), "a redacted trace holds {secret}");
    }
    assert_eq!(redacted.host_calls().count(), full.host_calls().count());
    let logged = redacted.calls_of("console", "log").next().expect("a call");
    assert_eq!(logged["args"], json!([{"type": "redacted", "of": "Map"}]));
    assert_eq!(redacted.end(), ("error", None));
}

#[test]
fn a_broken_invariant_quotes_no_value_in_a_redacted_trace() {
    let text = "fn main() { let secret = 271828182845; secret / (secret - secret) }";
    let ran = run_text("invariant-redacted", &["--redacted"], text);
    let (outcome, message) = ran.end();
    assert_eq!(outcome, "invariant");
    assert!(message.is_some_and(|message| message.contains("line 1")), "{message:?}");
    assert!(!ran.trace.contains("271828182845"));
}

#[test]
fn the_command_line_is_checked() {
    let output =
        Command::new(INTERPRETER.executable()).args(["--deny", "everything"]).output().expect("the interpreter runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("documents.read"));
    let output =
        Command::new(INTERPRETER.executable()).arg("no-such-script.rhai").output().expect("the interpreter runs");
    assert_eq!(output.status.code(), Some(1));
}
