//! Events to bytes: the schema of the format, readable from top to bottom. No input, no output, no lock.
//!
//! A line is written field by field straight into a byte buffer: literal fragments as they are, strings escaped while they
//! are copied ([`escape`]), digits by `itoa` and `ryu` ([`number`]), values by their own code through a [`ValueWriter`]
//! ([`value`]). Nothing is allocated but the room the buffer needs.

mod buffer;
mod escape;
mod number;
mod scratch;
mod value;
mod written;

pub(crate) use self::scratch::{Line, with_line};
use self::value::Encoder;
pub(crate) use self::value::discard;
pub use self::value::{FieldWriter, ItemWriter, ValueWriter};
use crate::event::{
    CallSite, HeapSummary, HostCall, HostOutcome, RenderedCallSite, TRACE_FORMAT_VERSION, TraceEvent, TraceHeader,
};
use crate::names::{RunOutcome, ValueCapture};
use crate::value::{RecordedValue, TraceValue};

/// Appends the line of `event` to `out`, its newline included.
///
/// What sinks are made of. Never fails, and appends exactly one line whatever the event's values do; allocates only when
/// `out` has to grow.
///
/// ```
/// use cove_trace::{TraceEvent, ValueCapture, encode_event};
///
/// let mut out = Vec::new();
/// encode_event(&TraceEvent::TaskCancelled { id: 7 }, ValueCapture::Full, &mut out);
/// assert_eq!(out, b"{\"event\":\"task_cancelled\",\"id\":7}\n");
/// ```
pub fn encode_event(event: &TraceEvent<'_>, capture: ValueCapture, out: &mut Vec<u8>) {
    append(out, |encoder| encoder.event(event, capture));
}

/// Appends the line of `header` to `out`, its newline included.
///
/// The line declares `header.values`; `capture` says whether the arguments are written or redacted. A recording sink
/// passes `header.values` for both, a tool that copies a trace as it stands passes [`ValueCapture::Full`].
pub fn encode_header(header: &TraceHeader, capture: ValueCapture, out: &mut Vec<u8>) {
    append(out, |encoder| encoder.header(header, capture));
}

/// Renders one value in the trace's value encoding, honouring `capture`.
///
/// For tests and tools: it allocates the text it returns.
pub fn value_to_json<V: TraceValue + ?Sized>(value: &V, capture: ValueCapture) -> String {
    let mut out = Vec::new();
    append(&mut out, |encoder| match capture {
        ValueCapture::Full => encoder.guarded(value),
        ValueCapture::Redacted => encoder.redaction(value),
    });
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl RenderedCallSite {
    /// Renders the operation `op` of host module `module`, guarded by `capability`. Allocates; meant for start-up.
    #[must_use]
    pub fn new(module: &str, op: &str, capability: &str) -> Self {
        let site = CallSite::new(module, op, capability);
        let mut rendered = Vec::new();
        append(&mut rendered, |encoder| encoder.call_site(site));
        Self::keep(site, rendered)
    }
}

/// Lets `write` append to `out`.
fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Encoder)) {
    let mut encoder = Encoder::append_to(std::mem::take(out));
    write(&mut encoder);
    *out = encoder.line.into_bytes();
}

