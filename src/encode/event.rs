//! The schema of lines.

use crate::event::{
    CallSite, HeapSummary, HostCall, HostOutcome, RenderedCallSite, TRACE_FORMAT_VERSION, TraceEvent, TraceHeader,
};
use crate::line::{Either, Fragment, Raw};
use crate::names::{RunOutcome, ValueCapture};
use crate::value::{Encoder, RecordedValue};

impl Encoder {
    /// Writes the line of a header.
    pub(super) fn header(&mut self, header: &TraceHeader) {
        let TraceHeader { backend, values, entry, args } = header;
        let line = &mut self.line;
        line.put((br#"{"event":"trace_header","version":"#, u64::from(TRACE_FORMAT_VERSION)));
        line.put((br#","backend":""#, backend.as_str(), br#"","values":""#, values.as_str()));
        line.put((br#"","entry":""#, entry.as_str(), br#"","args":["#));
        let start = line.len();
        for arg in args {
            let arg = match values {
                ValueCapture::Full => arg,
                ValueCapture::Redacted => TraceHeader::REDACTED_ARG,
            };
            line.put((b"\"", arg, b"\","));
        }
        line.drop_trailing_comma(start);
        line.put(b"]}\n");
    }

    /// Writes the line of an event.
    pub(super) fn event(&mut self, event: &TraceEvent<'_>, capture: ValueCapture) {
        let line = &mut self.line;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => {
                line.put((
                    (br#"{"event":"task_spawned","id":"#, id),
                    (br#","parent":"#, parent),
                    (br#","scope":""#, scope),
                    b"\"}\n",
                ));
            }
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
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                line.put((
                    (br#"{"event":"entry_exit","module":""#, module),
                    (br#"","function":""#, function),
                    (br#"","cpu_ns":"#, cpu),
                    (br#","wait_ns":"#, wait),
                    b"}\n",
                ));
            }
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                line.put((
                    (br#"{"event":"heap_collected","task":"#, task),
                    (br#","allocated":"#, allocated),
                    (br#","freed":"#, freed),
                    (br#","live_objects":"#, live_objects),
                    (br#","live_bytes":"#, live_bytes),
                    (br#","pause_ns":"#, pause),
                    b"}\n",
                ));
            }
            TraceEvent::HeapSummary(ref summary) => self.heap_summary(summary),
            TraceEvent::RunEnded { outcome, message } => {
                line.put((br#"{"event":"run_ended","outcome":""#, outcome.as_str(), br#"","message":"#));
                match message {
                    Some(text) if keeps_message(outcome, capture) => line.put((b"\"", text, b"\"}\n")),
                    _ => line.put(b"null}\n"),
                };
            }
        }
    }

    fn host_call(&mut self, call: &HostCall<'_>, capture: ValueCapture) {
        let start = (br#"{"event":"host_call","task":"#, call.task);
        let granted = (br#","granted":true,"args":["#, br#","granted":false,"args":["#);
        let granted = Either { yes: call.granted, fragments: granted };
        let end = (br#"","wait_ns":"#, call.wait, granted);
        match call.site.rendered() {
            Some(rendered) => self.line.put((start, Raw(rendered), end)),
            None => self.line.put((start, call_site(&call.site), end)),
        };
        let start = self.line.len();
        for arg in call.args {
            self.recorded(arg, capture);
            self.line.put(b",");
        }
        self.line.drop_trailing_comma(start);
        match call.outcome {
            None => self.line.put(b"],\"outcome\":null}\n"),
            Some(HostOutcome::Value(ref value)) => {
                self.line.put(br#"],"outcome":{"kind":"value","value":"#);
                self.recorded(value, capture);
                self.line.put(b"}}\n")
            }
            Some(HostOutcome::Error(message)) => {
                self.line.put((br#"],"outcome":{"kind":"error","message":""#, message, b"\"}}\n"))
            }
            Some(HostOutcome::NotRecordable) => self.line.put(b"],\"outcome\":{\"kind\":\"not_recordable\"}}\n"),
        };
    }

    /// Writes an argument or a result. A live one is called without a detour.
    #[inline(always)]
    fn recorded(&mut self, value: &RecordedValue<'_>, capture: ValueCapture) {
        match *value {
            RecordedValue::Live(live) => self.value(live, capture),
            _ => self.value(value, capture),
        }
    }

    fn heap_summary(&mut self, summary: &HeapSummary) {
        self.line.put((
            (br#"{"event":"heap_summary","collections":"#, summary.collections),
            (br#","object_count":"#, summary.object_count),
            (br#","allocated_bytes":"#, summary.allocated_bytes),
            (br#","live_bytes":"#, summary.live_bytes),
            (br#","peak_bytes":"#, summary.peak_bytes),
            (br#","pause_ns":"#, summary.pause),
            (br#","allocated_words":"#, summary.allocated_words),
            (br#","capacity_words":"#, summary.capacity_words),
            (br#","live_words":"#, summary.live_words),
            b"}\n",
        ));
    }
}

impl RenderedCallSite {
    /// Renders the operation `op` of the host module `module`, guarded by `capability`. Allocates, so call it when the
    /// operation is registered.
    #[must_use]
    pub fn new(module: &str, op: &str, capability: &str) -> Self {
        let site = CallSite::new(module, op, capability);
        let mut rendered = Vec::new();
        let is_rendered = Encoder::append(&mut rendered, usize::MAX, |encoder| _ = encoder.line.put(call_site(&site)));
        Self::keep(site, is_rendered.then_some(rendered))
    }
}

/// The constant part of a host call, up to the quote after the capability.
fn call_site<'a>(site: &CallSite<'a>) -> impl Fragment + use<'a> {
    (br#","module":""#, site.module(), br#"","op":""#, site.op(), br#"","capability":""#, site.capability())
}

/// Whether the closing message of a run is written. A redacted trace leaves it out if the program may have built it.
const fn keeps_message(outcome: RunOutcome, capture: ValueCapture) -> bool {
    match capture {
        ValueCapture::Full => true,
        ValueCapture::Redacted => !outcome.is_programs_own(),
    }
}
