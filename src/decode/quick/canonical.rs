//! Lines as the encoder writes them: keys in the format's order and nothing between tokens.
//!
//! The schema's fragments are compared as they stand; only what is between them is looked at.

use super::Quick;
use super::sites::{CAPABILITY, OP};
use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::RunOutcome;

impl<'a> Quick<'a, '_> {
    #[inline(always)]
    pub(super) fn canonical_line(&mut self) -> Option<TraceEvent<'a>> {
        self.fixed(br#"{"event":""#)?;
        let event = if self.take(br#"host_call","task":"#) {
            TraceEvent::HostCall(self.host_call()?)
        } else if self.take(br#"heap_collected","task":"#) {
            self.heap_collected()?
        } else {
            self.rarer()?
        };
        self.fixed(b"}")?;
        // `\r` is left where lines end in CRLF.
        (matches!(self.rest, [] | [b'\n']) || self.only_white_space_follows()).then_some(event)
    }

    #[inline(always)]
    fn host_call(&mut self) -> Option<HostCall<'a>> {
        let task = self.unsigned()?;
        self.fixed(br#","module":""#)?;
        let site = self.site()?;
        self.fixed(br#","wait_ns":"#)?;
        let wait = self.nanoseconds()?;
        self.fixed(br#","granted":"#)?;
        let granted = self.bool()?;
        self.fixed(br#","args":["#)?;
        let args = self.values(1)?;
        self.fixed(br#","outcome":"#)?;
        let outcome = self.outcome()?;
        Some(HostCall { task, site, wait, granted, args, outcome })
    }

    /// Reads the call site, from after the opening quote of its module.
    #[inline(always)]
    fn site(&mut self) -> Option<CallSite<'a>> {
        match self.sites.find(self.rest) {
            Some((site, rest)) => {
                self.rest = rest;
                Some(site)
            }
            None => self.new_site(),
        }
    }

    fn new_site(&mut self) -> Option<CallSite<'a>> {
        let line = self.rest;
        let module = self.name()?;
        self.fixed(OP)?;
        let op = self.name()?;
        self.fixed(CAPABILITY)?;
        let capability = self.name()?;
        self.sites.remember(&line[..line.len() - self.rest.len()], line, [module, op, capability].map(str::len));
        Some(CallSite::new(module, op, capability))
    }

    #[inline(always)]
    fn outcome(&mut self) -> Option<Option<HostOutcome<'a>>> {
        let outcome = if self.take(br#"{"kind":"value","value":"#) {
            HostOutcome::Value(self.value(1)?)
        } else if self.take(b"null") {
            return Some(None);
        } else if self.take(br#"{"kind":"error","message":""#) {
            HostOutcome::Error(self.text()?)
        } else {
            self.fixed(br#"{"kind":"not_recordable""#)?;
            HostOutcome::NotRecordable
        };
        self.fixed(b"}")?;
        Some(Some(outcome))
    }

    fn heap_collected(&mut self) -> Option<TraceEvent<'a>> {
        let task = self.unsigned()?;
        self.fixed(br#","allocated":"#)?;
        let allocated = self.unsigned()?;
        self.fixed(br#","freed":"#)?;
        let freed = self.unsigned()?;
        self.fixed(br#","live_objects":"#)?;
        let live_objects = self.unsigned()?;
        self.fixed(br#","live_bytes":"#)?;
        let live_bytes = self.unsigned()?;
        self.fixed(br#","pause_ns":"#)?;
        let pause = self.nanoseconds()?;
        Some(TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause })
    }

    fn rarer(&mut self) -> Option<TraceEvent<'a>> {
        if self.take(br#"task_spawned","id":"#) {
            self.task_spawned()
        } else if self.take(br#"task_completed","id":"#) {
            let id = self.unsigned()?;
            self.fixed(br#","cpu_ns":"#)?;
            Some(TraceEvent::TaskCompleted { id, cpu: self.nanoseconds()? })
        } else if self.take(br#"task_cancelled","id":"#) {
            Some(TraceEvent::TaskCancelled { id: self.unsigned()? })
        } else if self.take(br#"entry_enter","module":""#) {
            let module = self.name()?;
            self.fixed(br#","function":""#)?;
            Some(TraceEvent::EntryEnter { module, function: self.name()? })
        } else if self.take(br#"entry_exit","module":""#) {
            self.entry_exit()
        } else if self.take(br#"heap_summary","collections":"#) {
            self.heap_summary()
        } else {
            self.fixed(br#"run_ended","outcome":""#)?;
            self.run_ended()
        }
    }

    fn task_spawned(&mut self) -> Option<TraceEvent<'a>> {
        let id = self.unsigned()?;
        self.fixed(br#","parent":"#)?;
        let parent = self.or_null(Self::unsigned)?;
        self.fixed(br#","scope":""#)?;
        let scope = self.name()?;
        Some(TraceEvent::TaskSpawned { id, parent, scope })
    }

    fn entry_exit(&mut self) -> Option<TraceEvent<'a>> {
        let module = self.name()?;
        self.fixed(br#","function":""#)?;
        let function = self.name()?;
        self.fixed(br#","cpu_ns":"#)?;
        let cpu = self.nanoseconds()?;
        self.fixed(br#","wait_ns":"#)?;
        let wait = self.nanoseconds()?;
        Some(TraceEvent::EntryExit { module, function, cpu, wait })
    }

    fn heap_summary(&mut self) -> Option<TraceEvent<'a>> {
        let collections = self.unsigned()?;
        self.fixed(br#","object_count":"#)?;
        let object_count = self.or_null(Self::unsigned)?;
        self.fixed(br#","allocated_bytes":"#)?;
        let allocated_bytes = self.or_null(Self::unsigned)?;
        self.fixed(br#","live_bytes":"#)?;
        let live_bytes = self.or_null(Self::unsigned)?;
        self.fixed(br#","peak_bytes":"#)?;
        let peak_bytes = self.or_null(Self::unsigned)?;
        self.fixed(br#","pause_ns":"#)?;
        let pause = self.or_null(Self::nanoseconds)?;
        self.fixed(br#","allocated_words":"#)?;
        let allocated_words = self.or_null(Self::unsigned)?;
        self.fixed(br#","capacity_words":"#)?;
        let capacity_words = self.or_null(Self::unsigned)?;
        self.fixed(br#","live_words":"#)?;
        let live_words = self.or_null(Self::unsigned)?;
        Some(TraceEvent::HeapSummary(HeapSummary {
            collections,
            object_count,
            allocated_bytes,
            live_bytes,
            peak_bytes,
            pause,
            allocated_words,
            capacity_words,
            live_words,
        }))
    }

    fn run_ended(&mut self) -> Option<TraceEvent<'a>> {
        let outcome = RunOutcome::parse(self.name()?)?;
        self.fixed(br#","message":"#)?;
        let message = self.or_null(|canonical| {
            canonical.fixed(b"\"")?;
            canonical.text()
        })?;
        Some(TraceEvent::RunEnded { outcome, message })
    }
}
