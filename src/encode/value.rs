//! The value encoding: how each of the twelve shapes is written, and what keeps a value's own code from breaking a line.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::buffer::Buffer;
use super::parts::{Finite, Tail};
use super::shapes;
use crate::value::{MAX_VALUE_DEPTH, RecordedValue, TraceValue, type_names};

/// A line being written, with the state of the value that is being written into it.
pub(crate) struct Encoder {
    pub(super) line: Buffer,
    /// Where the current argument or result begins in the line.
    start: usize,
    /// Containers that are open around the value being written.
    pub(super) open: usize,
    /// What went wrong in the current argument or result, if anything did.
    fault: Option<Fault>,
}

#[derive(Clone, Copy)]
enum Fault {
    /// The value's code panicked, or a formatter reported an error.
    Failed,
    /// The value, or a part of it, wrote nothing.
    Silent,
}

impl Fault {
    const fn shown(self) -> &'static str {
        match self {
            Self::Failed => "failed while being written",
            Self::Silent => "wrote no value",
        }
    }
}

/// How long one argument or result may be when another container begins in it, in bytes of its encoding. A line of that
/// length is one that a reader refuses unless it is told otherwise.
const MAX_VALUE_BYTES: usize = 64 * 1024 * 1024;

/// The type name of a value whose own code can't even say that.
const UNKNOWN_TYPE: &str = "Unknown";

impl Encoder {
    pub(super) fn append_to(bytes: Vec<u8>) -> Self {
        Self { line: Buffer::append_to(bytes), start: 0, open: 0, fault: None }
    }

    /// An argument or a result begins here.
    #[inline]
    pub(super) fn begin_whole(&mut self) {
        (self.start, self.open, self.fault) = (self.line.len(), 0, None);
    }

    /// An argument or a result has been written, and `after` behind it. If something went wrong in it, it is replaced from
    /// its first byte.
    #[inline]
    pub(super) fn end_whole(&mut self, value: &RecordedValue<'_>, after: Tail) {
        if let Some(fault) = self.fault {
            self.replace(value, fault, after);
        }
    }

    #[cold]
    #[inline(never)]
    fn replace(&mut self, value: &RecordedValue<'_>, fault: Fault, after: Tail) {
        self.line.truncate(self.start);
        self.line.put((shapes::opaque(&guarded_type_name(value), fault.shown()), after));
    }

    /// Writes the redaction of one argument or result: its type's name, and nothing else of it. And `after` behind it.
    pub(super) fn redaction<V: TraceValue + ?Sized>(&mut self, value: &V, after: Tail) {
        self.line.put((shapes::redacted(&guarded_type_name(value)), after));
    }

    /// Runs code that may belong to the value. If it unwinds through here the value counts as failed, even when some
    /// outer part of the value catches the panic and goes on.
    #[inline(always)]
    fn foreign(&mut self, code: impl FnOnce(&mut Self)) {
        struct FailOnUnwind<'e>(&'e mut Encoder);
        impl Drop for FailOnUnwind<'_> {
            fn drop(&mut self) {
                self.0.fault = Some(Fault::Failed);
            }
        }
        let armed = FailOnUnwind(self);
        code(armed.0);
        std::mem::forget(armed);
    }

    /// Writes a live value, or a part of one. It has to say something.
    #[inline(always)]
    fn said(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.line.len();
        write(self);
        if self.line.len() == start {
            self.silent();
        }
    }

    /// Something that should have said something did not.
    #[cold]
    pub(super) fn silent(&mut self) {
        self.fault.get_or_insert(Fault::Silent);
    }

    /// Writes what stands between the brackets of a container.
    #[inline(always)]
    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.open += 1;
        self.foreign(write);
        self.open -= 1;
    }

    // What stands around the parts of a container is written by functions of its own, not in those that call themselves
    // level by level: without optimisation the stack that it takes would be kept at each level until the innermost part is
    // written.

    #[inline]
    pub(super) fn open_array(&mut self) {
        self.line.put(shapes::array_start());
    }

    #[inline]
    pub(super) fn open_enum(&mut self, name: &str, case: &str) {
        self.line.put(shapes::enum_start(name, case));
    }

    #[inline]
    pub(super) fn open_struct(&mut self, name: &str) {
        self.line.put(shapes::struct_start(name));
    }

    #[inline]
    pub(super) fn close_container(&mut self, after: Tail) {
        self.line.put((shapes::container_end(), after));
    }

    #[inline]
    pub(super) fn open_field(&mut self, name: &str, first: bool) {
        if first {
            self.line.put(shapes::field_start(name));
        } else {
            self.line.put((b",", shapes::field_start(name)));
        }
    }

    #[inline]
    fn close_field(&mut self) {
        self.line.put(shapes::FIELD_END);
    }

    /// Whether a container may stand here. If it is too deep, an opaque of that type is written in its place, and `after`
    /// behind it. If the value is too long already it has failed, and nothing more of it is asked for: the parts of a value that holds itself twice
    /// would otherwise double at each level, and never end.
    #[inline(always)]
    pub(super) fn admits_container(&mut self, type_name: &str, after: Tail) -> bool {
        let admitted =
            self.open < MAX_VALUE_DEPTH - 1 && self.fault.is_none() && self.line.len() - self.start <= MAX_VALUE_BYTES;
        if !admitted {
            self.refuse_container(type_name, after);
        }
        admitted
    }

    #[cold]
    #[inline(never)]
    fn refuse_container(&mut self, type_name: &str, after: Tail) {
        if self.line.len() - self.start > MAX_VALUE_BYTES {
            self.fault = Some(Fault::Failed);
        }
        if self.fault.is_none() {
            const _: () = assert!(MAX_VALUE_DEPTH == 128, "the text says the number");
            self.line.put((shapes::opaque(type_name, "nested deeper than 128 levels"), after));
        }
    }
}

