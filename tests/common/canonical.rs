//! A reference implementation of what a reader returns for a recorded event: the rules of the format on owned events,
//! without the encoder.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use std::time::Duration;

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::{HeapSummary, RunOutcome, TraceHeader, ValueCapture};

/// The depth limit: containers must be at a lower level than this, other values may be at this level.
pub(crate) const LAST_LEVEL: usize = 128;

/// Returns the event that a reader returns for `event`.
pub(crate) fn event(event: &OwnedEvent, capture: ValueCapture) -> OwnedEvent {
    match event.clone() {
        OwnedEvent::TaskCompleted { id, cpu } => OwnedEvent::TaskCompleted { id, cpu: duration(cpu) },
        OwnedEvent::EntryExit { module, function, cpu, wait } => {
            OwnedEvent::EntryExit { module, function, cpu: duration(cpu), wait: duration(wait) }
        }
        OwnedEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
            OwnedEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause: duration(pause) }
        }
        OwnedEvent::HeapSummary(summary) => {
            OwnedEvent::HeapSummary(HeapSummary { pause: summary.pause.map(duration), ..summary })
        }
        OwnedEvent::HostCall(call) => OwnedEvent::HostCall(OwnedHostCall {
            wait: duration(call.wait),
            args: call.args.iter().map(|arg| argument_or_result(arg, capture)).collect(),
            outcome: call.outcome.map(|outcome| match outcome {
                OwnedOutcome::Value(result) => OwnedOutcome::Value(argument_or_result(&result, capture)),
                error_or_not_recordable => error_or_not_recordable,
            }),
            ..call
        }),
        OwnedEvent::RunEnded { outcome: outcome @ (RunOutcome::Success | RunOutcome::Error), .. }
            if capture == ValueCapture::Redacted =>
        {
            OwnedEvent::RunEnded { outcome, message: None }
        }
        unchanged => unchanged,
    }
}

/// Returns the header that a reader returns for `header`.
pub(crate) fn header(header: &TraceHeader) -> TraceHeader {
    let mut canonical = header.clone();
    if header.values == ValueCapture::Redacted {
        for arg in &mut canonical.args {
            *arg = "<redacted>".to_owned();
        }
    }
    canonical
}

fn duration(duration: Duration) -> Duration {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(nanoseconds)
}

fn argument_or_result(value: &OwnedValue, capture: ValueCapture) -> OwnedValue {
    match capture {
        ValueCapture::Full => value_at(1, value),
        ValueCapture::Redacted => OwnedValue::Redacted { of: type_name(value).to_owned() },
    }
}

/// Returns the argument or result that a reader returns for `value` in a full trace.
pub(crate) fn value(value: &OwnedValue) -> OwnedValue {
    argument_or_result(value, ValueCapture::Full)
}

fn value_at(level: usize, value: &OwnedValue) -> OwnedValue {
    let opaque = |shown: &str| OwnedValue::Opaque { of: type_name(value).to_owned(), shown: shown.to_owned() };
    let parts = |parts: &[OwnedValue]| parts.iter().map(|part| value_at(level + 1, part)).collect::<Vec<_>>();
    match value {
        OwnedValue::Array(_) | OwnedValue::Enum { .. } | OwnedValue::Struct { .. } if level >= LAST_LEVEL => {
            opaque("nested deeper than 128 levels")
        }
        OwnedValue::Array(items) => OwnedValue::Array(parts(items)),
        OwnedValue::Enum { name, case, payload } => {
            OwnedValue::Enum { name: name.clone(), case: case.clone(), payload: parts(payload) }
        }
        OwnedValue::Struct { name, fields } => OwnedValue::Struct {
            name: name.clone(),
            fields: fields.iter().map(|(name, value)| (name.clone(), value_at(level + 1, value))).collect(),
        },
        OwnedValue::Float(number) if number.is_nan() => opaque("NaN"),
        OwnedValue::Float(f64::INFINITY) => opaque("inf"),
        OwnedValue::Float(f64::NEG_INFINITY) => opaque("-inf"),
        OwnedValue::Unit
        | OwnedValue::Bool(_)
        | OwnedValue::Int(_)
        | OwnedValue::Float(_)
        | OwnedValue::Duration { .. }
        | OwnedValue::String(_)
        | OwnedValue::Resource { .. }
        | OwnedValue::Redacted { .. }
        | OwnedValue::Opaque { .. } => value.clone(),
    }
}

/// Returns the type name of a value, which is all that a redacted trace contains of it.
pub(crate) fn type_name(value: &OwnedValue) -> &str {
    match value {
        OwnedValue::Unit => "Unit",
        OwnedValue::Bool(_) => "Bool",
        OwnedValue::Int(_) => "Int",
        OwnedValue::Float(_) => "Float",
        OwnedValue::Duration { .. } => "Duration",
        OwnedValue::String(_) => "String",
        OwnedValue::Array(_) => "Array",
        OwnedValue::Enum { name, .. } if name == "@Float" => "Float",
        OwnedValue::Enum { name, .. } if name == "@Int" => "Int",
        OwnedValue::Enum { name, .. } if name == "@String" => "String",
        OwnedValue::Enum { name, .. } | OwnedValue::Struct { name, .. } | OwnedValue::Resource { name, .. } => name,
        OwnedValue::Redacted { of } | OwnedValue::Opaque { of, .. } => of,
    }
}
