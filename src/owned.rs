//! Owned events and values, for programs that keep events, for tests, and for fuzzing.
//!
//! They correspond to [`TraceEvent`] and [`RecordedValue`], with `String`s and `Vec`s and without live values. The
//! [view](OwnedEvent::view) of an owned event is a [`TraceEvent`] again, which can be recorded.
//!
//! ```
//! use cove_trace::owned::OwnedEvent;
//! use cove_trace::{Arena, TraceEvent, ValueCapture, encode_event};
//!
//! let kept = OwnedEvent::from(&TraceEvent::TaskCancelled { id: 7 });
//! let arena = Arena::new();
//! let mut line = Vec::new();
//! encode_event(&kept.view(&arena), ValueCapture::Full, &mut line);
//! # assert!(line.ends_with(b"7}\n"));
//! ```

use std::borrow::Cow;
use std::time::Duration;

use crate::arena::Arena;
use crate::decode::Decoder;

use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::{RunOutcome, ValueCapture};
use crate::value::{
    MAX_VALUE_DEPTH, NotReplayable, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct,
    RecordedValue, TraceValue, Value, ValueWriter, impl_owned_value, type_names, value_to_json,
};

/// A [`TraceEvent`] that owns its contents.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each variant and field is described at its namesake in `TraceEvent`")]
#[non_exhaustive]
pub enum OwnedEvent {
    TaskSpawned { id: u64, parent: Option<u64>, scope: String },
    TaskCompleted { id: u64, cpu: Duration },
    TaskCancelled { id: u64 },
    HostCall(OwnedHostCall),
    EntryEnter { module: String, function: String },
    EntryExit { module: String, function: String, cpu: Duration, wait: Duration },
    HeapCollected { task: u64, allocated: u64, freed: u64, live_objects: u64, live_bytes: u64, pause: Duration },
    HeapSummary(HeapSummary),
    RunEnded { outcome: RunOutcome, message: Option<String> },
}

/// A [`HostCall`] that owns its contents.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each field is described at its namesake in `HostCall` and `CallSite`")]
pub struct OwnedHostCall {
    pub task: u64,
    pub module: String,
    pub op: String,
    pub capability: String,
    pub wait: Duration,
    pub granted: bool,
    pub args: Vec<OwnedValue>,
    pub outcome: Option<OwnedOutcome>,
}

/// A [`HostOutcome`] that owns its contents.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each variant is described at its namesake in `HostOutcome`")]
pub enum OwnedOutcome {
    Value(OwnedValue),
    Error(String),
    NotRecordable,
}

/// A [`RecordedValue`] that owns its contents. Unlike a [`Value`] it can have redacted and opaque parts.
///
/// Equality and recursion are those of [`Value`].
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each variant and field is described at its namesake in `RecordedValue`")]
pub enum OwnedValue {
    Unit,
    Bool(bool),
    Int(i64),
    Float(f64),
    Duration { ns: i64 },
    String(String),
    Array(Vec<OwnedValue>),
    Enum { name: String, case: String, payload: Vec<OwnedValue> },
    Struct { name: String, fields: Vec<(String, OwnedValue)> },
    Resource { name: String, id: i64 },
    Redacted { of: String },
    Opaque { of: String, shown: String },
}

impl_owned_value!(OwnedValue, float: float, {
    Redacted { of: of } => { name: of, write: |out| out.redacted(of) }
    Opaque { of: of, shown: shown } => { name: of, write: |out| out.opaque(of, shown) }
});

