//! Recording allocates nothing once a thread is warm, and a huge event does not leave its memory behind.
//!
//! Allocations are counted by a global allocator, for the measuring thread alone.

mod common;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use allocation_counter::measure;
use common::print_call;
use cove_trace::{
    CallSite, HeapSummary, HostCall, HostOutcome, JsonlSink, RecordedEnum, RecordedField, RecordedOpaque,
    RecordedResource, RecordedStruct, RecordedValue, RecordingBackend, RenderedCallSite, RunOutcome, TraceEvent,
    TraceHeader, TraceSink, TraceValue, ValueCapture, ValueWriter, encode_event,
};

/// Takes everything and counts it.
#[derive(Default)]
struct Counter {
    bytes: u64,
    lines: u64,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn sink(values: ValueCapture) -> JsonlSink<Counter> {
    let header = TraceHeader::new(RecordingBackend::Vm, values, "main.cove").with_args(["--fast"]);
    JsonlSink::new(Counter::default(), &header).expect("the counter takes a header")
}

/// An interpreter's own value.
enum Cell {
    Number(f64),
    Text(Rc<str>),
    Bytes(Vec<u8>),
    List(Rc<Vec<Cell>>),
    Record(Vec<(Rc<str>, Cell)>),
    Secret,
    Closure(&'static str, u32),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closure(name, line) => write!(f, "<closure \"{name}\" of line {line:>4}>\n\u{1}"),
            _ => f.write_str("?"),
        }
    }
}

impl TraceValue for Cell {
    fn type_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Number(_) => "Float",
            Self::Text(_) | Self::Bytes(_) => "String",
            Self::List(_) => "Array",
            Self::Record(_) => "Record",
            Self::Secret => "Secret",
            Self::Closure(..) => "Closure",
        })
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self {
            Self::Number(number) => out.float(*number),
            Self::Text(text) => out.string(text),
            Self::Bytes(bytes) => out.bytes(bytes),
            Self::List(list) => out.array(|items| items.extend(list.iter())),
            Self::Record(fields) => out.structure("Record", |writer| {
                for (name, value) in fields {
                    writer.field(name, value);
                }
            }),
            Self::Secret => out.redacted("Secret"),
            Self::Closure(..) => out.opaque("Closure", self),
        }
    }
}

fn live_tree() -> Cell {
    let list = Rc::new(vec![
        Cell::Number(0.1),
        Cell::Number(f64::NAN),
        Cell::Text("with \"quotes\", \\ and \n\t\u{0}\u{1f} and \u{1f600}".into()),
        Cell::Bytes(b"bytes".to_vec()),
        Cell::Bytes(b"not \xff\xfe UTF-8 \xc3".to_vec()),
        Cell::Closure("f\n", 7),
    ]);
    Cell::Record(vec![
        ("list".into(), Cell::List(Rc::clone(&list))),
        ("nested".into(), Cell::List(Rc::new(vec![Cell::List(Rc::clone(&list)), Cell::List(list)]))),
        ("password".into(), Cell::Secret),
        ("text".into(), Cell::Text("long ".repeat(200).into())),
    ])
}

/// Hands `record` one event of each kind, the calls with values of every shape, prebuilt and live.
fn record_mix(round: u64, tree: &Cell, site: &RenderedCallSite, record: &dyn Fn(&TraceEvent<'_>)) {
    let fields = [
        RecordedField { name: "id", value: RecordedValue::Int(-7) },
        RecordedField { name: "es\"cape\n", value: RecordedValue::String("va\tlue") },
    ];
    let items = [
        RecordedValue::Unit,
        RecordedValue::Bool(true),
        RecordedValue::Float(-0.0),
        RecordedValue::Float(f64::NEG_INFINITY),
        RecordedValue::Duration { ns: 9 },
        RecordedValue::Struct(&RecordedStruct { name: "Point", fields: &fields }),
        RecordedValue::Resource(&RecordedResource { name: "File", id: 3 }),
        RecordedValue::Redacted { of: "Token" },
        RecordedValue::Opaque(&RecordedOpaque { of: "Closure", shown: "|x| x" }),
        RecordedValue::Live(tree),
    ];
    let case = RecordedEnum { name: "Option", case: "Some", payload: &items };
    let args = [RecordedValue::Live(tree), RecordedValue::Array(&items), RecordedValue::Enum(&case)];
    let rendered = HostCall {
        task: round,
        site: site.site(),
        wait: Duration::from_nanos(round),
        granted: true,
        args: &args,
        outcome: Some(HostOutcome::Value(RecordedValue::Live(tree))),
    };
    let named = HostCall {
        site: CallSite::new("documents", "re\"ad", "fs.read"),
        outcome: Some(HostOutcome::Error("no such \"file\"")),
        ..rendered
    };
    let some = Some(round);
    let heap = HeapSummary {
        collections: round,
        object_count: some,
        allocated_bytes: some,
        pause: Some(Duration::MAX),
        ..HeapSummary::default()
    };
    for event in [
        TraceEvent::TaskSpawned { id: round, parent: Some(0), scope: "ma\nin" },
        TraceEvent::EntryEnter { module: "app", function: "main" },
        TraceEvent::HostCall(rendered),
        TraceEvent::HostCall(named),
        TraceEvent::HostCall(HostCall { args: &[], granted: false, outcome: None, ..named }),
        TraceEvent::HostCall(HostCall { args: &items, outcome: Some(HostOutcome::NotRecordable), ..rendered }),
        TraceEvent::HeapCollected {
            task: round,
            allocated: 1,
            freed: 2,
            live_objects: 3,
            live_bytes: 4,
            pause: Duration::from_micros(5),
        },
        TraceEvent::HeapSummary(heap),
        TraceEvent::EntryExit { module: "app", function: "main", cpu: Duration::ZERO, wait: Duration::MAX },
        TraceEvent::TaskCompleted { id: round, cpu: Duration::from_secs(1) },
        TraceEvent::TaskCancelled { id: round },
        TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("the \"end\"") },
    ] {
        record(&event);
    }
}

