//! What the writer writes the reader reads back, in the form that `canonical` says; over generated events, in both
//! captures.
//!
//! `COVE_TRACE_CASES_FACTOR=100 cargo test --release --test roundtrip` tries a hundred times as many seeds;
//! `COVE_TRACE_SEED=7` tries one.

#[path = "common/canonical.rs"]
mod canonical;
#[path = "fuzzing/targets/event_roundtrip.rs"]
#[allow(dead_code, reason = "its other user is the fuzz target")]
mod event_roundtrip;
#[path = "common/generate.rs"]
mod generate;
#[path = "common/lines.rs"]
mod lines;
#[path = "common/live.rs"]
mod live;
#[path = "common/replayable.rs"]
mod replayable;
#[path = "common/secrets.rs"]
mod secrets;
#[path = "fuzzing/targets/value_roundtrip.rs"]
#[allow(dead_code, reason = "its other user is the fuzz target")]
mod value_roundtrip;

use std::io::{self, Read};

use cove_trace::decode::Decoder;
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, HostCall, JsonlSink, RenderedCallSite, TraceEvent, TraceHeader, TraceReader, TraceSink, ValueCapture,
    encode_header,
};
use generate::{for_each_seed, generated};
use lines::{assert_is_one_line_of_json, line};
use live::parts;

fn header_line(header: &TraceHeader) -> Vec<u8> {
    let mut line = Vec::new();
    encode_header(header, &mut line);
    line
}

#[test]
fn an_event_reads_back_as_its_canonical_form() {
    for_each_seed(10_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        event_roundtrip::reads_back_as_its_canonical_form(&event);
    });
}

#[test]
fn a_header_reads_back_as_its_canonical_form() {
    for_each_seed(5_000, |seed| {
        let header = generated::<TraceHeader>(seed);
        let written = header_line(&header);
        assert_is_one_line_of_json(&written);

        let read = Decoder::new().decode_header(&written).expect("the reader accepts what is written");
        assert_eq!(read, canonical::header(&header));
        assert_eq!(header_line(&read), written);
    });
}

/// A test over generated events holds for what gets generated and for no more.
#[test]
#[cfg_attr(miri, ignore = "is about what is generated, and takes very much of it")]
fn what_is_hard_to_carry_is_generated_often() {
    let events = (0..5_000).map(generated::<OwnedEvent>).collect::<Vec<_>>();
    let lines = events
        .iter()
        .map(|event| String::from_utf8(line(&event.view(&Arena::new()), ValueCapture::Full)).expect("lines are UTF-8"))
        .collect::<Vec<_>>();
    for text in [
        r#"{"type":"opaque","of":"Float","shown":"NaN"}"#,
        r#"{"type":"opaque","of":"Float","shown":"inf"}"#,
        r#"{"type":"opaque","of":"Float","shown":"-inf"}"#,
        r#"{"type":"float","value":-0.0}"#,
        r#"{"type":"float","value":5e-324}"#,
        r#"{"type":"float","value":1.7976931348623157e308}"#,
        r#"{"type":"int","value":-9223372036854775808}"#,
        r#"{"type":"int","value":9007199254740993}"#,
        r#"_ns":18446744073709551615"#,
        r#""args":[]"#,
        r#""items":[]"#,
        r#""payload":[]"#,
        r#""fields":[]"#,
        r"\u0000",
        r"\u001f",
        r"\\",
        r#"\""#,
        "\u{7f}",
        "\u{2028}",
        "\u{10ffff}",
        &"a".repeat(127),
        &"a".repeat(8 * 1024),
    ] {
        let found = lines.iter().filter(|line| line.contains(text)).count();
        assert!(found >= 5, "{text:?} stands in {found} lines");
    }
    let values = events.iter().flat_map(arguments_and_result).collect::<Vec<_>>();
    for depth in canonical::LAST_LEVEL - 1..=canonical::LAST_LEVEL + 2 {
        let found = values.iter().filter(|value| levels(value) == depth).count();
        assert!(found >= 5, "{found} values are {depth} levels deep");
    }
    let repeats = values.iter().filter(|value| repeats_a_field(value)).count();
    assert!(repeats >= 5, "{repeats} structs have two fields of the same name");
}