/// The schema.
impl Encoder {
    fn header(&mut self, header: &TraceHeader, capture: ValueCapture) {
        let line = &mut self.line;
        line.raw(br#"{"event":"trace_header","version":"#);
        line.unsigned(TRACE_FORMAT_VERSION.into());
        line.raw(br#","backend":"#);
        line.string(header.backend.as_str());
        line.raw(br#","values":"#);
        line.string(header.values.as_str());
        line.raw(br#","entry":"#);
        line.string(&header.entry);
        line.raw(br#","args":["#);
        for (index, arg) in header.args.iter().enumerate() {
            if index > 0 {
                line.raw(b",");
            }
            line.string(match capture {
                ValueCapture::Full => arg,
                ValueCapture::Redacted => TraceHeader::REDACTED_ARG,
            });
        }
        line.raw(b"]}\n");
    }

    fn event(&mut self, event: &TraceEvent<'_>, capture: ValueCapture) {
        let line = &mut self.line;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => {
                line.raw(br#"{"event":"task_spawned","id":"#);
                line.unsigned(id);
                line.raw(br#","parent":"#);
                self.unsigned_or_null(parent);
                self.line.raw(br#","scope":"#);
                self.line.string(scope);
            }
            TraceEvent::TaskCompleted { id, cpu } => {
                line.raw(br#"{"event":"task_completed","id":"#);
                line.unsigned(id);
                line.raw(br#","cpu_ns":"#);
                line.nanoseconds(cpu);
            }
            TraceEvent::TaskCancelled { id } => {
                line.raw(br#"{"event":"task_cancelled","id":"#);
                line.unsigned(id);
            }
            TraceEvent::HostCall(ref call) => self.host_call(call, capture),
            TraceEvent::EntryEnter { module, function } => {
                line.raw(br#"{"event":"entry_enter","module":"#);
                line.string(module);
                line.raw(br#","function":"#);
                line.string(function);
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                line.raw(br#"{"event":"entry_exit","module":"#);
                line.string(module);
                line.raw(br#","function":"#);
                line.string(function);
                line.raw(br#","cpu_ns":"#);
                line.nanoseconds(cpu);
                line.raw(br#","wait_ns":"#);
                line.nanoseconds(wait);
            }
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                line.raw(br#"{"event":"heap_collected","task":"#);
                line.unsigned(task);
                line.raw(br#","allocated":"#);
                line.unsigned(allocated);
                line.raw(br#","freed":"#);
                line.unsigned(freed);
                line.raw(br#","live_objects":"#);
                line.unsigned(live_objects);
                line.raw(br#","live_bytes":"#);
                line.unsigned(live_bytes);
                line.raw(br#","pause_ns":"#);
                line.nanoseconds(pause);
            }
            TraceEvent::HeapSummary(ref summary) => self.heap_summary(summary),
            TraceEvent::RunEnded { outcome, message } => {
                line.raw(br#"{"event":"run_ended","outcome":"#);
                line.string(outcome.as_str());
                line.raw(br#","message":"#);
                match message {
                    Some(text) if keeps_message(outcome, capture) => line.string(text),
                    _ => line.raw(b"null"),
                }
            }
        }
        self.line.raw(b"}\n");
    }

    fn host_call(&mut self, call: &HostCall<'_>, capture: ValueCapture) {
        self.line.raw(br#"{"event":"host_call","task":"#);
        self.line.unsigned(call.task);
        match call.site.rendered() {
            Some(rendered) => self.line.raw(rendered),
            None => self.call_site(call.site),
        }
        self.line.nanoseconds(call.wait);
        self.line.raw(if call.granted { br#","granted":true,"args":["# } else { br#","granted":false,"args":["# });
        for (index, arg) in call.args.iter().enumerate() {
            if index > 0 {
                self.line.raw(b",");
            }
            self.recorded(arg, capture);
        }
        match call.outcome {
            None => self.line.raw(br#"],"outcome":null"#),
            Some(HostOutcome::Value(ref value)) => {
                self.line.raw(br#"],"outcome":{"kind":"value","value":"#);
                self.recorded(value, capture);
                self.line.raw(b"}");
            }
            Some(HostOutcome::Error(message)) => {
                self.line.raw(br#"],"outcome":{"kind":"error","message":"#);
                self.line.string(message);
                self.line.raw(b"}");
            }
            Some(HostOutcome::NotRecordable) => self.line.raw(br#"],"outcome":{"kind":"not_recordable"}"#),
        }
    }

    /// The part of a host call that never changes for one site: from after the task's number to before the wait's.
    fn call_site(&mut self, site: CallSite<'_>) {
        self.line.raw(br#","module":"#);
        self.line.string(site.module());
        self.line.raw(br#","op":"#);
        self.line.string(site.op());
        self.line.raw(br#","capability":"#);
        self.line.string(site.capability());
        self.line.raw(br#","wait_ns":"#);
    }

    fn heap_summary(&mut self, summary: &HeapSummary) {
        self.line.raw(br#"{"event":"heap_summary","collections":"#);
        self.line.unsigned(summary.collections);
        self.line.raw(br#","object_count":"#);
        self.unsigned_or_null(summary.object_count);
        self.line.raw(br#","allocated_bytes":"#);
        self.unsigned_or_null(summary.allocated_bytes);
        self.line.raw(br#","live_bytes":"#);
        self.unsigned_or_null(summary.live_bytes);
        self.line.raw(br#","peak_bytes":"#);
        self.unsigned_or_null(summary.peak_bytes);
        self.line.raw(br#","pause_ns":"#);
        match summary.pause {
            Some(pause) => self.line.nanoseconds(pause),
            None => self.line.raw(b"null"),
        }
        self.line.raw(br#","allocated_words":"#);
        self.unsigned_or_null(summary.allocated_words);
        self.line.raw(br#","capacity_words":"#);
        self.unsigned_or_null(summary.capacity_words);
        self.line.raw(br#","live_words":"#);
        self.unsigned_or_null(summary.live_words);
    }

    fn recorded(&mut self, value: &RecordedValue<'_>, capture: ValueCapture) {
        match (capture, value) {
            (ValueCapture::Full, RecordedValue::Live(value)) => self.guarded(*value),
            (ValueCapture::Full, value) => self.guarded(value),
            (ValueCapture::Redacted, value) => self.redaction(value),
        }
    }

    fn unsigned_or_null(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.line.unsigned(number),
            None => self.line.raw(b"null"),
        }
    }
}

/// Whether a run's closing message stays: not where the program built it and the trace is redacted.
const fn keeps_message(outcome: RunOutcome, capture: ValueCapture) -> bool {
    match capture {
        ValueCapture::Full => true,
        ValueCapture::Redacted => !outcome.is_programs_own(),
    }
}
