//! The shortest complete use: records one host call, reads the trace, and replays it without the host.
#![allow(clippy::print_stdout, reason = "an example reports to a person")]

use std::error::Error;
use std::time::Duration;

use cove_trace::replay::Answer;
use cove_trace::{
    CallSite, ENTRY_TASK, HostCall, HostOutcome, JsonlSink, LiveArgs, RecordedValue, RecordingBackend, Replay,
    RunOutcome, TraceEvent, TraceHeader, TraceReader, TraceSink, ValueCapture,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (site, args) = (CallSite::new("strings", "upper", "strings"), ["hello"]);

    // Record. An interpreter would pass its own values; this example passes strings.
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "hello.cove");
    let sink = JsonlSink::builder(&header).open(Vec::new())?;
    let result = args[0].to_uppercase();
    sink.record(&TraceEvent::HostCall(HostCall {
        task: ENTRY_TASK,
        site,
        wait: Duration::from_nanos(250),
        granted: true,
        args: &LiveArgs::new(&args),
        outcome: Some(HostOutcome::Value(RecordedValue::Live(&result))),
    }));
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
    let trace = sink.finish().writer;
    print!("{}", String::from_utf8_lossy(&trace));

    // Read.
    let mut reader = TraceReader::from_slice(&trace);
    while let Some(event) = reader.next_event()? {
        println!("{}", event.kind());
    }

    // Replay: the trace answers in place of the host.
    let replay = Replay::open(&trace[..])?;
    if let Answer::Value(answer) = replay.call(ENTRY_TASK, site, &LiveArgs::new(&args))? {
        println!("the trace answers {answer:?}");
    }
    println!("{:?}", replay.finish(RunOutcome::Success, None).verdict);
    Ok(())
}