impl OwnedEvent {
    /// Returns the event as a [`TraceEvent`], which borrows from this event. The parts of its values are allocated in
    /// `arena`.
    pub fn view<'a>(&'a self, arena: &'a Arena) -> TraceEvent<'a> {
        match self {
            Self::TaskSpawned { id, parent, scope } => TraceEvent::TaskSpawned { id: *id, parent: *parent, scope },
            Self::TaskCompleted { id, cpu } => TraceEvent::TaskCompleted { id: *id, cpu: *cpu },
            Self::TaskCancelled { id } => TraceEvent::TaskCancelled { id: *id },
            Self::HostCall(call) => TraceEvent::HostCall(HostCall {
                task: call.task,
                site: CallSite::new(&call.module, &call.op, &call.capability),
                wait: call.wait,
                granted: call.granted,
                args: view_all(&call.args, arena, 1),
                outcome: call.outcome.as_ref().map(|outcome| match outcome {
                    OwnedOutcome::Value(value) => HostOutcome::Value(value.view(arena)),
                    OwnedOutcome::Error(message) => HostOutcome::Error(message),
                    OwnedOutcome::NotRecordable => HostOutcome::NotRecordable,
                }),
            }),
            Self::EntryEnter { module, function } => TraceEvent::EntryEnter { module, function },
            Self::EntryExit { module, function, cpu, wait } => {
                TraceEvent::EntryExit { module, function, cpu: *cpu, wait: *wait }
            }
            Self::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                TraceEvent::HeapCollected {
                    task: *task,
                    allocated: *allocated,
                    freed: *freed,
                    live_objects: *live_objects,
                    live_bytes: *live_bytes,
                    pause: *pause,
                }
            }
            Self::HeapSummary(summary) => TraceEvent::HeapSummary(*summary),
            Self::RunEnded { outcome, message } => {
                TraceEvent::RunEnded { outcome: *outcome, message: message.as_deref() }
            }
        }
    }
}

/// Converts live values, and containers beyond the depth limit, into the values that a trace contains for them.
impl From<&TraceEvent<'_>> for OwnedEvent {
    fn from(event: &TraceEvent<'_>) -> Self {
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => Self::TaskSpawned { id, parent, scope: scope.into() },
            TraceEvent::TaskCompleted { id, cpu } => Self::TaskCompleted { id, cpu },
            TraceEvent::TaskCancelled { id } => Self::TaskCancelled { id },
            TraceEvent::HostCall(call) => Self::HostCall(OwnedHostCall {
                task: call.task,
                module: call.site.module().into(),
                op: call.site.op().into(),
                capability: call.site.capability().into(),
                wait: call.wait,
                granted: call.granted,
                args: call.args.iter().map(OwnedValue::from).collect(),
                outcome: call.outcome.map(|outcome| match outcome {
                    HostOutcome::Value(value) => OwnedOutcome::Value(OwnedValue::from(&value)),
                    HostOutcome::Error(message) => OwnedOutcome::Error(message.into()),
                    HostOutcome::NotRecordable => OwnedOutcome::NotRecordable,
                }),
            }),
            TraceEvent::EntryEnter { module, function } => {
                Self::EntryEnter { module: module.into(), function: function.into() }
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                Self::EntryExit { module: module.into(), function: function.into(), cpu, wait }
            }
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                Self::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause }
            }
            TraceEvent::HeapSummary(summary) => Self::HeapSummary(summary),
            TraceEvent::RunEnded { outcome, message } => Self::RunEnded { outcome, message: message.map(Into::into) },
        }
    }
}

impl OwnedValue {
    /// Returns the value as a [`RecordedValue`], which borrows from this value. Its parts are allocated in `arena`.
    /// Parts deeper than [`MAX_VALUE_DEPTH`] are live values in it.
    pub fn view<'a>(&'a self, arena: &'a Arena) -> RecordedValue<'a> {
        self.view_at(arena, 1)
    }

