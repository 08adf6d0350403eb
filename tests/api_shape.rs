//! What the API promises by its shape: how an event is recorded, what a sink may stand behind, what a live value may be,
//! and how the closed sets are read and written.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::{Debug, Display};
use std::io::{self, Write};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cove_trace::{
    CallSite, ENTRY_TASK, EventKind, HeapSummary, HostCall, HostOutcome, JsonlSink, NotReplayable, NullSink,
    RUNTIME_VERSION, RecordedValue, RecordingBackend, RenderedCallSite, RingSink, RunOutcome, TRACE_FORMAT_VERSION,
    Timing, TraceEvent, TraceHeader, TraceSink, TraceValue, UnknownName, Value, ValueCapture, ValueWriter,
    encode_event,
};

// Sinks.

/// A sink of somebody else's: counts events.
#[derive(Default)]
struct Counting {
    events: AtomicU64,
    is_off: AtomicBool,
}

impl TraceSink for Counting {
    fn record(&self, _: &TraceEvent<'_>) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    fn is_recording(&self) -> bool {
        !self.is_off.load(Ordering::Relaxed)
    }
}

/// Records as a runtime does that is generic over its sink.
fn record_through<S: TraceSink>(sink: S, id: u64) -> bool {
    sink.record(&TraceEvent::TaskCancelled { id });
    sink.is_recording()
}

#[test]
fn every_pointer_to_a_sink_is_a_sink() {
    let id = 3;
    let counting = Arc::new(Counting::default());

    let dynamic: &dyn TraceSink = &*counting;
    dynamic.record(&TraceEvent::TaskCancelled { id });
    assert!(dynamic.is_recording());

    let boxed: Box<dyn TraceSink> = Box::new(Arc::clone(&counting));
    boxed.record(&TraceEvent::TaskCancelled { id });
    assert!(boxed.is_recording());

    let shared: Arc<dyn TraceSink> = Arc::clone(&counting) as Arc<dyn TraceSink>;
    shared.record(&TraceEvent::TaskCancelled { id });
    assert!(shared.is_recording());

    let optional: Option<Arc<dyn TraceSink>> = Some(Arc::clone(&shared));
    optional.record(&TraceEvent::TaskCancelled { id });
    assert!(optional.is_recording());
    assert_eq!(counting.events.swap(0, Ordering::Relaxed), 4);

    assert!(record_through(&*counting, id));
    assert!(record_through(&counting, id));
    assert!(record_through(dynamic, id));
    assert!(record_through(&boxed, id));
    assert!(record_through(boxed, id));
    assert!(record_through(Arc::clone(&shared), id));
    assert!(record_through(&optional, id));
    assert!(record_through(Some(dynamic), id));
    assert!(record_through(Box::new(Counting::default()), id));
    assert_eq!(counting.events.swap(0, Ordering::Relaxed), 8);

    counting.is_off.store(true, Ordering::Relaxed);
    assert!(!record_through(dynamic, id));
    assert!(!record_through(shared, id));
    assert!(!record_through(&optional, id));
    assert_eq!(counting.events.swap(0, Ordering::Relaxed), 3);
}

#[test]
fn what_does_not_record_says_so() {
    assert!(!record_through(NullSink, 1));
    assert!(!record_through(Some(NullSink), 1));
    assert!(!record_through(None::<Arc<dyn TraceSink>>, 1));
    assert!(!record_through(Box::new(NullSink) as Box<dyn TraceSink>, 1));
    assert!(record_through(JsonlSink::new(Vec::new(), &header()).unwrap(), 1));
}

#[test]
fn a_sink_that_only_records_is_recording() {
    struct Plain;
    impl TraceSink for Plain {
        fn record(&self, _: &TraceEvent<'_>) {}
    }
    assert!(record_through(Plain, 1));
}

/// Of what a runtime that derives `Debug` may hold. The writer need not have it.
#[test]
fn sinks_say_what_they_are() {
    struct Writer;
    impl Write for Writer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sink = JsonlSink::new(Writer, &header()).unwrap();
    assert_eq!(format!("{sink:?}"), "JsonlSink { capture: Full, .. }");
    let ring = RingSink::new(0, &header());
    assert_eq!(format!("{ring:?}"), "RingSink { capture: Full, .. }");
    let guard = ring.dump_on_panic(|| Ok(Writer));
    assert_eq!(format!("{guard:?}"), "DumpOnPanic { ring: RingSink { capture: Full, .. }, .. }");
}

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove")
}

