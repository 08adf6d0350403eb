//! For the tests of whoever implements [`TraceValue`].

use crate::decode::Decoder;

use crate::names::ValueCapture;
use crate::value::{RecordedValue, TraceValue, value_to_json};

/// Asserts what an implementation of [`TraceValue`] owes, of this one value:
///
/// - it writes exactly one value, without a panic and without an error of a formatter;
/// - a reader gives that value back, and it is written the same way again;
/// - its [type name](TraceValue::type_name) is that of what it writes, so that a redacted trace says of it what redacting a
///   full trace would say;
/// - asked twice, it says the same twice.
///
/// The parts of the value are held to this as far as they are written; a part's own type name is asked for only when the
/// part is given alone.
///
/// ```
/// use cove_trace::testing::assert_conforms;
///
/// assert_conforms(&cove_trace::Value::Int(3));
/// ```
///
/// # Panics
///
/// When the value does not conform. The message says which of these is broken, and what was written.
#[track_caller]
pub fn assert_conforms<V: TraceValue + ?Sized>(value: &V) {
    let written = value_to_json(value, ValueCapture::Full);
    let redacted = value_to_json(value, ValueCapture::Redacted);
    let type_name = value.type_name();

    let mut decoder = Decoder::new();
    let read = decoder
        .decode_value(written.as_bytes())
        .unwrap_or_else(|error| panic!("a reader refuses the value: {error}, at byte {} of {written}", error.offset()));
    if let RecordedValue::Opaque(opaque) = read {
        assert!(
            !matches!(opaque.shown, "failed while being written" | "wrote no value"),
            "a {type_name} {}: its `write` has to say one thing, and not to panic",
            opaque.shown
        );
    }
    assert_eq!(value_to_json(&read, ValueCapture::Full), written, "the value that is read back is written otherwise");
    assert_eq!(read.type_name(), type_name, "the type name (right) is not that of what is written (left): {written}");
    assert_eq!(
        value_to_json(&read, ValueCapture::Redacted),
        redacted,
        "redacting what is written (left) gives something else than a redacted trace (right)"
    );
    assert_eq!(value_to_json(value, ValueCapture::Full), written, "asked again, the value says something else");
    assert_eq!(value.type_name(), type_name, "asked again, the type name is another");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ValueWriter;
    use crate::value::Value;
    use std::borrow::Cow;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A value made of a type name and of what it writes.
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
        let panic = catch_unwind(AssertUnwindSafe(|| assert_conforms(value))).expect_err("it does not conform");
        *panic.downcast::<String>().expect("a message")
    }

    #[test]
    fn what_conforms_is_let_pass() {
        assert_conforms(&Value::Unit);
        assert_conforms(&RecordedValue::Float(f64::NAN));
        assert_conforms(&RecordedValue::Redacted { of: "String" });
        assert_conforms(&Made("Map", |out: ValueWriter<'_>| {
            out.structure("Map", |fields| fields.field("a", &Value::Int(1)));
        }));
        assert_conforms(&Made("String", |out: ValueWriter<'_>| out.bytes(b"\xff")));
    }

    #[test]
    fn what_does_not_is_told_why() {
        assert!(complaint(&Made("Int", |out: ValueWriter<'_>| out.unit())).contains("type name"));
        assert!(complaint(&Made("Int", |_: ValueWriter<'_>| {})).contains("wrote no value"));
        assert!(complaint(&Made("Int", |_: ValueWriter<'_>| panic!("no"))).contains("failed while being written"));
        let calls = Cell::new(0);
        let counting = Made("Int", |out: ValueWriter<'_>| out.int(calls.replace(calls.get() + 1)));
        assert!(complaint(&counting).contains("asked again"));
    }
}
