//! Events to bytes: the schema of the format, readable from top to bottom. No input, no output, no lock.
//!
//! A line is written field by field straight into a byte buffer ([`buffer`]): a fragment of the schema as it stands here, and
//! what follows it: a string, escaped while it is copied ([`escape`]), or digits by `itoa` and `ryu`. Values are written by
//! their own code through a [`ValueWriter`] ([`value`]). Nothing is allocated but the room that the buffer needs.

mod buffer;
mod escape;
mod number;
mod scratch;
mod value;
mod written;

pub(crate) use self::scratch::{Line, with_line};
use self::number::nanoseconds;
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
        line.unsigned(br#"{"event":"trace_header","version":"#, TRACE_FORMAT_VERSION.into());
        line.string(br#","backend":"#, header.backend.as_str());
        line.string(br#","values":"#, header.values.as_str());
        line.string(br#","entry":"#, &header.entry);
        line.raw(br#","args":["#);
        for (index, arg) in header.args.iter().enumerate() {
            let arg = match capture {
                ValueCapture::Full => arg,
                ValueCapture::Redacted => TraceHeader::REDACTED_ARG,
            };
            if index == 0 {
                line.string(b"", arg);
            } else {
                line.string(b",", arg);
            }
        }
        line.raw(b"]}\n");
    }

    fn event(&mut self, event: &TraceEvent<'_>, capture: ValueCapture) {
        let line = &mut self.line;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => {
                line.unsigned(br#"{"event":"task_spawned","id":"#, id);
                self.unsigned_or_null(br#","parent":"#, parent);
                self.line.string(br#","scope":"#, scope);
            }
            TraceEvent::TaskCompleted { id, cpu } => {
                line.unsigned(br#"{"event":"task_completed","id":"#, id);
                line.unsigned(br#","cpu_ns":"#, nanoseconds(cpu));
            }
            TraceEvent::TaskCancelled { id } => {
                line.unsigned(br#"{"event":"task_cancelled","id":"#, id);
            }
            TraceEvent::HostCall(ref call) => self.host_call(call, capture),
            TraceEvent::EntryEnter { module, function } => {
                line.string(br#"{"event":"entry_enter","module":"#, module);
                line.string(br#","function":"#, function);
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                line.string(br#"{"event":"entry_exit","module":"#, module);
                line.string(br#","function":"#, function);
                line.unsigned(br#","cpu_ns":"#, nanoseconds(cpu));
                line.unsigned(br#","wait_ns":"#, nanoseconds(wait));
            }
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                line.unsigned(br#"{"event":"heap_collected","task":"#, task);
                line.unsigned(br#","allocated":"#, allocated);
                line.unsigned(br#","freed":"#, freed);
                line.unsigned(br#","live_objects":"#, live_objects);
                line.unsigned(br#","live_bytes":"#, live_bytes);
                line.unsigned(br#","pause_ns":"#, nanoseconds(pause));
            }
            TraceEvent::HeapSummary(ref summary) => self.heap_summary(summary),
            TraceEvent::RunEnded { outcome, message } => {
                line.string(br#"{"event":"run_ended","outcome":"#, outcome.as_str());
                match message {
                    Some(text) if keeps_message(outcome, capture) => line.string(br#","message":"#, text),
                    _ => line.raw(br#","message":null"#),
                }
            }
        }
        self.line.raw(b"}\n");
    }

    fn host_call(&mut self, call: &HostCall<'_>, capture: ValueCapture) {
        self.line.unsigned(br#"{"event":"host_call","task":"#, call.task);
        match call.site.rendered() {
            Some(rendered) => self.line.rendered(rendered),
            None => self.call_site(call.site),
        }
        self.line.unsigned(br#","wait_ns":"#, nanoseconds(call.wait));
        if call.granted {
            self.line.raw(br#","granted":true,"args":["#);
        } else {
            self.line.raw(br#","granted":false,"args":["#);
        }
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
                self.line.string(br#"],"outcome":{"kind":"error","message":"#, message);
                self.line.raw(b"}");
            }
            Some(HostOutcome::NotRecordable) => self.line.raw(br#"],"outcome":{"kind":"not_recordable"}"#),
        }
    }

    /// The part of a host call that never changes for one site.
    fn call_site(&mut self, site: CallSite<'_>) {
        self.line.string(br#","module":"#, site.module());
        self.line.string(br#","op":"#, site.op());
        self.line.string(br#","capability":"#, site.capability());
    }

    fn heap_summary(&mut self, summary: &HeapSummary) {
        self.line.unsigned(br#"{"event":"heap_summary","collections":"#, summary.collections);
        self.unsigned_or_null(br#","object_count":"#, summary.object_count);
        self.unsigned_or_null(br#","allocated_bytes":"#, summary.allocated_bytes);
        self.unsigned_or_null(br#","live_bytes":"#, summary.live_bytes);
        self.unsigned_or_null(br#","peak_bytes":"#, summary.peak_bytes);
        self.unsigned_or_null(br#","pause_ns":"#, summary.pause.map(nanoseconds));
        self.unsigned_or_null(br#","allocated_words":"#, summary.allocated_words);
        self.unsigned_or_null(br#","capacity_words":"#, summary.capacity_words);
        self.unsigned_or_null(br#","live_words":"#, summary.live_words);
    }

    fn recorded(&mut self, value: &RecordedValue<'_>, capture: ValueCapture) {
        match (capture, value) {
            (ValueCapture::Full, RecordedValue::Live(value)) => self.guarded(*value),
            (ValueCapture::Full, value) => self.guarded(value),
            (ValueCapture::Redacted, value) => self.redaction(value),
        }
    }

    fn unsigned_or_null<const N: usize>(&mut self, fragment: &[u8; N], number: Option<u64>) {
        match number {
            Some(number) => self.line.unsigned(fragment, number),
            None => {
                self.line.raw(fragment);
                self.line.raw(b"null");
            }
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
