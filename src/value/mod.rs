//! Values: what an interpreter hands over, what a trace carries, and what a replay can use.
//!
//! - [`TraceValue`] is the one trait that an interpreter implements, on its own values.
//! - [`RecordedValue`] is what stands in an event: borrowed, readable, perhaps redacted or opaque in parts.
//! - [`Value`] is owned, `Send`, and whole: what may cross a task boundary, and so what a replay can give back.
//!
//! `TraceValue` names the writer that it is handed, [`ValueWriter`], which is the encoder's: the one arrow from the vocabulary
//! to the encoder. Inside a tree of values all code is then static; an abstract writer would cost a dynamic call for each
//! part.

mod replayable;
mod std_types;

use std::borrow::Cow;

use smallvec::SmallVec;

pub use self::replayable::{NotReplayable, Value};
pub(crate) use self::replayable::{impl_owned_value, same_float};

use crate::encode::ValueWriter;

/// How deep values nest in a trace: an int is one level, an array of ints two.
///
/// Arrays, enums and structs (empty ones too) may stand at levels 1 to 127. One that would stand at level 128 is written
/// as an opaque that says so, and a reader refuses anything deeper.
pub const MAX_VALUE_DEPTH: usize = 128;

/// A value of an interpreter, as it hands it to a trace: no copy, no allocation, no tree of ours in between.
///
/// Implement it on the interpreter's own value type, on whatever that is (an `Rc` tree, a tagged word, another crate's
/// type behind a wrapper made on the fly).
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
///             Value::List(list) => out.array(|items| {
///                 for item in list.iter() {
///                     items.item(item);
///                 }
///             }),
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
/// A value whose own code panics, fails or says nothing never breaks a trace or the program: the whole argument or result
/// it belongs to is written as an opaque of its type name instead. (A program built with `panic = "abort"` ends all the
/// same, and a panic hook prints what it prints.) Its code may itself record events.
///
/// Neither does one that never ends: nesting stops at [`MAX_VALUE_DEPTH`], and a value in which a container begins after
/// 64 MiB of its encoding counts as failed. So a value may hold itself, and share parts, as often as it likes.
pub trait TraceValue {
    /// The name of the value's type, which is all that a redacted trace keeps of it, so it must not depend on anything
    /// secret.
    ///
    /// It agrees with what [`write`](Self::write) writes: `Unit`, `Bool`, `Int`, `Float`, `Duration`, `String`, `Array`, or
    /// the name given to an enum, a struct, a resource, an opaque or a redaction.
    fn type_name(&self) -> Cow<'_, str>;

    /// Writes the value by saying exactly one thing through `out`.
    fn write(&self, out: ValueWriter<'_>);
}

impl<T: TraceValue + ?Sized> TraceValue for &T {
    fn type_name(&self) -> Cow<'_, str> {
        (**self).type_name()
    }

    fn write(&self, out: ValueWriter<'_>) {
        (**self).write(out);
    }
}

/// One value as a trace records it: borrowed, `Copy`, three words long.
///
/// An interpreter mostly uses [`Live`](Self::Live) and a few constants; a reader gives back all the others.
///
/// Two recorded values are equal when a full trace writes the same bytes for both. So floats are compared by their bits
/// (all NaN alike), and a live value equals the recorded form of what it writes. Comparing encodes both sides: it is meant
/// for tests and tools. Printing one with `{:?}` shows its encoding.
#[derive(Clone, Copy)]
pub enum RecordedValue<'a> {
    /// The value that says nothing.
    Unit,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number. One that is not finite is written as an opaque.
    Float(f64),
    /// A span of time.
    Duration {
        /// Nanoseconds.
        ns: i64,
    },
    /// A text.
    String(&'a str),
    /// Values in a row.
    Array(&'a [RecordedValue<'a>]),
    /// One case of an enumeration.
    Enum(&'a RecordedEnum<'a>),
    /// Named values.
    Struct(&'a RecordedStruct<'a>),
    /// A handle on something that the host holds.
    Resource(&'a RecordedResource<'a>),
    /// A value that was left out on purpose.
    Redacted {
        /// The name of its type.
        of: &'a str,
    },
    /// A value that the encoding cannot represent.
    Opaque(&'a RecordedOpaque<'a>),
    /// A value of the interpreter that records, written where and when the event is encoded. A reader never gives one.
    Live(&'a dyn TraceValue),
}

