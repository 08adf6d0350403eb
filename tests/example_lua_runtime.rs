//! The Lua example's runtime, called directly: what its values owe a trace, and what no script can provoke.

#[path = "../examples/lua/runtime/mod.rs"]
mod runtime;

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use common::scratch_dir::ScratchDir;
use cove_trace::replay::Verdict;
use cove_trace::testing::assert_conforms;
use cove_trace::{JsonlSink, NullSink, RecordingBackend, Replay, RunOutcome, TraceHeader, TraceSink, ValueCapture};
use runtime::host::{Answer, Args, Operation};
use runtime::value::Traced;
use runtime::{Ending, Limits, Program, Replaying, Run, Setup, modules};
use serde_json::Value;

/// Runs a script against the example's host and three operations more: `test.conforms` checks the values it is given,
/// `test.userdata` gives one of a type that the host says nothing about, and `test.panic` does what it says.
fn run(name: &str, script: &str, sink: Arc<dyn TraceSink>) -> Ending {
    let scratch = ScratchDir::new(name);
    let path = scratch.path().join("test.lua");
    fs::write(&path, script).expect("a script");

    let operations = operations();
    let setup = Setup {
        files: scratch.path().to_owned(),
        args: Vec::new(),
        granted: operations.iter().map(|operation| operation.site().capability().to_owned()).collect(),
        limits: Limits::default(),
        sink,
        replaying: None,
    };
    Run::execute(Program::load(&path).expect("a script that compiles"), operations, setup)
}

fn operations() -> Vec<Operation> {
    let mut operations = modules::operations();
    operations.push(Operation::new("test", "conforms", "test", conforms));
    operations.push(Operation::new("test", "userdata", "test", userdata));
    operations.push(Operation::new("test", "panic", "test", |_, _| panic!("as the test asked for")));
    operations
}

/// Runs a script against its trace, with no host.
fn replay(name: &str, script: &str, trace: &[u8]) -> Ending {
    let scratch = ScratchDir::new(name);
    let path = scratch.path().join("test.lua");
    fs::write(&path, script).expect("a script");

    let replaying = Rc::new(Replaying::new(Replay::open(trace).expect("a trace"), false));
    let mut operations = modules::unplugged();
    operations.extend(self::operations().into_iter().skip(operations.len()).map(Operation::unplugged));
    let setup = Setup {
        files: PathBuf::new(),
        args: Vec::new(),
        granted: BTreeSet::new(),
        limits: Limits::default(),
        sink: Arc::new(NullSink),
        replaying: Some(Rc::clone(&replaying)),
    };
    let ending = Run::execute(Program::load(&path).expect("a script that compiles"), operations, setup);
    let conclusion = replaying.finish(&ending);
    assert_eq!(conclusion.verdict, Verdict::Reproduced, "{conclusion}");
    ending
}

#[test]
fn a_run_is_replayed_without_its_host() {
    let scripts = [
        r#"
        local store = kv.open("s", { user = "u", password = "p" })
        store:put("k\xff", "caf\xe9")
        assert(store:get("k\xff") == "caf\xe9" and #store:keys("k") == 1)
        assert(store:delete("k\xff") and not store:get("k\xff"))
        console.print({ [1] = 2, x = 3 }, 0/0, coroutine.create(print))
        -- Wrong arguments are refused in the same words.
        local _, why = pcall(kv.get, store)
        console.print(tostring(why))
        files.read("nowhere")
        "#,
        "pcall(test.panic) console.print(1)",
    ];
    for (index, script) in scripts.iter().enumerate() {
        let name = format!("lua-replay-{index}");
        let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "test");
        let sink = Arc::new(JsonlSink::new(Vec::new(), &header).expect("a vector takes it"));
        let ending = run(&name, script, Arc::clone(&sink) as _);
        let trace = Arc::into_inner(sink).expect("nothing outlives its run").finish().writer;
        assert_eq!(replay(&name, script, &trace), ending);
    }
}

fn conforms(_: &Run, args: Args<'_>) -> Answer {
    for value in args.values {
        assert_conforms(&Traced(value));
    }
    Ok(mlua::Value::Nil)
}