fn arguments_and_result(event: &OwnedEvent) -> Vec<&OwnedValue> {
    let OwnedEvent::HostCall(call) = event else { return Vec::new() };
    let result = match &call.outcome {
        Some(OwnedOutcome::Value(result)) => Some(result),
        _ => None,
    };
    call.args.iter().chain(result).collect()
}

fn levels(value: &OwnedValue) -> usize {
    1 + parts(value).into_iter().map(levels).max().unwrap_or(0)
}

fn repeats_a_field(value: &OwnedValue) -> bool {
    let OwnedValue::Struct { fields, .. } = value else { return false };
    fields.iter().enumerate().any(|(index, (name, _))| fields[..index].iter().any(|(before, _)| before == name))
}

/// Gives a few bytes at a time, a different number each time.
struct Dribble<'b> {
    rest: &'b [u8],
    given: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.given = self.given * 31 % 1009 + 1;
        let size = self.given.min(self.rest.len()).min(out.len());
        let (now, later) = self.rest.split_at(size);
        out[..size].copy_from_slice(now);
        self.rest = later;
        Ok(size)
    }
}

#[test]
fn a_trace_written_by_a_sink_reads_back_through_the_reader() {
    for_each_seed(40, |seed| {
        let mut header = generated::<TraceHeader>(seed);
        let count = if cfg!(miri) { 15 } else { 50 };
        let events = (0..count).map(|index| generated::<OwnedEvent>(seed * count + index)).collect::<Vec<_>>();
        for &capture in ValueCapture::ALL {
            header.values = capture;
            let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes everything");
            for event in &events {
                sink.record(&event.view(&Arena::new()));
            }
            let finished = sink.finish();
            assert_eq!(finished.dropped, 0);

            let mut reader = TraceReader::new(Dribble { rest: &finished.writer, given: 1 });
            let read_header = reader.header().expect("a header").cloned();
            assert_eq!(read_header, Some(canonical::header(&header)));
            for (index, event) in events.iter().enumerate() {
                let read = reader.next_event().expect("an event").expect("another event");
                assert_eq!(OwnedEvent::from(&read), canonical::event(event, capture), "event {index}");
            }
            assert_eq!(reader.next_event().expect("the end"), None);
            assert_eq!(reader.bytes_read(), finished.writer.len() as u64);
        }
    });
}

/// The same value by three ways of handing it over: recorded, owned, and live, whole and in parts.
#[test]
fn a_value_is_written_alike_however_it_is_handed_over() {
    for_each_seed(5_000, |seed| {
        value_roundtrip::is_written_alike_however_it_is_handed_over(&generated(seed));
    });
}

#[test]
fn a_call_is_written_alike_at_a_rendered_and_at_a_named_site() {
    for_each_seed(5_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        let arena = Arena::new();
        let named = event.view(&arena);
        let TraceEvent::HostCall(call) = named else { return };
        let site = RenderedCallSite::new(call.site.module(), call.site.op(), call.site.capability());
        let rendered = TraceEvent::HostCall(HostCall { site: site.site(), ..call });
        for &capture in ValueCapture::ALL {
            assert_eq!(line(&rendered, capture), line(&named, capture));
        }
        assert_eq!(OwnedEvent::from(&rendered), OwnedEvent::from(&named));
    });
}

#[test]
fn a_redacted_line_tells_nothing_of_values_but_their_types() {
    for_each_seed(5_000, |seed| {
        event_roundtrip::redacted_tells_nothing_but_types(&generated(seed), seed);
    });
}

#[test]
fn a_redacted_header_tells_only_how_many_arguments_there_were() {
    for_each_seed(1_000, |seed| {
        let mut header = generated::<TraceHeader>(seed);
        header.values = ValueCapture::Redacted;
        let mut other = header.clone();
        other.args.fill_with(|| generated(!seed));
        assert_eq!(header_line(&other), header_line(&header));
    });
}