#[test]
fn one_event_feeds_a_full_sink_and_a_redacted_one() {
    let full = JsonlSink::new(Vec::new(), &header()).unwrap();
    let mut redacted = header();
    redacted.values = ValueCapture::Redacted;
    let redacted = JsonlSink::new(Vec::new(), &redacted).unwrap();
    let secret = Tree::new("secret", vec![]);
    let args = [RecordedValue::Live(&secret)];
    let event = TraceEvent::HostCall(call(&args));
    for sink in [&full as &dyn TraceSink, &redacted] {
        sink.record(&event);
    }
    let text = |sink: JsonlSink<Vec<u8>>| String::from_utf8(sink.finish().writer).unwrap();
    assert!(text(full).contains("secret"));
    assert!(!text(redacted).contains("secret"));
}

#[test]
fn a_sink_is_shared_by_threads_and_an_event_is_not() {
    fn assert_shareable<T: Send + Sync>(_: &T) {}
    let sink = JsonlSink::new(Vec::new(), &header()).unwrap();
    assert_shareable(&sink);
    let shared: Arc<dyn TraceSink> = Arc::new(NullSink);
    assert_shareable(&shared);
    assert_shareable(&Value::Unit);
    assert_shareable(&header());
    assert_shareable(&RenderedCallSite::new("", "", ""));
    thread::scope(|scope| {
        for id in 0..4 {
            let sink = &sink;
            scope.spawn(move || {
                // A tree that can't leave this thread.
                let tree = Tree::new("root", vec![Tree::new("leaf", vec![])]);
                let args = [RecordedValue::Live(&tree), RecordedValue::Int(id)];
                sink.record(&TraceEvent::HostCall(call(&args)));
            });
        }
    });
    assert_eq!(sink.finish().writer.iter().filter(|byte| **byte == b'\n').count(), 5);
}

// Live values.

/// An interpreter's value that is neither `Send` nor `Sync`.
#[derive(Clone)]
struct Tree(Rc<Node>);

struct Node {
    name: Rc<str>,
    children: RefCell<Vec<Tree>>,
    written: Cell<u32>,
}

impl Tree {
    fn new(name: &str, children: Vec<Tree>) -> Self {
        Self(Rc::new(Node { name: name.into(), children: RefCell::new(children), written: Cell::new(0) }))
    }
}

impl TraceValue for Tree {
    fn type_name(&self) -> Cow<'_, str> {
        // Made up when it is asked for: not every interpreter has its names at hand.
        format!("Tree<{}>", 1).into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        self.0.written.set(self.0.written.get() + 1);
        out.structure("Tree<1>", |fields| {
            fields.field_with("name", |out| out.string(&self.0.name));
            fields.field_with("children", |out| out.array(|items| items.extend(self.0.children.borrow().iter())));
        });
    }
}

fn call<'a>(args: &'a [RecordedValue<'a>]) -> HostCall<'a> {
    HostCall {
        task: ENTRY_TASK,
        site: CallSite::new("console", "print", "console.write"),
        wait: Duration::ZERO,
        granted: true,
        args,
        outcome: None,
    }
}

#[test]
fn a_tree_of_reference_counts_is_written_where_it_stands() {
    let leaf = Tree::new("leaf", vec![]);
    let root = Tree::new("root", vec![leaf.clone(), leaf.clone()]);
    let sink = JsonlSink::new(Vec::new(), &header()).unwrap();
    sink.record(&TraceEvent::HostCall(HostCall {
        outcome: Some(HostOutcome::Value(RecordedValue::Live(&root))),
        ..call(&[])
    }));
    assert_eq!((root.0.written.get(), leaf.0.written.get()), (1, 2));
    let leaf = r#"{"type":"struct","name":"Tree<1>","fields":[{"name":"name","value":{"type":"string","value":"leaf"}},{"name":"children","value":{"type":"array","items":[]}}]}"#;
    let root = format!(
        r#"{{"type":"struct","name":"Tree<1>","fields":[{{"name":"name","value":{{"type":"string","value":"root"}}}},{{"name":"children","value":{{"type":"array","items":[{leaf},{leaf}]}}}}]}}"#
    );
    let text = String::from_utf8(sink.finish().writer).unwrap();
    assert!(text.contains(&root), "{text}");
}

#[test]
fn a_wrapper_made_on_the_fly_is_a_live_value() {
    /// A type of another crate, seen as a value.
    struct Seen<'v>(&'v Option<Vec<bool>>);
    impl TraceValue for Seen<'_> {
        fn type_name(&self) -> Cow<'_, str> {
            "Option".into()
        }
        fn write(&self, out: ValueWriter<'_>) {
            match self.0 {
                None => out.enum_case("Option", "None", |_| {}),
                Some(list) => out.enum_case("Option", "Some", |payload| {
                    payload.item_with(|out| {
                        out.array(|items| list.iter().for_each(|bit| items.item_with(|out| out.bool(*bit))));
                    });
                }),
            }
        }
    }
    assert_eq!(
        format!("{:?}", RecordedValue::Live(&Seen(&Some(vec![true])))),
        r#"{"type":"enum","name":"Option","case":"Some","payload":[{"type":"array","items":[{"type":"bool","value":true}]}]}"#
    );
    assert_eq!(
        RecordedValue::Live(&Seen(&None)),
        RecordedValue::Enum(&cove_trace::RecordedEnum { name: "Option", case: "None", payload: &[] })
    );
}

