//! Events on the slow path.

use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem::Finder;

use super::error::DecodeErrorKind;
use super::lexer::{Decoded, Lexer};
use super::object::{initial, read_object};
use super::schema::{EventKind, Key, Kind as _, LineKind, OutcomeKind, events, outcomes};
use crate::cost::count_examined;
use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::RunOutcome;
use crate::value::RecordedValue;

static KEY_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"event\""));

impl<'a> Lexer<'a, '_> {
    /// Reads a line that has to be an event.
    pub(super) fn event_line(&mut self) -> Decoded<TraceEvent<'a>> {
        if let Some(event) = self.guessed_event() {
            return Ok(event);
        }
        self.restart();
        let (kind, name) = self.line_kind()?;
        let LineKind::Event(kind) = kind else {
            let misplaced = self.fault(name, DecodeErrorKind::SecondHeader, "an event", "a second trace_header");
            let fault = self.header().and_then(|_| self.end()).err();
            return Err(fault.filter(|fault| fault.offset < name).unwrap_or(misplaced));
        };
        let event = self.event(kind)?;
        self.end()?;
        Ok(event)
    }

    /// Reads an event whose kind is guessed, which saves looking ahead over its arguments. Reading checks the guess.
    fn guessed_event(&mut self) -> Option<TraceEvent<'a>> {
        self.at = KEY_FINDER.find(self.bytes())?;
        count_examined(self.at);
        self.key().ok()?;
        self.white_space();
        if self.peek() != Some(b':') {
            return None;
        }
        self.colon().ok()?;
        let kind = EventKind::parse(self.string("a name").ok()?)?;
        self.at = 0;
        self.white_space();
        let event = self.event(kind).ok()?;
        self.end().ok()?;
        Some(event)
    }

    /// Returns the kind of the line and the offset of its name.
    pub(super) fn line_kind(&mut self) -> Decoded<(LineKind, usize)> {
        self.white_space();
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("an event: an object with the key \"event\""));
        }
        match self.discriminator() {
            Some(found) => Ok(found),
            None => Err(self.diagnose::<LineKind>()),
        }
    }

    pub(super) fn event(&mut self, kind: EventKind) -> Decoded<TraceEvent<'a>> {
        macro_rules! read_events {
            (
                ;
                $($kind:ident $name:literal {
                    $($($member:ident)+: $read:ident($($key:ident)+)),*
                } => $result:expr;)+
            ) => {
                match kind {
                    $(EventKind::$kind => read_object!(self, EventKind::$kind.shape(), {
                        $($($member)+: $read($($key)+)),*
                    } => Ok($result)),)+
                }
            };
        }
        events!(read_events)
    }

    fn outcome(&mut self) -> Decoded<Option<HostOutcome<'a>>> {
        if self.take_null() {
            return Ok(None);
        }
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("null or an outcome: an object with the key \"kind\""));
        }
        let Some((kind, _)) = self.discriminator::<OutcomeKind>() else {
            return Err(self.diagnose::<OutcomeKind>());
        };
        macro_rules! read_outcomes {
            (
                ;
                $($kind:ident $name:literal {
                    $($($member:ident)+: $read:ident($($key:ident)+)),*
                } => $result:expr;)+
            ) => {
                match kind {
                    $(OutcomeKind::$kind => read_object!(self, OutcomeKind::$kind.shape(), {
                        $($($member)+: $read($($key)+)),*
                    } => Ok(Some($result))),)+
                }
            };
        }
        outcomes!(read_outcomes)
    }

    fn run_outcome(&mut self) -> Decoded<RunOutcome> {
        self.member_of("a run outcome", RunOutcome::EXPECTED, RunOutcome::parse)
    }

    fn nanoseconds(&mut self) -> Decoded<Duration> {
        self.unsigned().map(Duration::from_nanos)
    }

    fn nanoseconds_or_null(&mut self) -> Decoded<Option<Duration>> {
        Ok(self.unsigned_or_null()?.map(Duration::from_nanos))
    }

    fn text_or_null(&mut self) -> Decoded<Option<&'a str>> {
        if self.take_null() { Ok(None) } else { self.string("null or a string").map(Some) }
    }

    /// Reads one of several names, which the canonical path reads together.
    fn names(&mut self) -> Decoded<&'a str> {
        self.name()
    }
}
