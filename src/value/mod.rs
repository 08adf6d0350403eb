//! Values: what an interpreter hands over, what a trace carries, and what a replay can use.
//!
//! - [`TraceValue`] is the one trait that an interpreter implements, on its own values. Its values write themselves through a
//!   [`ValueWriter`] ([`writer`] is the schema of values; [`isolation`] protects the line from their code).
//! - [`RecordedValue`] stands in an event: borrowed, readable, perhaps redacted or opaque in parts.
//! - [`Value`] is owned, `Send` and whole: what may cross a task boundary, and so what a replay can give back.

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

/// How deep values nest in a trace: an int is one level, an array of ints two.
///
/// Arrays, enums and structs (empty ones too) may stand at levels 1 to 127. One at level 128 is written as an opaque that says
/// so, and a reader refuses anything deeper.
pub const MAX_VALUE_DEPTH: usize = 128;

/// A value of an interpreter, handed to a trace as it is: no copy, no allocation, no conversion into another tree.
///
/// Implement it on the interpreter's own value type, whatever that is: an `Rc` tree, a tagged word, a wrapper made on the
/// fly around a type of another crate. It is implemented for the standard library's scalars, strings and collections of
/// values.
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
/// A value whose own code panics, fails or writes nothing never breaks the trace or the program: the whole argument or result
/// that it belongs to is written as an opaque of its type name instead. (A program built with `panic = "abort"` ends all the
/// same, and a panic hook prints what it prints.) Its code may itself record events.
///
/// Nor does a value that contains itself: nesting stops at [`MAX_VALUE_DEPTH`], and an argument or result that makes its line
/// longer than the limit of a line is replaced. Values may share parts, and contain themselves, as often as they like.
pub trait TraceValue {
    /// Returns the name of the value's type, which is all that a redacted trace keeps of it. It must not depend on anything
    /// secret.
    ///
    /// It agrees with [`write`](Self::write): `Unit`, `Bool`, `Int`, `Float`, `Duration`, `String`, `Array`, or the name
    /// given to an enum, a struct, a resource, an opaque or a redaction.
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

/// Renders one value as it stands in a trace, honouring `capture`.
///
/// For tests and tools: it allocates the text that it returns. A value longer than [`LINE_LIMIT`] is replaced as in a line.
pub fn value_to_json<V: TraceValue + ?Sized>(value: &V, capture: ValueCapture) -> String {
    let mut text = Vec::new();
    Encoder::append(&mut text, LINE_LIMIT, |encoder| encoder.value(value, capture));
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Appends each of `values` to `out` as it stands in a trace, with a newline after it. Equal values give equal bytes, and no
/// encoding has a newline in it, so values can be compared and kept in this form.
pub(crate) fn encode_value_lines(values: &[RecordedValue<'_>], capture: ValueCapture, out: &mut Vec<u8>) {
    for value in values {
        Encoder::append(out, LINE_LIMIT, |encoder| encoder.value(value, capture));
        out.push(b'\n');
    }
}

/// The type names of the shapes that have no name of their own.
pub(crate) mod type_names {
    pub(crate) const UNIT: &str = "Unit";
    pub(crate) const BOOL: &str = "Bool";
    pub(crate) const INT: &str = "Int";
    pub(crate) const FLOAT: &str = "Float";
    pub(crate) const DURATION: &str = "Duration";
    pub(crate) const STRING: &str = "String";
    pub(crate) const ARRAY: &str = "Array";
}
