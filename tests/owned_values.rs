//! What owns its parts: events and values that are kept, and values that can be replayed.

#[path = "common/canonical.rs"]
mod canonical;
#[path = "common/compare.rs"]
mod compare;
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
    TraceEvent, TraceValue, Value, ValueField, ValueWriter, Values,
};
use generate::{for_each_seed, generated};
use live::Live;
use replayable::as_owned;
use value_roundtrip::{is_replayed_whole_or_not_at_all, replayable_comes_back_as_it_was};

// Keeping events.

#[test]
fn what_is_kept_of_an_event_is_the_event() {
    for_each_seed(5_000, |seed| {
        let event = generated::<OwnedEvent>(seed);
        let arena = Arena::new();
        let kept = OwnedEvent::from(&event.view(&arena));
        // What a trace can't hold is kept as a trace would show it. All the rest is kept to the bit, NaN and long durations
        // too.
        let expected =
            with_values(&event, |value| if fits(value, 1) { value.clone() } else { canonical::value(value) });
        assert_eq!(compare::event(&kept.view(&Arena::new()), &expected), Ok(()));
    });
}

#[test]
fn what_is_kept_of_live_values_is_what_they_wrote() {
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
        assert_eq!(compare::event(&kept.view(&Arena::new()), &with_values(&event, canonical::value)), Ok(()));
    });
}

/// The event with `change` done to each argument and to the result.
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

/// Whether a trace can hold a value that stands at `level` without cutting it off.
fn fits(value: &OwnedValue, level: usize) -> bool {
    match value {
        OwnedValue::Array(parts) | OwnedValue::Enum { payload: parts, .. } => {
            level < canonical::LAST_LEVEL && parts.iter().all(|part| fits(part, level + 1))
        }
        OwnedValue::Struct { fields, .. } => {
            level < canonical::LAST_LEVEL && fields.iter().all(|field| fits(&field.value, level + 1))
        }
        _ => level <= canonical::LAST_LEVEL,
    }
}

// Values that can be replayed.

#[test]
fn a_replay_gets_the_value_or_is_told_the_first_part_that_is_missing() {
    for_each_seed(5_000, |seed| {
        is_replayed_whole_or_not_at_all(&generated(seed));
    });
}

#[test]
fn a_replayable_value_comes_back_as_it_was() {
    let replayed = |seed| replayable_comes_back_as_it_was(&generated(seed));
    for_each_seed(2_000, |seed| {
        replayed(seed);
    });
    assert!((0..100).filter(|seed| replayed(*seed)).count() > 50, "most generated values can be replayed");
}