    fn view_at<'a>(&'a self, arena: &'a Arena, level: usize) -> RecordedValue<'a> {
        if level > MAX_VALUE_DEPTH {
            return RecordedValue::Live(self);
        }
        match self {
            Self::Unit => RecordedValue::Unit,
            Self::Bool(value) => RecordedValue::Bool(*value),
            Self::Int(value) => RecordedValue::Int(*value),
            Self::Float(value) => RecordedValue::Float(*value),
            Self::Duration { ns } => RecordedValue::Duration { ns: *ns },
            Self::String(text) => RecordedValue::String(text),
            Self::Array(items) => RecordedValue::Array(view_all(items, arena, level + 1)),
            Self::Enum { name, case, payload } => {
                let payload = view_all(payload, arena, level + 1);
                RecordedValue::Enum(arena.one(RecordedEnum { name, case, payload }))
            }
            Self::Struct { name, fields } => {
                let fields = arena.slice_of(fields.len(), |index| {
                    let (name, value) = &fields[index];
                    RecordedField { name, value: value.view_at(arena, level + 1) }
                });
                RecordedValue::Struct(arena.one(RecordedStruct { name, fields }))
            }
            Self::Resource { name, id } => RecordedValue::Resource(arena.one(RecordedResource { name, id: *id })),
            Self::Redacted { of } => RecordedValue::Redacted { of },
            Self::Opaque { of, shown } => RecordedValue::Opaque(arena.one(RecordedOpaque { of, shown })),
        }
    }
}

fn view_all<'a>(values: &'a [OwnedValue], arena: &'a Arena, level: usize) -> &'a [RecordedValue<'a>] {
    arena.slice_of(values.len(), |index| values[index].view_at(arena, level))
}

/// Converts live values, and containers beyond the depth limit, into the values that a trace contains for them.
impl From<&RecordedValue<'_>> for OwnedValue {
    fn from(value: &RecordedValue<'_>) -> Self {
        as_read_back(value, own)
    }
}

impl RecordedValue<'_> {
    /// Converts the value to an owned one without redacted or opaque parts, which a replay can return to a program.
    ///
    /// Live values, and containers beyond the depth limit, are first converted into the values that a trace contains
    /// for them.
    ///
    /// # Errors
    ///
    /// Returns the path and type of the first redacted or opaque part. A float that is not finite counts as opaque, as
    /// it does in a trace.
    pub fn to_value(&self) -> Result<Value, NotReplayable> {
        as_read_back(self, replayable)
    }
}

/// Calls `take` with the value that a reader would return for `value`: without live parts, within the depth limit.
fn as_read_back<T>(value: &RecordedValue<'_>, take: impl FnOnce(&RecordedValue<'_>) -> T) -> T {
    if is_plain(value, 1) {
        return take(value);
    }
    let written = value_to_json(value, ValueCapture::Full);
    match Decoder::new().decode_value(written.as_bytes()) {
        Ok(read) => take(&read),
        Err(error) => {
            // The reader reads everything that the writer writes, so this is a bug in this crate. It must not panic in
            // a traced program.
            let (of, shown) = (value.type_name(), error.to_string());
            take(&RecordedValue::Opaque(&RecordedOpaque { of: &of, shown: &shown }))
        }
    }
}

/// Returns whether a value at `level` has no live parts and nests within the limit.
fn is_plain(value: &RecordedValue<'_>, level: usize) -> bool {
    let admitted = level < MAX_VALUE_DEPTH;
    let is_plain = |part: &RecordedValue<'_>| is_plain(part, level + 1);
    match value {
        RecordedValue::Live(_) => false,
        RecordedValue::Array(items) => admitted && items.iter().all(is_plain),
        RecordedValue::Enum(value) => admitted && value.payload.iter().all(is_plain),
        RecordedValue::Struct(value) => admitted && value.fields.iter().all(|field| is_plain(&field.value)),
        _ => true,
    }
}

// The functions below recurse. To use little stack without optimization they have loops instead of iterator adapters,
// and code that does not recurse is in functions or closures of its own.

