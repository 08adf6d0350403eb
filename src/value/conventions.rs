//! Values that the format has no shape for, as enums with reserved names.
//!
//! | value | name | case | payload |
//! |---|---|---|---|
//! | a float that is not finite | `@Float` | `NaN`, `inf`, `-inf` | |
//! | an integer beyond `i64` | `@Int` | `decimal` | its digits, a string |
//! | a byte string that is not UTF-8 | `@String` | `hex` | its bytes, a string of two lower-case digits each |
//! | a map | `@Map` | `entries` | for each entry an array of its key and its value |
//! | a tuple | `@Tuple` | `items` | its items |
//! | a set | `@Set` | `items` | its items |
//! | a range without its end | `@Range` | `half_open` | the first value and the end; unit where it has none |
//! | a range with its end | `@Range` | `closed` | the first and the last value; unit where it has none |
//! | a thrown value, as the outcome of a call | `@Thrown` | `value` | the value |
//! | the outcome of a call that did not return | `@NeverReturned` | `panicked`, `dropped` | |
//!
//! A reader that does not know the conventions reads enums.

use std::borrow::Cow;
use std::fmt;

use super::recorded::{RecordedEnum, RecordedValue};
use super::replayable::Value;
use super::type_names;
use super::writer::{ItemWriter, TraceValue, ValueWriter};

const FLOAT: &str = "@Float";
const INT: &str = "@Int";
const STRING: &str = "@String";
pub(super) const MAP: &str = "@Map";
pub(super) const TUPLE: &str = "@Tuple";
pub(super) const SET: &str = "@Set";
pub(super) const RANGE: &str = "@Range";
const THROWN: &str = "@Thrown";
const NEVER_RETURNED: &str = "@NeverReturned";

const NAN: &str = "NaN";
const INFINITE: &str = "inf";
const NEGATIVE_INFINITE: &str = "-inf";
const DECIMAL: &str = "decimal";
const HEX: &str = "hex";
const ENTRIES: &str = "entries";
const ITEMS: &str = "items";
const HALF_OPEN: &str = "half_open";
const CLOSED: &str = "closed";
const VALUE: &str = "value";

/// Returns the type name of an enum with this name.
///
/// The first three names are other spellings of shapes that the format has. A redacted trace must not tell which
/// spelling a value needed.
pub(crate) fn type_name_of_enum(name: &str) -> &str {
    match name {
        FLOAT => type_names::FLOAT,
        INT => type_names::INT,
        STRING => type_names::STRING,
        name => name,
    }
}

/// Values for which the format has no shape. They are written as enums whose names begin with `@`, and
/// [`RecordedValue::to_value`] returns them as what they were.
impl ValueWriter<'_> {
    /// Writes a float exactly, even one that is not finite. Its type name is `Float`. All NaNs are written alike.
    #[inline]
    pub fn exact_float(self, value: f64) {
        if value.is_finite() {
            return self.float(value);
        }
        let case = match value {
            f64::INFINITY => INFINITE,
            f64::NEG_INFINITY => NEGATIVE_INFINITE,
            _ => NAN,
        };
        self.enum_case(FLOAT, case, |_| {});
    }

    /// Writes an unsigned integer. Its type name is `Int`.
    #[inline]
    pub fn unsigned(self, value: u64) {
        self.int128(value.into());
    }

    /// Writes an integer of up to 128 bits. Its type name is `Int`.
    #[inline]
    pub fn int128(self, value: i128) {
        match i64::try_from(value) {
            Ok(value) => self.int(value),
            Err(_) => self.decimal(value),
        }
    }

    #[cold]
    fn decimal(self, value: i128) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(value);
        self.enum_case(INT, DECIMAL, |payload| payload.item(digits));
    }

    /// Writes a byte string exactly. Its type name is `String`. It is written as a string if it is UTF-8, and otherwise
    /// in hexadecimal digits.
    ///
    /// For languages whose strings are bytes. Where bytes have a type of their own, write it as an enum or a struct
    /// that contains the byte string, so that its name is kept.
    #[inline]
    pub fn byte_string(self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.string(text),
            Err(_) => self.hex(bytes),
        }
    }

    #[cold]
    fn hex(self, bytes: &[u8]) {
        self.enum_case(STRING, HEX, |payload| payload.item_with(|out| out.formatted_string(Hex(bytes))));
    }

    /// Writes a map whose keys are values of any type. Its type name is `@Map`.
    ///
    /// A map with text for keys can be a [struct](Self::structure) instead, which people and queries read more easily.
    #[inline]
    pub fn map(self, entries: impl FnOnce(&mut EntryWriter<'_, '_>)) {
        self.enum_case(MAP, ENTRIES, |items| entries(&mut EntryWriter { items }));
    }

    /// Writes a tuple. Its type name is `@Tuple`.
    #[inline]
    pub fn tuple(self, items: impl FnOnce(&mut ItemWriter<'_>)) {
        self.enum_case(TUPLE, ITEMS, items);
    }

    /// Writes a set. Its type name is `@Set`.
    #[inline]
    pub fn set(self, items: impl FnOnce(&mut ItemWriter<'_>)) {
        self.enum_case(SET, ITEMS, items);
    }

    /// Writes a range without its end, as `start..end` in Rust. Its type name is `@Range`. An open end is the unit
    /// value or `None`.
    pub fn range<S: TraceValue + ?Sized, E: TraceValue + ?Sized>(self, start: &S, end: &E) {
        self.enum_case(RANGE, HALF_OPEN, |payload| {
            payload.item(start);
            payload.item(end);
        });
    }

    /// Writes a range with its last value, as `start..=last` in Rust. Its type name is `@Range`. An open end is the
    /// unit value or `None`.
    pub fn range_inclusive<S: TraceValue + ?Sized, L: TraceValue + ?Sized>(self, start: &S, last: &L) {
        self.enum_case(RANGE, CLOSED, |payload| {
            payload.item(start);
            payload.item(last);
        });
    }
}

/// Writes the entries of a map, in order.
pub struct EntryWriter<'e, 'w> {
    items: &'e mut ItemWriter<'w>,
}

impl EntryWriter<'_, '_> {
    /// Writes the next entry. Keys may repeat.
    #[inline]
    pub fn entry<K: TraceValue + ?Sized, V: TraceValue + ?Sized>(&mut self, key: &K, value: &V) {
        self.items.item_with(|out| {
            out.array(|pair| {
                pair.item(key);
                pair.item(value);
            });
        });
    }

    /// Writes all of `entries` in order, each a key with a value. Stops when [`wants_more`](Self::wants_more) is false.
    #[inline]
    pub fn extend<K: TraceValue, V: TraceValue>(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        for (key, value) in entries {
            if !self.wants_more() {
                break;
            }
            self.entry(&key, &value);
        }
    }

    /// Returns whether more entries can be recorded; see [`ItemWriter::wants_more`].
    #[inline]
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.items.wants_more()
    }
}

