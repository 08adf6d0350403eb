//! Compiles and runs the README's code. Each block has a copy here, between marks, and a test compares the two.

use std::borrow::Cow;
use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use cove_trace::replay::{Answer, Divergence};
use cove_trace::{
    HostCall, HostOutcome, JsonlSink, LiveArgs, RecordedValue, RecordingBackend, RenderedCallSite, Replay, TraceEvent,
    TraceHeader, TraceReader, TraceSink, TraceValue, ValueCapture, ValueWriter,
};

struct Closure {
    name: String,
}

// README begins
enum Value {
    Nil,
    Int(i64),
    Text(String),
    List(Rc<Vec<Value>>),
    Closure(Rc<Closure>),
}

impl TraceValue for Value {
    fn type_name(&self) -> Cow<'_, str> {
        match self {
            Value::Nil => "Unit".into(),
            Value::Int(_) => "Int".into(),
            Value::Text(_) => "String".into(),
            Value::List(_) => "Array".into(),
            Value::Closure(_) => "Closure".into(),
        }
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self {
            Value::Nil => out.unit(),
            Value::Int(int) => out.int(*int),
            Value::Text(text) => out.string(text),
            Value::List(list) => out.array(|items| items.extend(list.iter())),
            Value::Closure(closure) => out.opaque("Closure", &closure.name), // no captures, no address
        }
    }
}
// README ends

struct Task {
    id: u64,
}

struct Operation {
    site: RenderedCallSite,
    run: fn(&[Value]) -> Result<Value, Failure>,
}

impl Operation {
    fn run(&self, args: &[Value]) -> Result<Value, Failure> {
        (self.run)(args)
    }
}

struct Failure {
    message: String,
}

fn call(sink: &dyn TraceSink, task: &Task, operation: &Operation, args: &[Value]) -> Result<Value, Failure> {
    // README begins
    let started = sink.is_recording().then(Instant::now); // Without a trace, the clock is not read.
    let result = operation.run(args);
    if let Some(started) = started {
        sink.record(&TraceEvent::HostCall(HostCall {
            task: task.id,
            site: operation.site.site(), // a `RenderedCallSite`, created when the operation was registered
            wait: started.elapsed(),
            granted: true,
            args: &LiveArgs::new(args),
            outcome: Some(match &result {
                Ok(value) => HostOutcome::Value(RecordedValue::Live(value)),
                Err(error) => HostOutcome::Error(&error.message),
            }),
        }));
    }
    result
    // README ends
}

impl Failure {
    fn new(message: &str) -> Self {
        Self { message: message.to_owned() }
    }

    fn thrown(_: Value) -> Self {
        Self::new("thrown")
    }
}

impl From<Divergence> for Failure {
    fn from(divergence: Divergence) -> Self {
        Self { message: divergence.to_string() }
    }
}

impl From<cove_trace::Value> for Value {
    fn from(value: cove_trace::Value) -> Self {
        match value {
            cove_trace::Value::Int(int) => Self::Int(int),
            _ => Self::Nil,
        }
    }
}

fn call_again(replay: &Replay, task: &Task, operation: &Operation, args: &[Value]) -> Result<Value, Failure> {
    // README begins
    match replay.call(task.id, operation.site.site(), &LiveArgs::new(args))? {
        Answer::Value(value) => Ok(value.into()), // an owned value, into the interpreter's own
        Answer::Error(message) => Err(Failure { message }),
        Answer::Thrown(error) => Err(Failure::thrown(error.into())),
        Answer::NotGranted => Err(Failure::new("not granted")),
        Answer::NotDispatched => Err(Failure::new("wrong arguments")),
        Answer::NeverReturned => Err(Failure::new("stop this task: the recorded call panicked or was given up")),
        Answer::Perform => operation.run(args), // the interpreter's own work, such as spawning a task
        Answer::Stopped => Err(Failure::new("stop this task: the recorded one was cancelled here")),
        Answer::NotRecordable | Answer::Incomplete => Err(Failure::new("end the run: nothing more was recorded")),
    }
    // README ends
}

fn refused(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut refused = Vec::new();
    // README begins
    let mut trace = TraceReader::new(File::open(path)?);
    while let Some(event) = trace.next_event()? {
        if let TraceEvent::HostCall(call) = event
            && !call.granted
        {
            refused.push(format!("{}.{} by task {}", call.site.module(), call.site.op(), call.task));
        }
    }
    // README ends
    Ok(refused)
}

