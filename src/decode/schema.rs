//! The lines of a trace, read back.

use std::time::Duration;

use super::error::DecodeErrorKind;
use super::lexer::{Lexer, Step, quoted};
use super::shape::Shape;
use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TRACE_FORMAT_VERSION, TraceEvent, TraceHeader};
use crate::names::{RecordingBackend, RunOutcome, ValueCapture};

/// The kinds of line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Header,
    Event(EventKind),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum EventKind {
    TaskSpawned,
    TaskCompleted,
    TaskCancelled,
    HostCall,
    EntryEnter,
    EntryExit,
    HeapCollected,
    HeapSummary,
    RunEnded,
}

impl Kind {
    const EXPECTED: &'static str = "trace_header, task_spawned, task_completed, task_cancelled, host_call, entry_enter, \
                                    entry_exit, heap_collected, heap_summary or run_ended";

    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "trace_header" => Self::Header,
            "task_spawned" => Self::Event(EventKind::TaskSpawned),
            "task_completed" => Self::Event(EventKind::TaskCompleted),
            "task_cancelled" => Self::Event(EventKind::TaskCancelled),
            "host_call" => Self::Event(EventKind::HostCall),
            "entry_enter" => Self::Event(EventKind::EntryEnter),
            "entry_exit" => Self::Event(EventKind::EntryExit),
            "heap_collected" => Self::Event(EventKind::HeapCollected),
            "heap_summary" => Self::Event(EventKind::HeapSummary),
            "run_ended" => Self::Event(EventKind::RunEnded),
            _ => return None,
        })
    }
}

/// Every key that some line has.
static ANY: Shape = Shape {
    what: "an event",
    keys: &[
        "event",
        "version",
        "backend",
        "values",
        "entry",
        "args",
        "id",
        "parent",
        "scope",
        "cpu_ns",
        "task",
        "module",
        "op",
        "capability",
        "wait_ns",
        "granted",
        "outcome",
        "function",
        "allocated",
        "freed",
        "live_objects",
        "live_bytes",
        "pause_ns",
        "collections",
        "object_count",
        "allocated_bytes",
        "peak_bytes",
        "allocated_words",
        "capacity_words",
        "live_words",
        "message",
    ],
};
static TRACE_HEADER: Shape =
    Shape { what: "trace_header", keys: &["event", "version", "backend", "values", "entry", "args"] };
static TASK_SPAWNED: Shape = Shape { what: "task_spawned", keys: &["event", "id", "parent", "scope"] };
static TASK_COMPLETED: Shape = Shape { what: "task_completed", keys: &["event", "id", "cpu_ns"] };
static TASK_CANCELLED: Shape = Shape { what: "task_cancelled", keys: &["event", "id"] };
static HOST_CALL: Shape = Shape {
    what: "host_call",
    keys: &["event", "task", "module", "op", "capability", "wait_ns", "granted", "args", "outcome"],
};
static ENTRY_ENTER: Shape = Shape { what: "entry_enter", keys: &["event", "module", "function"] };
static ENTRY_EXIT: Shape = Shape { what: "entry_exit", keys: &["event", "module", "function", "cpu_ns", "wait_ns"] };
static HEAP_COLLECTED: Shape = Shape {
    what: "heap_collected",
    keys: &["event", "task", "allocated", "freed", "live_objects", "live_bytes", "pause_ns"],
};
static HEAP_SUMMARY: Shape = Shape {
    what: "heap_summary",
    keys: &[
        "event",
        "collections",
        "object_count",
        "allocated_bytes",
        "live_bytes",
        "peak_bytes",
        "pause_ns",
        "allocated_words",
        "capacity_words",
        "live_words",
    ],
};
static RUN_ENDED: Shape = Shape { what: "run_ended", keys: &["event", "outcome", "message"] };

static ANY_OUTCOME: Shape = Shape { what: "an outcome", keys: &["kind", "value", "message"] };
static VALUE_OUTCOME: Shape = Shape { what: "a value outcome", keys: &["kind", "value"] };
static ERROR_OUTCOME: Shape = Shape { what: "an error outcome", keys: &["kind", "message"] };
static NOT_RECORDABLE_OUTCOME: Shape = Shape { what: "a not_recordable outcome", keys: &["kind"] };