#[test]
fn recorded_values_are_equal_when_they_are_written_alike() {
    let tree = Tree::new("root", vec![]);
    assert_eq!(RecordedValue::Live(&tree), RecordedValue::Live(&tree.clone()));
    assert_ne!(RecordedValue::Live(&tree), RecordedValue::Live(&Tree::new("other", vec![])));
    assert_eq!(RecordedValue::Float(f64::NAN), RecordedValue::Float(-f64::NAN));
    assert_ne!(RecordedValue::Float(0.0), RecordedValue::Float(-0.0));
    assert_ne!(RecordedValue::Int(1), RecordedValue::Float(1.0));
    assert_eq!(Value::Float(0.5), Value::Float(0.5));
    assert_ne!(Value::Float(0.0), Value::Float(-0.0));
}

// Call sites.

#[test]
fn a_rendered_call_site_keeps_its_names() {
    let rendered = RenderedCallSite::new("documents", "re\"ad", "fs.read");
    let site = rendered.site();
    assert_eq!((site.module(), site.op(), site.capability()), ("documents", "re\"ad", "fs.read"));
    assert_eq!(site, CallSite::new("documents", "re\"ad", "fs.read"));
    assert_ne!(site, CallSite::new("documents", "read", "fs.read"));
    const SITE: CallSite<'static> = CallSite::new("console", "print", "console.write");
    assert_eq!(SITE.op(), "print");
}

// Closed sets.

