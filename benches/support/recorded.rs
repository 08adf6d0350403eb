//! The same events as recorded values, built beforehand in an arena.

use bumpalo::Bump;
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, CallSite, HostCall, HostOutcome, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource,
    RecordedStruct, RecordedValue, TraceEvent,
};

use super::names::Names;

pub fn events<'a>(events: &'a [OwnedEvent], bump: &'a Bump, arena: &'a Arena) -> Vec<TraceEvent<'a>> {
    let mut names = Names::default();
    events.iter().map(|one| event(one, &mut names, bump, arena)).collect()
}

fn event<'a>(event: &'a OwnedEvent, names: &mut Names<'a>, bump: &'a Bump, arena: &'a Arena) -> TraceEvent<'a> {
    let OwnedEvent::HostCall(call) = event else {
        return event.view(arena);
    };
    let [module, op, capability] = [&call.module, &call.op, &call.capability].map(|name| names.borrowed(name));
    TraceEvent::HostCall(HostCall {
        task: call.task,
        site: CallSite::new(module, op, capability),
        wait: call.wait,
        granted: call.granted,
        args: values(&call.args, names, bump),
        outcome: call.outcome.as_ref().map(|outcome| match outcome {
            OwnedOutcome::Value(result) => HostOutcome::Value(value(result, names, bump)),
            OwnedOutcome::Error(message) => HostOutcome::Error(message),
            OwnedOutcome::NotRecordable => HostOutcome::NotRecordable,
        }),
    })
}

fn values<'a>(values: &'a [OwnedValue], names: &mut Names<'a>, bump: &'a Bump) -> &'a [RecordedValue<'a>] {
    let values: Vec<_> = values.iter().map(|item| value(item, names, bump)).collect();
    bump.alloc_slice_copy(&values)
}

fn value<'a>(value: &'a OwnedValue, names: &mut Names<'a>, bump: &'a Bump) -> RecordedValue<'a> {
    match value {
        OwnedValue::Unit => RecordedValue::Unit,
        OwnedValue::Bool(value) => RecordedValue::Bool(*value),
        OwnedValue::Int(value) => RecordedValue::Int(*value),
        OwnedValue::Float(value) => RecordedValue::Float(*value),
        OwnedValue::Duration { ns } => RecordedValue::Duration { ns: *ns },
        OwnedValue::String(text) => RecordedValue::String(text),
        OwnedValue::Array(items) => RecordedValue::Array(values(items, names, bump)),
        OwnedValue::Enum { name, case, payload } => {
            let (name, case) = (names.borrowed(name), names.borrowed(case));
            RecordedValue::Enum(bump.alloc(RecordedEnum { name, case, payload: values(payload, names, bump) }))
        }
        OwnedValue::Struct { name, fields } => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| RecordedField {
                    name: names.borrowed(name),
                    value: self::value(value, names, bump),
                })
                .collect();
            let fields = bump.alloc_slice_copy(&fields);
            RecordedValue::Struct(bump.alloc(RecordedStruct { name: names.borrowed(name), fields }))
        }
        OwnedValue::Resource { name, id } => {
            RecordedValue::Resource(bump.alloc(RecordedResource { name: names.borrowed(name), id: *id }))
        }
        OwnedValue::Redacted { of } => RecordedValue::Redacted { of },
        OwnedValue::Opaque { of, shown } => RecordedValue::Opaque(bump.alloc(RecordedOpaque { of, shown })),
    }
}
