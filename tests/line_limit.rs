//! No line is longer than its limit: an argument or result that crosses it is replaced, and a line that is too long for
//! another reason is not written. What is written by default, a reader takes by default.

#[path = "common/canonical.rs"]
mod canonical;
mod common;
#[path = "common/generate.rs"]
mod generate;

use std::borrow::Cow;
use std::fmt;

use common::{print_call, print_line};
use cove_trace::decode::Decoder;
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::reader::DEFAULT_LINE_LIMIT;
use cove_trace::{
    Arena, EncodeOptions, HostOutcome, JsonlSink, LINE_LIMIT, RecordedValue, RecordingBackend, TraceEvent, TraceHeader,
    TraceReader, TraceSink, TraceValue, ValueCapture, ValueWriter, encode_event, with_line,
};
use generate::{for_each_seed, generated};

/// Returns the line of `event` with this limit, if it is written. Checks that a line that is not written leaves no
/// trace.
#[track_caller]
fn limited(event: &TraceEvent<'_>, capture: ValueCapture, limit: usize) -> Option<String> {
    let options = EncodeOptions::new(capture).line_limit(limit);
    let mut out = b"before".to_vec();
    let is_written = encode_event(event, options, &mut out);
    let line = out.split_off(6);
    assert_eq!(out, b"before");
    assert_eq!(is_written, !line.is_empty());
    assert_eq!(with_line(event, options, <[u8]>::to_vec), is_written.then(|| line.clone()));
    is_written.then(|| String::from_utf8(line).expect("lines are UTF-8"))
}

/// Returns the length of an event's line without a limit.
fn len(event: &OwnedEvent) -> usize {
    let mut line = Vec::new();
    encode_event(&event.view(&Arena::new()), EncodeOptions::new(ValueCapture::Full).line_limit(usize::MAX), &mut line);
    line.len()
}

/// Returns the event that is written in place of `event`, which is canonical: a reference implementation of the limit.
fn within(mut event: OwnedEvent, limit: usize) -> Option<OwnedEvent> {
    if let OwnedEvent::HostCall(call) = &mut event {
        let replacement = |value: &OwnedValue| OwnedValue::Opaque {
            of: value.type_name().into_owned(),
            shown: format!("longer than {limit} bytes"),
        };
        let (args, outcome) = (std::mem::take(&mut call.args), call.outcome.take());
        for arg in args {
            call.args.push(arg);
            if len(&OwnedEvent::HostCall(call.clone())) - r#"],"outcome":null}"#.len() - 1 > limit {
                let last = call.args.last_mut().expect("one was pushed");
                *last = replacement(last);
            }
        }
        call.outcome = outcome;
        let whole = len(&OwnedEvent::HostCall(call.clone()));
        if let Some(OwnedOutcome::Value(value)) = &mut call.outcome
            && whole - "}}\n".len() > limit
        {
            *value = replacement(value);
        }
    }
    (len(&event) <= limit).then_some(event)
}

#[test]
fn a_line_is_limited_as_the_reference_says() {
    for_each_seed(4_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        for &capture in ValueCapture::ALL {
            let canonical = canonical::event(&event, capture);
            let whole = len(&canonical);
            for limit in [whole, whole - 1, whole - whole / 7, whole / 2, whole / 4, 100] {
                let line = limited(&event.view(&Arena::new()), capture, limit);
                let expected = within(canonical.clone(), limit);
                assert!(line.as_ref().is_none_or(|line| line.len() <= limit));
                let mut decoder = Decoder::new();
                let read = line.map(|line| OwnedEvent::from(&decoder.decode_event(line.as_bytes()).expect("an event")));
                assert_eq!(read, expected, "limit {limit} of {whole}");
            }
        }
    });
}

