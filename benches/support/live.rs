//! The same values as an interpreter has them: reference-counted trees of its own, handed over as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    CallSite, HostCall, HostOutcome, RecordedValue, RenderedCallSite, TraceEvent, TraceValue, ValueWriter,
};

use super::corpora::static_name;

pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Span(i64),
    Text(Rc<str>),
    List(Rc<[Value]>),
    Case(Rc<Case>),
    Record(Rc<Record>),
    Handle(Rc<str>, i64),
    Other(Rc<str>, Rc<str>),
}

pub struct Case {
    name: Box<str>,
    case: Box<str>,
    payload: Vec<Value>,
}

pub struct Record {
    name: Box<str>,
    fields: Vec<(Box<str>, Value)>,
}

impl TraceValue for Value {
    fn type_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Nil => "Unit",
            Self::Bool(_) => "Bool",
            Self::Int(_) => "Int",
            Self::Float(_) => "Float",
            Self::Span(_) => "Duration",
            Self::Text(_) => "String",
            Self::List(_) => "Array",
            Self::Case(case) => &case.name,
            Self::Record(record) => &record.name,
            Self::Handle(name, _) | Self::Other(name, _) => name,
        })
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self {
            Self::Nil => out.unit(),
            Self::Bool(value) => out.bool(*value),
            Self::Int(value) => out.int(*value),
            Self::Float(value) => out.float(*value),
            Self::Span(ns) => out.duration_ns(*ns),
            Self::Text(text) => out.string(text),
            Self::List(list) => out.array(|items| items.all(list.iter())),
            Self::Case(case) => out.enum_case(&case.name, &case.case, |payload| payload.all(&case.payload)),
            Self::Record(record) => out.structure(&record.name, |fields| {
                for (name, value) in &record.fields {
                    fields.field(name, value);
                }
            }),
            Self::Handle(name, id) => out.resource(name, *id),
            Self::Other(name, shown) => out.opaque(name, shown),
        }
    }
}

pub fn value(value: &OwnedValue) -> Value {
    match value {
        OwnedValue::Unit => Value::Nil,
        OwnedValue::Bool(value) => Value::Bool(*value),
        OwnedValue::Int(value) => Value::Int(*value),
        OwnedValue::Float(value) => Value::Float(*value),
        OwnedValue::Duration { ns } => Value::Span(*ns),
        OwnedValue::String(text) => Value::Text(text.as_str().into()),
        OwnedValue::Array(items) => Value::List(items.iter().map(self::value).collect()),
        OwnedValue::Enum { name, case, payload } => Value::Case(Rc::new(Case {
            name: name.as_str().into(),
            case: case.as_str().into(),
            payload: payload.iter().map(self::value).collect(),
        })),
        OwnedValue::Struct { name, fields } => Value::Record(Rc::new(Record {
            name: name.as_str().into(),
            fields: fields.iter().map(|(name, value)| (name.as_str().into(), self::value(value))).collect(),
        })),
        OwnedValue::Resource { name, id } => Value::Handle(name.as_str().into(), *id),
        OwnedValue::Redacted { of } => Value::Other(of.as_str().into(), "".into()),
        OwnedValue::Opaque { of, shown } => Value::Other(of.as_str().into(), shown.as_str().into()),
    }
}

/// An event as an interpreter has it before it records: its own values, and what else a host call has.
pub struct Live<'a> {
    pub event: &'a OwnedEvent,
    args: Vec<Value>,
    result: Option<Value>,
    site: Option<(CallSite<'a>, Rc<RenderedCallSite>)>,
}

pub fn events(events: &[OwnedEvent]) -> Vec<Live<'_>> {
    let mut rendered = HashMap::new();
    events
        .iter()
        .map(|event| match event {
            OwnedEvent::HostCall(call) => {
                Live {
                    event,
                    args: call.args.iter().map(value).collect(),
                    result: match &call.outcome {
                        Some(OwnedOutcome::Value(result)) => Some(value(result)),
                        _ => None,
                    },
                    site: Some((
                        CallSite::new(static_name(&call.module), static_name(&call.op), static_name(&call.capability)),
                        Rc::clone(rendered.entry([&call.module, &call.op, &call.capability]).or_insert_with(|| {
                            Rc::new(RenderedCallSite::new(&call.module, &call.op, &call.capability))
                        })),
                    )),
                }
            }
            event => Live { event, args: Vec::new(), result: None, site: None },
        })
        .collect()
}

impl Live<'_> {
    /// Builds the event from the interpreter's values, as the one place that records host calls would, and gives it to
    /// `record`.
    #[inline]
    pub fn with_event(&self, rendered: bool, record: impl FnOnce(&TraceEvent<'_>)) {
        let (OwnedEvent::HostCall(call), Some((named, site))) = (self.event, &self.site) else {
            let arena = cove_trace::Arena::new();
            return record(&self.event.view(&arena));
        };
        let mut args = [RecordedValue::Unit; 4];
        for (arg, value) in args.iter_mut().zip(&self.args) {
            *arg = RecordedValue::Live(value);
        }
        let site = if rendered { site.site() } else { *named };
        record(&TraceEvent::HostCall(HostCall {
            task: call.task,
            site,
            wait: call.wait,
            granted: call.granted,
            args: &args[..self.args.len()],
            outcome: call.outcome.as_ref().map(|outcome| match (outcome, &self.result) {
                (_, Some(result)) => HostOutcome::Value(RecordedValue::Live(result)),
                (OwnedOutcome::Error(message), None) => HostOutcome::Error(message),
                (_, None) => HostOutcome::NotRecordable,
            }),
        }));
    }
}

pub fn text(text: &str) -> Value {
    Value::Text(text.into())
}

pub fn ok_unit() -> Value {
    Value::Case(Rc::new(Case { name: "Result".into(), case: "Ok".into(), payload: vec![Value::Nil] }))
}
