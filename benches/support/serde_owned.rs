//! The same events as owned structs with serde's derive: the usual way to read such a file.

use std::time::Duration;

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    TaskSpawned {
        id: u64,
        parent: Option<u64>,
        scope: String,
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
        module: String,
        op: String,
        capability: String,
        wait_ns: u64,
        granted: bool,
        args: Vec<Value>,
        outcome: Option<Outcome>,
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
        outcome: String,
        message: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    Value { value: Value },
    Error { message: String },
    NotRecordable,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Value {
    Unit,
    Bool { value: bool },
    Int { value: i64 },
    Float { value: f64 },
    Duration { ns: i64 },
    String { value: String },
    Array { items: Vec<Value> },
    Enum { name: String, case: String, payload: Vec<Value> },
    Struct { name: String, fields: Vec<Field> },
    Resource { name: String, id: i64 },
    Redacted { of: String },
    Opaque { of: String, shown: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    name: String,
    value: Value,
}

impl From<Event> for OwnedEvent {
    fn from(event: Event) -> Self {
        match event {
            Event::TaskSpawned { id, parent, scope } => Self::TaskSpawned { id, parent, scope },
            Event::TaskCompleted { id, cpu_ns } => Self::TaskCompleted { id, cpu: Duration::from_nanos(cpu_ns) },
            Event::TaskCancelled { id } => Self::TaskCancelled { id },
            Event::HostCall { task, module, op, capability, wait_ns, granted, args, outcome } => {
                let wait = Duration::from_nanos(wait_ns);
                let args = args.into_iter().map(value).collect();
                let outcome = outcome.map(|outcome| match outcome {
                    Outcome::Value { value: result } => OwnedOutcome::Value(value(result)),
                    Outcome::Error { message } => OwnedOutcome::Error(message),
                    Outcome::NotRecordable => OwnedOutcome::NotRecordable,
                });
                Self::HostCall(OwnedHostCall { task, module, op, capability, wait, granted, args, outcome })
            }
            Event::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause_ns } => {
                let pause = Duration::from_nanos(pause_ns);
                Self::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause }
            }
            Event::RunEnded { outcome, message } => {
                Self::RunEnded { outcome: outcome.parse().expect("a run outcome"), message }
            }
        }
    }
}

fn value(value: Value) -> OwnedValue {
    let all = |values: Vec<Value>| values.into_iter().map(self::value).collect::<Vec<_>>();
    match value {
        Value::Unit => OwnedValue::Unit,
        Value::Bool { value } => OwnedValue::Bool(value),
        Value::Int { value } => OwnedValue::Int(value),
        Value::Float { value } => OwnedValue::Float(value),
        Value::Duration { ns } => OwnedValue::Duration { ns },
        Value::String { value } => OwnedValue::String(value),
        Value::Array { items } => OwnedValue::Array(all(items)),
        Value::Enum { name, case, payload } => OwnedValue::Enum { name, case, payload: all(payload) },
        Value::Struct { name, fields } => OwnedValue::Struct {
            name,
            fields: fields.into_iter().map(|field| (field.name, self::value(field.value))).collect(),
        },
        Value::Resource { name, id } => OwnedValue::Resource { name, id },
        Value::Redacted { of } => OwnedValue::Redacted { of },
        Value::Opaque { of, shown } => OwnedValue::Opaque { of, shown },
    }
}