fn replaced(of: &str, limit: usize) -> String {
    format!(r#"{{"type":"opaque","of":"{of}","shown":"longer than {limit} bytes"}}"#)
}

/// Writes itself by a closure.
struct Written<F>(F);

impl<F: Fn(ValueWriter<'_>)> TraceValue for Written<F> {
    fn type_name(&self) -> Cow<'_, str> {
        "Written".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        self.0(out);
    }
}

/// Asserts that a value is replaced between neighbours that are not.
#[track_caller]
fn assert_replaced(write: impl Fn(ValueWriter<'_>)) {
    let limit = 10_000;
    let (one, written) = (RecordedValue::Int(1), Written(write));
    let live = RecordedValue::Live(&written);
    let line = limited(&print_call(&[one, live, one], Some(HostOutcome::Value(live))), ValueCapture::Full, limit);
    let (one, replaced) = (r#"{"type":"int","value":1}"#, replaced("Written", limit));
    let outcome = format!(r#"{{"kind":"value","value":{replaced}}}"#);
    assert_eq!(line, Some(print_line(&format!("{one},{replaced},{one}"), &outcome)));
}

#[test]
fn values_without_an_end_are_replaced() {
    assert_replaced(|out| out.array(|items| items.extend(0_u32..)));
    assert_replaced(|out| out.enum_case("List", "Cons", |items| items.extend(std::iter::repeat("text"))));
    assert_replaced(|out| out.structure("Map", |fields| fields.extend(std::iter::repeat(("name", ())))));
    assert_replaced(|out| {
        out.array(|items| {
            while items.wants_more() {
                items.item_with(|out| out.structure("Row", |fields| fields.field("n", &1_u8)));
            }
        });
    });
    assert_replaced(|out| {
        out.structure("Map", |fields| {
            while fields.wants_more() {
                fields.field_with("a", |out| out.array(|items| items.extend(0_u8..200)));
            }
        });
    });
}

#[test]
fn a_formatter_without_an_end_is_stopped() {
    struct Endless;
    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                f.write_str("and on ")?;
            }
        }
    }
    assert_replaced(|out| out.opaque("Endless", Endless));
    assert_replaced(|out| out.array(|items| items.item_with(|out| out.opaque("Endless", Endless))));
}

/// Contains itself twice, once in a list and once under a name: up to 2^127 parts.
struct Knot;

impl TraceValue for Knot {
    fn type_name(&self) -> Cow<'_, str> {
        "Knot".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.structure("Knot", |fields| {
            fields.field_with("list", |out| out.array(|items| items.item(self)));
            fields.field("self", self);
        });
    }
}

#[test]
fn a_value_that_contains_itself_twice_is_replaced() {
    assert_replaced(|out| Knot.write(out));
}

/// Counts what is asked of it after the line is full.
#[test]
fn little_of_a_value_is_looked_at_once_the_line_is_full() {
    let asked = std::cell::Cell::new(0);
    let counting = Written(|out: ValueWriter<'_>| {
        asked.set(asked.get() + 1);
        out.int(1);
    });
    let value =
        Written(|out: ValueWriter<'_>| out.array(|items| items.extend(std::iter::repeat_n(&counting, 1 << 20))));
    let line = limited(&print_call(&[RecordedValue::Live(&value)], None), ValueCapture::Full, 10_000);
    assert!(line.is_some_and(|line| line.contains("longer than 10000 bytes")));
    assert!(asked.get() < 2_000, "{} items were written", asked.get());
}

#[test]
fn memory_stays_below_a_small_multiple_of_the_limit() {
    let limit = 200_000;
    let mut out = Vec::new();
    for length in [limit, 10 * limit, 100 * limit] {
        let text = "\n".repeat(length);
        let args = [
            RecordedValue::String(&text),
            RecordedValue::Opaque(&cove_trace::RecordedOpaque { of: "T", shown: &text }),
        ];
        assert!(encode_event(
            &print_call(&args, None),
            EncodeOptions::new(ValueCapture::Full).line_limit(limit),
            &mut out
        ));
        assert!(out.capacity() < 3 * limit, "{} bytes", out.capacity());
        out.clear();
    }
}