/// One case of an enumeration, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedEnum<'a> {
    /// The name of the enumeration.
    pub name: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// What the case carries.
    pub payload: &'a [RecordedValue<'a>],
}

/// Named values, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedStruct<'a> {
    /// The name of the struct.
    pub name: &'a str,
    /// Its fields, in order. A trace does not ask that their names differ.
    pub fields: &'a [RecordedField<'a>],
}

/// One field of a [`RecordedStruct`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedField<'a> {
    /// The field's name.
    pub name: &'a str,
    /// What it holds.
    pub value: RecordedValue<'a>,
}

/// A handle on something that the host holds, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedResource<'a> {
    /// The name of the kind of resource.
    pub name: &'a str,
    /// The host's number for it.
    pub id: i64,
}

/// What a value that could not be represented leaves behind, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOpaque<'a> {
    /// The name of its type.
    pub of: &'a str,
    /// What it printed as.
    pub shown: &'a str,
}

/// The arguments of a host call, each as a [live value](RecordedValue::Live): what stands between an interpreter's own
/// slice of values and [`HostCall::args`](crate::HostCall::args). Up to four of them allocate nothing.
///
/// ```
/// # use std::time::Duration;
/// # use cove_trace::{CallSite, HostCall, LiveArgs, RecordedValue, TraceEvent, TraceSink, TraceValue};
/// fn record_refusal<V: TraceValue>(sink: &dyn TraceSink, task: u64, site: CallSite<'_>, arguments: &[V]) {
///     sink.record(&TraceEvent::HostCall(HostCall {
///         task,
///         site,
///         wait: Duration::ZERO,
///         granted: false,
///         args: &LiveArgs::new(arguments),
///         outcome: None,
///     }));
/// }
/// ```
#[derive(Debug, Clone)]
pub struct LiveArgs<'a>(SmallVec<[RecordedValue<'a>; 4]>);

impl<'a> LiveArgs<'a> {
    /// All of `values`, in order.
    #[inline]
    pub fn new<V: TraceValue>(values: &'a [V]) -> Self {
        Self(values.iter().map(|value| RecordedValue::Live(value)).collect())
    }

    /// Lends all of `values`, wrappers made on the fly say, to `record`, as [`HostCall::args`](crate::HostCall::args) takes
    /// them.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use cove_trace::{CallSite, HostCall, LiveArgs, TraceEvent, TraceSink, TraceValue, ValueWriter};
    /// struct Traced<'a>(&'a f64);
    /// # impl TraceValue for Traced<'_> {
    /// #     fn type_name(&self) -> Cow<'_, str> { "Float".into() }
    /// #     fn write(&self, out: ValueWriter<'_>) { out.float(*self.0) }
    /// # }
    ///
    /// fn record_refusal(sink: &dyn TraceSink, task: u64, site: CallSite<'_>, arguments: &[f64]) {
    ///     LiveArgs::with(arguments.iter().map(Traced), |args| {
    ///         let wait = std::time::Duration::ZERO;
    ///         sink.record(&TraceEvent::HostCall(HostCall { task, site, wait, granted: false, args, outcome: None }));
    ///     });
    /// }
    /// ```
    #[inline]
    pub fn with<V: TraceValue, R>(
        values: impl IntoIterator<Item = V>,
        record: impl FnOnce(&[RecordedValue<'_>]) -> R,
    ) -> R {
        let values: SmallVec<[V; 4]> = values.into_iter().collect();
        record(&LiveArgs::new(&values))
    }
}

impl<'a> std::ops::Deref for LiveArgs<'a> {
    type Target = [RecordedValue<'a>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TraceValue for RecordedValue<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Unit => type_names::UNIT,
            Self::Bool(_) => type_names::BOOL,
            Self::Int(_) => type_names::INT,
            Self::Float(_) => type_names::FLOAT,
            Self::Duration { .. } => type_names::DURATION,
            Self::String(_) => type_names::STRING,
            Self::Array(_) => type_names::ARRAY,
            Self::Enum(value) => value.name,
            Self::Struct(value) => value.name,
            Self::Resource(value) => value.name,
            Self::Redacted { of } => of,
            Self::Opaque(value) => value.of,
            Self::Live(value) => return value.type_name(),
        })
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.recorded(self);
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
