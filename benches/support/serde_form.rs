//! The same events as borrowed structs with serde's derive, built beforehand.

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use serde::Serialize;

use super::names::Names;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    TaskSpawned {
        id: u64,
        parent: Option<u64>,
        scope: &'a str,
    },
    TaskCompleted {
        id: u64,
        cpu_ns: u64,
    },
    TaskCancelled {
        id: u64,
    },
    HostCall {
        task: u64,
        module: &'a str,
        op: &'a str,
        capability: &'a str,
        wait_ns: u64,
        granted: bool,
        args: Vec<Value<'a>>,
        outcome: Option<Outcome<'a>>,
    },
    HeapCollected {
        task: u64,
        allocated: u64,
        freed: u64,
        live_objects: u64,
        live_bytes: u64,
        pause_ns: u64,
    },
    RunEnded {
        outcome: &'static str,
        message: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome<'a> {
    Value { value: Value<'a> },
    Error { message: &'a str },
    NotRecordable,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Value<'a> {
    Unit,
    Bool { value: bool },
    Int { value: i64 },
    Float { value: f64 },
    Duration { ns: i64 },
    String { value: &'a str },
    Array { items: Vec<Value<'a>> },
    Enum { name: &'a str, case: &'a str, payload: Vec<Value<'a>> },
    Struct { name: &'a str, fields: Vec<Field<'a>> },
    Resource { name: &'a str, id: i64 },
    Redacted { of: &'a str },
    Opaque { of: &'a str, shown: &'a str },
}

#[derive(Serialize)]
pub struct Field<'a> {
    name: &'a str,
    value: Value<'a>,
}

pub fn events(events: &[OwnedEvent]) -> Vec<Event<'_>> {
    let mut names = Names::default();
    events.iter().map(|one| event(one, &mut names)).collect()
}

fn event<'a>(event: &'a OwnedEvent, names: &mut Names<'a>) -> Event<'a> {
    match event {
        OwnedEvent::TaskSpawned { id, parent, scope } => Event::TaskSpawned { id: *id, parent: *parent, scope },
        OwnedEvent::TaskCompleted { id, cpu } => Event::TaskCompleted { id: *id, cpu_ns: cpu.as_nanos() as u64 },
        OwnedEvent::TaskCancelled { id } => Event::TaskCancelled { id: *id },
        OwnedEvent::HostCall(call) => Event::HostCall {
            task: call.task,
            module: names.borrowed(&call.module),
            op: names.borrowed(&call.op),
            capability: names.borrowed(&call.capability),
            wait_ns: call.wait.as_nanos() as u64,
            granted: call.granted,
            args: call.args.iter().map(|arg| value(arg, names)).collect(),
            outcome: call.outcome.as_ref().map(|outcome| match outcome {
                OwnedOutcome::Value(result) => Outcome::Value { value: value(result, names) },
                OwnedOutcome::Error(message) => Outcome::Error { message },
                OwnedOutcome::NotRecordable => Outcome::NotRecordable,
            }),
        },
        OwnedEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => Event::HeapCollected {
            task: *task,
            allocated: *allocated,
            freed: *freed,
            live_objects: *live_objects,
            live_bytes: *live_bytes,
            pause_ns: pause.as_nanos() as u64,
        },
        OwnedEvent::RunEnded { outcome, message } => {
            Event::RunEnded { outcome: outcome.as_str(), message: message.as_deref() }
        }
        other => panic!("no corpus has {other:?}"),
    }
}

fn value<'a>(value: &'a OwnedValue, names: &mut Names<'a>) -> Value<'a> {
    match value {
        OwnedValue::Unit => Value::Unit,
        OwnedValue::Bool(value) => Value::Bool { value: *value },
        OwnedValue::Int(value) => Value::Int { value: *value },
        OwnedValue::Float(value) => Value::Float { value: *value },
        OwnedValue::Duration { ns } => Value::Duration { ns: *ns },
        OwnedValue::String(value) => Value::String { value },
        OwnedValue::Array(items) => Value::Array { items: items.iter().map(|item| self::value(item, names)).collect() },
        OwnedValue::Enum { name, case, payload } => {
            let (name, case) = (names.borrowed(name), names.borrowed(case));
            Value::Enum { name, case, payload: payload.iter().map(|item| self::value(item, names)).collect() }
        }
        OwnedValue::Struct { name, fields } => Value::Struct {
            name: names.borrowed(name),
            fields: fields
                .iter()
                .map(|(name, value)| Field { name: names.borrowed(name), value: self::value(value, names) })
                .collect(),
        },
        OwnedValue::Resource { name, id } => Value::Resource { name: names.borrowed(name), id: *id },
        OwnedValue::Redacted { of } => Value::Redacted { of },
        OwnedValue::Opaque { of, shown } => Value::Opaque { of, shown },
    }
}
