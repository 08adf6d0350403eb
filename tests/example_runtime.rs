//! The example interpreter's runtime, called directly: what no script can provoke.

#[path = "../examples/interpreter/runtime/mod.rs"]
mod runtime;

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use allocation_counter::measure;
use common::scratch_dir::ScratchDir;
use cove_trace::replay::Verdict;
use cove_trace::testing::assert_conforms;
use cove_trace::{
    ENTRY_TASK, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, RenderedCallSite, Replay,
    RunOutcome, TraceEvent, TraceHeader, TraceSink, TraceValue, ValueCapture, value_to_json,
};
use rhai::{Array, Dynamic, FnPtr, Map};
use runtime::host::Operation;
use runtime::value::Traced;
use runtime::{Ending, Limits, Program, Replaying, Run, Setup, modules};
use serde_json::{Value, json};

/// The example's operations and two more: `test::panic`, which does what it says, and `test::conforms`, which checks the value
/// it is given.
fn operations() -> Vec<Operation> {
    let mut operations = modules::operations();
    operations.push(Operation::new("test", "panic", "test", 0, |_, _| panic!("as the test asked for")));
    operations.push(Operation::new("test", "conforms", "test", 1, |_, args| {
        assert_conforms(&Traced(args.any(0)?));
        Ok(Dynamic::UNIT)
    }));
    operations
}

/// Runs a script against these, and then, with the same end, against its trace.
fn run(name: &str, script: &str) -> (Ending, Vec<Value>) {
    let recorded = record(name, script);
    (recorded.ending, events(&recorded.trace))
}

fn record(name: &str, script: &str) -> Recorded {
    let scratch = ScratchDir::new(name);
    let path = scratch.path().join("test.rhai");
    fs::write(&path, script).expect("a script");
    let program = Program::load(&path).expect("a script that compiles");

    let operations = operations();
    let granted: BTreeSet<_> = operations.iter().map(|operation| operation.site().capability().to_owned()).collect();
    let sink = sink();
    let setup = Setup {
        documents: scratch.path().to_owned(),
        args: Vec::new(),
        granted,
        limits: Limits::default(),
        sink: Arc::clone(&sink) as _,
        replaying: None,
        stop: Arc::new(OnceLock::new()),
    };
    let ending = Run::execute(program.clone(), operations, setup);
    let trace = text(sink);
    replay(program.clone(), &trace, &ending);
    Recorded { program, ending, trace }
}

/// A run, and the trace of it.
struct Recorded {
    program: Program,
    ending: Ending,
    trace: String,
}

fn events(trace: &str) -> Vec<Value> {
    trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn sink() -> Arc<JsonlSink<Vec<u8>>> {
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "test");
    Arc::new(JsonlSink::new(Vec::new(), &header).expect("a vector takes it"))
}

/// What was recorded, when the run is over.
fn text(sink: Arc<JsonlSink<Vec<u8>>>) -> String {
    let finished = Arc::into_inner(sink).expect("nothing outlives its run").finish();
    assert_eq!(finished.dropped, 0);
    String::from_utf8(finished.writer).expect("text")
}

/// Runs a script against its trace, with no host, and gives the trace of that.
fn replay(program: Program, trace: &str, ending: &Ending) -> String {
    let replaying = Replaying::new(Replay::open(trace.as_bytes()).expect("a trace"), false);
    let mut operations = modules::unplugged();
    operations.extend(self::operations().into_iter().skip(operations.len()).map(Operation::unplugged));
    let sink = sink();
    let setup = Setup {
        documents: PathBuf::new(),
        args: Vec::new(),
        granted: BTreeSet::new(),
        limits: replaying.limits(Limits::default()),
        sink: Arc::clone(&sink) as _,
        replaying: Some(replaying.clone()),
        stop: Arc::new(OnceLock::new()),
    };
    assert_eq!(Run::execute(program, operations, setup), *ending);
    let conclusion = replaying.finish(ending);
    assert_eq!(conclusion.verdict, Verdict::Reproduced, "{conclusion}");
    text(sink)
}

#[track_caller]
fn assert_ended(events: &[Value]) {
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().expect("a name")).collect();
    assert!(names.contains(&"entry_exit"), "{names:?}");
    assert_eq!(names[names.len() - 2..], ["heap_summary", "run_ended"]);
}

#[test]
fn a_run_ends_properly_when_the_host_panics() {
    let (ending, events) = run("runtime-panic", "fn main() { try { test::panic() } catch {} }");
    assert_eq!(ending.outcome, RunOutcome::Invariant);
    let call = events.iter().find(|event| event["op"] == "panic").expect("the call is recorded");
    assert_eq!(call["outcome"]["kind"], "error");
    assert_ended(&events);
}

