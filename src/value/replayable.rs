//! [`Value`]: an owned value without redacted or opaque parts, which a replay can return to a program.

use std::borrow::Cow;
use std::fmt;

use super::writer::{TraceValue, ValueWriter};
use super::{conventions, type_names};

/// An owned value with no redacted or opaque part, which a replay can return to a program in place of the host.
///
/// [`RecordedValue::to_value`](super::RecordedValue::to_value) makes one, or names the first part that is redacted or
/// opaque.
///
/// Two values are equal if they have the same structure and contents. Floats are compared by their bits, so `0.0` and
/// `-0.0` differ; all NaNs are equal.
///
/// A value from a trace nests at most [`MAX_VALUE_DEPTH`](super::MAX_VALUE_DEPTH) levels deep. Dropping, cloning,
/// comparing and printing a value recurse once per level, so a value that was built much deeper by hand can overflow
/// the stack. Writing one stops at the limit.
#[derive(Debug, Clone)]
pub enum Value {
    /// The unit value.
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A span of time.
    Duration {
        /// Nanoseconds.
        ns: i64,
    },
    /// A string.
    String(String),
    /// An array of values.
    Array(Vec<Value>),
    /// A case of an enum.
    Enum {
        /// The name of the enum.
        name: String,
        /// The name of the case.
        case: String,
        /// The values that the case carries.
        payload: Vec<Value>,
    },
    /// A struct.
    Struct {
        /// The name of the struct.
        name: String,
        /// The names and values of its fields, in order. Names may repeat.
        fields: Vec<(String, Value)>,
    },
    /// A handle to an object that the host holds.
    Resource {
        /// The name of the kind of resource.
        name: String,
        /// The host's number for it.
        id: i64,
    },
    /// An integer beyond `i64`.
    Int128(i128),
    /// A byte string that is not UTF-8.
    Bytes(Vec<u8>),
    /// A map, its entries in order. Keys may repeat.
    Map(Vec<(Value, Value)>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set, its items in order.
    Set(Vec<Value>),
    /// A range without its end, as `start..end`. An open end is [`Unit`](Self::Unit).
    Range(Box<Value>, Box<Value>),
    /// A range with its last value, as `start..=last`. An open end is [`Unit`](Self::Unit).
    RangeInclusive(Box<Value>, Box<Value>),
}

/// Implements `TraceValue` and `PartialEq` for an owned value type: for the ten variants that [`Value`] and
/// [`OwnedValue`](crate::owned::OwnedValue) share, and for the variants listed.
///
/// `$float` is the writer's method for floats. `$member` is the name or number of a field, and `$field` a variable for
/// it.
macro_rules! impl_owned_value {
    ($type:ident, float: $float:ident, {
        $( $variant:ident { $( $member:tt: $field:ident ),+ } => { name: $name:expr, write: |$out:ident| $write:expr } )*
    }) => {
        impl TraceValue for $type {
            #[allow(unused_variables, reason = "the type name of some variants needs no field")]
            fn type_name(&self) -> Cow<'_, str> {
                Cow::Borrowed(match self {
                    Self::Unit => type_names::UNIT,
                    Self::Bool(_) => type_names::BOOL,
                    Self::Int(_) => type_names::INT,
                    Self::Float(_) => type_names::FLOAT,
                    Self::Duration { .. } => type_names::DURATION,
                    Self::String(_) => type_names::STRING,
                    Self::Array(_) => type_names::ARRAY,
                    Self::Enum { name, .. } => $crate::value::type_name_of_enum(name),
                    Self::Struct { name, .. } | Self::Resource { name, .. } => name,
                    $( Self::$variant { $( $member: $field ),+ } => $name, )*
                })
            }

            fn write(&self, out: ValueWriter<'_>) {
                match self {
                    Self::Unit => out.unit(),
                    Self::Bool(value) => out.bool(*value),
                    Self::Int(value) => out.int(*value),
                    Self::Float(value) => out.$float(*value),
                    Self::Duration { ns } => out.duration_ns(*ns),
                    Self::String(text) => out.string(text),
                    Self::Array(values) => out.array(|items| items.extend(values)),
                    Self::Enum { name, case, payload } => out.enum_case(name, case, |items| items.extend(payload)),
                    Self::Struct { name, fields } => out.structure(name, |out| {
                        out.extend(fields.iter().map(|(name, value)| (name, value)));
                    }),
                    Self::Resource { name, id } => out.resource(name, *id),
                    $( Self::$variant { $( $member: $field ),+ } => { let $out = out; $write } )*
                }
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    (Self::Unit, Self::Unit) => true,
                    (Self::Bool(one), Self::Bool(other)) => one == other,
                    (Self::Int(one), Self::Int(other)) => one == other,
                    (Self::Float(one), Self::Float(other)) => $crate::value::same_float(*one, *other),
                    (Self::Duration { ns: one }, Self::Duration { ns: other }) => one == other,
                    (Self::String(one), Self::String(other)) => one == other,
                    (Self::Array(one), Self::Array(other)) => one == other,
                    (
                        Self::Enum { name, case, payload },
                        Self::Enum { name: other_name, case: other_case, payload: other_payload },
                    ) => (name, case, payload) == (other_name, other_case, other_payload),
                    (Self::Struct { name, fields }, Self::Struct { name: other_name, fields: other_fields }) => {
                        (name, fields) == (other_name, other_fields)
                    }
                    (Self::Resource { name, id }, Self::Resource { name: other_name, id: other_id }) => {
                        (name, id) == (other_name, other_id)
                    }
                    $( (Self::$variant { $( $member: $field ),+ }, other) => {
                        let one = ($( $field, )+);
                        matches!(other, Self::$variant { $( $member: $field ),+ } if one == ($( $field, )+))
                    } )*
                    _ => false,
                }
            }
        }
    };
}
pub(crate) use impl_owned_value;

