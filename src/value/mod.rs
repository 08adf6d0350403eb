//! Values: those of an interpreter, those in an event, and those that a replay returns.
//!
//! - [`TraceValue`] is the trait that an interpreter implements on its own values. A value writes itself through a
//!   [`ValueWriter`]. [`writer`] is the schema of values; [`isolation`] protects the line from the value's code.
//! - [`RecordedValue`] is a value in an event: borrowed, and possibly redacted or opaque in parts.
//! - [`Value`] is owned, `Send` and complete. A replay returns it.

mod isolation;
mod live_args;
mod recorded;
mod replayable;
mod std_types;
mod writer;

use std::borrow::Cow;

use crate::line::LINE_LIMIT;
use crate::names::ValueCapture;

pub(crate) use self::isolation::{Encoder, discard};
pub use self::live_args::LiveArgs;
pub use self::recorded::{
    RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue,
};
pub use self::replayable::{NotReplayable, Value};
pub(crate) use self::replayable::{impl_owned_value, same_float};
pub use self::writer::{FieldWriter, ItemWriter, ValueWriter};

/// The number of levels that a value may have. An int has one level, an array of ints two.
///
/// Arrays, enums and structs, even empty ones, may be at levels 1 to 127. One at level 128 is written as an opaque with
/// the text `nested deeper than 128 levels`. A reader rejects anything deeper.
pub const MAX_VALUE_DEPTH: usize = 128;

/// A value of an interpreter, which a trace records without a copy, an allocation or a conversion into another tree.
///
/// Implement it on the interpreter's own value type: an `Rc` tree, a tagged word, or a wrapper around a reference to a
/// type of another crate. The standard library's scalars, strings, sequences, tuples and pointers implement it already.
///
/// ```
/// use std::borrow::Cow;
/// use std::rc::Rc;
/// use cove_trace::{TraceValue, ValueWriter};
///
/// enum Value {
///     Nil,
///     Int(i64),
///     Text(Rc<str>),
///     List(Rc<Vec<Value>>),
///     Closure { name: &'static str },
/// }
///
/// impl TraceValue for Value {
///     fn type_name(&self) -> Cow<'_, str> {
///         match self {
///             Value::Nil => "Unit".into(),
///             Value::Int(_) => "Int".into(),
///             Value::Text(_) => "String".into(),
///             Value::List(_) => "Array".into(),
///             Value::Closure { .. } => "Closure".into(),
///         }
///     }
///
///     fn write(&self, out: ValueWriter<'_>) {
///         match self {
///             Value::Nil => out.unit(),
///             Value::Int(int) => out.int(*int),
///             Value::Text(text) => out.string(text),
///             Value::List(list) => out.array(|items| items.extend(list.iter())),
///             Value::Closure { name } => out.opaque("Closure", name),
///         }
///     }
/// }
/// # assert_eq!(
/// #     cove_trace::value_to_json(&Value::List(Rc::new(vec![Value::Int(1)])), cove_trace::ValueCapture::Full),
/// #     r#"{"type":"array","items":[{"type":"int","value":1}]}"#,
/// # );
/// ```
///
/// Errors in a value's code do not break the trace or the program:
///
/// - If it panics, fails or writes nothing, the whole argument or result that it is part of is replaced by an opaque of
///   its type name. The text is `failed while being written` or `wrote no value`. A panic hook still runs, and a
///   program built with `panic = "abort"` ends.
/// - An argument or result that makes its line longer than its limit ([`LINE_LIMIT`] by default) is replaced, too. The
///   text is `longer than N bytes`.
/// - A value may contain itself: nesting stops at [`MAX_VALUE_DEPTH`].
/// - The code may record events.
pub trait TraceValue {
    /// Returns the name of the value's type. A redacted trace keeps it, so it must not depend on a secret.
    ///
    /// It must agree with [`write`](Self::write): `Unit`, `Bool`, `Int`, `Float`, `Duration`, `String`, `Array`, or the
    /// name that `write` gives to an enum, a struct, a resource, an opaque or a redaction.
    fn type_name(&self) -> Cow<'_, str>;

    /// Writes the value by calling exactly one method of `out`.
    fn write(&self, out: ValueWriter<'_>);
}

impl<T: TraceValue + ?Sized> TraceValue for &T {
    fn type_name(&self) -> Cow<'_, str> {
        (**self).type_name()
    }

    #[inline]
    fn write(&self, out: ValueWriter<'_>) {
        (**self).write(out);
    }
}

/// Returns the JSON text of one value as a trace has it, complete or redacted.
///
/// For tests and tools, because it allocates. A value longer than [`LINE_LIMIT`] is replaced as in a line.
pub fn value_to_json<V: TraceValue + ?Sized>(value: &V, capture: ValueCapture) -> String {
    let mut text = Vec::new();
    Encoder::append(&mut text, LINE_LIMIT, |encoder| encoder.value(value, capture));
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Appends the JSON text of each value to `out`, with a newline after it. Equal values give equal bytes, and the texts
/// contain no newlines, so values can be stored and compared in this form.
pub(crate) fn encode_value_lines(values: &[RecordedValue<'_>], capture: ValueCapture, out: &mut Vec<u8>) {
    for value in values {
        Encoder::append(out, LINE_LIMIT, |encoder| encoder.value(value, capture));
        out.push(b'\n');
    }
}

/// The type names of values that carry no name.
pub(crate) mod type_names {
    pub(crate) const UNIT: &str = "Unit";
    pub(crate) const BOOL: &str = "Bool";
    pub(crate) const INT: &str = "Int";
    pub(crate) const FLOAT: &str = "Float";
    pub(crate) const DURATION: &str = "Duration";
    pub(crate) const STRING: &str = "String";
    pub(crate) const ARRAY: &str = "Array";
}
