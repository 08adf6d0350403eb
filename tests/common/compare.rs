//! Events and values compared part by part, floats by their bits. The crate's own `==` on values compares what the encoder
//! writes, so it can't judge the encoder.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use std::fmt::Debug;

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::{HostCall, HostOutcome, RecordedValue, TraceEvent};

/// Nothing, or the first difference and where it is.
pub(crate) type Comparison = Result<(), String>;

pub(crate) fn event(found: &TraceEvent<'_>, expected: &OwnedEvent) -> Comparison {
    use {OwnedEvent as Owned, TraceEvent as Event};
    match (*found, expected) {
        (Event::TaskSpawned { id, parent, scope }, Owned::TaskSpawned { id: i, parent: p, scope: s }) => {
            same("id, parent, scope", &(id, parent, scope), &(*i, *p, s))
        }
        (Event::TaskCompleted { id, cpu }, Owned::TaskCompleted { id: i, cpu: c }) => {
            same("id, cpu", &(id, cpu), &(*i, *c))
        }
        (Event::TaskCancelled { id }, Owned::TaskCancelled { id: i }) => same("id", &id, i),
        (Event::HostCall(call), Owned::HostCall(c)) => host_call(&call, c),
        (Event::EntryEnter { module, function }, Owned::EntryEnter { module: m, function: f }) => {
            same("module, function", &(module, function), &(m, f))
        }
        (
            Event::EntryExit { module, function, cpu, wait },
            Owned::EntryExit { module: m, function: f, cpu: c, wait: w },
        ) => same("module, function, cpu, wait", &(module, function, cpu, wait), &(m, f, *c, *w)),
        (
            Event::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause },
            Owned::HeapCollected { task: t, allocated: a, freed: f, live_objects: o, live_bytes: b, pause: p },
        ) => same(
            "task, allocated, freed, live_objects, live_bytes, pause",
            &(task, allocated, freed, live_objects, live_bytes, pause),
            &(*t, *a, *f, *o, *b, *p),
        ),
        (Event::HeapSummary(summary), Owned::HeapSummary(s)) => same("summary", &summary, s),
        (Event::RunEnded { outcome, message }, Owned::RunEnded { outcome: o, message: m }) => {
            same("outcome, message", &(outcome, message), &(*o, m.as_deref()))
        }
        _ => differ(found, expected),
    }
}

fn host_call(found: &HostCall<'_>, expected: &OwnedHostCall) -> Comparison {
    same("task", &found.task, &expected.task)?;
    same("module", found.site.module(), &expected.module)?;
    same("op", found.site.op(), &expected.op)?;
    same("capability", found.site.capability(), &expected.capability)?;
    same("wait", &found.wait, &expected.wait)?;
    same("granted", &found.granted, &expected.granted)?;
    within("args", values(found.args, &expected.args))?;
    within(
        "outcome",
        match (&found.outcome, &expected.outcome) {
            (None, None) | (Some(HostOutcome::NotRecordable), Some(OwnedOutcome::NotRecordable)) => Ok(()),
            (Some(HostOutcome::Value(found)), Some(OwnedOutcome::Value(expected))) => value(found, expected),
            (Some(HostOutcome::Error(found)), Some(OwnedOutcome::Error(expected))) => same("message", *found, expected),
            (found, expected) => differ(found, expected),
        },
    )
}

pub(crate) fn value(found: &RecordedValue<'_>, expected: &OwnedValue) -> Comparison {
    match (*found, expected) {
        (RecordedValue::Unit, OwnedValue::Unit) => Ok(()),
        (RecordedValue::Bool(found), OwnedValue::Bool(expected)) => same("bool", &found, expected),
        (RecordedValue::Int(found), OwnedValue::Int(expected)) => same("int", &found, expected),
        (RecordedValue::Float(found), OwnedValue::Float(expected)) => {
            same("float bits", &found.to_bits(), &expected.to_bits())
        }
        (RecordedValue::Duration { ns: found }, OwnedValue::Duration { ns: expected }) => same("ns", &found, expected),
        (RecordedValue::String(found), OwnedValue::String(expected)) => same("string", found, expected),
        (RecordedValue::Array(found), OwnedValue::Array(expected)) => within("items", values(found, expected)),
        (RecordedValue::Enum(found), OwnedValue::Enum { name, case, payload }) => {
            same("name", found.name, name)?;
            same("case", found.case, case)?;
            within("payload", values(found.payload, payload))
        }
        (RecordedValue::Struct(found), OwnedValue::Struct { name, fields }) => {
            same("name", found.name, name)?;
            same("number of fields", &found.fields.len(), &fields.len())?;
            for (index, (found, expected)) in found.fields.iter().zip(fields).enumerate() {
                let (expected_name, expected_value) = expected;
                same("field name", found.name, expected_name)?;
                value(&found.value, expected_value).map_err(|inner| format!("fields[{index}]: {inner}"))?;
            }
            Ok(())
        }
        (RecordedValue::Resource(found), OwnedValue::Resource { name, id }) => {
            same("name", found.name, name)?;
            same("id", &found.id, id)
        }
        (RecordedValue::Redacted { of: found }, OwnedValue::Redacted { of: expected }) => same("of", found, expected),
        (RecordedValue::Opaque(found), OwnedValue::Opaque { of, shown }) => {
            same("of", found.of, of)?;
            same("shown", found.shown, shown)
        }
        // A live value among them: what is read or kept holds none.
        _ => differ(found, expected),
    }
}

fn values(found: &[RecordedValue<'_>], expected: &[OwnedValue]) -> Comparison {
    same("number of values", &found.len(), &expected.len())?;
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        value(found, expected).map_err(|inner| format!("[{index}]: {inner}"))?;
    }
    Ok(())
}

fn same<F: PartialEq<E> + Debug + ?Sized, E: Debug + ?Sized>(what: &str, found: &F, expected: &E) -> Comparison {
    if found == expected { Ok(()) } else { within(what, differ(found, expected)) }
}

fn differ(found: &(impl Debug + ?Sized), expected: &(impl Debug + ?Sized)) -> Comparison {
    Err(format!("found {found:?}, expected {expected:?}"))
}

fn within(what: &str, comparison: Comparison) -> Comparison {
    comparison.map_err(|inner| format!("{what}: {inner}"))
}