/// The kinds of outcome.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutcomeKind {
    Value,
    Error,
    NotRecordable,
}

impl OutcomeKind {
    const EXPECTED: &'static str = "value, error or not_recordable";

    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "value" => Self::Value,
            "error" => Self::Error,
            "not_recordable" => Self::NotRecordable,
            _ => return None,
        })
    }
}

impl<'a> Lexer<'a, '_> {
    /// A line that has to be the header.
    pub(super) fn header_line(&mut self) -> Step<TraceHeader> {
        let (kind, name_at) = self.kind()?;
        let Kind::Event(kind) = kind else {
            let header = self.trace_header()?;
            self.end()?;
            return Ok(header);
        };
        let misplaced = self.fault(name_at, DecodeErrorKind::NoHeader, "a trace_header first", "an event");
        let fault = self.event(kind).and_then(|_| self.end()).err();
        Err(fault.filter(|fault| fault.offset < name_at).unwrap_or(misplaced))
    }

    /// A line that has to be an event.
    pub(super) fn event_line(&mut self) -> Step<TraceEvent<'a>> {
        let (kind, name_at) = self.kind()?;
        let Kind::Event(kind) = kind else {
            let misplaced = self.fault(name_at, DecodeErrorKind::SecondHeader, "an event", "a second trace_header");
            let fault = self.trace_header().and_then(|_| self.end()).err();
            return Err(fault.filter(|fault| fault.offset < name_at).unwrap_or(misplaced));
        };
        let event = self.event(kind)?;
        self.end()?;
        Ok(event)
    }

    /// What kind of line this is, and where it says so.
    fn kind(&mut self) -> Step<(Kind, usize)> {
        self.white_space();
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("an event: an object with the key \"event\""));
        }
        match self.discriminator("event", Kind::parse) {
            Some(told) => Ok(told),
            None => Err(self.diagnose(&ANY, "an event name", Kind::EXPECTED, |name| Kind::parse(name).is_some())),
        }
    }

    fn event(&mut self, kind: EventKind) -> Step<TraceEvent<'a>> {
        match kind {
            EventKind::TaskSpawned => self.task_spawned(),
            EventKind::TaskCompleted => self.task_completed(),
            EventKind::TaskCancelled => self.task_cancelled(),
            EventKind::HostCall => self.host_call(),
            EventKind::EntryEnter => self.entry_enter(),
            EventKind::EntryExit => self.entry_exit(),
            EventKind::HeapCollected => self.heap_collected(),
            EventKind::HeapSummary => self.heap_summary(),
            EventKind::RunEnded => self.run_ended(),
        }
    }

    fn trace_header(&mut self) -> Step<TraceHeader> {
        self.check_version()?;
        let mut header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, String::new());
        let mut members = self.object(&TRACE_HEADER)?;
        while let Some(key) = self.next_member(&mut members)? {
            match TRACE_HEADER.keys[key] {
                "version" => self.unsigned().map(drop)?,
                "backend" => {
                    header.backend = self.name("a backend", RecordingBackend::EXPECTED, RecordingBackend::parse)?;
                }
                "values" => {
                    header.values = self.name("a value capture", ValueCapture::EXPECTED, ValueCapture::parse)?;
                }
                "entry" => header.entry = self.text()?.to_owned(),
                "args" => header.args = self.strings()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(header)
    }

    /// Refuses a header of another version, before anything else is asked of it: what a newer header has besides, this
    /// build can't know. A header that is not even JSON is left to the reading that follows.
    fn check_version(&mut self) -> Step<()> {
        let start = self.at;
        let expected = format!("trace format version {TRACE_FORMAT_VERSION}, the only one that this build reads");
        if let Some(version) = self.find("version") {
            self.at = version;
            let found = self.found();
            if self.pass_value().is_ok() && self.text[version..self.at] != *TRACE_FORMAT_VERSION.to_string() {
                return Err(self.fault(version, DecodeErrorKind::UnsupportedVersion, expected, found));
            }
        } else if self.pass_value().is_ok() {
            let found = "a header that has no version";
            return Err(self.fault(self.at - 1, DecodeErrorKind::UnsupportedVersion, expected, found));
        }
        self.at = start;
        Ok(())
    }

    fn task_spawned(&mut self) -> Step<TraceEvent<'a>> {
        let (mut id, mut parent, mut scope) = (0, None, "");
        let mut members = self.object(&TASK_SPAWNED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match TASK_SPAWNED.keys[key] {
                "id" => id = self.unsigned()?,
                "parent" => parent = self.unsigned_or_null()?,
                "scope" => scope = self.text()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::TaskSpawned { id, parent, scope })
    }

    fn task_completed(&mut self) -> Step<TraceEvent<'a>> {
        let (mut id, mut cpu) = (0, Duration::ZERO);
        let mut members = self.object(&TASK_COMPLETED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match TASK_COMPLETED.keys[key] {
                "id" => id = self.unsigned()?,
                "cpu_ns" => cpu = self.nanoseconds()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::TaskCompleted { id, cpu })
    }

    fn task_cancelled(&mut self) -> Step<TraceEvent<'a>> {
        let mut id = 0;
        let mut members = self.object(&TASK_CANCELLED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match TASK_CANCELLED.keys[key] {
                "id" => id = self.unsigned()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::TaskCancelled { id })
    }

    fn host_call(&mut self) -> Step<TraceEvent<'a>> {
        let (mut module, mut op, mut capability) = ("", "", "");
        let (mut task, mut wait, mut granted, mut args, mut outcome) = (0, Duration::ZERO, false, &[][..], None);
        let mut members = self.object(&HOST_CALL)?;
        while let Some(key) = self.next_member(&mut members)? {
            match HOST_CALL.keys[key] {
                "task" => task = self.unsigned()?,
                "module" => module = self.text()?,
                "op" => op = self.text()?,
                "capability" => capability = self.text()?,
                "wait_ns" => wait = self.nanoseconds()?,
                "granted" => granted = self.bool()?,
                "args" => args = self.values(1)?,
                "outcome" => outcome = self.outcome()?,
                _ => self.discriminator_again()?,
            }
        }
        let site = CallSite::new(module, op, capability);
        Ok(TraceEvent::HostCall(HostCall { task, site, wait, granted, args, outcome }))
    }

    fn outcome(&mut self) -> Step<Option<HostOutcome<'a>>> {
        if self.take_word("null") {
            return Ok(None);
        }
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("null or an outcome: an object with the key \"kind\""));
        }
        let Some((kind, _)) = self.discriminator("kind", OutcomeKind::parse) else {
            let known = |name: &str| OutcomeKind::parse(name).is_some();
            return Err(self.diagnose(&ANY_OUTCOME, "an outcome kind", OutcomeKind::EXPECTED, known));
        };
        let (shape, mut outcome) = match kind {
            OutcomeKind::Value => (&VALUE_OUTCOME, HostOutcome::NotRecordable),
            OutcomeKind::Error => (&ERROR_OUTCOME, HostOutcome::NotRecordable),
            OutcomeKind::NotRecordable => (&NOT_RECORDABLE_OUTCOME, HostOutcome::NotRecordable),
        };
        let mut members = self.object(shape)?;
        while let Some(key) = self.next_member(&mut members)? {
            match shape.keys[key] {
                "value" => outcome = HostOutcome::Value(self.value(1)?),
                "message" => outcome = HostOutcome::Error(self.text()?),
                _ => self.discriminator_again()?,
            }
        }
        Ok(Some(outcome))
    }

    fn entry_enter(&mut self) -> Step<TraceEvent<'a>> {
        let (mut module, mut function) = ("", "");
        let mut members = self.object(&ENTRY_ENTER)?;
        while let Some(key) = self.next_member(&mut members)? {
            match ENTRY_ENTER.keys[key] {
                "module" => module = self.text()?,
                "function" => function = self.text()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::EntryEnter { module, function })
    }

    fn entry_exit(&mut self) -> Step<TraceEvent<'a>> {
        let (mut module, mut function, mut cpu, mut wait) = ("", "", Duration::ZERO, Duration::ZERO);
        let mut members = self.object(&ENTRY_EXIT)?;
        while let Some(key) = self.next_member(&mut members)? {
            match ENTRY_EXIT.keys[key] {
                "module" => module = self.text()?,
                "function" => function = self.text()?,
                "cpu_ns" => cpu = self.nanoseconds()?,
                "wait_ns" => wait = self.nanoseconds()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::EntryExit { module, function, cpu, wait })
    }

    fn heap_collected(&mut self) -> Step<TraceEvent<'a>> {
        let (mut task, mut allocated, mut freed, mut live_objects, mut live_bytes) = (0, 0, 0, 0, 0);
        let mut pause = Duration::ZERO;
        let mut members = self.object(&HEAP_COLLECTED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match HEAP_COLLECTED.keys[key] {
                "task" => task = self.unsigned()?,
                "allocated" => allocated = self.unsigned()?,
                "freed" => freed = self.unsigned()?,
                "live_objects" => live_objects = self.unsigned()?,
                "live_bytes" => live_bytes = self.unsigned()?,
                "pause_ns" => pause = self.nanoseconds()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause })
    }

    fn heap_summary(&mut self) -> Step<TraceEvent<'a>> {
        let mut summary = HeapSummary::default();
        let mut members = self.object(&HEAP_SUMMARY)?;
        while let Some(key) = self.next_member(&mut members)? {
            match HEAP_SUMMARY.keys[key] {
                "collections" => summary.collections = self.unsigned()?,
                "object_count" => summary.object_count = self.unsigned_or_null()?,
                "allocated_bytes" => summary.allocated_bytes = self.unsigned_or_null()?,
                "live_bytes" => summary.live_bytes = self.unsigned_or_null()?,
                "peak_bytes" => summary.peak_bytes = self.unsigned_or_null()?,
                "pause_ns" => summary.pause = self.unsigned_or_null()?.map(Duration::from_nanos),
                "allocated_words" => summary.allocated_words = self.unsigned_or_null()?,
                "capacity_words" => summary.capacity_words = self.unsigned_or_null()?,
                "live_words" => summary.live_words = self.unsigned_or_null()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::HeapSummary(summary))
    }

    fn run_ended(&mut self) -> Step<TraceEvent<'a>> {
        let (mut outcome, mut message) = (RunOutcome::Success, None);
        let mut members = self.object(&RUN_ENDED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match RUN_ENDED.keys[key] {
                "outcome" => outcome = self.name("a run outcome", RunOutcome::EXPECTED, RunOutcome::parse)?,
                "message" if self.take_word("null") => message = None,
                "message" => message = Some(self.string("null or a string")?),
                _ => self.discriminator_again()?,
            }
        }
        Ok(TraceEvent::RunEnded { outcome, message })
    }

    fn nanoseconds(&mut self) -> Step<Duration> {
        self.unsigned().map(Duration::from_nanos)
    }

    /// A name out of a closed set.
    fn name<T>(&mut self, set: &'static str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Step<T> {
        let at = self.at;
        let name = self.string(set)?;
        parse(name).ok_or_else(|| {
            self.fault(at, DecodeErrorKind::UnknownName, format!("{set}: one of {expected}"), quoted(name))
        })
    }

    fn strings(&mut self) -> Step<Vec<String>> {
        let start = self.at;
        // Counted before any is kept: a list that grows takes three times the memory, and these are small.
        let count = self.each_string(|_| {})?;
        self.at = start;
        let mut strings = Vec::with_capacity(count);
        self.each_string(|text| strings.push(text.to_owned()))?;
        Ok(strings)
    }

    /// Gives each string of an array to `take`, and counts them.
    fn each_string(&mut self, mut take: impl FnMut(&str)) -> Step<usize> {
        self.expect(b'[', "an array of strings")?;
        let (mut count, mut first) = (0, true);
        while self.next_item(&mut first)? {
            take(self.text()?);
            count += 1;
        }
        Ok(count)
    }
}