const EVENTS_IN_A_MIX: u64 = 12;
const ROUNDS: u64 = 10_000_u64.div_ceil(EVENTS_IN_A_MIX);

#[test]
fn ten_thousand_mixed_events_allocate_nothing() {
    for capture in [ValueCapture::Full, ValueCapture::Redacted] {
        let sink = sink(capture);
        let tree = live_tree();
        let site = RenderedCallSite::new("documents", "write", "fs.write");
        let dynamic: &dyn TraceSink = &sink;
        record_mix(0, &tree, &site, &|event| dynamic.record(event));

        let counted = measure(|| {
            for round in 1..=ROUNDS {
                record_mix(round, &tree, &site, &|event| dynamic.record(event));
            }
        });
        assert_eq!(counted.count_total, 0, "{capture}: {counted:?}");

        let finished = sink.finish();
        assert_eq!(finished.dropped, 0);
        assert_eq!(finished.writer.lines, 1 + EVENTS_IN_A_MIX * (ROUNDS + 1));
        assert!(finished.writer.bytes > 500 * ROUNDS);
    }
}

#[test]
fn ten_thousand_mixed_events_into_a_buffer_allocate_nothing() {
    // One that holds a few of the lines, and one that holds none of the longer ones.
    for buffer in [64 * 1024, 256] {
        let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
        let sink = JsonlSink::builder(&header).buffer(buffer).open(Counter::default()).unwrap();
        let tree = live_tree();
        let site = RenderedCallSite::new("documents", "write", "fs.write");
        record_mix(0, &tree, &site, &|event| sink.record(event));

        let counted = measure(|| {
            for round in 1..=ROUNDS {
                record_mix(round, &tree, &site, &|event| sink.record(event));
            }
        });
        assert_eq!(counted.count_total, 0, "{buffer}: {counted:?}");

        let finished = sink.finish();
        assert_eq!(finished.dropped, 0);
        assert_eq!(finished.writer.lines, 1 + EVENTS_IN_A_MIX * (ROUNDS + 1));
    }
}

#[test]
fn events_recorded_by_values_of_events_allocate_nothing() {
    /// Records an event while it is being written.
    struct Nested<'s>(&'s JsonlSink<Counter>, &'s Cell);
    impl TraceValue for Nested<'_> {
        fn type_name(&self) -> Cow<'_, str> {
            "Nested".into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            out.array(|items| {
                self.0.record(&print_call(&[RecordedValue::Live(self.1)], None));
                items.item(self.1);
            });
        }
    }
    let sink = sink(ValueCapture::Full);
    let tree = live_tree();
    let nested = Nested(&sink, &tree);
    let args = [RecordedValue::Live(&nested)];
    let event = print_call(&args, None);
    // The two buffers change places, so each has to see the larger event once.
    sink.record(&event);
    sink.record(&event);
    let counted = measure(|| (0..100).for_each(|_| sink.record(&event)));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn a_callers_buffer_that_has_room_is_not_grown() {
    let tree = live_tree();
    let site = RenderedCallSite::new("documents", "write", "fs.write");
    let out = std::cell::RefCell::new(Vec::new());
    let encode = |event: &TraceEvent<'_>| {
        let mut out = out.borrow_mut();
        out.clear();
        encode_event(event, ValueCapture::Full, &mut out);
    };
    record_mix(0, &tree, &site, &encode);
    let counted = measure(|| (1..100).for_each(|round| record_mix(round, &tree, &site, &encode)));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn not_recording_allocates_nothing_from_the_first_event_on() {
    let tree = live_tree();
    let site = RenderedCallSite::new("documents", "write", "fs.write");
    let none: Option<JsonlSink<Counter>> = None;
    let counted = measure(|| {
        record_mix(0, &tree, &site, &|event| cove_trace::NullSink.record(event));
        record_mix(0, &tree, &site, &|event| none.record(event));
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn memory_is_given_back_after_a_huge_event_on_each_of_many_threads() {
    const THREADS: usize = 32;
    const HUGE: usize = 16 << 20;
    /// What a thread may keep of it.
    const KEPT: i64 = 1 << 20;

    let sink = sink(ValueCapture::Full);
    let huge = "x".repeat(HUGE);
    // All threads are alive, and have recorded the huge event, before any records a small one.
    let all_recorded = Barrier::new(THREADS);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let mut kept = [0; 2];
                    let counted = measure(|| {
                        sink.record(&print_call(&[RecordedValue::String(&huge)], None));
                    });
                    assert!(counted.bytes_max >= HUGE as u64, "the event was written to memory: {counted:?}");
                    // Room is made for what is there, not for the worst that escapes could make of it.
                    assert!(counted.bytes_max <= 4 * HUGE as u64, "{counted:?}");
                    kept[0] = counted.bytes_current;
                    all_recorded.wait();
                    let counted = measure(|| {
                        (0..100).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
                    });
                    kept[1] = kept[0] + counted.bytes_current;
                    kept
                })
            })
            .collect();
        for thread in threads {
            let kept = thread.join().expect("the thread ends well");
            assert!(kept.iter().all(|bytes| *bytes <= KEPT), "kept after the huge event, after small ones: {kept:?}");
        }
    });
    assert_eq!(sink.finish().dropped, 0);
}