#[track_caller]
fn assert_closed_set<T>(all: &[T], names: &[(T, &str)], as_str: fn(T) -> &'static str, parse: fn(&str) -> Option<T>)
where
    T: Copy + PartialEq + Debug + Display + FromStr<Err = UnknownName>,
{
    assert_eq!(all, names.iter().map(|(member, _)| *member).collect::<Vec<_>>());
    for &(member, name) in names {
        assert_eq!(as_str(member), name);
        assert_eq!(member.to_string(), name);
        assert_eq!(format!("{member:>20}"), format!("{name:>20}"));
        assert_eq!(parse(name), Some(member));
        assert_eq!(name.parse(), Ok(member));
        for other in [name.to_uppercase(), format!("{name} "), format!(" {name}"), name[1..].to_owned()] {
            assert_eq!(parse(&other), None, "{other:?}");
            assert!(other.parse::<T>().is_err(), "{other:?}");
        }
    }
    assert_eq!(parse(""), None);
    let message = "nonsense".parse::<T>().expect_err("no member has that name").to_string();
    assert!(names.iter().all(|(_, name)| message.contains(&format!("\"{name}\""))), "{message}");
}

#[test]
fn backends() {
    assert_closed_set(
        RecordingBackend::ALL,
        &[(RecordingBackend::Ast, "ast"), (RecordingBackend::Vm, "vm")],
        RecordingBackend::as_str,
        RecordingBackend::parse,
    );
}

#[test]
fn captures() {
    assert_closed_set(
        ValueCapture::ALL,
        &[(ValueCapture::Full, "full"), (ValueCapture::Redacted, "redacted")],
        ValueCapture::as_str,
        ValueCapture::parse,
    );
}

#[test]
fn outcomes() {
    assert_closed_set(
        RunOutcome::ALL,
        &[
            (RunOutcome::Success, "success"),
            (RunOutcome::Error, "error"),
            (RunOutcome::Invariant, "invariant"),
            (RunOutcome::HostBoundary, "host_boundary"),
            (RunOutcome::Fuel, "fuel"),
            (RunOutcome::Deadline, "deadline"),
            (RunOutcome::Cancelled, "cancelled"),
            (RunOutcome::CallDepth, "call_depth"),
            (RunOutcome::HostCalls, "host_calls"),
            (RunOutcome::Concurrency, "concurrency"),
        ],
        RunOutcome::as_str,
        RunOutcome::parse,
    );
    for &outcome in RunOutcome::ALL {
        assert_eq!(outcome.is_programs_own(), matches!(outcome, RunOutcome::Success | RunOutcome::Error));
    }
}

/// The kinds' names are those that the encoder writes, of each kind of event.
#[test]
fn kinds_of_events() {
    assert_closed_set(
        EventKind::ALL,
        &[
            (EventKind::TaskSpawned, "task_spawned"),
            (EventKind::TaskCompleted, "task_completed"),
            (EventKind::TaskCancelled, "task_cancelled"),
            (EventKind::HostCall, "host_call"),
            (EventKind::EntryEnter, "entry_enter"),
            (EventKind::EntryExit, "entry_exit"),
            (EventKind::HeapCollected, "heap_collected"),
            (EventKind::HeapSummary, "heap_summary"),
            (EventKind::RunEnded, "run_ended"),
        ],
        EventKind::as_str,
        EventKind::parse,
    );
    let call = HostCall {
        task: 0,
        site: CallSite::new("m", "o", "c"),
        wait: Duration::ZERO,
        granted: true,
        args: &[],
        outcome: None,
    };
    let events = [
        TraceEvent::TaskSpawned { id: 1, parent: None, scope: "s" },
        TraceEvent::TaskCompleted { id: 1, cpu: Duration::ZERO },
        TraceEvent::TaskCancelled { id: 1 },
        TraceEvent::HostCall(call),
        TraceEvent::EntryEnter { module: "m", function: "f" },
        TraceEvent::EntryExit { module: "m", function: "f", cpu: Duration::ZERO, wait: Duration::ZERO },
        TraceEvent::HeapCollected {
            task: 0,
            allocated: 0,
            freed: 0,
            live_objects: 0,
            live_bytes: 0,
            pause: Duration::ZERO,
        },
        TraceEvent::HeapSummary(HeapSummary::default()),
        TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None },
    ];
    assert_eq!(events.map(|event| event.kind()), *EventKind::ALL);
    for event in &events {
        let mut line = Vec::new();
        encode_event(event, ValueCapture::Full, &mut line);
        let begin = format!("{{\"event\":\"{}\",", event.kind());
        assert!(line.starts_with(begin.as_bytes()), "{}", String::from_utf8_lossy(&line));
    }
}

#[test]
fn constants() {
    assert_eq!(TRACE_FORMAT_VERSION, 4);
    assert_eq!(ENTRY_TASK, 0);
    assert_eq!(RUNTIME_VERSION, env!("CARGO_PKG_VERSION"));
}

#[test]
fn errors_are_errors() {
    fn assert_error<E: std::error::Error + Send + Sync + 'static>() {}
    assert_error::<UnknownName>();
    assert_error::<NotReplayable>();
}

// Timing.

#[test]
fn waits_are_told_apart_from_work() {
    let timing = Timing::start();
    assert_eq!(timing.wait(), Duration::ZERO);
    let (result, first) = timing.wait_for(|| {
        thread::sleep(Duration::from_millis(20));
        "result"
    });
    assert_eq!(result, "result");
    assert!(first >= Duration::from_millis(20));
    assert_eq!(timing.wait(), first);
    let (_, second) = timing.wait_for(|| thread::sleep(Duration::from_millis(5)));
    assert_eq!(timing.wait(), first + second);
    thread::sleep(Duration::from_millis(5));
    assert!(timing.elapsed() >= timing.wait() + Duration::from_millis(5));
    assert!(timing.cpu() >= Duration::from_millis(5));
    assert!(timing.cpu() <= timing.elapsed() - first);
}

#[test]
fn waits_that_are_too_long_saturate() {
    let timing = Timing::start();
    timing.add_wait(Duration::from_secs(3_600));
    assert_eq!(timing.cpu(), Duration::ZERO);
    timing.add_wait(Duration::MAX);
    assert_eq!(timing.wait(), Duration::from_nanos(u64::MAX));
    assert_eq!(timing.cpu(), Duration::ZERO);
}
