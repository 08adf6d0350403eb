//! The fast path: lines as the encoder writes them, keys in the format's order and nothing between tokens.
//!
//! The schema's fragments are compared as they stand; only what is between them is looked at. This path has no verdict but
//! yes: whatever is unexpected, a fault or only another spelling, is left to the general path, which reads the line from
//! its start. So nothing may be accepted here that the general path refuses or reads differently.

mod number;
mod site;
#[cfg(test)]
mod tests;
mod value;

use std::time::Duration;

pub(super) use self::site::Sites;
use super::Scratch;
use super::scan::Plain;
use super::unescape::Room;
use crate::arena::Arena;
use crate::event::{HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::RunOutcome;

/// A line being taken apart. `None` from any step is the end of it.
pub(super) struct Canonical<'a, 's> {
    /// What is left of the line.
    rest: &'a [u8],
    arena: &'a Arena,
    room: Room<'a>,
    sites: &'s mut Sites,
    /// Stacks for long arrays, once there was one.
    scratch: Option<Scratch<'a>>,
    kept: &'s mut Scratch<'static>,
}

impl<'a, 's> Canonical<'a, 's> {
    /// The event of a line, if it is canonical.
    #[inline]
    pub(super) fn decode_event(
        line: &'a [u8],
        arena: &'a Arena,
        sites: &'s mut Sites,
        kept: &'s mut Scratch<'static>,
    ) -> Option<TraceEvent<'a>> {
        let mut canonical = Self { rest: line, arena, room: Room::default(), sites, scratch: None, kept };
        let event = canonical.line();
        if let Some(scratch) = canonical.scratch {
            *canonical.kept = scratch.recycled();
        }
        event
    }

    /// Passes `text`, if that is what comes next.
    #[inline(always)]
    fn take<const N: usize>(&mut self, text: &[u8; N]) -> bool {
        match self.rest.split_first_chunk::<N>() {
            Some((first, rest)) if first == text => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Passes `text`, which has to come next.
    #[inline(always)]
    fn fixed<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        self.take(text).then_some(())
    }

    /// A name and its closing quote. The opening one is passed.
    #[inline(always)]
    fn name(&mut self) -> Option<&'a str> {
        self.string(Plain::name(self.rest))
    }

    /// A text of any length and its closing quote. The opening one is passed.
    #[inline(always)]
    fn text(&mut self) -> Option<&'a str> {
        self.string(Plain::text(self.rest))
    }

    #[inline(always)]
    fn string(&mut self, plain: Plain<'a>) -> Option<&'a str> {
        match plain.rest {
            [b'"', rest @ ..] => {
                self.rest = rest;
                plain.to_str()
            }
            [b'\\', ..] => self.escaped(plain.len()),
            _ => None,
        }
    }

    #[inline(never)]
    fn escaped(&mut self, clean: usize) -> Option<&'a str> {
        let (text, rest) = self.room.unescape(self.rest, clean, self.arena)?;
        self.rest = rest;
        Some(text)
    }

    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        let (number, rest) = number::unsigned(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let (number, rest) = number::signed(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline]
    fn nanoseconds(&mut self) -> Option<Duration> {
        self.unsigned().map(Duration::from_nanos)
    }

    #[inline(always)]
    fn bool(&mut self) -> Option<bool> {
        let is_true = self.take(b"true");
        (is_true || self.take(b"false")).then_some(is_true)
    }
}

/// The schema.
impl<'a> Canonical<'a, '_> {
    #[inline(always)]
    fn line(&mut self) -> Option<TraceEvent<'a>> {
        self.fixed(br#"{"event":""#)?;
        let event = if self.take(br#"host_call","task":"#) {
            TraceEvent::HostCall(self.host_call()?)
        } else if self.take(br#"heap_collected","task":"#) {
            self.heap_collected()?
        } else {
            self.rarer()?
        };
        self.fixed(b"}")?;
        matches!(self.rest, [] | [b'\n']).then_some(event)
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

    fn or_null<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.take(b"null") { Some(None) } else { read(self).map(Some) }
    }
}