/// The type name, even of a value whose code panics when asked for it.
fn guarded_type_name<V: TraceValue + ?Sized>(value: &V) -> Cow<'_, str> {
    catch_unwind(AssertUnwindSafe(|| value.type_name())).unwrap_or_else(|panic| {
        discard(panic);
        Cow::Borrowed(UNKNOWN_TYPE)
    })
}

/// Drops what a panic carried, or something else whose drop is foreign code. If that panics, what the panic carries is
/// leaked: it must not go further.
pub(crate) fn discard(foreign: Box<dyn Any + Send>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(foreign))) {
        std::mem::forget(panic);
    }
}

/// Where a value says what it is: one method call, once.
///
/// Made by the encoder and handed to [`TraceValue::write`]. Each method consumes the writer, so a value can't say two
/// things; one that says nothing is recorded as an opaque that tells so. Every method appends to the line being written
/// and allocates nothing.
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
///             fields.field_with("owner", |out| out.string(&self.owner));
///             // The interpreter's own choice, in a full trace too.
///             fields.field_with("password", |out| out.redacted("String"));
///             fields.field_with("balance", |out| out.int(self.balance));
///         });
///     }
/// }
/// # let account = Account { owner: "ada".into(), password: "secret".into(), balance: 3 };
/// # assert!(!account.password.is_empty());
/// # assert!(value_to_json(&account, ValueCapture::Full).contains(r#"{"type":"redacted","of":"String"}"#));
/// ```
#[must_use = "a value that says nothing is recorded as one that failed"]
pub struct ValueWriter<'w> {
    encoder: &'w mut Encoder,
}

impl<'w> ValueWriter<'w> {
    pub(super) fn new(encoder: &'w mut Encoder) -> Self {
        Self { encoder }
    }

    /// What an event holds already.
    #[inline]
    pub(crate) fn recorded(self, value: &RecordedValue<'_>) {
        self.encoder.recorded_value(value, Tail::NONE);
    }

    /// No value: it can't be written now (a cell that is borrowed, a handle that is dead). The whole argument or result that
    /// it is part of is recorded as an opaque that failed. Where only a part is to be given up, say an
    /// [`opaque`](Self::opaque).
    pub fn fail(self) {
        self.encoder.fault = Some(Fault::Failed);
    }

    /// What a live value says. A panic in it goes no further than here, and makes the whole argument or result that it is
    /// part of a failed one.
    #[inline]
    pub(crate) fn live(self, value: &dyn TraceValue) {
        self.encoder.said(|encoder| {
            let outcome = catch_unwind(AssertUnwindSafe(|| value.write(ValueWriter { encoder: &mut *encoder })));
            if let Err(panic) = outcome {
                discard(panic);
                encoder.fault = Some(Fault::Failed);
            }
        });
    }

    /// The value that says nothing. Its type name is `Unit`.
    #[inline]
    pub fn unit(self) {
        self.encoder.line.put(shapes::unit());
    }

    /// A truth value. Its type name is `Bool`.
    #[inline]
    pub fn bool(self, value: bool) {
        self.encoder.line.put(shapes::bool(value));
    }

    /// A whole number. Its type name is `Int`.
    #[inline]
    pub fn int(self, value: i64) {
        self.encoder.line.put(shapes::int(value));
    }

    /// A number. Its type name is `Float`. One that is not finite is written as an opaque (`NaN`, `inf`, `-inf`).
    #[inline]
    pub fn float(self, value: f64) {
        match Finite::new(value) {
            Some(value) => self.encoder.line.put(shapes::float(value)),
            None => self.encoder.line.put(shapes::opaque(type_names::FLOAT, shapes::not_finite(value))),
        }
    }

