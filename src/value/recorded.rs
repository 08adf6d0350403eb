//! Values as they stand in an event.

use std::borrow::Cow;
use std::fmt;

use super::conventions::type_name_of_enum;
use super::isolation::value_to_json;
use super::type_names;
use super::writer::{TraceValue, ValueWriter};
use crate::names::ValueCapture;

/// One value as a trace records it: borrowed, `Copy`, three words long.
///
/// An interpreter mostly uses [`Live`](Self::Live) and a few constants; a reader returns all the others.
///
/// Two recorded values are equal when a full trace writes the same bytes for both. So floats are compared by their bits
/// (all NaNs are alike), and a live value equals the recorded form of what it writes. Comparing encodes both sides and
/// allocates: it is meant for tests and tools. `{:?}` prints the encoding.
#[derive(Clone, Copy)]
pub enum RecordedValue<'a> {
    /// The unit value.
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float. A float that is not finite is written as an opaque.
    Float(f64),
    /// A span of time.
    Duration {
        /// Nanoseconds.
        ns: i64,
    },
    /// A string.
    String(&'a str),
    /// An array.
    Array(&'a [RecordedValue<'a>]),
    /// A case of an enum, with its payload.
    Enum(&'a RecordedEnum<'a>),
    /// A struct.
    Struct(&'a RecordedStruct<'a>),
    /// A handle to an object that the host holds.
    Resource(&'a RecordedResource<'a>),
    /// A value that was left out, such as a secret.
    Redacted {
        /// The name of its type.
        of: &'a str,
    },
    /// A value that a trace cannot represent.
    Opaque(&'a RecordedOpaque<'a>),
    /// A value of the recording interpreter, written when and where the event is encoded. A reader never returns one.
    Live(&'a dyn TraceValue),
}

/// A case of an enum in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedEnum<'a> {
    /// The name of the enum.
    pub name: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// The values that the case carries.
    pub payload: &'a [RecordedValue<'a>],
}

/// A struct in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedStruct<'a> {
    /// The name of the struct.
    pub name: &'a str,
    /// Its fields, in order. Names may repeat.
    pub fields: &'a [RecordedField<'a>],
}

/// One field of a [`RecordedStruct`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedField<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The field's value.
    pub value: RecordedValue<'a>,
}

/// A handle to an object that the host holds, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedResource<'a> {
    /// The name of the kind of resource.
    pub name: &'a str,
    /// The host's number for it.
    pub id: i64,
}

/// The record of a value that a trace cannot represent, in a [`RecordedValue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOpaque<'a> {
    /// The name of its type.
    pub of: &'a str,
    /// A text that describes it.
    pub shown: &'a str,
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
            Self::Enum(value) => type_name_of_enum(value.name),
            Self::Struct(value) => value.name,
            Self::Resource(value) => value.name,
            Self::Redacted { of } => of,
            Self::Opaque(value) => value.of,
            Self::Live(value) => return value.type_name(),
        })
    }

    fn write(&self, out: ValueWriter<'_>) {
        match *self {
            Self::Live(value) => value.write(out),
            Self::Unit => out.unit(),
            Self::Bool(value) => out.bool(value),
            Self::Int(value) => out.int(value),
            Self::Float(value) => out.float(value),
            Self::Duration { ns } => out.duration_ns(ns),
            Self::String(text) => out.string(text),
            // Loops instead of `extend`: without optimisation its calls take stack at each level.
            Self::Array(items) => out.array(|out| {
                for item in items {
                    out.item(item);
                }
            }),
            Self::Enum(value) => out.enum_case(value.name, value.case, |out| {
                for item in value.payload {
                    out.item(item);
                }
            }),
            Self::Struct(value) => out.structure(value.name, |out| {
                for field in value.fields {
                    out.field(field.name, &field.value);
                }
            }),
            Self::Resource(value) => out.resource(value.name, value.id),
            Self::Redacted { of } => out.redacted(of),
            Self::Opaque(value) => out.opaque(value.of, value.shown),
        }
    }
}

impl PartialEq for RecordedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        value_to_json(self, ValueCapture::Full) == value_to_json(other, ValueCapture::Full)
    }
}

impl fmt::Debug for RecordedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&value_to_json(self, ValueCapture::Full))
    }
}
