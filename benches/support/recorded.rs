//! Events as our own encoder takes them, built beforehand: recorded values in an arena. Texts are those of the corpus;
//! the names of types, cases and fields are the program's, once each.

use bumpalo::Bump;
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, CallSite, HostCall, HostOutcome, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource,
    RecordedStruct, RecordedValue, TraceEvent,
};

use super::corpora::static_name;

/// `arena` is for what has no place for names of the program, and so is viewed as it is.
pub fn event<'a>(event: &'a OwnedEvent, bump: &'a Bump, arena: &'a Arena) -> TraceEvent<'a> {
    let OwnedEvent::HostCall(call) = event else {
        return event.view(arena);
    };
    TraceEvent::HostCall(HostCall {
        task: call.task,
        site: CallSite::new(static_name(&call.module), static_name(&call.op), static_name(&call.capability)),
        wait: call.wait,
        granted: call.granted,
        args: values(&call.args, bump),
        outcome: call.outcome.as_ref().map(|outcome| match outcome {
            OwnedOutcome::Value(result) => HostOutcome::Value(value(result, bump)),
            OwnedOutcome::Error(message) => HostOutcome::Error(message),
            OwnedOutcome::NotRecordable => HostOutcome::NotRecordable,
        }),
    })
}

fn values<'a>(values: &'a [OwnedValue], bump: &'a Bump) -> &'a [RecordedValue<'a>] {
    let values: Vec<_> = values.iter().map(|item| value(item, bump)).collect();
    bump.alloc_slice_copy(&values)
}

fn value<'a>(value: &'a OwnedValue, bump: &'a Bump) -> RecordedValue<'a> {
    match value {
        OwnedValue::Unit => RecordedValue::Unit,
        OwnedValue::Bool(value) => RecordedValue::Bool(*value),
        OwnedValue::Int(value) => RecordedValue::Int(*value),
        OwnedValue::Float(value) => RecordedValue::Float(*value),
        OwnedValue::Duration { ns } => RecordedValue::Duration { ns: *ns },
        OwnedValue::String(text) => RecordedValue::String(text),
        OwnedValue::Array(items) => RecordedValue::Array(values(items, bump)),
        OwnedValue::Enum { name, case, payload } => {
            let (name, case) = (static_name(name), static_name(case));
            RecordedValue::Enum(bump.alloc(RecordedEnum { name, case, payload: values(payload, bump) }))
        }
        OwnedValue::Struct { name, fields } => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| RecordedField { name: static_name(name), value: self::value(value, bump) })
                .collect();
            let fields = bump.alloc_slice_copy(&fields);
            RecordedValue::Struct(bump.alloc(RecordedStruct { name: static_name(name), fields }))
        }
        OwnedValue::Resource { name, id } => {
            RecordedValue::Resource(bump.alloc(RecordedResource { name: static_name(name), id: *id }))
        }
        OwnedValue::Redacted { of } => RecordedValue::Redacted { of },
        OwnedValue::Opaque { of, shown } => RecordedValue::Opaque(bump.alloc(RecordedOpaque { of, shown })),
    }
}