#[test]
fn the_code_of_the_readme_records_and_reads() {
    let path = std::env::temp_dir().join(format!("cove-trace-readme-{}.jsonl", std::process::id()));
    assert_eq!(recorded(&path, record_three_calls).unwrap(), 0);

    assert_eq!(refused(&path).unwrap(), ["lists.first by task 3"]);
    let trace = fs::read_to_string(&path).unwrap();
    assert!(trace.contains(r#"{"type":"opaque","of":"Closure","shown":"greet"}"#), "{trace}");
    assert!(trace.contains(r#"{"kind":"error","message":"the list is empty"}"#), "{trace}");

    let replay = Replay::open(trace.as_bytes()).unwrap();
    let operation = operation();
    let again = |args: &[Value]| call_again(&replay, &Task { id: 3 }, &operation, args);
    assert!(matches!(again(&full_list()), Ok(Value::Nil)));
    assert_eq!(again(&[Value::List(Rc::default())]).err().unwrap().message, "the list is empty");
    assert!(again(&full_list()).err().unwrap().message.contains("differs   args[0]"));
    fs::remove_file(path).unwrap();
}

#[allow(clippy::print_stderr, reason = "the README's code reports losses to a person")]
fn recorded(path: &Path, run: fn(&dyn TraceSink)) -> Result<u64, Box<dyn Error>> {
    // README begins
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::builder(&header).create(path)?;
    run(&sink);
    sink.flush();
    if sink.dropped() > 0 {
        eprintln!("the trace lacks {} events", sink.dropped());
    }
    // README ends
    Ok(sink.dropped())
}

#[test]
fn the_long_running_sink_has_a_buffer_and_a_limit() {
    let path = std::env::temp_dir().join(format!("cove-trace-readme-long-{}.jsonl", std::process::id()));
    assert_eq!(recorded_for_long(&path, record_three_calls).unwrap(), 0);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 4);
    fs::remove_file(path).unwrap();
}

fn recorded_for_long(path: &Path, run: fn(&dyn TraceSink)) -> Result<u64, Box<dyn Error>> {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    // README begins
    let sink = JsonlSink::builder(&header)
        .buffer(64 * 1024) // gather lines; a killed process loses them
        .byte_limit(1 << 30) // end the trace after 1 GiB, except for the events that close the run
        .create(path)?;
    // README ends
    run(&sink);
    Ok(sink.finish().dropped)
}

fn operation() -> Operation {
    Operation {
        site: RenderedCallSite::new("lists", "first", "lists.read"),
        run: |args| match args {
            [Value::List(list), ..] if list.is_empty() => Err(Failure::new("the list is empty")),
            _ => Ok(Value::Nil),
        },
    }
}

fn full_list() -> [Value; 1] {
    let closure = Value::Closure(Rc::new(Closure { name: "greet".into() }));
    [Value::List(Rc::new(vec![Value::Int(1), Value::Text("two".into()), closure]))]
}

fn record_three_calls(sink: &dyn TraceSink) {
    let operation = operation();
    assert!(call(sink, &Task { id: 3 }, &operation, &full_list()).is_ok());
    assert!(call(sink, &Task { id: 3 }, &operation, &[Value::List(Rc::default())]).is_err());
    let site = operation.site.site();
    let refusal = HostCall { task: 3, site, wait: std::time::Duration::ZERO, granted: false, args: &[], outcome: None };
    sink.record(&TraceEvent::HostCall(refusal));
}

#[test]
fn the_readme_shows_this_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let source = fs::read_to_string(root.join("tests/readme.rs")).unwrap();
    let marked = source.split("// README begins\n").skip(1).map(|rest| rest.split("// README ends").next().unwrap());
    let mut blocks = 0;
    for block in marked.filter(|block| block.lines().count() > 3) {
        let indent = block.len() - block.trim_start_matches(' ').len();
        let code: String =
            block.trim_end().lines().map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
        assert!(readme.contains(&format!("```rust\n{code}```")), "the README does not show:\n{code}");
        blocks += 1;
    }
    assert_eq!(blocks, readme.matches("```rust").count());
}