    /// A span of time. Its type name is `Duration`. One longer than `i64::MAX` nanoseconds is written as that many.
    #[inline]
    pub fn duration(self, duration: Duration) {
        self.duration_ns(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX));
    }

    /// A span of time in nanoseconds, which may be negative. Its type name is `Duration`.
    #[inline]
    pub fn duration_ns(self, ns: i64) {
        self.encoder.line.put(shapes::duration(ns));
    }

    /// A text. Its type name is `String`.
    #[inline]
    pub fn string(self, text: &str) {
        self.encoder.line.put(shapes::string(text));
    }

    /// A string of bytes. Its type name is `String`. When it is UTF-8 it is written as a string, otherwise as an opaque
    /// that shows it with U+FFFD in the place of what is not.
    pub fn bytes(self, bytes: &[u8]) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.string(text);
        }
        self.opaque(type_names::STRING, Lossy(bytes));
    }

    /// Values in a row. Its type name is `Array`.
    #[inline]
    pub fn array(self, items: impl FnOnce(&mut ItemWriter<'_>)) {
        if self.encoder.admits_container(type_names::ARRAY, Tail::NONE) {
            self.encoder.open_array();
            self.encoder.inside(|encoder| items(&mut ItemWriter { encoder, first: true }));
            self.encoder.close_container(Tail::NONE);
        }
    }

    /// The case `case` of the enumeration `name`, with what the case carries. Its type name is `name`.
    #[inline]
    pub fn enum_case(self, name: &str, case: &str, payload: impl FnOnce(&mut ItemWriter<'_>)) {
        if self.encoder.admits_container(name, Tail::NONE) {
            self.encoder.open_enum(name, case);
            self.encoder.inside(|encoder| payload(&mut ItemWriter { encoder, first: true }));
            self.encoder.close_container(Tail::NONE);
        }
    }

    /// Named values. Its type name is `name`.
    #[inline]
    pub fn structure(self, name: &str, fields: impl FnOnce(&mut FieldWriter<'_>)) {
        if self.encoder.admits_container(name, Tail::NONE) {
            self.encoder.open_struct(name);
            self.encoder.inside(|encoder| fields(&mut FieldWriter { encoder, first: true }));
            self.encoder.close_container(Tail::NONE);
        }
    }

    /// A handle on something that the host holds: the kind of thing, and the host's number for it. Its type name is
    /// `name`.
    #[inline]
    pub fn resource(self, name: &str, id: i64) {
        self.encoder.line.put(shapes::resource(name, id));
    }

    /// A value left out on purpose, a secret say: all that is written is `of`, the name of its type.
    pub fn redacted(self, of: &str) {
        self.encoder.line.put(shapes::redacted(of));
    }

    /// A value that the encoding cannot represent (a closure, a task handle, a shared vector): the name of its type, and
    /// what it prints as. The text goes straight into the line; its formatter runs once.
    pub fn opaque(self, of: &str, shown: impl fmt::Display) {
        self.encoder.line.put(shapes::opaque_start(of));
        self.encoder.foreign(|encoder| {
            if write!(Escaped(&mut encoder.line), "{shown}").is_err() {
                encoder.fault = Some(Fault::Failed);
            }
        });
        self.encoder.line.put(shapes::opaque_end());
    }
}

/// Takes the values of an array, or of an enum case's payload, in order.
pub struct ItemWriter<'w> {
    encoder: &'w mut Encoder,
    first: bool,
}

impl ItemWriter<'_> {
    /// The next value.
    #[inline]
    pub fn item<V: TraceValue + ?Sized>(&mut self, value: &V) {
        self.item_with(|out| value.write(out));
    }

    /// The next value, said by a closure: for a part that has no type of its own.
    #[inline]
    pub fn item_with(&mut self, write: impl FnOnce(ValueWriter<'_>)) {
        if !std::mem::take(&mut self.first) {
            self.encoder.line.put(b",");
        }
        self.encoder.said(|encoder| encoder.foreign(|encoder| write(ValueWriter { encoder })));
    }

    /// All of `values`, in order: values, references to values, or wrappers made on the fly.
    #[inline]
    pub fn all<V: TraceValue>(&mut self, values: impl IntoIterator<Item = V>) {
        for value in values {
            self.item(&value);
        }
    }
}

/// Takes the fields of a struct, in order.
pub struct FieldWriter<'w> {
    encoder: &'w mut Encoder,
    first: bool,
}

impl FieldWriter<'_> {
    /// The next field. A trace does not ask that names differ.
    #[inline]
    pub fn field<V: TraceValue + ?Sized>(&mut self, name: &str, value: &V) {
        self.field_with(name, |out| value.write(out));
    }

    /// All of `fields`, in order: names and values, references to values, or wrappers made on the fly.
    #[inline]
    pub fn all<N: AsRef<str>, V: TraceValue>(&mut self, fields: impl IntoIterator<Item = (N, V)>) {
        for (name, value) in fields {
            self.field(name.as_ref(), &value);
        }
    }

    /// The next field, its value said by a closure: for a part that has no type of its own.
    #[inline]
    pub fn field_with(&mut self, name: &str, write: impl FnOnce(ValueWriter<'_>)) {
        let first = std::mem::take(&mut self.first);
        self.encoder.open_field(name, first);
        self.encoder.said(|encoder| encoder.foreign(|encoder| write(ValueWriter { encoder })));
        self.encoder.close_field();
    }
}

/// What a formatter prints, escaped on its way into the line.
struct Escaped<'b>(&'b mut Buffer);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.escaped(text);
        Ok(())
    }
}

/// Bytes shown as text, with U+FFFD in the place of what is not UTF-8.
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