#[test]
fn a_run_ends_properly_when_the_host_panics_in_a_task() {
    let (ending, events) = run("runtime-task-panic", r#"fn main() { tasks::start("t", || test::panic()); loop {} }"#);
    assert_eq!(ending.outcome, RunOutcome::Invariant);
    assert_eq!(events.iter().filter(|event| event["event"] == "task_cancelled").count(), 1);
    assert_ended(&events);
}

/// The calls of the tasks, in the order of the trace.
fn calls(trace: &str) -> Vec<(Value, Value)> {
    let calls = events(trace).into_iter().filter(|event| event["event"] == "host_call");
    calls.map(|call| (call["args"].clone(), call["outcome"].clone())).collect()
}

#[test]
fn three_tasks_replay_whatever_their_interleaving() {
    let script = r#"
        fn main() {
            let workers = [];
            for name in ["a", "b", "c"] {
                workers.push(tasks::start("workers", || work(name)));
            }
            for worker in workers {
                console::log(tasks::wait(worker));
            }
        }

        fn work(name) {
            // Each task has one of its own, so ids depend on scheduling.
            let helper = tasks::start("helper", || { clock::sleep(1); clock::elapsed(); name });
            let last = ();
            for round in 0..20 {
                clock::sleep(round % 3);
                last = clock::elapsed();
                console::log(`${name} ${round} ${last}`);
            }
            `${tasks::wait(helper)}: ${last}`
        }
    "#;
    let recorded = record("runtime-interleaving", script);
    let recorded_order = calls(&recorded.trace);
    let mut other_orders = 0;
    for _ in 0..100 {
        let replayed = replay(recorded.program.clone(), &recorded.trace, &recorded.ending);
        other_orders += u32::from(calls(&replayed) != recorded_order);
    }
    assert!(other_orders > 50, "only {other_orders} of 100 replays had another interleaving than the recording");
}

#[track_caller]
fn assert_recorded(value: &Dynamic, expected: &Value) {
    let written: Value = serde_json::from_str(&value_to_json(&Traced(value), ValueCapture::Full)).expect("JSON");
    assert_eq!(written, *expected);
    let redacted = value_to_json(&Traced(value), ValueCapture::Redacted);
    assert_eq!(redacted, format!(r#"{{"type":"redacted","of":"{}"}}"#, Traced(value).type_name()));
}

#[test]
fn values_of_every_kind_conform() {
    let mut map = Map::new();
    map.insert("".into(), Dynamic::UNIT);
    map.insert("list".into(), vec![Dynamic::from(1_i64), Array::new().into()].into());
    let mut nested = Dynamic::UNIT;
    for _ in 0..200 {
        nested = vec![nested].into();
    }
    let mut closure = FnPtr::new("callback").expect("a name");
    closure.add_curry(map.clone().into());
    let mut shared = Dynamic::from(7_i64).into_shared();
    let locked = shared.clone();
    let values = [
        Dynamic::UNIT,
        true.into(),
        Dynamic::from(i64::MIN),
        Dynamic::from(-0.0),
        Dynamic::from(f64::NAN),
        'é'.into(),
        "\"\\\n\0\u{1f600}".into(),
        Dynamic::from_blob(b"text".to_vec()),
        Dynamic::from_blob(b"\xff".to_vec()),
        Array::new().into(),
        map.clone().into(),
        Map::new().into(),
        nested,
        closure.into(),
        shared.clone(),
        Dynamic::from(map).into_shared(),
        Dynamic::from(std::time::Duration::MAX),
        Dynamic::from(std::time::Instant::now()),
        // A type of the host's that the wrapper says nothing about.
        Dynamic::from(Limits::default()),
    ];
    for value in &values {
        assert_conforms(&Traced(value));
    }
    let _guard = shared.write_lock::<i64>().expect("nobody else has it");
    assert_conforms(&Traced(&locked));
}

#[test]
fn the_handles_of_the_host_conform() {
    let script = r#"
        fn main() {
            let task = tasks::start("t", || 1);
            test::conforms(task);
            tasks::wait(task);
            test::conforms(documents::open("test.rhai"));
            try { tasks::wait(7) } catch (refusal) { test::conforms(refusal) }
        }
    "#;
    assert_eq!(run("runtime-conformance", script).0, Ending::SUCCESS);
}

#[test]
fn a_captured_variable_is_recorded_as_what_it_holds() {
    let shared = Dynamic::from(7_i64).into_shared();
    assert_recorded(&shared, &json!({"type": "int", "value": 7}));
    assert_eq!(Traced(&shared).type_name(), "Int");
    let inside: Dynamic = vec![shared].into();
    assert_recorded(&inside, &json!({"type": "array", "items": [{"type": "int", "value": 7}]}));
}

#[test]
fn a_captured_variable_that_is_being_written_is_opaque() {
    let mut shared = Dynamic::from(7_i64).into_shared();
    let other = shared.clone();
    let guard = shared.write_lock::<i64>().expect("nobody else has it");
    assert_recorded(&other, &json!({"type": "opaque", "of": "Shared", "shown": "locked"}));
    drop(guard);
    assert_recorded(&other, &json!({"type": "int", "value": 7}));
}

#[test]
fn what_a_function_captured_is_not_recorded() {
    let mut function = FnPtr::new("callback").expect("a name");
    function.add_curry("secret".into());
    assert_recorded(&Dynamic::from(function), &json!({"type": "opaque", "of": "Fn", "shown": "Fn(callback)"}));
}

#[test]
fn rhai_values_are_recorded_without_a_copy() {
    let mut map = Map::new();
    map.insert("text".into(), "a text that is too long to be stored in place".into());
    map.insert("list".into(), (0..100_i64).map(Dynamic::from).collect::<Array>().into());
    map.insert("shared".into(), Dynamic::from('x').into_shared());
    map.insert("function".into(), FnPtr::new("callback").expect("a name").into());
    let value = Traced(&map.into());
    let site = RenderedCallSite::new("console", "log", "console");
    let event = TraceEvent::HostCall(HostCall {
        task: ENTRY_TASK,
        site: site.site(),
        wait: std::time::Duration::ZERO,
        granted: true,
        args: &[RecordedValue::Live(&value)],
        outcome: Some(HostOutcome::Value(RecordedValue::Live(&value))),
    });
    for capture in [ValueCapture::Full, ValueCapture::Redacted] {
        let header = TraceHeader::new(RecordingBackend::Ast, capture, "test");
        let sink = JsonlSink::new(io::sink(), &header).expect("nothing can go wrong");
        sink.record(&event);
        assert_eq!(measure(|| sink.record(&event)).count_total, 0, "{capture}");
    }
}
