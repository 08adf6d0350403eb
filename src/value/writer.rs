//! The trait that values implement, and the schema that they are written by: how each of the twelve shapes is written.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::Duration;

use super::encoder::Encoder;
use super::type_names;
use crate::line::{Either, Finite};

/// A value of an interpreter, handed to a trace as it is: no copy, no allocation, no conversion into another tree.
///
/// Implement it on the interpreter's own value type, whatever that is: an `Rc` tree, a tagged word, a wrapper made on
/// the fly around a type of another crate. It is implemented for the standard library's scalars, strings and
/// collections of values.
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
/// A value whose own code panics, fails or writes nothing never breaks the trace or the program: the whole argument or
/// result that it belongs to is written as an opaque of its type name instead. (A program built with `panic = "abort"`
/// ends all the same, and a panic hook prints what it prints.) Its code may itself record events.
///
/// Nor does a value that contains itself: nesting stops at [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH), and an argument
/// or result that makes its line longer than the limit of a line is replaced. Values may share parts, and contain
/// themselves, as often as they like.
pub trait TraceValue {
    /// Returns the name of the value's type, which is all that a redacted trace keeps of it. It must not depend on
    /// anything secret.
    ///
    /// It agrees with [`write`](Self::write): `Unit`, `Bool`, `Int`, `Float`, `Duration`, `String`, `Array`, or the
    /// name given to an enum, a struct, a resource, an opaque or a redaction.
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

/// Writes one value: call one method, once.
///
/// The encoder makes it and hands it to [`TraceValue::write`]. Each method consumes the writer, so a value can't write
/// two values; one that calls none is recorded as an opaque that says so. Every method appends to the line being
/// written and allocates nothing.
///
/// ```
/// # use std::borrow::Cow;
/// # use cove_trace::{TraceValue, ValueWriter, ValueCapture, value_to_json};
/// struct Account { owner: String, password: String, balance: i64 }
///
/// impl TraceValue for Account {
///     fn type_name(&self) -> Cow<'_, str> {
///         "Account".into()
///     }
///
///     fn write(&self, out: ValueWriter<'_>) {
///         out.structure("Account", |fields| {
///             fields.field("owner", &self.owner);
///             // The interpreter's own choice, in a full trace too.
///             fields.field_with("password", |out| out.redacted("String"));
///             fields.field("balance", &self.balance);
///         });
///     }
/// }
/// # let account = Account { owner: "ada".into(), password: "secret".into(), balance: 3 };
/// # assert!(!account.password.is_empty());
/// # assert!(value_to_json(&account, ValueCapture::Full).contains(r#"{"type":"redacted","of":"String"}"#));
/// ```
#[must_use = "a value that writes nothing is recorded as one that failed"]
pub struct ValueWriter<'w> {
    encoder: &'w mut Encoder,
}

impl<'w> ValueWriter<'w> {
    pub(super) fn new(encoder: &'w mut Encoder) -> Self {
        Self { encoder }
    }

