//! Every line kind and every value shape, byte for byte, in both captures. The expected bytes are written by hand from the
//! definition of the format.

mod common;

use std::borrow::Cow;
use std::time::Duration;

use common::{print_call, print_line};
use cove_trace::{
    CallSite, HeapSummary, HostCall, HostOutcome, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource,
    RecordedStruct, RecordedValue, RecordingBackend, RenderedCallSite, RunOutcome, TraceEvent, TraceHeader, TraceValue,
    Value, ValueCapture, ValueWriter, encode_event, encode_header, value_to_json,
};

/// What needs an escape, and some of what does not though other formats escape it.
const TRICKY: &str = "\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t\n\u{b}\u{c}\r\u{e}\u{f}\
    \u{10}\u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{19}\u{1a}\u{1b}\u{1c}\u{1d}\u{1e}\u{1f}\
    \"\\/'<>&\u{7f}\u{80}\u{9f}\u{a0}é\u{2028}\u{2029}\u{feff}\u{fffd}\u{1f600}\u{10ffff}";

/// [`TRICKY`] as it stands between the quotes of a JSON string.
const TRICKY_WRITTEN: &str = concat!(
    r"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\t\n\u000b\u000c\r\u000e\u000f",
    r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f",
    r#"\"\\/'<>&"#,
    "\u{7f}\u{80}\u{9f}\u{a0}é\u{2028}\u{2029}\u{feff}\u{fffd}\u{1f600}\u{10ffff}",
);

fn line(event: &TraceEvent<'_>, capture: ValueCapture) -> String {
    let mut out = Vec::new();
    encode_event(event, capture, &mut out);
    String::from_utf8(out).expect("lines are UTF-8")
}

#[track_caller]
fn assert_line(event: &TraceEvent<'_>, full: &str, redacted: &str) {
    assert_eq!(line(event, ValueCapture::Full), format!("{full}\n"));
    assert_eq!(line(event, ValueCapture::Redacted), format!("{redacted}\n"));
}

#[track_caller]
fn assert_same_line_in_both(event: &TraceEvent<'_>, expected: &str) {
    assert_line(event, expected, expected);
}

