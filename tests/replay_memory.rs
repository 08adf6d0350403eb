//! What a replay keeps, against the size of the file.

use allocation_counter::measure;
use cove_trace::{
    CallSite, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, Replay, TraceEvent, TraceHeader,
    TraceSink, ValueCapture,
};

/// A trace of calls with such an argument.
fn trace(calls: u64, argument: &str) -> Vec<u8> {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes it");
    for call in 0..calls {
        let args = [RecordedValue::String(argument), RecordedValue::Int(call as i64)];
        sink.record(&TraceEvent::HostCall(HostCall {
            task: call % 5,
            site: CallSite::new("m", "f", "c"),
            wait: std::time::Duration::ZERO,
            granted: true,
            args: if argument.is_empty() { &[] } else { &args },
            outcome: Some(HostOutcome::Value(RecordedValue::String(argument))),
        }));
    }
    sink.finish().writer
}

#[test]
fn a_replay_takes_less_than_the_file_and_twice_that_while_it_loads() {
    for argument in ["", "short", "a text of some length, as programs write them to their terminals"] {
        let trace = trace(if cfg!(miri) { 100 } else { 50_000 }, argument);
        let mut replay = None;
        let memory = measure(|| replay = Some(Replay::open(&trace[..]).expect("a trace")));
        // The reader's buffer and the like, which do not grow with the trace.
        let file = trace.len() as u64 + 256 * 1024;
        assert!(u64::try_from(memory.bytes_current).expect("it keeps some") < file, "{memory:?} of {file}");
        assert!(memory.bytes_max < 2 * file, "{memory:?} of {file}");
        assert_eq!(
            replay.map(|replay| replay.calls_recorded()),
            Some(trace.split(|byte| *byte == b'\n').count() as u64 - 2)
        );
    }
}

#[test]
fn an_answer_without_text_allocates_nothing() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes it");
    let site = CallSite::new("m", "f", "c");
    let args = [RecordedValue::String("a text"), RecordedValue::Array(&[RecordedValue::Int(1)])];
    let outcome = Some(HostOutcome::Value(RecordedValue::Int(1)));
    let call = HostCall { task: 0, site, wait: std::time::Duration::ZERO, granted: true, args: &args, outcome };
    for _ in 0..10 {
        sink.record(&TraceEvent::HostCall(call));
    }
    let replay = Replay::open(&sink.finish().writer[..]).expect("a trace");
    replay.call(0, site, &args).expect("the recorded call");
    let memory = measure(|| (0..9).for_each(|_| drop(replay.call(0, site, &args).expect("the recorded call"))));
    assert_eq!(memory.count_total, 0);
}

/// The trace of tasks that make this many calls each.
#[cfg(feature = "diff")]
fn tasks(tasks: u64, calls: u64) -> Vec<u8> {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes it");
    for id in 1..=tasks {
        sink.record(&TraceEvent::TaskSpawned { id, parent: Some(0), scope: "main.worker" });
        for number in 0..calls {
            sink.record(&TraceEvent::HostCall(HostCall {
                task: id,
                site: CallSite::new("m", "f", "c"),
                wait: std::time::Duration::ZERO,
                granted: true,
                args: &[RecordedValue::Int((id * 7 + number) as i64)],
                outcome: Some(HostOutcome::Value(RecordedValue::Unit)),
            }));
        }
        sink.record(&TraceEvent::TaskCompleted { id, cpu: std::time::Duration::ZERO });
    }
    sink.finish().writer
}

/// Each task of either trace takes a fixed number of bytes, besides what its calls take.
#[cfg(feature = "diff")]
#[test]
fn a_diff_takes_less_than_the_files_and_some_bytes_for_each_task() {
    use cove_trace::TraceReader;
    use cove_trace::diff::Diff;

    const TASKS: u64 = if cfg!(miri) { 100 } else { 115_000 };
    const OF_TASK: u64 = 100;
    for calls in [0, 1, 5] {
        let trace = tasks(TASKS / (1 + calls), calls);
        let memory = measure(|| {
            let (mut first, mut second) = (TraceReader::new(&trace[..]), TraceReader::new(&trace[..]));
            let diff = Diff::load(&mut first, &mut second).expect("two traces");
            diff.compare(cove_trace::diff::Times::Compared { tolerance_percent: 0 }, |change| panic!("{change:?}"));
        });
        let count = 2 * TASKS / (1 + calls);
        let files = 2 * trace.len() as u64;
        // And the readers' buffers.
        assert!(memory.bytes_max < files + count * OF_TASK + 256 * 1024, "{memory:?} of {files}");
    }
}
