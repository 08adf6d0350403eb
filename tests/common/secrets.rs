//! Events that differ only in what a redacted trace must not contain.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use cove_trace::RunOutcome;
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};

use super::canonical;
use super::generate::generated;

/// Returns the event with everything replaced that a redacted trace must not contain.
pub(crate) fn with_other_secrets(event: &OwnedEvent, seed: u64) -> OwnedEvent {
    let mut event = event.clone();
    match &mut event {
        OwnedEvent::HostCall(call) => {
            for (index, arg) in (1..).zip(&mut call.args) {
                *arg = another_of_its_type(arg, seed ^ (index << 32));
            }
            if let Some(OwnedOutcome::Value(result)) = &mut call.outcome {
                *result = another_of_its_type(result, !seed);
            }
        }
        OwnedEvent::RunEnded { outcome: RunOutcome::Success | RunOutcome::Error, message } => {
            *message = generated(!seed);
        }
        _ => {}
    }
    event
}

/// Returns a different value with the type name of `value`.
fn another_of_its_type(value: &OwnedValue, seed: u64) -> OwnedValue {
    let of = canonical::type_name(value).to_owned();
    match (value, generated::<OwnedValue>(seed)) {
        (OwnedValue::Bool(value), _) => OwnedValue::Bool(!value),
        (OwnedValue::Int(_), _) => OwnedValue::Int(generated(seed)),
        (OwnedValue::Float(_), _) => OwnedValue::Float(generated(seed)),
        (OwnedValue::Duration { .. }, _) => OwnedValue::Duration { ns: generated(seed) },
        (OwnedValue::String(_), _) => OwnedValue::String(generated(seed)),
        (OwnedValue::Array(_), OwnedValue::Enum { payload, .. }) => OwnedValue::Array(payload),
        (OwnedValue::Array(_), any) => OwnedValue::Array(vec![any]),
        (_, OwnedValue::Array(payload)) => OwnedValue::Enum { name: of, case: generated(seed), payload },
        (_, OwnedValue::Struct { fields, .. }) => OwnedValue::Struct { name: of, fields },
        (_, OwnedValue::Int(id)) => OwnedValue::Resource { name: of, id },
        (_, OwnedValue::Opaque { shown, .. }) => OwnedValue::Opaque { of, shown },
        _ => OwnedValue::Redacted { of },
    }
}
