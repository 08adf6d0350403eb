//! A reference implementation of which values a replay can return.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use cove_trace::Value;
use cove_trace::owned::OwnedValue;

/// Returns the path and the description of the first redacted or opaque part of a canonical value.
pub(crate) fn first_missing(value: &OwnedValue) -> Option<(String, String)> {
    let in_part = |step: String, part| first_missing(part).map(|(path, what)| (format!("{step}{path}"), what));
    match value {
        OwnedValue::Redacted { of } => Some((String::new(), format!("redacted {of}"))),
        OwnedValue::Opaque { of, .. } => Some((String::new(), format!("opaque {of}"))),
        OwnedValue::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| in_part(format!(".items[{index}]"), item))
        }
        OwnedValue::Enum { payload, .. } => {
            payload.iter().enumerate().find_map(|(index, part)| in_part(format!(".payload[{index}]"), part))
        }
        OwnedValue::Struct { fields, .. } => {
            fields.iter().find_map(|(name, value)| in_part(format!(".fields.{name}"), value))
        }
        _ => None,
    }
}

/// Converts a value to an `OwnedValue`.
pub(crate) fn as_owned(value: &Value) -> OwnedValue {
    match value {
        Value::Unit => OwnedValue::Unit,
        Value::Bool(value) => OwnedValue::Bool(*value),
        Value::Int(value) => OwnedValue::Int(*value),
        Value::Float(value) if value.is_nan() => reserved("@Float", "NaN", vec![]),
        Value::Float(f64::INFINITY) => reserved("@Float", "inf", vec![]),
        Value::Float(f64::NEG_INFINITY) => reserved("@Float", "-inf", vec![]),
        Value::Float(value) => OwnedValue::Float(*value),
        Value::Duration { ns } => OwnedValue::Duration { ns: *ns },
        Value::String(text) => OwnedValue::String(text.clone()),
        Value::Array(items) => OwnedValue::Array(items.iter().map(as_owned).collect()),
        Value::Enum { name, case, payload } => {
            OwnedValue::Enum { name: name.clone(), case: case.clone(), payload: payload.iter().map(as_owned).collect() }
        }
        Value::Struct { name, fields } => OwnedValue::Struct {
            name: name.clone(),
            fields: fields.iter().map(|(name, value)| (name.clone(), as_owned(value))).collect(),
        },
        Value::Resource { name, id } => OwnedValue::Resource { name: name.clone(), id: *id },
        Value::Int128(value) => reserved("@Int", "decimal", vec![OwnedValue::String(value.to_string())]),
        Value::Bytes(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            reserved("@String", "hex", vec![OwnedValue::String(digits)])
        }
        Value::Map(entries) => {
            let pair = |(key, value): &(Value, Value)| OwnedValue::Array(vec![as_owned(key), as_owned(value)]);
            reserved("@Map", "entries", entries.iter().map(pair).collect())
        }
        Value::Tuple(items) => reserved("@Tuple", "items", items.iter().map(as_owned).collect()),
        Value::Set(items) => reserved("@Set", "items", items.iter().map(as_owned).collect()),
        Value::Range(start, end) => reserved("@Range", "half_open", vec![as_owned(start), as_owned(end)]),
        Value::RangeInclusive(start, last) => reserved("@Range", "closed", vec![as_owned(start), as_owned(last)]),
    }
}

fn reserved(name: &str, case: &str, payload: Vec<OwnedValue>) -> OwnedValue {
    OwnedValue::Enum { name: name.into(), case: case.into(), payload }
}