/// A value that a host operation threw, for the outcome of its call: an error with a structure.
///
/// A redacted trace leaves the value out, as it does with any result, and keeps that it was thrown. The call counts as
/// failed, and a replay answers it with [`Answer::Thrown`](crate::replay::Answer::Thrown).
///
/// ```
/// # use cove_trace::{HostOutcome, RecordedValue, Thrown, Value};
/// # let error = Value::Struct { name: "HttpError".into(), fields: vec![("status".into(), Value::Int(503))] };
/// let thrown = Thrown(&error);
/// let outcome = HostOutcome::Value(RecordedValue::Live(&thrown));
/// # assert!(outcome.is_failure());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thrown<V>(pub V);

impl<V: TraceValue> TraceValue for Thrown<V> {
    fn type_name(&self) -> Cow<'_, str> {
        THROWN.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.enum_case(THROWN, VALUE, |payload| payload.item(&self.0));
    }
}

/// The outcome of a call that did not return, as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeverReturned {
    /// A panic went through the call.
    Panicked,
    /// The call was given up: a future was dropped, or the interpreter returned early.
    Dropped,
}

impl TraceValue for NeverReturned {
    fn type_name(&self) -> Cow<'_, str> {
        NEVER_RETURNED.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        let case = match self {
            Self::Panicked => "panicked",
            Self::Dropped => "dropped",
        };
        out.enum_case(NEVER_RETURNED, case, |_| {});
    }
}

impl<'a> RecordedValue<'a> {
    /// Returns whether the result of a call has this reserved type, also if it is redacted.
    fn is_reserved(&self, name: &str) -> bool {
        matches!(self, Self::Enum(_) | Self::Redacted { .. } | Self::Live(_)) && self.type_name() == name
    }

    /// Returns whether this is the outcome of a call that threw a value.
    pub(crate) fn is_thrown(&self) -> bool {
        self.is_reserved(THROWN)
    }

    /// Returns whether this is the outcome of a call that never returned.
    pub(crate) fn is_never_returned(&self) -> bool {
        self.is_reserved(NEVER_RETURNED)
    }

