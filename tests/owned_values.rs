//! Owned events and values, and the conversion to values that a replay can return.

#[path = "common/canonical.rs"]
mod canonical;
#[path = "common/generate.rs"]
mod generate;
#[path = "common/live.rs"]
mod live;
#[path = "common/replayable.rs"]
mod replayable;
#[path = "fuzzing/targets/value_roundtrip.rs"]
#[allow(dead_code, reason = "its other user is the fuzz target")]
mod value_roundtrip;

use std::borrow::Cow;
use std::thread;

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, HostCall, HostOutcome, RecordedEnum, RecordedField, RecordedOpaque, RecordedStruct, RecordedValue,
    TraceEvent, TraceValue, Value, ValueWriter,
};
use generate::{for_each_seed, generated};
use live::Live;
use replayable::as_owned;
use value_roundtrip::{is_replayed_whole_or_not_at_all, replayable_comes_back_as_it_was};

// Conversion to owned events.

#[test]
fn a_viewed_event_converts_back_to_itself() {
    for_each_seed(5_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        let arena = Arena::new();
        let kept = OwnedEvent::from(&event.view(&arena));
        // Only values that exceed the depth limit are converted to what a trace contains for them.
        let expected =
            with_values(&event, |value| if fits(value, 1) { value.clone() } else { canonical::value(value) });
        assert_eq!(kept, expected);
    });
}

#[test]
fn live_values_convert_to_what_they_write() {
    for_each_seed(2_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        let arena = Arena::new();
        let (TraceEvent::HostCall(call), OwnedEvent::HostCall(owned)) = (event.view(&arena), &event) else { return };
        let args = owned.args.iter().map(Live).collect::<Vec<_>>();
        let args = args.iter().map(|arg| RecordedValue::Live(arg)).collect::<Vec<_>>();
        let result;
        let outcome = match &owned.outcome {
            Some(OwnedOutcome::Value(value)) => {
                result = Live(value);
                Some(HostOutcome::Value(RecordedValue::Live(&result)))
            }
            _ => call.outcome,
        };
        let kept = OwnedEvent::from(&TraceEvent::HostCall(HostCall { args: &args, outcome, ..call }));
        assert_eq!(kept, with_values(&event, canonical::value));
    });
}

/// Returns the event with `change` applied to each argument and to the result.
fn with_values(event: &OwnedEvent, change: impl Fn(&OwnedValue) -> OwnedValue) -> OwnedEvent {
    let mut event = event.clone();
    if let OwnedEvent::HostCall(call) = &mut event {
        for arg in &mut call.args {
            *arg = change(arg);
        }
        if let Some(OwnedOutcome::Value(result)) = &mut call.outcome {
            *result = change(result);
        }
    }
    event
}

/// Returns whether a value at `level` is within the depth limit.
fn fits(value: &OwnedValue, level: usize) -> bool {
    match value {
        OwnedValue::Array(parts) | OwnedValue::Enum { payload: parts, .. } => {
            level < canonical::LAST_LEVEL && parts.iter().all(|part| fits(part, level + 1))
        }
        OwnedValue::Struct { fields, .. } => {
            level < canonical::LAST_LEVEL && fields.iter().all(|(_, value)| fits(value, level + 1))
        }
        _ => level <= canonical::LAST_LEVEL,
    }
}

// Conversion to values that a replay can return.

#[test]
fn to_value_returns_the_value_or_names_the_first_missing_part() {
    for_each_seed(5_000, |seed| {
        is_replayed_whole_or_not_at_all(&generated(seed));
    });
}

#[test]
fn a_whole_value_converts_to_itself() {
    let replayed = |seed| replayable_comes_back_as_it_was(&generated(seed));
    for_each_seed(2_000, |seed| {
        replayed(seed);
    });
    assert!((0..100).filter(|seed| replayed(*seed)).count() > 50, "most generated values can be replayed");
}

/// A value of type `Says` that writes itself with a closure.
struct Says<F>(F);

