//! Events to bytes: the schema of the format, readable from top to bottom. No input, no output, no lock.
//!
//! A line is put straight into a byte buffer ([`buffer`]): fragments of the schema as they stand here, strings, escaped while
//! they are copied ([`escape`]), digits by `itoa` and `ryu`. Values are written in the shapes of the value encoding
//! ([`shapes`]), by their own code through a [`ValueWriter`] ([`value`]) or as the event holds them ([`tree`]). Nothing is
//! allocated but the room that the buffer needs.

#[cfg(test)]
mod bounds;
mod buffer;
mod escape;
#[cfg(test)]
mod guarded;
mod number;
mod parts;
mod scratch;
mod shapes;
mod tree;
mod value;
mod written;

use self::buffer::Part;
#[cfg(feature = "__fuzzing")]
pub use self::escape::escaped_in_all_ways;
use self::number::nanoseconds;
use self::parts::{Either, Rendered, Tail};
pub(crate) use self::scratch::{Line, with_line};
use self::tree::ok_of_a_leaf;
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
    append(&mut out, |encoder| encoder.recorded(&RecordedValue::Live(&value), capture, Tail::NONE));
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Appends each of `values` to `out` in the trace's value encoding, with a newline after it. Equal values give equal bytes,
/// and no encoding has a newline in it, so values can be compared and kept in this form.
pub(crate) fn encode_value_lines(values: &[RecordedValue<'_>], capture: ValueCapture, out: &mut Vec<u8>) {
    append(out, |encoder| {
        for value in values {
            encoder.recorded(value, capture, Tail::new(b"\n"));
        }
    });
}

impl RenderedCallSite {
    /// Renders the operation `op` of host module `module`, guarded by `capability`. Allocates; meant for start-up.
    #[must_use]
    pub fn new(module: &str, op: &str, capability: &str) -> Self {
        let site = CallSite::new(module, op, capability);
        let mut rendered = Vec::new();
        append(&mut rendered, |encoder| encoder.line.put(call_site(&site)));
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
        let TraceHeader { backend, values, entry, args } = header;
        let line = &mut self.line;
        line.put((br#"{"event":"trace_header","version":"#, u64::from(TRACE_FORMAT_VERSION)));
        line.put((br#","backend":""#, backend.as_str(), br#"","values":""#, values.as_str()));
        line.put((br#"","entry":""#, entry.as_str(), br#"","args":["#));
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                line.put(b",");
            }
            let arg = match capture {
                ValueCapture::Full => arg,
                ValueCapture::Redacted => TraceHeader::REDACTED_ARG,
            };
            line.put((b"\"", arg, b"\""));
        }
        line.put(b"]}\n");
    }

    fn event(&mut self, event: &TraceEvent<'_>, capture: ValueCapture) {
        let line = &mut self.line;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => line.put((
                (br#"{"event":"task_spawned","id":"#, id),
                (br#","parent":"#, parent),
                (br#","scope":""#, scope),
                b"\"}\n",
            )),
            TraceEvent::TaskCompleted { id, cpu } => {
                line.put((br#"{"event":"task_completed","id":"#, id, br#","cpu_ns":"#, cpu, b"}\n"));
            }
            TraceEvent::TaskCancelled { id } => {
                line.put((br#"{"event":"task_cancelled","id":"#, id, b"}\n"));
            }
            TraceEvent::HostCall(ref call) => self.host_call(call, capture),
            TraceEvent::EntryEnter { module, function } => {
                line.put((br#"{"event":"entry_enter","module":""#, module, br#"","function":""#, function, b"\"}\n"));
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => line.put((
                (br#"{"event":"entry_exit","module":""#, module),
                (br#"","function":""#, function),
                (br#"","cpu_ns":"#, cpu),
                (br#","wait_ns":"#, wait),
                b"}\n",
            )),
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => line.put((
                (br#"{"event":"heap_collected","task":"#, task),
                (br#","allocated":"#, allocated),
                (br#","freed":"#, freed),
                (br#","live_objects":"#, live_objects),
                (br#","live_bytes":"#, live_bytes),
                (br#","pause_ns":"#, pause),
                b"}\n",
            )),
            TraceEvent::HeapSummary(ref summary) => self.heap_summary(summary),
            TraceEvent::RunEnded { outcome, message } => {
                line.put((br#"{"event":"run_ended","outcome":""#, outcome.as_str(), br#"","message":"#));
                match message {
                    Some(text) if keeps_message(outcome, capture) => line.put((b"\"", text, b"\"}\n")),
                    _ => line.put(b"null}\n"),
                }
            }
        }
    }

    fn host_call(&mut self, call: &HostCall<'_>, capture: ValueCapture) {
        let start = (br#"{"event":"host_call","task":"#, call.task);
        let verdicts = (br#","granted":true,"args":["#, br#","granted":false,"args":["#);
        let verdict = (br#"","wait_ns":"#, call.wait, Either { yes: call.granted, parts: verdicts });
        match call.site.rendered() {
            Some(rendered) => self.line.put((start, Rendered(rendered), verdict)),
            None => self.line.put((start, call_site(&call.site), verdict)),
        }
        if let Some((last, others)) = call.args.split_last() {
            for arg in others {
                self.recorded(arg, capture, Tail::COMMA);
            }
            self.recorded(last, capture, Tail::NONE);
        }
        match call.outcome {
            None => self.line.put(b"],\"outcome\":null}\n"),
            Some(HostOutcome::Value(ref value)) => {
                let start = br#"],"outcome":{"kind":"value","value":"#;
                let end = (shapes::container_end(), b"}}\n");
                match (capture, ok_of_a_leaf(value)) {
                    // Most host calls come back with this.
                    (ValueCapture::Full, Some(RecordedValue::Unit)) => {
                        self.line.put((start, shapes::ok_start(), shapes::unit(), end));
                    }
                    (ValueCapture::Full, Some(leaf)) => self.leaf_in_a_row((start, shapes::ok_start()), leaf, end),
                    _ => {
                        self.line.put(start);
                        self.recorded(value, capture, Tail::new(b"}}\n"));
                    }
                }
            }
            Some(HostOutcome::Error(message)) => {
                self.line.put((br#"],"outcome":{"kind":"error","message":""#, message, b"\"}}\n"));
            }
            Some(HostOutcome::NotRecordable) => {
                self.line.put(b"],\"outcome\":{\"kind\":\"not_recordable\"}}\n");
            }
        }
    }

    fn heap_summary(&mut self, summary: &HeapSummary) {
        self.line.put((
            (br#"{"event":"heap_summary","collections":"#, summary.collections),
            (br#","object_count":"#, summary.object_count),
            (br#","allocated_bytes":"#, summary.allocated_bytes),
            (br#","live_bytes":"#, summary.live_bytes),
            (br#","peak_bytes":"#, summary.peak_bytes),
            (br#","pause_ns":"#, summary.pause.map(nanoseconds)),
            (br#","allocated_words":"#, summary.allocated_words),
            (br#","capacity_words":"#, summary.capacity_words),
            (br#","live_words":"#, summary.live_words),
            b"}\n",
        ));
    }

    /// An argument or a result, and what follows it.
    #[inline(always)]
    fn recorded(&mut self, value: &RecordedValue<'_>, capture: ValueCapture, after: Tail) {
        match capture {
            ValueCapture::Full => self.whole(value, after),
            ValueCapture::Redacted => self.redaction(value, after),
        }
    }
}

/// The part of a host call that never changes for one site, up to the quote after the capability.
fn call_site<'a>(site: &CallSite<'a>) -> impl Part + use<'a> {
    (br#","module":""#, site.module(), br#"","op":""#, site.op(), br#"","capability":""#, site.capability())
}

/// Whether a run's closing message stays: not where the program built it and the trace is redacted.
const fn keeps_message(outcome: RunOutcome, capture: ValueCapture) -> bool {
    match capture {
        ValueCapture::Full => true,
        ValueCapture::Redacted => !outcome.is_programs_own(),
    }
}