impl_owned_value!(Value, float: exact_float, {
    Int128 { 0: value } => { name: type_names::INT, write: |out| out.int128(*value) }
    Bytes { 0: bytes } => { name: type_names::STRING, write: |out| out.byte_string(bytes) }
    Map { 0: entries } => { name: conventions::MAP, write: |out| out.map(|out| {
        out.extend(entries.iter().map(|(key, value)| (key, value)));
    }) }
    Tuple { 0: items } => { name: conventions::TUPLE, write: |out| out.tuple(|out| out.extend(items)) }
    Set { 0: items } => { name: conventions::SET, write: |out| out.set(|out| out.extend(items)) }
    Range { 0: start, 1: end } => { name: conventions::RANGE, write: |out| out.range(&**start, &**end) }
    RangeInclusive { 0: start, 1: last } => {
        name: conventions::RANGE, write: |out| out.range_inclusive(&**start, &**last)
    }
});

/// Compares two floats by their bits, with all NaNs equal.
pub(crate) fn same_float(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
}

/// The error of a recorded value that cannot be replayed: its first redacted or opaque part.
///
/// It is printed as `args[1].fields.token: redacted String`, where `args[1]` comes from [`within`](Self::within).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReplayable {
    pub(crate) path: String,
    pub(crate) what: &'static str,
    pub(crate) of: String,
}

impl NotReplayable {
    /// The path from the value to the part, such as `.items[3].fields.token`. It is empty if the value itself is
    /// redacted or opaque.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The type name of the part.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.of
    }

    /// Prepends `prefix`, such as `args[1]`, to the path.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.path.insert_str(0, prefix);
        self
    }
}

impl fmt::Display for NotReplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.strip_prefix('.').unwrap_or(&self.path);
        let path = if path.is_empty() { "the value itself" } else { path };
        write!(f, "{path}: {} {}", self.what, self.of)
    }
}

impl std::error::Error for NotReplayable {}