fn own(value: &RecordedValue<'_>) -> OwnedValue {
    match *value {
        RecordedValue::Unit => OwnedValue::Unit,
        RecordedValue::Bool(value) => OwnedValue::Bool(value),
        RecordedValue::Int(value) => OwnedValue::Int(value),
        RecordedValue::Float(value) => OwnedValue::Float(value),
        RecordedValue::Duration { ns } => OwnedValue::Duration { ns },
        RecordedValue::String(text) => OwnedValue::String(text.into()),
        RecordedValue::Array(items) => OwnedValue::Array(own_all(items)),
        RecordedValue::Enum(value) => {
            OwnedValue::Enum { name: value.name.into(), case: value.case.into(), payload: own_all(value.payload) }
        }
        RecordedValue::Struct(value) => {
            OwnedValue::Struct { name: value.name.into(), fields: own_fields(value.fields) }
        }
        RecordedValue::Resource(value) => OwnedValue::Resource { name: value.name.into(), id: value.id },
        RecordedValue::Redacted { of } => OwnedValue::Redacted { of: of.into() },
        RecordedValue::Opaque(value) => OwnedValue::Opaque { of: value.of.into(), shown: value.shown.into() },
        RecordedValue::Live(value) => OwnedValue::Opaque { of: value.type_name().into(), shown: String::new() },
    }
}

fn own_all(values: &[RecordedValue<'_>]) -> Vec<OwnedValue> {
    let mut owned = Vec::with_capacity(values.len());
    for value in values {
        owned.push(own(value));
    }
    owned
}

fn own_fields(fields: &[RecordedField<'_>]) -> Vec<(String, OwnedValue)> {
    let mut owned = Vec::with_capacity(fields.len());
    for field in fields {
        owned.push((field.name.into(), own(&field.value)));
    }
    owned
}

fn replayable(value: &RecordedValue<'_>) -> Result<Value, NotReplayable> {
    match value {
        RecordedValue::Array(items) => replayable_parts("items", items).map(Value::Array),
        RecordedValue::Enum(value) => replayable_parts("payload", value.payload)
            .map(|payload| Value::from_enum(value.name.into(), value.case.into(), payload)),
        RecordedValue::Struct(value) => {
            replayable_fields(value.fields).map(|fields| Value::Struct { name: value.name.into(), fields })
        }
        without_parts => replayable_leaf(without_parts),
    }
}

fn replayable_parts(list: &str, parts: &[RecordedValue<'_>]) -> Result<Vec<Value>, NotReplayable> {
    let within_part = |missing: NotReplayable, index| Err(missing.within(&format!(".{list}[{index}]")));
    let mut values = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        match replayable(part) {
            Ok(value) => values.push(value),
            Err(missing) => return within_part(missing, index),
        }
    }
    Ok(values)
}

fn replayable_fields(fields: &[RecordedField<'_>]) -> Result<Vec<(String, Value)>, NotReplayable> {
    let within_field = |missing: NotReplayable, name| Err(missing.within(&format!(".fields.{name}")));
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        match replayable(&field.value) {
            Ok(value) => values.push((field.name.into(), value)),
            Err(missing) => return within_field(missing, field.name),
        }
    }
    Ok(values)
}

fn replayable_leaf(value: &RecordedValue<'_>) -> Result<Value, NotReplayable> {
    let (what, of) = match *value {
        RecordedValue::Unit => return Ok(Value::Unit),
        RecordedValue::Bool(value) => return Ok(Value::Bool(value)),
        RecordedValue::Int(value) => return Ok(Value::Int(value)),
        RecordedValue::Float(value) if value.is_finite() => return Ok(Value::Float(value)),
        RecordedValue::Duration { ns } => return Ok(Value::Duration { ns }),
        RecordedValue::String(text) => return Ok(Value::String(text.into())),
        RecordedValue::Resource(value) => return Ok(Value::Resource { name: value.name.into(), id: value.id }),
        RecordedValue::Redacted { of } => ("redacted", Cow::Borrowed(of)),
        RecordedValue::Float(_) | RecordedValue::Opaque(_) => ("opaque", value.type_name()),
        // Unreachable: `replayable` handles containers, and `as_read_back` removes live values.
        RecordedValue::Array(_) | RecordedValue::Enum(_) | RecordedValue::Struct(_) | RecordedValue::Live(_) => {
            ("unwritten", value.type_name())
        }
    };
    Err(NotReplayable { path: String::new(), what, of: of.into_owned() })
}
