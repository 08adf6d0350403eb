//! Assertions for tests of [`TraceValue`] implementations.

use crate::decode::Decoder;

use crate::names::ValueCapture;
use crate::value::{RecordedValue, TraceValue, value_to_json};

/// Asserts that `value` meets the requirements of [`TraceValue`]:
///
/// - It writes exactly one value, and neither its code nor a formatter that it uses fails.
/// - A reader reads that value, and writing the result gives the same text.
/// - Its [type name](TraceValue::type_name) is that of the written value, so that recording it redacted gives the same
///   text as redacting a full trace.
/// - It writes the same value, and has the same type name, each time.
///
/// The parts of the value are covered, except for their type names. To check the type name of a part, call this
/// function with the part.
///
/// ```
/// use cove_trace::testing::assert_conforms;
///
/// assert_conforms(&cove_trace::Value::Int(3));
/// ```
///
/// # Panics
///
/// Panics if the value does not meet a requirement. The message says which one, and shows the written text.
#[track_caller]
pub fn assert_conforms<V: TraceValue + ?Sized>(value: &V) {
    let written = value_to_json(value, ValueCapture::Full);
    let redacted = value_to_json(value, ValueCapture::Redacted);
    let type_name = value.type_name();

    let mut decoder = Decoder::new();
    let read = decoder
        .decode_value(written.as_bytes())
        .unwrap_or_else(|error| panic!("a reader rejects the value: {error}, at byte {} of {written}", error.offset()));
    if let RecordedValue::Opaque(opaque) = read {
        assert!(
            !matches!(opaque.shown, "failed while being written" | "wrote no value"),
            "a {type_name} {}: `TraceValue::write` must call one method of the writer, and must not panic",
            opaque.shown
        );
    }
    assert_eq!(value_to_json(&read, ValueCapture::Full), written, "writing what a reader returned gives another text");
    assert_eq!(read.type_name(), type_name, "`type_name` (right) is not the type name of what is written: {written}");
    assert_eq!(
        value_to_json(&read, ValueCapture::Redacted),
        redacted,
        "redacting the written value (left) and recording it redacted (right) give different texts"
    );
    assert_eq!(value_to_json(value, ValueCapture::Full), written, "a second `write` (left) gives another text");
    assert_eq!(value.type_name(), type_name, "a second `type_name` (left) gives another name");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use crate::value::ValueWriter;
    use std::borrow::Cow;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A value with this type name, which writes itself with a closure.
    struct Made<F>(&'static str, F);

    impl<F: Fn(ValueWriter<'_>)> TraceValue for Made<F> {
        fn type_name(&self) -> Cow<'_, str> {
            self.0.into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            self.1(out);
        }
    }

    fn complaint(value: &dyn TraceValue) -> String {
        let panic = catch_unwind(AssertUnwindSafe(|| assert_conforms(value))).expect_err("the value does not conform");
        *panic.downcast::<String>().expect("a message")
    }

    #[test]
    fn conforming_values_pass() {
        assert_conforms(&Value::Unit);
        assert_conforms(&RecordedValue::Float(f64::NAN));
        assert_conforms(&RecordedValue::Redacted { of: "String" });
        assert_conforms(&Made("Map", |out: ValueWriter<'_>| {
            out.structure("Map", |fields| fields.field("a", &Value::Int(1)));
        }));
        assert_conforms(&Made("String", |out: ValueWriter<'_>| out.bytes(b"\xff")));
    }

    #[test]
    fn the_panic_message_names_the_violated_requirement() {
        assert!(complaint(&Made("Int", |out: ValueWriter<'_>| out.unit())).contains("type name"));
        assert!(complaint(&Made("Int", |_: ValueWriter<'_>| {})).contains("wrote no value"));
        assert!(complaint(&Made("Int", |_: ValueWriter<'_>| panic!("no"))).contains("failed while being written"));
        let calls = Cell::new(0);
        let counting = Made("Int", |out: ValueWriter<'_>| out.int(calls.replace(calls.get() + 1)));
        assert!(complaint(&counting).contains("a second `write`"));
    }
}