/// What a value says of itself is a closure.
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
fn what_is_missing_is_said_by_its_path() {
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
fn what_a_live_value_wrote_can_be_replayed() {
    let point = Says(|out: ValueWriter<'_>| {
        out.structure("Point", |fields| {
            fields.field_with("x", |out| out.float(-0.0));
            fields.field_with("label", |out| out.bytes(b"caf\xc3\xa9"));
        });
    });
    let nothing = Says(|_: ValueWriter<'_>| {});
    let not_text = Says(|out: ValueWriter<'_>| out.bytes(b"\xff"));
    let fields = vec![
        ValueField { name: "x".to_owned(), value: Value::Float(-0.0) },
        ValueField { name: "label".to_owned(), value: Value::String("café".to_owned()) },
    ];
    let expected = Value::Struct { name: "Point".to_owned(), fields: fields.into() };
    assert_eq!(RecordedValue::Live(&point).to_value(), Ok(expected.clone()));
    let pair = [RecordedValue::Int(1), RecordedValue::Live(&point)];
    assert_eq!(RecordedValue::Array(&pair).to_value(), Ok(Value::Array(vec![Value::Int(1), expected].into())));

    let refusal = |value: &dyn TraceValue| RecordedValue::Live(value).to_value().expect_err("no value").to_string();
    assert_eq!(refusal(&nothing), "the value itself: opaque Says");
    assert_eq!(refusal(&not_text), "the value itself: opaque String");
}

// Values that are owned.

/// Nested a hundred thousand deep, in each kind of container. (Less deep under Miri, which takes too long.)
fn deep(inner: OwnedValue) -> OwnedValue {
    (0..if cfg!(miri) { 1_000 } else { 100_000 }).fold(inner, |inner, level| match level % 3 {
        0 => OwnedValue::Array(vec![inner, OwnedValue::Unit].into()),
        1 => OwnedValue::Enum { name: "E".to_owned(), case: "C".to_owned(), payload: vec![inner].into() },
        _ => {
            let field = ValueField { name: "f".to_owned(), value: inner };
            OwnedValue::Struct { name: "S".to_owned(), fields: vec![field].into() }
        }
    })
}

/// A value as deep as a replay can be given one.
fn deepest(container: fn(Value) -> Value) -> Value {
    (1..canonical::LAST_LEVEL).fold(Value::Int(1), |inner, _| container(inner))
}

fn array(inner: Value) -> Value {
    Value::Array(vec![inner].into())
}

fn case(inner: Value) -> Value {
    Value::Enum { name: "E".to_owned(), case: "C".to_owned(), payload: vec![inner].into() }
}

fn structure(inner: Value) -> Value {
    let field = ValueField { name: "f".to_owned(), value: inner };
    Value::Struct { name: "S".to_owned(), fields: vec![field].into() }
}

/// Runs `test` on the smallest stack that the promise about depth holds for.
fn on_a_small_stack<T: Send + 'static>(test: fn() -> T) -> T {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(test).expect("a thread");
    thread.join().expect("no panic")
}

#[test]
fn a_deep_value_is_taken_apart_on_a_small_stack() {
    on_a_small_stack(|| {
        let values = Values::from(vec![deep(OwnedValue::Unit), OwnedValue::Int(1), deep(OwnedValue::Int(2))]);
        let mut rest = values.into_iter();
        drop(rest.next());
        assert_eq!(rest.next(), Some(OwnedValue::Int(1)));
        drop(rest);

        let mut parts = Values::from(vec![deep(OwnedValue::Unit), deep(OwnedValue::Unit)]).into_vec();
        parts.truncate(1);
        parts[0] = OwnedValue::Unit;
        assert_eq!(parts, [OwnedValue::Unit]);

        let field = ValueField { name: "f".to_owned(), value: deep(OwnedValue::Unit) };
        drop(Values::from(vec![field]).into_iter().map(|field| field.value).next());
    });
}

#[test]
fn a_deep_value_is_compared_printed_viewed_and_kept_on_a_small_stack() {
    let (owned, kept) = on_a_small_stack(|| {
        let owned = deep(OwnedValue::Unit);
        assert_eq!(owned, deep(OwnedValue::Unit));
        assert!(format!("{owned:?}").contains("nested deeper than 128 levels"));

        let arena = Arena::new();
        let recorded = owned.view(&arena);
        let kept = OwnedValue::from(&recorded);
        let refusal = recorded.to_value().expect_err("it is cut off").to_string();
        assert!(refusal.starts_with("items[0].fields.f.payload[0].items[0]."), "{refusal}");
        assert!(refusal.ends_with(".payload[0].items[0]: opaque S"), "{refusal}");
        (owned, kept)
    });
    assert_eq!(compare::value(&kept.view(&Arena::new()), &canonical::value(&owned)), Ok(()));
}

#[test]
fn the_deepest_replayable_value_comes_back_on_a_small_stack() {
    on_a_small_stack(|| {
        for container in [array, case, structure] {
            let value = deepest(container);
            assert_eq!(RecordedValue::Live(&value).to_value(), Ok(value));
            assert!(RecordedValue::Live(&container(deepest(container))).to_value().is_err());
        }
    });
}

#[test]
fn values_are_compared_by_what_a_trace_shows_of_them() {
    assert_ne!(Value::Float(0.0), Value::Float(-0.0));
    assert_eq!(Value::Float(f64::NAN), Value::Float(-f64::NAN));
    assert_ne!(Value::Float(f64::INFINITY), Value::Float(f64::NEG_INFINITY));
    assert_ne!(Value::Float(1.0), Value::Int(1));
    assert_ne!(Value::Int(9_007_199_254_740_993), Value::Int(9_007_199_254_740_992));
    assert_ne!(Value::Int(1), Value::Duration { ns: 1 });
    assert_ne!(Value::Unit, Value::Array(Values::default()));
    let case =
        |name: &str, case: &str| Value::Enum { name: name.into(), case: case.into(), payload: Values::default() };
    assert_ne!(case("a", "b"), case("b", "a"));
    assert_eq!(case("a", "b"), case("a", "b"));

    let opaque = OwnedValue::Opaque { of: "Float".to_owned(), shown: "NaN".to_owned() };
    assert_eq!(OwnedValue::Float(f64::NAN), opaque);
}

#[test]
fn values_are_printed_as_a_trace_shows_them() {
    let value = Value::Array(vec![Value::Int(-1), Value::String("a\n".to_owned())].into());
    let expected = r#"{"type":"array","items":[{"type":"int","value":-1},{"type":"string","value":"a\n"}]}"#;
    assert_eq!(format!("{value:?}"), expected);
    assert_eq!(format!("{:?}", as_owned(&value)), expected);
    assert_eq!(format!("{:?}", as_owned(&value).view(&Arena::new())), expected);
}

#[test]
fn the_parts_of_a_value_are_a_sequence() {
    let values = (0..4).map(Value::Int).collect::<Values<_>>();
    assert_eq!(values.len(), 4);
    assert_eq!(values[3], Value::Int(3));
    assert_eq!(values.first(), Some(&Value::Int(0)));
    let mut met = Vec::new();
    for value in &values {
        met.push(value.clone());
    }
    assert_eq!(met, values.clone().into_vec());
    assert_eq!(met, values.into_iter().collect::<Vec<_>>());
    assert!(Values::<Value>::default().is_empty());
}

#[test]
fn what_owns_its_parts_crosses_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Value>();
    crosses::<OwnedValue>();
    crosses::<OwnedEvent>();
}
