//! Values that the format has no shape for: how they are written, and that a replay returns them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedValue;
use cove_trace::replay::Answer;
use cove_trace::testing::assert_conforms;
use cove_trace::{
    Arena, CallSite, ENTRY_TASK, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, Replay, Thrown,
    TraceEvent, TraceHeader, TraceReader, TraceSink, TraceValue, Value, ValueCapture, ValueWriter, value_to_json,
};

/// Writes itself with a closure.
struct Made<F>(&'static str, F);

impl<F: Fn(ValueWriter<'_>)> TraceValue for Made<F> {
    fn type_name(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        self.1(out);
    }
}

fn enumeration(name: &str, case: &str, payload: &str) -> String {
    format!(r#"{{"type":"enum","name":"{name}","case":"{case}","payload":[{payload}]}}"#)
}

fn array(items: &str) -> String {
    format!(r#"{{"type":"array","items":[{items}]}}"#)
}

fn int(value: i64) -> String {
    format!(r#"{{"type":"int","value":{value}}}"#)
}

fn string(text: &str) -> String {
    format!(r#"{{"type":"string","value":"{text}"}}"#)
}

/// Asserts that `value` is written as `expected`, and that a replay returns it as `returned`, which is written alike.
#[track_caller]
fn assert_kept(value: &(impl TraceValue + ?Sized), expected: &str, returned: &Value) {
    assert_conforms(value);
    assert_eq!(value_to_json(value, ValueCapture::Full), expected);
    let mut decoder = Decoder::new();
    let read = decoder.decode_value(expected.as_bytes()).expect("what is written can be read");
    assert_eq!(read.to_value().expect("it is replayable"), *returned);
    assert_kept_owned(returned, expected);
}

#[track_caller]
fn assert_kept_owned(value: &Value, expected: &str) {
    assert_conforms(value);
    assert_eq!(value_to_json(value, ValueCapture::Full), expected);
}

#[test]
fn floats_that_are_not_finite() {
    for (float, case) in [(f64::NAN, "NaN"), (-f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        assert_kept(&float, &enumeration("@Float", case, ""), &Value::Float(float));
        assert_kept(&(float as f32), &enumeration("@Float", case, ""), &Value::Float(float));
    }
    assert_kept(&1.5, r#"{"type":"float","value":1.5}"#, &Value::Float(1.5));
    assert_kept(&-0.0, r#"{"type":"float","value":-0.0}"#, &Value::Float(-0.0));
}

#[test]
fn integers_beyond_64_bits_and_unsigned_ones() {
    let decimal = |digits: &str| enumeration("@Int", "decimal", &string(digits));
    assert_kept(&(i64::MAX as u64), &int(i64::MAX), &Value::Int(i64::MAX));
    assert_kept(&i128::from(i64::MIN), &int(i64::MIN), &Value::Int(i64::MIN));
    assert_kept(&(i64::MAX as u64 + 1), &decimal("9223372036854775808"), &Value::Int128(9_223_372_036_854_775_808));
    assert_kept(&u64::MAX, &decimal("18446744073709551615"), &Value::Int128(u64::MAX.into()));
    assert_kept(&usize::MAX, &decimal(&usize::MAX.to_string()), &Value::Int128(usize::MAX as i128));
    for value in [i128::MIN, i128::from(i64::MIN) - 1, i128::MAX] {
        assert_kept(&value, &decimal(&value.to_string()), &Value::Int128(value));
    }
}

#[test]
fn byte_strings() {
    let bytes = |bytes: &'static [u8]| Made("String", move |out: ValueWriter<'_>| out.byte_string(bytes));
    assert_kept(&bytes("aé\n".as_bytes()), &string("aé\\n"), &Value::String("aé\n".into()));
    assert_kept(&bytes(b""), &string(""), &Value::String(String::new()));
    assert_kept(&bytes(b"\xff"), &enumeration("@String", "hex", &string("ff")), &Value::Bytes(vec![0xff]));
    let all: Vec<u8> = (0..=255).collect();
    let digits: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
    let written = enumeration("@String", "hex", &string(&digits));
    assert_kept(&bytes(all.clone().leak()), &written, &Value::Bytes(all));
}

#[test]
fn maps_with_keys_of_any_type() {
    let map = Made("@Map", |out: ValueWriter<'_>| {
        out.map(|entries| {
            entries.entry(&1, "one");
            entries.extend([((), true), ((), false)]);
        });
    });
    let pair = |key: &str, value: &str| array(&format!("{key},{value}"));
    let (unit, truth) = (r#"{"type":"unit"}"#, |truth: bool| format!(r#"{{"type":"bool","value":{truth}}}"#));
    let entries = [pair(&int(1), &string("one")), pair(unit, &truth(true)), pair(unit, &truth(false))];
    let returned = Value::Map(vec![
        (Value::Int(1), Value::String("one".into())),
        (Value::Unit, Value::Bool(true)),
        (Value::Unit, Value::Bool(false)),
    ]);
    assert_kept(&map, &enumeration("@Map", "entries", &entries.join(",")), &returned);
    let ordered = BTreeMap::from([(2, "b"), (1, "a")]);
    let entries = [pair(&int(1), &string("a")), pair(&int(2), &string("b"))].join(",");
    let returned =
        Value::Map(vec![(Value::Int(1), Value::String("a".into())), (Value::Int(2), Value::String("b".into()))]);
    assert_kept(&ordered, &enumeration("@Map", "entries", &entries), &returned);
    assert_kept(&BTreeMap::<i64, i64>::new(), &enumeration("@Map", "entries", ""), &Value::Map(vec![]));
}

#[test]
fn tuples_and_sets() {
    let items = format!("{},{}", int(1), string("x"));
    let returned = vec![Value::Int(1), Value::String("x".into())];
    assert_kept(&(1, "x"), &enumeration("@Tuple", "items", &items), &Value::Tuple(returned));
    let returned = vec![Value::Int(1), Value::Int(2)];
    let items = format!("{},{}", int(1), int(2));
    assert_kept(&BTreeSet::from([2, 1]), &enumeration("@Set", "items", &items), &Value::Set(returned));
}

#[test]
fn ranges() {
    let bound = |value: Option<i64>| Box::new(value.map_or(Value::Unit, Value::Int));
    let text = |value: Option<i64>| value.map_or_else(|| r#"{"type":"unit"}"#.to_owned(), int);
    let check = |range: &dyn TraceValue, start, end, is_closed: bool| {
        let case = if is_closed { "closed" } else { "half_open" };
        let returned = if is_closed { Value::RangeInclusive } else { Value::Range };
        let written = enumeration("@Range", case, &format!("{},{}", text(start), text(end)));
        assert_kept(range, &written, &returned(bound(start), bound(end)));
    };
    check(&(1..3), Some(1), Some(3), false);
    check(&(1..), Some(1), None, false);
    check(&(..3), None, Some(3), false);
    check(&(..), None, None, false);
    check(&(1..=3), Some(1), Some(3), true);
    check(&(..=3), None, Some(3), true);
}

/// An enum that does not follow its convention is returned as the enum that it is, so that nothing is lost.
#[test]
fn other_enums_with_reserved_names_stay_enums() {
    let strings = |texts: &[&str]| texts.iter().map(|text| Value::String((*text).into())).collect::<Vec<_>>();
    let cases = [
        ("@Float", "NaN", strings(&["x"])),
        ("@Float", "nan", vec![]),
        ("@Int", "decimal", strings(&["5"])),
        ("@Int", "decimal", strings(&["+18446744073709551615"])),
        ("@Int", "decimal", strings(&["018446744073709551615"])),
        ("@Int", "decimal", strings(&["1e30"])),
        ("@Int", "decimal", strings(&["340282366920938463463374607431768211456"])),
        ("@Int", "decimal", vec![Value::Int(5)]),
        ("@Int", "hex", strings(&["18446744073709551615"])),
        ("@String", "hex", strings(&["41"])),
        ("@String", "hex", strings(&["FF"])),
        ("@String", "hex", strings(&["fff"])),
        ("@String", "hex", strings(&["fé"])),
        ("@String", "hex", strings(&["ff", "ff"])),
        ("@Map", "entries", vec![Value::Array(vec![Value::Unit])]),
        ("@Map", "items", vec![]),
        ("@Tuple", "entries", vec![]),
        ("@Range", "closed", vec![Value::Int(1)]),
        ("@Other", "items", vec![]),
        ("Float", "NaN", vec![]),
    ];
    for (name, case, payload) in cases {
        let value = Value::Enum { name: name.into(), case: case.into(), payload };
        let written = value_to_json(&value, ValueCapture::Full);
        let mut decoder = Decoder::new();
        let read = decoder.decode_value(written.as_bytes()).expect("what is written can be read");
        assert_eq!(read.to_value().expect("it is replayable"), value);
        assert_eq!(value_to_json(&read, ValueCapture::Full), written);
    }
}

#[test]
fn a_redacted_trace_does_not_tell_which_spelling_a_value_needed() {
    let redacted = |value: &dyn TraceValue| value_to_json(value, ValueCapture::Redacted);
    assert_eq!(redacted(&f64::NAN), redacted(&1.0));
    assert_eq!(redacted(&u64::MAX), redacted(&1_u64));
    let bytes = |bytes: &'static [u8]| Made("String", move |out: ValueWriter<'_>| out.byte_string(bytes));
    assert_eq!(redacted(&bytes(b"\xff")), redacted(&bytes(b"a")));
    // The same holds when a full trace is redacted afterwards.
    for value in [Value::Float(f64::NAN), Value::Int128(i128::MAX), Value::Bytes(vec![0xff])] {
        let written = value_to_json(&value, ValueCapture::Full);
        let mut decoder = Decoder::new();
        let read = decoder.decode_value(written.as_bytes()).expect("what is written can be read");
        assert_eq!(redacted(&read), redacted(&value));
        assert_eq!(redacted(&OwnedValue::from(&read)), redacted(&value));
    }
}

/// The type name is that of the plain shape even where only an opaque remains.
#[test]
fn a_reserved_enum_at_the_depth_limit_is_an_opaque_of_its_type() {
    struct Nested(usize);
    impl TraceValue for Nested {
        fn type_name(&self) -> Cow<'_, str> {
            if self.0 == 0 { "Float".into() } else { "Array".into() }
        }

        fn write(&self, out: ValueWriter<'_>) {
            match self.0 {
                0 => out.exact_float(f64::NAN),
                depth => out.array(|items| items.item(&Nested(depth - 1))),
            }
        }
    }
    let written = value_to_json(&Nested(127), ValueCapture::Full);
    assert!(written.contains(r#"{"type":"opaque","of":"Float","shown":"nested deeper than 128 levels"}"#));
    assert_conforms(&Nested(127));
}

// Thrown values.

fn call<'a>(outcome: HostOutcome<'a>) -> TraceEvent<'a> {
    let site = CallSite::new("http", "get", "net");
    TraceEvent::HostCall(HostCall {
        task: ENTRY_TASK,
        site,
        wait: Duration::ZERO,
        granted: true,
        args: &[],
        outcome: Some(outcome),
    })
}

fn recorded(outcome: HostOutcome<'_>, capture: ValueCapture) -> Vec<u8> {
    let header = TraceHeader::new(RecordingBackend::Vm, capture, "main");
    let sink = JsonlSink::new(Vec::new(), &header).expect("the header is written");
    sink.record(&call(outcome));
    sink.finish().writer
}

#[test]
fn a_thrown_value_is_a_failure_and_comes_back_from_a_replay() {
    let status = Value::Struct { name: "HttpError".into(), fields: vec![("status".into(), Value::Int(503))] };
    let thrown = Thrown(&status);
    assert_conforms(&thrown);
    let outcome = HostOutcome::Value(RecordedValue::Live(&thrown));
    assert!(outcome.is_failure());
    let trace = recorded(outcome, ValueCapture::Full);
    let mut reader = TraceReader::from_slice(&trace);
    let event = reader.next_event().expect("it can be read").expect("an event");
    let TraceEvent::HostCall(HostCall { outcome: Some(read), .. }) = event else { panic!("{event:?}") };
    assert!(read.is_failure());
    assert_eq!(read.thrown().map(|value| value.to_value()), Some(Ok(status.clone())));
    let replay = Replay::open(&trace[..]).expect("a replayable trace");
    let answer = replay.call(ENTRY_TASK, CallSite::new("http", "get", "net"), &[]).expect("it was recorded");
    assert_eq!(answer, Answer::Thrown(status));
}

#[test]
fn a_redacted_trace_keeps_that_a_value_was_thrown_and_nothing_of_it() {
    let [one, other] = ["secret", "another"].map(|text| {
        let thrown = Thrown(text);
        recorded(HostOutcome::Value(RecordedValue::Live(&thrown)), ValueCapture::Redacted)
    });
    assert_eq!(one, other);
    let mut reader = TraceReader::from_slice(&one);
    let event = reader.next_event().expect("it can be read").expect("an event");
    let TraceEvent::HostCall(HostCall { outcome: Some(read), .. }) = event else { panic!("{event:?}") };
    assert!(read.is_failure());
    assert_eq!(read.thrown(), None);
}

#[test]
fn other_results_are_no_failures() {
    let arena = Arena::new();
    let plain = OwnedValue::Enum { name: "Thrown".into(), case: "value".into(), payload: vec![] };
    for value in [plain.view(&arena), RecordedValue::Unit, RecordedValue::Redacted { of: "String" }] {
        assert!(!HostOutcome::Value(value).is_failure());
        assert_eq!(HostOutcome::Value(value).thrown(), None);
    }
    assert!(!HostOutcome::NotRecordable.is_failure());
    assert!(HostOutcome::Error("no").is_failure());
}