    /// Returns the value that was thrown, if this is the outcome of a call that threw one.
    pub(crate) fn thrown(&self) -> Option<RecordedValue<'a>> {
        match self {
            Self::Enum(thrown) if thrown.name == THROWN => match thrown.payload {
                [value] => Some(*value),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The value that an enum with a reserved name stands for, for those who show it.
pub(crate) enum Convention<'a> {
    /// A float or an integer, as it is spelled in the trace.
    Number(&'a str),
    /// Bytes as hexadecimal digits.
    Bytes(&'a str),
    /// Each entry is an array of a key and a value.
    Map(&'a [RecordedValue<'a>]),
    Tuple(&'a [RecordedValue<'a>]),
    Set(&'a [RecordedValue<'a>]),
    Range {
        start: &'a RecordedValue<'a>,
        end: &'a RecordedValue<'a>,
        is_closed: bool,
    },
    Thrown(&'a RecordedValue<'a>),
    NeverReturned {
        how: &'a str,
    },
}

impl<'a> Convention<'a> {
    /// Returns `None` for an enum that does not follow a convention.
    pub(crate) fn of(value: &RecordedEnum<'a>) -> Option<Self> {
        let is_entry = |entry: &RecordedValue<'_>| matches!(entry, RecordedValue::Array([_, _]));
        Some(match (value.name, value.case, value.payload) {
            (FLOAT, NAN | INFINITE | NEGATIVE_INFINITE, []) => Self::Number(value.case),
            (INT, DECIMAL, [RecordedValue::String(digits)]) => Self::Number(digits),
            (STRING, HEX, [RecordedValue::String(digits)]) => Self::Bytes(digits),
            (MAP, ENTRIES, entries) if entries.iter().all(is_entry) => Self::Map(entries),
            (TUPLE, ITEMS, items) => Self::Tuple(items),
            (SET, ITEMS, items) => Self::Set(items),
            (RANGE, HALF_OPEN | CLOSED, [start, end]) => Self::Range { start, end, is_closed: value.case == CLOSED },
            (THROWN, VALUE, [thrown]) => Self::Thrown(thrown),
            (NEVER_RETURNED, how, []) => Self::NeverReturned { how },
            _ => return None,
        })
    }
}

impl Value {
    /// Returns the value of an enum, which is another value if the enum follows a convention.
    pub(crate) fn from_enum(name: String, case: String, mut payload: Vec<Self>) -> Self {
        if !name.starts_with('@') {
            return Self::Enum { name, case, payload };
        }
        let value = match (&*name, &*case, &mut payload[..]) {
            (MAP, ENTRIES, entries) if entries.iter().all(is_entry) => {
                return Self::Map(payload.into_iter().filter_map(into_entry).collect());
            }
            (TUPLE, ITEMS, _) => return Self::Tuple(payload),
            (SET, ITEMS, _) => return Self::Set(payload),
            (FLOAT, NAN, []) => Some(Self::Float(f64::NAN)),
            (FLOAT, INFINITE, []) => Some(Self::Float(f64::INFINITY)),
            (FLOAT, NEGATIVE_INFINITE, []) => Some(Self::Float(f64::NEG_INFINITY)),
            (INT, DECIMAL, [Self::String(digits)]) => from_decimal(digits).map(Self::Int128),
            (STRING, HEX, [Self::String(digits)]) => from_hex(digits).map(Self::Bytes),
            (RANGE, HALF_OPEN | CLOSED, [start, end]) => {
                let [start, end] = [start, end].map(|bound| Box::new(std::mem::replace(bound, Self::Unit)));
                Some(if case == CLOSED { Self::RangeInclusive(start, end) } else { Self::Range(start, end) })
            }
            _ => None,
        };
        value.unwrap_or(Self::Enum { name, case, payload })
    }

    /// Returns whether this is the outcome of a call that never returned.
    pub(crate) fn is_never_returned(&self) -> bool {
        matches!(self, Self::Enum { name, .. } if name == NEVER_RETURNED)
    }

    /// Takes the thrown value out of the value of an outcome; see [`Thrown`].
    pub(crate) fn into_thrown(self) -> Result<Self, Self> {
        match self {
            Self::Enum { name, mut payload, .. } if name == THROWN && payload.len() == 1 => Ok(payload.remove(0)),
            value => Err(value),
        }
    }
}

/// Reads an integer beyond `i64` as [`ValueWriter::int128`] writes it. Other spellings would not be written back alike.
fn from_decimal(digits: &str) -> Option<i128> {
    let value = digits.parse::<i128>().ok()?;
    (i64::try_from(value).is_err() && itoa::Buffer::new().format(value) == digits).then_some(value)
}

/// Reads bytes that are not UTF-8 as [`ValueWriter::byte_string`] writes them.
fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let bytes = pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect::<Option<Vec<u8>>>()?;
    std::str::from_utf8(&bytes).is_err().then_some(bytes)
}

/// Displays bytes as two digits each.
struct Hex<'b>(&'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.0.chunks(32).try_for_each(|bytes| {
            let mut digits = [0; 64];
            for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
                *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            }
            f.write_str(std::str::from_utf8(&digits[..2 * bytes.len()]).map_err(|_| fmt::Error)?)
        })
    }
}

fn is_entry(value: &Value) -> bool {
    matches!(value, Value::Array(pair) if pair.len() == 2)
}

fn into_entry(value: Value) -> Option<(Value, Value)> {
    match value {
        Value::Array(pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
        _ => None,
    }
}