#[test]
fn a_line_that_is_too_long_by_its_names_is_not_written() {
    let name = "n".repeat(1000);
    let names = ["f", name.as_str()];
    for name in names {
        let events = [
            TraceEvent::TaskSpawned { id: 1, parent: None, scope: name },
            TraceEvent::EntryEnter { module: name, function: "f" },
            TraceEvent::EntryEnter { module: "m", function: name },
            TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Fuel, message: Some(name) },
            print_call(&[], Some(HostOutcome::Error(name))),
        ];
        for event in events {
            assert_eq!(limited(&event, ValueCapture::Full, 500).is_some(), name.len() == 1, "{event:?}");
        }
    }
    let args = [RecordedValue::Unit; 50];
    assert_eq!(limited(&print_call(&args, None), ValueCapture::Full, 500), None, "too many arguments");
}

#[test]
#[cfg_attr(miri, ignore = "such lines take very long")]
fn the_default_reader_reads_what_a_default_sink_writes() {
    assert_eq!(LINE_LIMIT, DEFAULT_LINE_LIMIT);
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main");
    let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes everything");
    let frame = print_line(r#"{"type":"string","value":""}"#, "null").len();
    let longest = "x".repeat(LINE_LIMIT - frame);
    for (text, is_whole) in [(longest.clone(), true), (longest.clone() + "x", false), ("y".repeat(70 << 20), false)] {
        sink.record(&print_call(&[RecordedValue::String(&text)], None));
        sink.record(&TraceEvent::TaskCancelled { id: u64::from(is_whole) });
    }
    // The limit is one of the line and not of each value in it.
    let half = "z".repeat(40 << 20);
    sink.record(&print_call(&[RecordedValue::String(&half), RecordedValue::String(&half)], None));
    let finished = sink.finish();
    // One byte more makes only the end of the line too long, so that the line is lost.
    assert_eq!(finished.dropped, 1);

    let mut reader = TraceReader::new(&finished.writer[..]);
    let mut values = Vec::new();
    while let Some(event) = reader.next_event().expect("the reader takes every line") {
        if let TraceEvent::HostCall(call) = event {
            values.push(call.args.iter().map(OwnedValue::from).collect::<Vec<_>>());
        }
    }
    let string = |text: String| OwnedValue::String(text);
    let replaced = OwnedValue::Opaque { of: "String".into(), shown: format!("longer than {LINE_LIMIT} bytes") };
    assert!(values == [vec![string(longest)], vec![replaced.clone()], vec![string(half), replaced]]);
}

#[test]
fn a_sink_counts_a_line_that_it_does_not_write_and_goes_on() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main");
    let sink = JsonlSink::builder(&header).line_limit(200).open(Vec::new()).expect("a vector takes everything");
    let scope = "s".repeat(300);
    sink.record(&TraceEvent::TaskSpawned { id: 1, parent: None, scope: &scope });
    sink.record(&TraceEvent::TaskCancelled { id: 1 });
    sink.record(&print_call(&[RecordedValue::String(&scope)], None));
    let finished = sink.finish();
    assert_eq!(finished.dropped, 2, "an opaque does not fit into 200 bytes either");
    assert!(finished.last_error.expect("the loss has a reason").to_string().contains("200 bytes"));
    assert_eq!(finished.writer.split_inclusive(|byte| *byte == b'\n').count(), 2);

    let ring = cove_trace::RingSink::new(1 << 20, &header);
    let huge = "s".repeat(LINE_LIMIT);
    ring.record(&TraceEvent::EntryEnter { module: &huge, function: "f" });
    assert_eq!(ring.dropped(), 1);
    assert!(ring.last_error().is_some());

    let error = JsonlSink::builder(&header.with_args([scope])).line_limit(200).open(Vec::new()).expect_err("too long");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("200"), "{error}");
}
