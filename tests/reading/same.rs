//! Equality of events part by part, floats by their bits. (That of the library encodes both sides, which would hide what
//! the encoder makes equal.)

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};

#[track_caller]
pub(crate) fn assert_same_event(found: &OwnedEvent, expected: &OwnedEvent, text: &str) {
    assert!(same_event(found, expected), "{text}\nfound:    {found:?}\nexpected: {expected:?}");
}

pub(crate) fn same_event(a: &OwnedEvent, b: &OwnedEvent) -> bool {
    let (OwnedEvent::HostCall(a), OwnedEvent::HostCall(b)) = (a, b) else {
        return a == b;
    };
    (a.task, &a.module, &a.op, &a.capability) == (b.task, &b.module, &b.op, &b.capability)
        && (a.wait, a.granted) == (b.wait, b.granted)
        && same_values(&a.args, &b.args)
        && match (&a.outcome, &b.outcome) {
            (Some(OwnedOutcome::Value(a)), Some(OwnedOutcome::Value(b))) => same_value(a, b),
            (Some(OwnedOutcome::Error(a)), Some(OwnedOutcome::Error(b))) => a == b,
            (Some(OwnedOutcome::NotRecordable), Some(OwnedOutcome::NotRecordable)) | (None, None) => true,
            _ => false,
        }
}

fn same_values(a: &[OwnedValue], b: &[OwnedValue]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
}

pub(crate) fn same_value(a: &OwnedValue, b: &OwnedValue) -> bool {
    use OwnedValue::{Array, Bool, Duration, Enum, Float, Int, Opaque, Redacted, Resource, String, Struct, Unit};
    match (a, b) {
        (Unit, Unit) => true,
        (Bool(a), Bool(b)) => a == b,
        (Int(a), Int(b)) | (Duration { ns: a }, Duration { ns: b }) => a == b,
        (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
        (String(a), String(b)) | (Redacted { of: a }, Redacted { of: b }) => a == b,
        (Array(a), Array(b)) => same_values(a, b),
        (Enum { name: a, case: a_case, payload: a_payload }, Enum { name: b, case: b_case, payload: b_payload }) => {
            a == b && a_case == b_case && same_values(a_payload, b_payload)
        }
        (Struct { name: a, fields: a_fields }, Struct { name: b, fields: b_fields }) => {
            let mut fields = a_fields.iter().zip(b_fields);
            a == b
                && a_fields.len() == b_fields.len()
                && fields.all(|((a_name, a), (b_name, b))| a_name == b_name && same_value(a, b))
        }
        (Resource { name: a, id: a_id }, Resource { name: b, id: b_id }) => a == b && a_id == b_id,
        (Opaque { of: a, shown: a_shown }, Opaque { of: b, shown: b_shown }) => a == b && a_shown == b_shown,
        _ => false,
    }
}
