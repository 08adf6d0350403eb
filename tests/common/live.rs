//! A handwritten `TraceValue` over an owned value, as an interpreter implements it for its own values.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use std::borrow::Cow;

use cove_trace::owned::OwnedValue;
use cove_trace::{RecordedEnum, RecordedField, RecordedStruct, RecordedValue, TraceValue, ValueWriter};

pub(crate) struct Live<'v>(pub(crate) &'v OwnedValue);

impl TraceValue for Live<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        super::canonical::type_name(self.0).into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self.0 {
            OwnedValue::Unit => out.unit(),
            OwnedValue::Bool(value) => out.bool(*value),
            OwnedValue::Int(value) => out.int(*value),
            OwnedValue::Float(value) => out.float(*value),
            OwnedValue::Duration { ns } => out.duration_ns(*ns),
            OwnedValue::String(text) => out.bytes(text.as_bytes()),
            OwnedValue::Array(values) => out.array(|items| {
                for value in values {
                    items.item(&Live(value));
                }
            }),
            OwnedValue::Enum { name, case, payload } => out.enum_case(name, case, |items| {
                for value in payload {
                    items.item_with(|out| Live(value).write(out));
                }
            }),
            OwnedValue::Struct { name, fields } => out.structure(name, |out| {
                for (name, value) in fields {
                    out.field(name, &Live(value));
                }
            }),
            OwnedValue::Resource { name, id } => out.resource(name, *id),
            OwnedValue::Redacted { of } => out.redacted(of),
            OwnedValue::Opaque { of, shown } => out.opaque(of, shown),
        }
    }
}

/// Calls `take` with the value with each of its immediate parts live, if it is a container.
pub(crate) fn with_live_parts(value: &OwnedValue, take: impl FnOnce(RecordedValue<'_>)) {
    let parts = parts(value).into_iter().map(Live).collect::<Vec<_>>();
    let live = parts.iter().map(|part| RecordedValue::Live(part)).collect::<Vec<_>>();
    match value {
        OwnedValue::Enum { name, case, .. } => {
            take(RecordedValue::Enum(&RecordedEnum { name, case, payload: &live }));
        }
        OwnedValue::Struct { name, fields } => {
            let names = fields.iter().map(|(name, _)| name);
            let fields =
                names.zip(&live).map(|(name, value)| RecordedField { name, value: *value }).collect::<Vec<_>>();
            take(RecordedValue::Struct(&RecordedStruct { name, fields: &fields }));
        }
        OwnedValue::Array(_) => take(RecordedValue::Array(&live)),
        _ => {}
    }
}

/// Returns the immediate parts of a value.
pub(crate) fn parts(value: &OwnedValue) -> Vec<&OwnedValue> {
    match value {
        OwnedValue::Array(parts) | OwnedValue::Enum { payload: parts, .. } => parts.iter().collect(),
        OwnedValue::Struct { fields, .. } => fields.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}
