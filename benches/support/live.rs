//! The same events as an interpreter has them: reference-counted trees of its own, handed over as live values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, CallSite, HostCall, HostOutcome, ItemWriter, LiveArgs, RecordedValue, RenderedCallSite, TraceEvent,
    TraceValue, ValueWriter,
};

use super::names::Names;

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
    Secret(Rc<str>),
    Other(Rc<str>, Rc<str>),
}

pub struct Case {
    pub name: Rc<str>,
    pub case: Rc<str>,
    pub payload: Vec<Value>,
}

pub struct Record {
    pub name: Rc<str>,
    pub fields: Vec<(Rc<str>, Value)>,
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
            Self::Handle(name, _) | Self::Secret(name) | Self::Other(name, _) => name,
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
            Self::List(list) => out.array(|items| write_all(items, list)),
            Self::Case(case) => out.enum_case(&case.name, &case.case, |items| write_all(items, &case.payload)),
            Self::Record(record) => out.structure(&record.name, |fields| {
                for (name, value) in &record.fields {
                    fields.field(name, value);
                }
            }),
            Self::Handle(name, id) => out.resource(name, *id),
            Self::Secret(of) => out.redacted(of),
            Self::Other(name, shown) => out.opaque(name, shown),
        }
    }
}

#[inline]
fn write_all(items: &mut ItemWriter<'_>, values: &[Value]) {
    items.extend(values);
}

fn value<'a>(value: &'a OwnedValue, names: &mut Names<'a>) -> Value {
    match value {
        OwnedValue::Unit => Value::Nil,
        OwnedValue::Bool(value) => Value::Bool(*value),
        OwnedValue::Int(value) => Value::Int(*value),
        OwnedValue::Float(value) => Value::Float(*value),
        OwnedValue::Duration { ns } => Value::Span(*ns),
        OwnedValue::String(text) => Value::Text(text.as_str().into()),
        OwnedValue::Array(items) => Value::List(items.iter().map(|item| self::value(item, names)).collect()),
        OwnedValue::Enum { name, case, payload } => Value::Case(Rc::new(Case {
            name: names.shared(name),
            case: names.shared(case),
            payload: payload.iter().map(|item| self::value(item, names)).collect(),
        })),
        OwnedValue::Struct { name, fields } => Value::Record(Rc::new(Record {
            name: names.shared(name),
            fields: fields.iter().map(|(name, value)| (names.shared(name), self::value(value, names))).collect(),
        })),
        OwnedValue::Resource { name, id } => Value::Handle(names.shared(name), *id),
        OwnedValue::Redacted { of } => Value::Secret(names.shared(of)),
        OwnedValue::Opaque { of, shown } => Value::Other(names.shared(of), shown.as_str().into()),
    }
}

/// An event before it is recorded.
pub enum Event<'a> {
    Call(Call<'a>),
    Other(TraceEvent<'a>),
}

pub struct Call<'a> {
    pub task: u64,
    pub site: Rc<Site<'a>>,
    pub wait: Duration,
    pub granted: bool,
    pub args: Vec<Value>,
    pub outcome: Option<Outcome<'a>>,
}

pub struct Site<'a> {
    pub named: CallSite<'a>,
    pub rendered: RenderedCallSite,
}

pub enum Outcome<'a> {
    Value(Value),
    Error(&'a str),
    NotRecordable,
}

impl<'a> Site<'a> {
    pub fn new([module, op, capability]: [&'a str; 3]) -> Self {
        let rendered = RenderedCallSite::new(module, op, capability);
        Self { named: CallSite::new(module, op, capability), rendered }
    }
}

pub fn events<'a>(events: &'a [OwnedEvent], arena: &'a Arena) -> Vec<Event<'a>> {
    let (mut names, mut sites) = (Names::default(), HashMap::new());
    let mut event = |event: &'a OwnedEvent| {
        let OwnedEvent::HostCall(call) = event else {
            return Event::Other(event.view(arena));
        };
        let site = [&call.module, &call.op, &call.capability].map(|name| names.borrowed(name));
        Event::Call(Call {
            task: call.task,
            site: Rc::clone(sites.entry(site).or_insert_with(|| Rc::new(Site::new(site)))),
            wait: call.wait,
            granted: call.granted,
            args: call.args.iter().map(|arg| value(arg, &mut names)).collect(),
            outcome: call.outcome.as_ref().map(|outcome| match outcome {
                OwnedOutcome::Value(result) => Outcome::Value(value(result, &mut names)),
                OwnedOutcome::Error(message) => Outcome::Error(message),
                OwnedOutcome::NotRecordable => Outcome::NotRecordable,
            }),
        })
    };
    events.iter().map(&mut event).collect()
}

impl Event<'_> {
    /// Gives the event to `record`, with a rendered call site.
    #[inline]
    pub fn record(&self, record: impl FnOnce(&TraceEvent<'_>)) {
        match self {
            Self::Call(call) => call.record(call.site.rendered.site(), record),
            Self::Other(event) => record(event),
        }
    }

    /// Gives the event to `record`, with a plain call site.
    #[inline]
    pub fn record_named(&self, record: impl FnOnce(&TraceEvent<'_>)) {
        match self {
            Self::Call(call) => call.record(call.site.named, record),
            Self::Other(event) => record(event),
        }
    }
}

impl Call<'_> {
    #[inline]
    pub fn record(&self, site: CallSite<'_>, record: impl FnOnce(&TraceEvent<'_>)) {
        record(&TraceEvent::HostCall(HostCall {
            task: self.task,
            site,
            wait: self.wait,
            granted: self.granted,
            args: &LiveArgs::new(&self.args),
            outcome: self.outcome.as_ref().map(|outcome| match outcome {
                Outcome::Value(result) => HostOutcome::Value(RecordedValue::Live(result)),
                Outcome::Error(message) => HostOutcome::Error(message),
                Outcome::NotRecordable => HostOutcome::NotRecordable,
            }),
        }));
    }
}
