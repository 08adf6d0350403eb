//! A filtering sink leaves out only calls and collections, counts them, and gives a trace that `check` accepts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cove_trace::check::Checker;
use cove_trace::{
    CallSite, FilterSink, HeapSummary, HostCall, JsonlSink, NullSink, RecordingBackend, RunOutcome, TraceEvent,
    TraceHeader, TraceReader, TraceSink, ValueCapture,
};

const COLLECTED: TraceEvent<'static> = TraceEvent::HeapCollected {
    task: 0,
    allocated: 1,
    freed: 1,
    live_objects: 0,
    live_bytes: 0,
    pause: Duration::ZERO,
};

fn call(task: u64, op: &str, wait_ns: u64) -> TraceEvent<'_> {
    TraceEvent::HostCall(HostCall {
        task,
        site: CallSite::new("http", op, "net"),
        wait: Duration::from_nanos(wait_ns),
        granted: true,
        args: &[],
        outcome: None,
    })
}

fn jsonl() -> JsonlSink<Vec<u8>> {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main");
    JsonlSink::new(Vec::new(), &header).expect("the header is written")
}

#[test]
fn only_calls_and_collections_are_left_out() {
    let asked = AtomicU64::new(0);
    let sink = FilterSink::new(jsonl(), |event| {
        asked.fetch_add(1, Ordering::Relaxed);
        matches!(event, TraceEvent::HostCall(call) if call.wait >= Duration::from_nanos(5))
    });
    let (module, function) = ("main", "main");
    let events = [
        TraceEvent::EntryEnter { module, function },
        TraceEvent::TaskSpawned { id: 1, parent: Some(0), scope: "s" },
        call(1, "slow", 5),
        call(1, "fast", 4),
        COLLECTED,
        TraceEvent::TaskCompleted { id: 1, cpu: Duration::ZERO },
        TraceEvent::TaskSpawned { id: 2, parent: Some(0), scope: "s" },
        TraceEvent::TaskCancelled { id: 2 },
        TraceEvent::EntryExit { module, function, cpu: Duration::ZERO, wait: Duration::ZERO },
        TraceEvent::HeapSummary(HeapSummary::default()),
        TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None },
    ];
    events.iter().for_each(|event| sink.record(event));
    assert_eq!((sink.left_out(), asked.load(Ordering::Relaxed)), (2, 3));
    let trace = sink.into_inner().finish().writer;
    let mut reader = TraceReader::from_slice(&trace);
    let mut checker = Checker::new();
    let mut written = 0;
    while let Some(event) = reader.next_event().expect("it can be read") {
        assert!(event != call(1, "fast", 4) && event != COLLECTED);
        written += 1;
        checker.event(1 + written, &event, &mut |finding| panic!("{finding:?}"));
    }
    assert_eq!(written, events.len() as u64 - 2);
    checker.finish(&mut |finding| panic!("{finding:?}"));
}

#[test]
fn a_closure_that_panics_loses_nothing_and_does_not_reach_the_program() {
    let sink = FilterSink::new(jsonl(), |_| panic!("the closure's own"));
    sink.record(&call(0, "get", 1));
    assert_eq!((sink.left_out(), sink.get_ref().dropped()), (0, 0));
    assert!(sink.into_inner().finish().writer.ends_with(b"\"outcome\":null}\n"));
}

#[test]
fn it_records_if_the_sink_behind_it_does() {
    assert!(!FilterSink::new(NullSink, |_| true).is_recording());
    assert!(FilterSink::new(jsonl(), |_| false).is_recording());
}
