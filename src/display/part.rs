//! The parts of a value, and their names in a path.

use std::fmt;

use super::escape::escaped;
use crate::value::RecordedValue;

/// The position of a part in its value. Formatted as it stands in a path: `.items[3]`, `.payload[0]`, `.fields.name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'v> {
    /// An item of an array, from 0.
    Item(usize),
    /// A payload of an enum, from 0.
    Payload(usize),
    /// The field of a struct with this name.
    Field(&'v str),
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(index) => write!(f, ".items[{index}]"),
            Self::Payload(index) => write!(f, ".payload[{index}]"),
            Self::Field(name) => write!(f, ".fields.{}", escaped(name)),
        }
    }
}

/// Returns the parts of a value in order. Only arrays, enums and structs have parts.
pub fn parts<'v>(value: &RecordedValue<'v>) -> impl Iterator<Item = (Part<'v>, &'v RecordedValue<'v>)> {
    let (list, part, fields): (&'v [RecordedValue<'v>], fn(usize) -> Part<'v>, _) = match *value {
        RecordedValue::Array(items) => (items, Part::Item, &[][..]),
        RecordedValue::Enum(value) => (value.payload, Part::Payload, &[][..]),
        RecordedValue::Struct(value) => (&[], Part::Item, value.fields),
        _ => (&[], Part::Item, &[][..]),
    };
    let listed = list.iter().enumerate().map(move |(index, value)| (part(index), value));
    listed.chain(fields.iter().map(|field| (Part::Field(field.name), &field.value)))
}
