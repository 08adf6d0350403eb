//! The texts that stand in an event.

use std::time::Duration;

use cove_trace::{HostOutcome, RecordedValue, TraceEvent};
use memchr::memmem;

/// Whether one of `wanted` stands in a name, a value or a message of the event. A number counts as its decimal digits.
pub(super) fn contains_any(event: &TraceEvent<'_>, wanted: &[String]) -> bool {
    let found = |text: &str| wanted.iter().any(|wanted| memmem::find(text.as_bytes(), wanted.as_bytes()).is_some());
    let time = |time: Duration| found(&time.as_nanos().to_string());
    match *event {
        TraceEvent::TaskSpawned { scope, .. } => found(scope),
        TraceEvent::TaskCompleted { cpu, .. } => time(cpu),
        TraceEvent::EntryEnter { module, function } | TraceEvent::EntryExit { module, function, .. } => {
            found(module) || found(function)
        }
        TraceEvent::RunEnded { outcome, message } => found(outcome.as_str()) || message.is_some_and(found),
        TraceEvent::HostCall(ref call) => {
            found(call.site.module())
                || found(call.site.op())
                || found(call.site.capability())
                || call.args.iter().any(|value| value_contains(value, &found))
                || match call.outcome {
                    Some(HostOutcome::Value(value)) => value_contains(&value, &found),
                    Some(HostOutcome::Error(message)) => found(message),
                    Some(HostOutcome::NotRecordable) | None => false,
                }
        }
        _ => false,
    }
}

fn value_contains(value: &RecordedValue<'_>, found: &impl Fn(&str) -> bool) -> bool {
    let any = |values: &[RecordedValue<'_>]| values.iter().any(|value| value_contains(value, found));
    match *value {
        RecordedValue::Unit => false,
        RecordedValue::Bool(value) => found(if value { "true" } else { "false" }),
        RecordedValue::Int(value) | RecordedValue::Duration { ns: value } => found(itoa::Buffer::new().format(value)),
        RecordedValue::Float(value) => found(ryu::Buffer::new().format(value)),
        RecordedValue::String(text) => found(text),
        RecordedValue::Array(items) => any(items),
        RecordedValue::Enum(value) => found(value.name) || found(value.case) || any(value.payload),
        RecordedValue::Struct(value) => {
            found(value.name)
                || value.fields.iter().any(|field| found(field.name) || value_contains(&field.value, found))
        }
        RecordedValue::Resource(value) => found(value.name) || found(itoa::Buffer::new().format(value.id)),
        RecordedValue::Redacted { of } => found(of),
        RecordedValue::Opaque(value) => found(value.of) || found(value.shown),
        // A reader gives none.
        RecordedValue::Live(_) => false,
    }
}