/// A live value made of a type name and a closure.
struct Says<F>(&'static str, F);

impl<F: Fn(ValueWriter<'_>)> TraceValue for Says<F> {
    fn type_name(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        (self.1)(out);
    }
}

/// Holds that `value`, and a live value of that type which says the same, are written like this: as an argument, as an
/// outcome and alone.
#[track_caller]
fn assert_value(value: RecordedValue<'_>, type_name: &'static str, live: impl Fn(ValueWriter<'_>), full: &str) {
    let live = Says(type_name, live);
    let redacted = format!(r#"{{"type":"redacted","of":"{type_name}"}}"#);
    for value in [value, RecordedValue::Live(&live)] {
        for (capture, expected) in [(ValueCapture::Full, full), (ValueCapture::Redacted, &redacted)] {
            assert_eq!(value_to_json(&value, capture), expected);
            let written = line(&print_call(&[value, value], Some(HostOutcome::Value(value))), capture);
            let outcome = format!(r#"{{"kind":"value","value":{expected}}}"#);
            assert_eq!(written, print_line(&format!("{expected},{expected}"), &outcome));
        }
    }
}

// The ten line kinds.

#[test]
fn trace_header() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove").with_args(["--out", "a b"]);
    let mut out = Vec::new();
    encode_header(&header, &mut out);
    let without_args = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Redacted, "main.cove");
    let redacted = without_args.clone().with_args(["--out", "a b"]);
    encode_header(&redacted, &mut out);
    encode_header(&without_args, &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        concat!(
            r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main.cove","args":["--out","a b"]}"#,
            "\n",
            r#"{"event":"trace_header","version":4,"backend":"ast","values":"redacted","entry":"main.cove","args":["<redacted>","<redacted>"]}"#,
            "\n",
            r#"{"event":"trace_header","version":4,"backend":"ast","values":"redacted","entry":"main.cove","args":[]}"#,
            "\n",
        )
    );
}

#[cfg(unix)]
#[test]
fn header_arguments_that_are_not_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
        .with_args([OsStr::from_bytes(b"caf\xe9.txt"), OsStr::from_bytes(b"\xff")]);
    let mut out = Vec::new();
    encode_header(&header, &mut out);
    assert!(String::from_utf8(out).unwrap().ends_with("\"args\":[\"caf\u{fffd}.txt\",\"\u{fffd}\"]}\n"));
}

#[test]
fn task_spawned() {
    assert_same_line_in_both(
        &TraceEvent::TaskSpawned { id: 1, parent: None, scope: "main" },
        r#"{"event":"task_spawned","id":1,"parent":null,"scope":"main"}"#,
    );
    assert_same_line_in_both(
        &TraceEvent::TaskSpawned { id: u64::MAX, parent: Some(0), scope: "" },
        r#"{"event":"task_spawned","id":18446744073709551615,"parent":0,"scope":""}"#,
    );
}

#[test]
fn task_completed() {
    assert_same_line_in_both(
        &TraceEvent::TaskCompleted { id: 3, cpu: Duration::from_micros(7) },
        r#"{"event":"task_completed","id":3,"cpu_ns":7000}"#,
    );
}

#[test]
fn task_cancelled() {
    assert_same_line_in_both(&TraceEvent::TaskCancelled { id: 9 }, r#"{"event":"task_cancelled","id":9}"#);
}

#[test]
fn host_call() {
    let call = HostCall {
        task: 4,
        site: CallSite::new("documents", "read", "fs.read"),
        wait: Duration::new(2, 30),
        granted: true,
        args: &[RecordedValue::String("a.txt"), RecordedValue::Int(-7)],
        outcome: Some(HostOutcome::Value(RecordedValue::Unit)),
    };
    assert_line(
        &TraceEvent::HostCall(call),
        r#"{"event":"host_call","task":4,"module":"documents","op":"read","capability":"fs.read","wait_ns":2000000030,"granted":true,"args":[{"type":"string","value":"a.txt"},{"type":"int","value":-7}],"outcome":{"kind":"value","value":{"type":"unit"}}}"#,
        r#"{"event":"host_call","task":4,"module":"documents","op":"read","capability":"fs.read","wait_ns":2000000030,"granted":true,"args":[{"type":"redacted","of":"String"},{"type":"redacted","of":"Int"}],"outcome":{"kind":"value","value":{"type":"redacted","of":"Unit"}}}"#,
    );
    assert_same_line_in_both(
        &TraceEvent::HostCall(HostCall { args: &[], outcome: Some(HostOutcome::Error("no such file")), ..call }),
        r#"{"event":"host_call","task":4,"module":"documents","op":"read","capability":"fs.read","wait_ns":2000000030,"granted":true,"args":[],"outcome":{"kind":"error","message":"no such file"}}"#,
    );
    assert_same_line_in_both(
        &TraceEvent::HostCall(HostCall { args: &[], outcome: Some(HostOutcome::NotRecordable), ..call }),
        r#"{"event":"host_call","task":4,"module":"documents","op":"read","capability":"fs.read","wait_ns":2000000030,"granted":true,"args":[],"outcome":{"kind":"not_recordable"}}"#,
    );
    assert_same_line_in_both(
        &TraceEvent::HostCall(HostCall { args: &[], granted: false, wait: Duration::ZERO, outcome: None, ..call }),
        r#"{"event":"host_call","task":4,"module":"documents","op":"read","capability":"fs.read","wait_ns":0,"granted":false,"args":[],"outcome":null}"#,
    );
}

#[test]
fn host_call_at_a_rendered_site_is_the_same_line_as_at_a_named_one() {
    for (module, op, capability) in [("documents", "read", "fs.read"), ("", "", ""), (TRICKY, "a\"b", "\\")] {
        let rendered = RenderedCallSite::new(module, op, capability);
        let named = CallSite::new(module, op, capability);
        assert_eq!(rendered.site(), named);
        let args = [RecordedValue::Bool(true)];
        for granted in [true, false] {
            let at = |site| {
                let wait = Duration::from_nanos(1);
                TraceEvent::HostCall(HostCall { task: 1, site, wait, granted, args: &args, outcome: None })
            };
            for capture in [ValueCapture::Full, ValueCapture::Redacted] {
                assert_eq!(line(&at(rendered.site()), capture), line(&at(named), capture));
            }
        }
    }
}

#[test]
fn entry_enter() {
    assert_same_line_in_both(
        &TraceEvent::EntryEnter { module: "app", function: "main" },
        r#"{"event":"entry_enter","module":"app","function":"main"}"#,
    );
}

#[test]
fn entry_exit() {
    assert_same_line_in_both(
        &TraceEvent::EntryExit {
            module: "app",
            function: "main",
            cpu: Duration::from_nanos(12),
            wait: Duration::from_secs(3),
        },
        r#"{"event":"entry_exit","module":"app","function":"main","cpu_ns":12,"wait_ns":3000000000}"#,
    );
}

#[test]
fn heap_collected() {
    assert_same_line_in_both(
        &TraceEvent::HeapCollected {
            task: 2,
            allocated: 100,
            freed: 60,
            live_objects: 40,
            live_bytes: 4096,
            pause: Duration::from_nanos(999),
        },
        r#"{"event":"heap_collected","task":2,"allocated":100,"freed":60,"live_objects":40,"live_bytes":4096,"pause_ns":999}"#,
    );
}

#[test]
fn heap_summary() {
    assert_same_line_in_both(
        &TraceEvent::HeapSummary(HeapSummary {
            collections: 1,
            object_count: Some(2),
            allocated_bytes: Some(3),
            live_bytes: Some(4),
            peak_bytes: Some(5),
            pause: Some(Duration::from_nanos(6)),
            allocated_words: Some(7),
            capacity_words: Some(8),
            live_words: Some(9),
        }),
        r#"{"event":"heap_summary","collections":1,"object_count":2,"allocated_bytes":3,"live_bytes":4,"peak_bytes":5,"pause_ns":6,"allocated_words":7,"capacity_words":8,"live_words":9}"#,
    );
    assert_same_line_in_both(
        &TraceEvent::HeapSummary(HeapSummary::default()),
        r#"{"event":"heap_summary","collections":0,"object_count":null,"allocated_bytes":null,"live_bytes":null,"peak_bytes":null,"pause_ns":null,"allocated_words":null,"capacity_words":null,"live_words":null}"#,
    );
}

#[test]
fn run_ended_without_a_message() {
    for (outcome, name) in [
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
    ] {
        let expected = format!(r#"{{"event":"run_ended","outcome":"{name}","message":null}}"#);
        assert_same_line_in_both(&TraceEvent::RunEnded { outcome, message: None }, &expected);
    }
}

#[test]
fn run_ended_with_a_message_that_the_program_built() {
    for (outcome, name) in [(RunOutcome::Success, "success"), (RunOutcome::Error, "error")] {
        assert_line(
            &TraceEvent::RunEnded { outcome, message: Some("my secret") },
            &format!(r#"{{"event":"run_ended","outcome":"{name}","message":"my secret"}}"#),
            &format!(r#"{{"event":"run_ended","outcome":"{name}","message":null}}"#),
        );
    }
}

#[test]
fn run_ended_with_a_message_of_the_runtime() {
    for (outcome, name) in [
        (RunOutcome::Invariant, "invariant"),
        (RunOutcome::HostBoundary, "host_boundary"),
        (RunOutcome::Fuel, "fuel"),
        (RunOutcome::Deadline, "deadline"),
        (RunOutcome::Cancelled, "cancelled"),
        (RunOutcome::CallDepth, "call_depth"),
        (RunOutcome::HostCalls, "host_calls"),
        (RunOutcome::Concurrency, "concurrency"),
    ] {
        assert_same_line_in_both(
            &TraceEvent::RunEnded { outcome, message: Some("limit reached") },
            &format!(r#"{{"event":"run_ended","outcome":"{name}","message":"limit reached"}}"#),
        );
    }
}

#[test]
fn durations_saturate_at_the_last_nanosecond_that_fits() {
    for (cpu, written) in [
        (Duration::ZERO, "0"),
        (Duration::from_nanos(u64::MAX - 1), "18446744073709551614"),
        (Duration::from_nanos(u64::MAX), "18446744073709551615"),
        (Duration::from_nanos(u64::MAX) + Duration::from_nanos(1), "18446744073709551615"),
        (Duration::from_secs(18_446_744_074), "18446744073709551615"),
        (Duration::from_secs(u64::MAX), "18446744073709551615"),
        (Duration::MAX, "18446744073709551615"),
    ] {
        assert_same_line_in_both(
            &TraceEvent::TaskCompleted { id: 1, cpu },
            &format!(r#"{{"event":"task_completed","id":1,"cpu_ns":{written}}}"#),
        );
    }
}

// The twelve value shapes.

#[test]
fn unit() {
    assert_value(
        RecordedValue::Unit,
        "Unit",
        |out| {
            out.unit();
        },
        r#"{"type":"unit"}"#,
    );
}

#[test]
fn bool() {
    for (value, full) in [(true, r#"{"type":"bool","value":true}"#), (false, r#"{"type":"bool","value":false}"#)] {
        assert_value(RecordedValue::Bool(value), "Bool", |out| out.bool(value), full);
    }
}

#[test]
fn int() {
    for (value, full) in [
        (0, r#"{"type":"int","value":0}"#),
        (-1, r#"{"type":"int","value":-1}"#),
        (9_007_199_254_740_993, r#"{"type":"int","value":9007199254740993}"#),
        (i64::MIN, r#"{"type":"int","value":-9223372036854775808}"#),
        (i64::MAX, r#"{"type":"int","value":9223372036854775807}"#),
    ] {
        assert_value(RecordedValue::Int(value), "Int", |out| out.int(value), full);
    }
}

#[test]
fn float() {
    for (value, digits) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (1.5e-7, "1.5e-7"),
        (1e-5, "0.00001"),
        (9_007_199_254_740_991.0, "9007199254740991.0"),
        (9_007_199_254_740_993.0, "9007199254740992.0"),
        (f64::MAX, "1.7976931348623157e308"),
        (f64::MIN, "-1.7976931348623157e308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
    ] {
        let full = format!(r#"{{"type":"float","value":{digits}}}"#);
        assert_value(RecordedValue::Float(value), "Float", |out| out.float(value), &full);
    }
}

#[test]
fn float_that_is_not_finite() {
    for (value, shown) in [
        (f64::NAN, "NaN"),
        (-f64::NAN, "NaN"),
        (f64::from_bits(0x7ff0_0000_0000_0001), "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        let full = format!(r#"{{"type":"opaque","of":"Float","shown":"{shown}"}}"#);
        assert_value(RecordedValue::Float(value), "Float", |out| out.float(value), &full);
        // In a container it is replaced where it stands.
        assert_value(
            RecordedValue::Array(&[RecordedValue::Int(1), RecordedValue::Float(value), RecordedValue::Int(2)]),
            "Array",
            |out| {
                out.array(|items| {
                    items.item_with(|out| out.int(1));
                    items.item_with(|out| out.float(value));
                    items.item_with(|out| out.int(2));
                });
            },
            &format!(r#"{{"type":"array","items":[{{"type":"int","value":1}},{full},{{"type":"int","value":2}}]}}"#),
        );
    }
}

#[test]
fn duration() {
    for (ns, full) in [
        (0, r#"{"type":"duration","ns":0}"#),
        (-5, r#"{"type":"duration","ns":-5}"#),
        (i64::MIN, r#"{"type":"duration","ns":-9223372036854775808}"#),
        (i64::MAX, r#"{"type":"duration","ns":9223372036854775807}"#),
    ] {
        assert_value(RecordedValue::Duration { ns }, "Duration", |out| out.duration_ns(ns), full);
    }
}

#[test]
fn string() {
    for (text, full) in [
        ("", r#"{"type":"string","value":""}"#.to_owned()),
        ("plain text", r#"{"type":"string","value":"plain text"}"#.to_owned()),
        (TRICKY, format!(r#"{{"type":"string","value":"{TRICKY_WRITTEN}"}}"#)),
    ] {
        assert_value(RecordedValue::String(text), "String", |out| out.string(text), &full);
        assert_value(RecordedValue::String(text), "String", |out| out.bytes(text.as_bytes()), &full);
    }
}

#[test]
fn bytes_that_are_not_utf8() {
    for (bytes, shown) in [
        (&b"\xff"[..], "\u{fffd}"),
        (b"a\xc0\x80b", "a\u{fffd}\u{fffd}b"),
        (b"\xed\xa0\x80\n", "\u{fffd}\u{fffd}\u{fffd}\\n"),
        (b"cut \xf0\x9f\x98", "cut \u{fffd}"),
        ("é\"".as_bytes().split_at(1).1, "\u{fffd}\\\""),
    ] {
        let full = format!(r#"{{"type":"opaque","of":"String","shown":"{shown}"}}"#);
        let lossy = String::from_utf8_lossy(bytes);
        let recorded = RecordedOpaque { of: "String", shown: &lossy };
        assert_value(RecordedValue::Opaque(&recorded), "String", |out| out.bytes(bytes), &full);
    }
}

#[test]
fn array() {
    assert_value(RecordedValue::Array(&[]), "Array", |out| out.array(|_| {}), r#"{"type":"array","items":[]}"#);
    assert_value(
        RecordedValue::Array(&[
            RecordedValue::Array(&[]),
            RecordedValue::Array(&[RecordedValue::Unit]),
            RecordedValue::Unit,
        ]),
        "Array",
        |out| {
            out.array(|items| {
                items.item_with(|out| out.array(|_| {}));
                items.item_with(|out| out.array(|items| items.item(&RecordedValue::Unit)));
                items.extend([RecordedValue::Unit]);
            });
        },
        r#"{"type":"array","items":[{"type":"array","items":[]},{"type":"array","items":[{"type":"unit"}]},{"type":"unit"}]}"#,
    );
}

#[test]
fn enum_case() {
    assert_value(
        RecordedValue::Enum(&RecordedEnum { name: "Option", case: "None", payload: &[] }),
        "Option",
        |out| out.enum_case("Option", "None", |_| {}),
        r#"{"type":"enum","name":"Option","case":"None","payload":[]}"#,
    );
    assert_value(
        RecordedValue::Enum(&RecordedEnum {
            name: "Shape",
            case: "Circle",
            payload: &[RecordedValue::Int(1), RecordedValue::Float(0.5)],
        }),
        "Shape",
        |out| {
            out.enum_case("Shape", "Circle", |payload| {
                payload.item_with(|out| out.int(1));
                payload.item_with(|out| out.float(0.5));
            });
        },
        r#"{"type":"enum","name":"Shape","case":"Circle","payload":[{"type":"int","value":1},{"type":"float","value":0.5}]}"#,
    );
}

#[test]
fn structure() {
    assert_value(
        RecordedValue::Struct(&RecordedStruct { name: "Nothing", fields: &[] }),
        "Nothing",
        |out| out.structure("Nothing", |_| {}),
        r#"{"type":"struct","name":"Nothing","fields":[]}"#,
    );
    // Names may come twice, and be empty.
    assert_value(
        RecordedValue::Struct(&RecordedStruct {
            name: "Point",
            fields: &[
                RecordedField { name: "x", value: RecordedValue::Int(1) },
                RecordedField { name: "x", value: RecordedValue::Unit },
                RecordedField { name: "", value: RecordedValue::Redacted { of: "String" } },
            ],
        }),
        "Point",
        |out| {
            out.structure("Point", |fields| {
                fields.field("x", &RecordedValue::Int(1));
                fields.field("x", &RecordedValue::Unit);
                fields.field_with("", |out| out.redacted("String"));
            });
        },
        r#"{"type":"struct","name":"Point","fields":[{"name":"x","value":{"type":"int","value":1}},{"name":"x","value":{"type":"unit"}},{"name":"","value":{"type":"redacted","of":"String"}}]}"#,
    );
}

#[test]
fn resource() {
    assert_value(
        RecordedValue::Resource(&RecordedResource { name: "File", id: i64::MIN }),
        "File",
        |out| out.resource("File", i64::MIN),
        r#"{"type":"resource","name":"File","id":-9223372036854775808}"#,
    );
}

#[test]
fn redacted() {
    assert_value(
        RecordedValue::Redacted { of: "Password" },
        "Password",
        |out| out.redacted("Password"),
        r#"{"type":"redacted","of":"Password"}"#,
    );
}

#[test]
fn opaque() {
    assert_value(
        RecordedValue::Opaque(&RecordedOpaque { of: "Closure", shown: "|x| x + 1" }),
        "Closure",
        |out| out.opaque("Closure", format_args!("|{0}| {0} + {1}", "x", 1)),
        r#"{"type":"opaque","of":"Closure","shown":"|x| x + 1"}"#,
    );
}

#[test]
fn owned_values_are_written_like_recorded_ones_and_floats_exactly() {
    let owned = Value::Array(vec![
        Value::Unit,
        Value::Bool(false),
        Value::Int(-3),
        Value::Float(-0.0),
        Value::Duration { ns: 8 },
        Value::String(TRICKY.into()),
        Value::Array(vec![]),
        Value::Enum { name: "E".into(), case: "C".into(), payload: vec![Value::Int(1), Value::Int(2)] },
        Value::Struct { name: "S".into(), fields: vec![("f".into(), Value::Float(f64::NAN))] },
        Value::Resource { name: "R".into(), id: 4 },
    ]);
    let expected = [
        r#"{"type":"array","items":[{"type":"unit"},{"type":"bool","value":false},{"type":"int","value":-3},"#,
        r#"{"type":"float","value":-0.0},{"type":"duration","ns":8},{"type":"string","value":""#,
        TRICKY_WRITTEN,
        r#""},{"type":"array","items":[]},"#,
        r#"{"type":"enum","name":"E","case":"C","payload":[{"type":"int","value":1},{"type":"int","value":2}]},"#,
        r#"{"type":"struct","name":"S","fields":[{"name":"f","value":{"type":"enum","name":"@Float","case":"NaN","#,
        r#""payload":[]}}]},{"type":"resource","name":"R","id":4}]}"#,
    ]
    .concat();
    assert_eq!(value_to_json(&owned, ValueCapture::Full), expected);
    assert_eq!(value_to_json(&owned, ValueCapture::Redacted), r#"{"type":"redacted","of":"Array"}"#);
}

// Escapes.

#[test]
fn every_string_of_every_line_is_escaped() {
    let tricky = TRICKY;
    let expect = |template: &str| template.replace('@', TRICKY_WRITTEN);

    assert_same_line_in_both(
        &TraceEvent::TaskSpawned { id: 1, parent: None, scope: tricky },
        &expect(r#"{"event":"task_spawned","id":1,"parent":null,"scope":"@"}"#),
    );
    assert_same_line_in_both(
        &TraceEvent::EntryEnter { module: tricky, function: tricky },
        &expect(r#"{"event":"entry_enter","module":"@","function":"@"}"#),
    );
    assert_same_line_in_both(
        &TraceEvent::EntryExit { module: tricky, function: tricky, cpu: Duration::ZERO, wait: Duration::ZERO },
        &expect(r#"{"event":"entry_exit","module":"@","function":"@","cpu_ns":0,"wait_ns":0}"#),
    );
    assert_same_line_in_both(
        &TraceEvent::RunEnded { outcome: RunOutcome::Fuel, message: Some(tricky) },
        &expect(r#"{"event":"run_ended","outcome":"fuel","message":"@"}"#),
    );
    assert_same_line_in_both(
        &TraceEvent::HostCall(HostCall {
            task: 0,
            site: CallSite::new(tricky, tricky, tricky),
            wait: Duration::ZERO,
            granted: true,
            args: &[],
            outcome: Some(HostOutcome::Error(tricky)),
        }),
        &expect(
            r#"{"event":"host_call","task":0,"module":"@","op":"@","capability":"@","wait_ns":0,"granted":true,"args":[],"outcome":{"kind":"error","message":"@"}}"#,
        ),
    );
    let mut header = Vec::new();
    encode_header(
        &TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, tricky).with_args([tricky]),
        &mut header,
    );
    assert_eq!(
        String::from_utf8(header).unwrap(),
        expect(r#"{"event":"trace_header","version":4,"backend":"ast","values":"full","entry":"@","args":["@"]}"#)
            + "\n",
    );
}

#[test]
fn every_string_of_every_value_is_escaped() {
    let tricky = TRICKY;
    for (value, full, redacted) in [
        (RecordedValue::String(tricky), r#"{"type":"string","value":"@"}"#, r#"{"type":"redacted","of":"String"}"#),
        (
            RecordedValue::Enum(&RecordedEnum { name: tricky, case: tricky, payload: &[] }),
            r#"{"type":"enum","name":"@","case":"@","payload":[]}"#,
            r#"{"type":"redacted","of":"@"}"#,
        ),
        (
            RecordedValue::Struct(&RecordedStruct {
                name: tricky,
                fields: &[RecordedField { name: tricky, value: RecordedValue::Unit }],
            }),
            r#"{"type":"struct","name":"@","fields":[{"name":"@","value":{"type":"unit"}}]}"#,
            r#"{"type":"redacted","of":"@"}"#,
        ),
        (
            RecordedValue::Resource(&RecordedResource { name: tricky, id: 0 }),
            r#"{"type":"resource","name":"@","id":0}"#,
            r#"{"type":"redacted","of":"@"}"#,
        ),
        (RecordedValue::Redacted { of: tricky }, r#"{"type":"redacted","of":"@"}"#, r#"{"type":"redacted","of":"@"}"#),
        (
            RecordedValue::Opaque(&RecordedOpaque { of: tricky, shown: tricky }),
            r#"{"type":"opaque","of":"@","shown":"@"}"#,
            r#"{"type":"redacted","of":"@"}"#,
        ),
    ] {
        for (capture, template) in [(ValueCapture::Full, full), (ValueCapture::Redacted, redacted)] {
            assert_eq!(value_to_json(&value, capture), template.replace('@', TRICKY_WRITTEN));
        }
    }
}

#[test]
fn long_strings_are_escaped_to_their_end() {
    // Long enough for any block, piece or buffer to end in the middle of a character or between an escape's neighbours.
    let times = if cfg!(miri) { 600 } else { 9_000 };
    for lead in (0..9).step_by(if cfg!(miri) { 5 } else { 1 }) {
        let text = "x".repeat(lead) + &"é\n\u{1f600}\u{1}\"".repeat(times);
        let written = "x".repeat(lead) + &"é\\n\u{1f600}\\u0001\\\"".repeat(times);
        let full = format!(r#"{{"type":"string","value":"{written}"}}"#);
        assert!(value_to_json(&RecordedValue::String(&text), ValueCapture::Full) == full, "after {lead} bytes");
        let shown = value_to_json(&Says("T", |out: ValueWriter<'_>| out.opaque("T", &text)), ValueCapture::Full);
        assert!(shown == format!(r#"{{"type":"opaque","of":"T","shown":"{written}"}}"#), "after {lead} bytes");
    }
}

/// What most host calls come back with is written in one row. The others are not, and look no different.
#[test]
fn an_outcome_that_is_ok_of_something() {
    let ok = |payload: &[RecordedValue<'_>]| {
        let value = RecordedEnum { name: "Result", case: "Ok", payload };
        line(&print_call(&[], Some(HostOutcome::Value(RecordedValue::Enum(&value)))), ValueCapture::Full)
    };
    let expected = |payload: &str| {
        let value = format!(r#"{{"type":"enum","name":"Result","case":"Ok","payload":[{payload}]}}"#);
        print_line("", &format!(r#"{{"kind":"value","value":{value}}}"#))
    };
    let resource = RecordedResource { name: "file", id: 3 };
    let opaque = RecordedOpaque { of: "Map", shown: TRICKY };
    for (value, full) in [
        (RecordedValue::Unit, r#"{"type":"unit"}"#),
        (RecordedValue::Bool(true), r#"{"type":"bool","value":true}"#),
        (RecordedValue::Int(-7), r#"{"type":"int","value":-7}"#),
        (RecordedValue::Float(1.5), r#"{"type":"float","value":1.5}"#),
        (RecordedValue::Float(f64::NAN), r#"{"type":"opaque","of":"Float","shown":"NaN"}"#),
        (RecordedValue::Duration { ns: 5 }, r#"{"type":"duration","ns":5}"#),
        (RecordedValue::String(TRICKY), &format!(r#"{{"type":"string","value":"{TRICKY_WRITTEN}"}}"#)),
        (RecordedValue::Resource(&resource), r#"{"type":"resource","name":"file","id":3}"#),
        (RecordedValue::Redacted { of: "Int" }, r#"{"type":"redacted","of":"Int"}"#),
        (RecordedValue::Opaque(&opaque), &format!(r#"{{"type":"opaque","of":"Map","shown":"{TRICKY_WRITTEN}"}}"#)),
        (RecordedValue::Array(&[]), r#"{"type":"array","items":[]}"#),
    ] {
        assert_eq!(ok(&[value]), expected(full));
        assert_eq!(ok(&[value, RecordedValue::Unit]), expected(&format!(r#"{full},{{"type":"unit"}}"#)));
    }
    assert_eq!(ok(&[]), expected(""));
}

#[test]
fn spans_of_time_and_fields_in_a_row_of_a_live_value() {
    let spans = [Duration::ZERO, Duration::from_millis(2), Duration::MAX];
    let value = Says("Spans", |out: ValueWriter<'_>| {
        out.structure("Spans", |fields| {
            fields.extend(["zero", "short"].map(|name| (name, RecordedValue::Bool(true))));
            for span in spans {
                fields.field_with("span", |out| out.duration(span));
            }
        });
    });
    let field = |name: &str, value: &str| format!(r#"{{"name":"{name}","value":{{"type":{value}}}}}"#);
    let fields = [
        field("zero", r#""bool","value":true"#),
        field("short", r#""bool","value":true"#),
        field("span", r#""duration","ns":0"#),
        field("span", r#""duration","ns":2000000"#),
        field("span", r#""duration","ns":9223372036854775807"#),
    ];
    let expected = format!(r#"{{"type":"struct","name":"Spans","fields":[{}]}}"#, fields.join(","));
    assert_eq!(value_to_json(&value, ValueCapture::Full), expected);
}
