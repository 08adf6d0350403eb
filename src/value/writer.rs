//! The trait that values implement, and the schema that they are written by: how each of the twelve shapes is written.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::Duration;

use super::conventions::type_name_of_enum;
use super::encoder::Encoder;
use super::type_names;
use crate::line::{Either, Finite, Raw};

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
/// - An argument or result that makes its line longer than its limit ([`LINE_LIMIT`](crate::LINE_LIMIT) by default) is
///   replaced, too. The text is `longer than N bytes`.
/// - A value may contain itself: nesting stops at [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH).
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

/// Writes one value, by one call of one method.
///
/// The encoder passes it to [`TraceValue::write`]. Each method consumes the writer, so an implementation cannot write
/// two values. If it calls none, the argument or result is recorded as an opaque with the text `wrote no value`. The
/// methods append to the line, and allocate only to enlarge its buffer.
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
///             // Left out of a full trace, too.
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

    /// Writes a boolean. Its type name is `Bool`.
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

    /// Writes a float. Its type name is `Float`. A float that is not finite is written as an opaque with the text
    /// `NaN`, `inf` or `-inf`, which a replay cannot return; see [`exact_float`](Self::exact_float).
    #[inline]
    pub fn float(self, value: f64) {
        match Finite::new(value) {
            Some(value) => _ = self.encoder.line.put((br#"{"type":"float","value":"#, value, b"}")),
            None if value.is_nan() => self.encoder.opaque(type_names::FLOAT, "NaN"),
            None if value > 0.0 => self.encoder.opaque(type_names::FLOAT, "inf"),
            None => self.encoder.opaque(type_names::FLOAT, "-inf"),
        }
    }

    /// Writes a span of time. Its type name is `Duration`. It saturates at `i64::MAX` nanoseconds.
    #[inline]
    pub fn duration(self, duration: Duration) {
        self.duration_ns(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX));
    }

    /// Writes a span of time in nanoseconds, which may be negative. Its type name is `Duration`.
    #[inline]
    pub fn duration_ns(self, ns: i64) {
        self.encoder.line.put((br#"{"type":"duration","ns":"#, ns, b"}"));
    }

    /// Writes a string. Its type name is `String`.
    #[inline]
    pub fn string(self, text: &str) {
        self.encoder.line.put((br#"{"type":"string","value":""#, text, b"\"}"));
    }

    /// Writes a byte string. Its type name is `String`. It is written as a string if it is UTF-8, and otherwise as an
    /// opaque with U+FFFD in place of each invalid sequence, which a replay cannot return; see
    /// [`byte_string`](Self::byte_string).
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

    /// Writes the case `case` of the enum `name` with its payload. Its type name is `name`.
    ///
    /// Names that begin with `@` are reserved: for the values of [`exact_float`](Self::exact_float) and the methods
    /// after it, and for later ones.
    #[inline]
    pub fn enum_case(self, name: &str, case: &str, payload: impl FnOnce(&mut ItemWriter<'_>)) {
        if self.encoder.begin_enum(name, case) {
            self.encoder.content(|encoder| payload(&mut ItemWriter { encoder }));
        }
    }

    /// Writes a struct, which has named fields. Its type name is `name`.
    #[inline]
    pub fn structure(self, name: &str, fields: impl FnOnce(&mut FieldWriter<'_>)) {
        if self.encoder.begin_struct(name) {
            self.encoder.content(|encoder| fields(&mut FieldWriter { encoder }));
        }
    }

    /// Writes a handle to an object that the host holds: the kind of resource, and the host's number for it. Its type
    /// name is `name`.
    #[inline]
    pub fn resource(self, name: &str, id: i64) {
        self.encoder.line.put((br#"{"type":"resource","name":""#, name, br#"","id":"#, id, b"}"));
    }

    /// Leaves out a value, such as a secret, and writes only `of`, the name of its type.
    #[inline]
    pub fn redacted(self, of: &str) {
        self.encoder.line.put((br#"{"type":"redacted","of":""#, of, b"\"}"));
    }

    /// Writes a value that a trace cannot represent (a closure, a task handle, a shared vector): the name of its type,
    /// and a text. The text is formatted once, into the line.
    #[inline]
    pub fn opaque(self, of: &str, shown: impl fmt::Display) {
        self.encoder.line.put((br#"{"type":"opaque","of":""#, of, br#"","shown":""#));
        self.encoder.shown(shown);
        self.encoder.line.put(b"\"}");
    }

    /// Writes a value that was encoded before.
    pub(super) fn encoded(self, json: &str) {
        self.encoder.line.put(Raw(json.as_bytes()));
    }

    /// Writes a string that is formatted into the line.
    pub(super) fn formatted_string(self, text: impl fmt::Display) {
        self.encoder.line.put(br#"{"type":"string","value":""#);
        self.encoder.shown(text);
        self.encoder.line.put(b"\"}");
    }

    /// Reports that the value cannot be written now, such as a cell that is mutably borrowed.
    ///
    /// The whole argument or result that it is part of is recorded as an opaque with the text `failed while being
    /// written`. To give up only one part, write that part as an [`opaque`](Self::opaque).
    pub fn fail(self) {
        self.encoder.fail();
    }
}

/// The beginnings of containers, and texts that are formatted.
impl Encoder {
    #[inline]
    fn begin_array(&mut self) -> bool {
        self.begin_container(|| type_names::ARRAY, br#"{"type":"array","items":["#)
    }

    #[inline]
    fn begin_enum(&mut self, name: &str, case: &str) -> bool {
        self.begin_container(
            || type_name_of_enum(name),
            (br#"{"type":"enum","name":""#, name, br#"","case":""#, case, br#"","payload":["#),
        )
    }

    #[inline]
    fn begin_struct(&mut self, name: &str) -> bool {
        self.begin_container(|| name, (br#"{"type":"struct","name":""#, name, br#"","fields":["#))
    }

    #[inline]
    fn begin_field(&mut self, name: &str) {
        self.line.put((br#"{"name":""#, name, br#"","value":"#));
    }

    /// Formats the content of a JSON string.
    #[inline]
    fn shown(&mut self, text: impl fmt::Display) {
        self.run_user_code(|encoder| {
            if write!(Shown(encoder), "{text}").is_err() && encoder.line.stopped().is_none() {
                encoder.fail();
            }
        });
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
        self.encoder.expect_value(|encoder| value.write(ValueWriter { encoder }));
        self.encoder.line.put(b",");
    }

    /// Writes the next item by a closure, for a part that has no type of its own.
    #[inline]
    pub fn item_with(&mut self, write: impl FnOnce(ValueWriter<'_>)) {
        self.encoder.expect_value(|encoder| write(ValueWriter { encoder }));
        self.encoder.line.put(b",");
    }

    /// Writes all of `values` in order: values, references or wrappers. Stops when [`wants_more`](Self::wants_more) is
    /// false.
    #[inline]
    pub fn extend<V: TraceValue>(&mut self, values: impl IntoIterator<Item = V>) {
        for value in values {
            if !self.wants_more() {
                break;
            }
            self.item(&value);
        }
    }

    /// Returns whether more items can be recorded. False when the argument or result has failed or is longer than the
    /// line's limit. A long loop should ask, so that it can stop early.
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
    /// Writes the next field. Names may repeat.
    #[inline]
    pub fn field<V: TraceValue + ?Sized>(&mut self, name: &str, value: &V) {
        self.encoder.begin_field(name);
        self.encoder.expect_value(|encoder| value.write(ValueWriter { encoder }));
        self.encoder.line.put(b"},");
    }

    /// Writes the next field and its value by a closure, for a part that has no type of its own.
    #[inline]
    pub fn field_with(&mut self, name: &str, write: impl FnOnce(ValueWriter<'_>)) {
        self.encoder.begin_field(name);
        self.encoder.expect_value(|encoder| write(ValueWriter { encoder }));
        self.encoder.line.put(b"},");
    }

    /// Writes all of `fields` in order, each a name with a value, a reference or a wrapper. Stops when
    /// [`wants_more`](Self::wants_more) is false.
    #[inline]
    pub fn extend<N: AsRef<str>, V: TraceValue>(&mut self, fields: impl IntoIterator<Item = (N, V)>) {
        for (name, value) in fields {
            if !self.wants_more() {
                break;
            }
            self.field(name.as_ref(), &value);
        }
    }

    /// Returns whether more fields can be recorded; see [`ItemWriter::wants_more`].
    #[inline]
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.encoder.line.stopped().is_none()
    }
}

/// Escapes formatted text into the line.
struct Shown<'e>(&'e mut Encoder);

impl fmt::Write for Shown<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.line.put(text) { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Displays bytes as text, with U+FFFD in place of invalid sequences.
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