    /// Writes the unit value. Its type name is `Unit`.
    #[inline]
    pub fn unit(self) {
        self.encoder.line.put(br#"{"type":"unit"}"#);
    }

    /// Writes a truth value. Its type name is `Bool`.
    #[inline]
    pub fn bool(self, value: bool) {
        let fragments = (br#"{"type":"bool","value":true}"#, br#"{"type":"bool","value":false}"#);
        self.encoder.line.put(Either { yes: value, fragments });
    }

    /// Writes an integer. Its type name is `Int`.
    #[inline]
    pub fn int(self, value: i64) {
        self.encoder.line.put((br#"{"type":"int","value":"#, value, b"}"));
    }

    /// Writes a float. Its type name is `Float`. One that is not finite is written as an opaque (`NaN`, `inf`, `-inf`).
    #[inline]
    pub fn float(self, value: f64) {
        match Finite::new(value) {
            Some(value) => _ = self.encoder.line.put((br#"{"type":"float","value":"#, value, b"}")),
            None if value.is_nan() => self.encoder.opaque(type_names::FLOAT, "NaN"),
            None if value > 0.0 => self.encoder.opaque(type_names::FLOAT, "inf"),
            None => self.encoder.opaque(type_names::FLOAT, "-inf"),
        }
    }

    /// Writes a span of time. Its type name is `Duration`. One longer than `i64::MAX` nanoseconds saturates.
    #[inline]
    pub fn duration(self, duration: Duration) {
        self.duration_ns(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX));
    }

    /// Writes a span of time in nanoseconds, which may be negative. Its type name is `Duration`.
    #[inline]
    pub fn duration_ns(self, ns: i64) {
        self.encoder.line.put((br#"{"type":"duration","ns":"#, ns, b"}"));
    }

    /// Writes a text. Its type name is `String`.
    #[inline]
    pub fn string(self, text: &str) {
        self.encoder.line.put((br#"{"type":"string","value":""#, text, b"\"}"));
    }

    /// Writes a byte string. Its type name is `String`. One that is UTF-8 is written as a string, any other as an
    /// opaque that shows U+FFFD in place of each invalid sequence.
    pub fn bytes(self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.string(text),
            Err(_) => self.opaque(type_names::STRING, Lossy(bytes)),
        }
    }

    /// Writes an array. Its type name is `Array`.
    #[inline]
    pub fn array(self, items: impl FnOnce(&mut ItemWriter<'_>)) {
        if self.encoder.begin_array() {
            self.encoder.content(|encoder| items(&mut ItemWriter { encoder }));
        }
    }

    /// Writes the case `case` of the enumeration `name` with its payload. Its type name is `name`.
    #[inline]
    pub fn enum_case(self, name: &str, case: &str, payload: impl FnOnce(&mut ItemWriter<'_>)) {
        if self.encoder.begin_enum(name, case) {
            self.encoder.content(|encoder| payload(&mut ItemWriter { encoder }));
        }
    }

    /// Writes a struct: named values. Its type name is `name`.
    #[inline]
    pub fn structure(self, name: &str, fields: impl FnOnce(&mut FieldWriter<'_>)) {
        if self.encoder.begin_struct(name) {
            self.encoder.content(|encoder| fields(&mut FieldWriter { encoder }));
        }
    }

    /// Writes a handle on something that the host holds: the kind of resource, and the host's number for it. Its type
    /// name is `name`.
    #[inline]
    pub fn resource(self, name: &str, id: i64) {
        self.encoder.line.put((br#"{"type":"resource","name":""#, name, br#"","id":"#, id, b"}"));
    }

    /// Writes a value that is left out on purpose, such as a secret: `of`, the name of its type, and nothing else.
    #[inline]
    pub fn redacted(self, of: &str) {
        self.encoder.line.put((br#"{"type":"redacted","of":""#, of, b"\"}"));
    }

    /// Writes a value that the encoding cannot represent (a closure, a task handle, a shared vector): the name of its
    /// type, and its display text. The text is escaped straight into the line; its formatter runs once.
    #[inline]
    pub fn opaque(self, of: &str, shown: impl fmt::Display) {
        self.encoder.line.put((br#"{"type":"opaque","of":""#, of, br#"","shown":""#));
        self.encoder.run_user_code(|encoder| {
            if write!(Shown(encoder), "{shown}").is_err() && encoder.line.stopped().is_none() {
                encoder.fail();
            }
        });
        self.encoder.line.put(b"\"}");
    }

    /// Writes no value: it can't be written now (a cell that is mutably borrowed, a dead handle).
    ///
    /// The whole argument or result that it is part of is recorded as an opaque that failed. To give up only a part,
    /// write that part as an [`opaque`](Self::opaque).
    pub fn fail(self) {
        self.encoder.fail();
    }
}

/// The openings of what has parts.
impl Encoder {
    #[inline]
    fn begin_array(&mut self) -> bool {
        self.begin_container(type_names::ARRAY, br#"{"type":"array","items":["#)
    }

    #[inline]
    fn begin_enum(&mut self, name: &str, case: &str) -> bool {
        self.begin_container(name, (br#"{"type":"enum","name":""#, name, br#"","case":""#, case, br#"","payload":["#))
    }

    #[inline]
    fn begin_struct(&mut self, name: &str) -> bool {
        self.begin_container(name, (br#"{"type":"struct","name":""#, name, br#"","fields":["#))
    }

    #[inline]
    fn begin_field(&mut self, name: &str) {
        self.line.put((br#"{"name":""#, name, br#"","value":"#));
    }
}

/// Writes the items of an array, or the payload of an enum case, in order.
pub struct ItemWriter<'w> {
    encoder: &'w mut Encoder,
}

impl ItemWriter<'_> {
    /// Writes the next item.
    #[inline]
    pub fn item<V: TraceValue + ?Sized>(&mut self, value: &V) {
        self.item_with(|out| value.write(out));
    }

    /// Writes the next item by a closure: for a part that has no type of its own.
    #[inline]
    pub fn item_with(&mut self, write: impl FnOnce(ValueWriter<'_>)) {
        self.encoder.expect_value(|encoder| encoder.run_user_code(|encoder| write(ValueWriter { encoder })));
        self.encoder.line.put(b",");
    }

    /// Writes all of `values`, in order: values, references to values, or wrappers made on the fly. Stops early when
    /// [nothing more is wanted](Self::wants_more).
    #[inline]
    pub fn extend<V: TraceValue>(&mut self, values: impl IntoIterator<Item = V>) {
        for value in values {
            if !self.wants_more() {
                break;
            }
            self.item(&value);
        }
    }

    /// Returns whether further items can still be recorded: not when the argument or result has failed, or has become
    /// longer than the line's limit. A loop without a known end asks, so that it ends then.
    #[inline]
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.encoder.line.stopped().is_none()
    }
}

/// Writes the fields of a struct, in order.
pub struct FieldWriter<'w> {
    encoder: &'w mut Encoder,
}

impl FieldWriter<'_> {
    /// Writes the next field. Names need not differ.
    #[inline]
    pub fn field<V: TraceValue + ?Sized>(&mut self, name: &str, value: &V) {
        self.field_with(name, |out| value.write(out));
    }

    /// Writes the next field, its value by a closure: for a part that has no type of its own.
    #[inline]
    pub fn field_with(&mut self, name: &str, write: impl FnOnce(ValueWriter<'_>)) {
        self.encoder.begin_field(name);
        self.encoder.expect_value(|encoder| encoder.run_user_code(|encoder| write(ValueWriter { encoder })));
        self.encoder.line.put(b"},");
    }

    /// Writes all of `fields`, in order: names and values, references to values, or wrappers made on the fly. Stops
    /// early when [nothing more is wanted](Self::wants_more).
    #[inline]
    pub fn extend<N: AsRef<str>, V: TraceValue>(&mut self, fields: impl IntoIterator<Item = (N, V)>) {
        for (name, value) in fields {
            if !self.wants_more() {
                break;
            }
            self.field(name.as_ref(), &value);
        }
    }

    /// Returns whether further fields can still be recorded; see [`ItemWriter::wants_more`].
    #[inline]
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.encoder.line.stopped().is_none()
    }
}

/// Escapes what a formatter prints into the line.
struct Shown<'e>(&'e mut Encoder);

impl fmt::Write for Shown<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.line.put(text) { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Displays bytes as text, with U+FFFD in place of what is not UTF-8.
struct Lossy<'b>(&'b [u8]);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}