impl<F: Fn(ValueWriter<'_>)> TraceValue for Says<F> {
    fn type_name(&self) -> Cow<'_, str> {
        "Says".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        (self.0)(out);
    }
}

#[test]
fn the_error_has_the_path_and_type_of_the_missing_part() {
    let token = RecordedValue::Redacted { of: "String" };
    let closure = RecordedOpaque { of: "Closure", shown: "<fn main>" };
    let closure = RecordedValue::Opaque(&closure);
    let one = RecordedValue::Int(1);
    let refusal = |value: RecordedValue<'_>| value.to_value().expect_err("a part is missing");
    let within = |value: RecordedValue<'_>| refusal(value).within("args[1]").to_string();

    let fields = [RecordedField { name: "user", value: one }, RecordedField { name: "token", value: token }];
    let session = RecordedStruct { name: "Session", fields: &fields };
    let session = RecordedValue::Struct(&session);
    assert_eq!(within(session), "args[1].fields.token: redacted String");
    assert_eq!(refusal(session).to_string(), "fields.token: redacted String");
    assert_eq!(refusal(session).path(), ".fields.token");
    assert_eq!(refusal(session).type_name(), "String");

    let some = RecordedEnum { name: "Option", case: "Some", payload: &[one, session] };
    let nested = [one, one, RecordedValue::Enum(&some), closure];
    assert_eq!(within(RecordedValue::Array(&nested)), "args[1].items[2].payload[1].fields.token: redacted String");

    assert_eq!(within(token), "args[1]: redacted String");
    assert_eq!(refusal(token).to_string(), "the value itself: redacted String");
    assert_eq!(within(closure), "args[1]: opaque Closure");
    assert_eq!(within(RecordedValue::Array(&[one, closure, token])), "args[1].items[1]: opaque Closure");
    assert_eq!(
        refusal(RecordedValue::Array(&[token])).within(".value").within("outcome").to_string(),
        "outcome.value.items[0]: redacted String"
    );

    for not_finite in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(within(RecordedValue::Float(not_finite)), "args[1]: opaque Float");
        assert_eq!(within(RecordedValue::Array(&[RecordedValue::Float(not_finite)])), "args[1].items[0]: opaque Float");
    }
}

