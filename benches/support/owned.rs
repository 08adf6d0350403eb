//! Builds and takes apart the containers of `OwnedValue`. No other file of the benchmarks depends on their types.

use cove_trace::owned::OwnedValue;
use cove_trace::{ValueField, Values};

pub fn array(items: Vec<OwnedValue>) -> OwnedValue {
    OwnedValue::Array(items.into())
}

pub fn enum_case(name: String, case: String, payload: Vec<OwnedValue>) -> OwnedValue {
    OwnedValue::Enum { name, case, payload: payload.into() }
}

pub fn structure(name: String, fields: Vec<(String, OwnedValue)>) -> OwnedValue {
    let fields: Vec<_> = fields.into_iter().map(|(name, value)| ValueField { name, value }).collect();
    OwnedValue::Struct { name, fields: fields.into() }
}

pub fn fields(fields: &Values<ValueField<OwnedValue>>) -> impl ExactSizeIterator<Item = (&str, &OwnedValue)> {
    fields.iter().map(|field| (field.name.as_str(), &field.value))
}