struct Unheard;

fn userdata(_: &Run, args: Args<'_>) -> Answer {
    Ok(mlua::Value::UserData(args.lua.create_any_userdata(Unheard)?))
}

/// The events of a run's trace.
fn run_recorded(name: &str, script: &str) -> (Ending, Vec<Value>) {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "test");
    let sink = Arc::new(JsonlSink::new(Vec::new(), &header).expect("a vector takes it"));
    let ending = run(name, script, Arc::clone(&sink) as _);
    let finished = Arc::into_inner(sink).expect("nothing outlives its run").finish();
    assert_eq!(finished.dropped, 0);
    let trace = String::from_utf8(finished.writer).expect("text");
    (ending, trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn values_of_every_kind_conform() {
    let script = r#"
        local conforms = test.conforms
        conforms(nil, true, false)
        conforms(0, -1, math.mininteger, math.maxinteger)
        conforms(0.0, -0.0, 1.5, 2^53, 1e300, 5e-324, math.huge, -math.huge, 0/0)
        conforms("", "text", "\"\\\n\0\u{7f}\u{2028}\u{1f600}", "\xff", "half \xe2\x82")
        conforms({}, { 1 }, { { {} } }, { "a", "b", "c" }, { false, 0 / 0, "\xff" })
        conforms({ a = 1 }, { a = { b = { c = {} } } }, { [""] = "", ["\n"] = 1 })
        conforms({ 1, n = 1 }, { [0] = 0 }, { nil, 2 }, { [1.5] = 1 }, { [true] = 1 }, { ["\xff"] = 1 }, { [{}] = {} })
        conforms({ password = "p" }, { token = { 1 } }, { 1, Password = {} })
        conforms(setmetatable({ 1 }, { __index = error, __len = error, __pairs = error, __name = "x", __eq = error }))
        local backwards = {}
        for i = 100, 1, -1 do backwards[i] = i end
        conforms(backwards)

        local function upvalue() return backwards end
        local finished, failed = coroutine.create(upvalue), coroutine.create(error)
        coroutine.resume(finished)
        coroutine.resume(failed)
        conforms(print, upvalue, coroutine.create(print), finished, failed, coroutine.running())
        coroutine.wrap(function(outer) conforms(outer, coroutine.running()) end)(coroutine.running())
        conforms(select(2, pcall(files.read, "nowhere")), select(2, pcall(files.read)))
        conforms(test.userdata(), files.open("test.lua"), kv.open("s", { user = "u", password = "p" }))

        local once, twice, array, keys = {}, {}, {}, {}
        once.again = once
        twice.a, twice.b = twice, twice
        array[1], array[2] = array, array
        keys[keys], keys.value = keys, keys
        conforms(once, twice, array, keys)
        local large, fields = {}, {}
        for i = 1, 20000 do large[i], fields["field" .. i] = i, i end
        conforms(large, fields, { large, large }, { fields, {} })
    "#;
    assert_eq!(run("lua-conformance", script, Arc::new(NullSink)), Ending::SUCCESS);
}

#[test]
fn a_userdata_of_any_type_is_opaque_by_its_name() {
    let (ending, events) = run_recorded("lua-userdata", "print(test.userdata())");
    assert_eq!(ending, Ending::SUCCESS);
    let printed = events.iter().find(|event| event["op"] == "print").expect("the call is recorded");
    assert_eq!(printed["args"][0]["type"], "opaque");
    assert_eq!(printed["args"][0]["of"], "Unheard");
}

#[test]
fn a_run_ends_properly_when_the_host_panics() {
    let (ending, events) = run_recorded("lua-panic", "pcall(test.panic, 7) print('not admitted')");
    assert_eq!(ending.outcome, RunOutcome::Invariant);
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().expect("a name")).collect();
    assert_eq!(names, ["entry_enter", "host_call", "host_call", "entry_exit", "heap_summary", "run_ended"]);
    assert_eq!(events[1]["args"][0]["value"], 7);
    assert_eq!(events[1]["outcome"]["kind"], "error");
    assert!(events[2]["outcome"].is_null(), "the run is over: {}", events[2]);
}
