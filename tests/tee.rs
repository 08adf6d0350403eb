//! One event, two sinks.

mod common;

use common::print_call;
use cove_trace::{
    JsonlSink, NullSink, RecordedValue, RecordingBackend, TeeSink, TraceHeader, TraceSink, ValueCapture, encode_event,
    encode_header,
};

fn header(values: ValueCapture) -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, values, "main.cove").with_args(["secret"])
}

#[test]
fn one_event_goes_whole_into_one_sink_and_redacted_into_the_other() {
    let sink = |values| JsonlSink::new(Vec::new(), &header(values)).unwrap();
    let sinks = TeeSink(sink(ValueCapture::Full), sink(ValueCapture::Redacted));
    let args = [RecordedValue::String("secret")];
    let event = print_call(&args, None);
    let through_a_pointer: &dyn TraceSink = &sinks;
    through_a_pointer.record(&event);

    let TeeSink(full, redacted) = sinks;
    for (sink, values) in [(full, ValueCapture::Full), (redacted, ValueCapture::Redacted)] {
        let mut expected = Vec::new();
        encode_header(&header(values), &mut expected);
        encode_event(&event, values, &mut expected);
        let finished = sink.finish();
        assert_eq!(finished.writer, expected);
        let holds_the_secret = String::from_utf8(finished.writer).unwrap().contains("secret");
        assert_eq!(holds_the_secret, values == ValueCapture::Full);
    }
}

#[test]
fn it_records_when_either_does() {
    let sink = JsonlSink::new(Vec::new(), &header(ValueCapture::Full)).unwrap();
    assert!(TeeSink(&sink, NullSink).is_recording());
    assert!(TeeSink(NullSink, &sink).is_recording());
    assert!(!TeeSink(NullSink, NullSink).is_recording());
    assert!(!TeeSink(NullSink, None::<NullSink>).is_recording());
}
