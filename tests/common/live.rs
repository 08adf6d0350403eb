//! An owned value handed over the way an interpreter hands over its own: through `TraceValue`, written by hand.

use std::borrow::Cow;

use cove_trace::owned::OwnedValue;
use cove_trace::{TraceValue, ValueWriter};

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
            OwnedValue::Struct { name, fields: values } => out.structure(name, |fields| {
                for field in values {
                    fields.field(&field.name, &Live(&field.value));
                }
            }),
            OwnedValue::Resource { name, id } => out.resource(name, *id),
            OwnedValue::Redacted { of } => out.redacted(of),
            OwnedValue::Opaque { of, shown } => out.opaque(of, shown),
        }
    }
}