#[test]
fn a_live_value_converts_to_what_it_writes() {
    let point = Says(|out: ValueWriter<'_>| {
        out.structure("Point", |fields| {
            fields.field_with("x", |out| out.float(-0.0));
            fields.field_with("label", |out| out.bytes(b"caf\xc3\xa9"));
        });
    });
    let nothing = Says(|_: ValueWriter<'_>| {});
    let not_text = Says(|out: ValueWriter<'_>| out.bytes(b"\xff"));
    let fields = vec![("x".to_owned(), Value::Float(-0.0)), ("label".to_owned(), Value::String("café".to_owned()))];
    let expected = Value::Struct { name: "Point".to_owned(), fields };
    assert_eq!(RecordedValue::Live(&point).to_value(), Ok(expected.clone()));
    let pair = [RecordedValue::Int(1), RecordedValue::Live(&point)];
    assert_eq!(RecordedValue::Array(&pair).to_value(), Ok(Value::Array(vec![Value::Int(1), expected])));

    let refusal = |value: &dyn TraceValue| RecordedValue::Live(value).to_value().expect_err("no value").to_string();
    assert_eq!(refusal(&nothing), "the value itself: opaque Says");
    assert_eq!(refusal(&not_text), "the value itself: opaque String");
}

// Owned values.

/// Returns containers nested to the depth limit around an integer.
fn deepest(container: fn(Value) -> Value) -> Value {
    (1..canonical::LAST_LEVEL).fold(Value::Int(1), |inner, _| container(inner))
}

fn array(inner: Value) -> Value {
    Value::Array(vec![inner])
}

fn case(inner: Value) -> Value {
    Value::Enum { name: "E".to_owned(), case: "C".to_owned(), payload: vec![inner] }
}

fn structure(inner: Value) -> Value {
    Value::Struct { name: "S".to_owned(), fields: vec![("f".to_owned(), inner)] }
}

/// Runs `test` on a stack of 256 KiB, which suffices for values of the greatest depth in a build without optimization.
fn on_a_small_stack(test: fn()) {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(test).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn the_deepest_value_converts_to_itself_on_a_small_stack() {
    on_a_small_stack(|| {
        for container in [array, case, structure] {
            let value = deepest(container);
            assert_eq!(RecordedValue::Live(&value).to_value(), Ok(value));
            assert!(RecordedValue::Live(&container(deepest(container))).to_value().is_err());
        }
    });
}

#[test]
fn equality_is_structural() {
    let text = |text: &str| Value::String(text.to_owned());
    let enum_of = |name: &str, case: &str, payload| Value::Enum { name: name.into(), case: case.into(), payload };
    let struct_of =
        |name: &str, field: &str, value| Value::Struct { name: name.into(), fields: vec![(field.into(), value)] };
    let resource = |name: &str, id| Value::Resource { name: name.into(), id };
    let different = [
        Value::Unit,
        Value::Bool(false),
        Value::Bool(true),
        Value::Int(1),
        Value::Int(9_007_199_254_740_992),
        Value::Int(9_007_199_254_740_993),
        Value::Float(0.0),
        Value::Float(-0.0),
        Value::Float(1.0),
        Value::Float(f64::INFINITY),
        Value::Float(f64::NEG_INFINITY),
        Value::Float(f64::NAN),
        Value::Duration { ns: 1 },
        text("NaN"),
        text(""),
        Value::Array(vec![]),
        Value::Array(vec![Value::Unit]),
        Value::Array(vec![Value::Unit, Value::Unit]),
        Value::Array(vec![Value::Float(-0.0)]),
        enum_of("a", "b", vec![]),
        enum_of("b", "b", vec![]),
        enum_of("a", "a", vec![]),
        enum_of("a", "b", vec![Value::Unit]),
        struct_of("a", "b", Value::Unit),
        struct_of("b", "b", Value::Unit),
        struct_of("a", "a", Value::Unit),
        struct_of("a", "b", Value::Int(1)),
        resource("a", 1),
        resource("b", 1),
        resource("a", 2),
    ];
    for (index, one) in different.iter().enumerate() {
        for (other_index, other) in different.iter().enumerate() {
            assert_eq!(one == other, index == other_index, "{one:?}, {other:?}");
            assert_eq!(as_owned(one) == as_owned(other), index == other_index, "{one:?}, {other:?}");
        }
    }
    assert_eq!(Value::Float(f64::NAN), Value::Float(-f64::NAN));

    let redacted = |of: &str| OwnedValue::Redacted { of: of.into() };
    let opaque = |of: &str, shown: &str| OwnedValue::Opaque { of: of.into(), shown: shown.into() };
    assert_eq!(redacted("a"), redacted("a"));
    assert_ne!(redacted("a"), redacted("b"));
    assert_eq!(opaque("a", "b"), opaque("a", "b"));
    assert_ne!(opaque("a", "b"), opaque("b", "b"));
    assert_ne!(opaque("a", "b"), opaque("a", "a"));
    assert_ne!(opaque("Float", "NaN"), OwnedValue::Float(f64::NAN));
}

/// A trace contains the same for both values.
#[test]
fn values_that_differ_beyond_the_depth_limit_are_not_equal() {
    let deep = |innermost| (0..2 * canonical::LAST_LEVEL).fold(innermost, |inner, _| array(inner));
    assert_eq!(deep(Value::Int(1)), deep(Value::Int(1)));
    assert_ne!(deep(Value::Int(1)), deep(Value::Int(2)));
}

#[test]
fn owned_types_are_send_and_sync() {
    fn assert_send_and_sync<T: Send + Sync + 'static>() {}
    assert_send_and_sync::<Value>();
    assert_send_and_sync::<OwnedValue>();
    assert_send_and_sync::<OwnedEvent>();
}
