//! Lines with their keys in any order and any white space between tokens, in one pass.
//!
//! Nearly every key says by itself what its value has to be, whatever kind of object it stands in. So values are read
//! as they come, and at the end it is seen whether what was given is what the object's kind asks for.

use std::time::Duration;

use super::Quick;
use super::keys::{Key, KeySet};
use crate::decode::schema::{EventKind, Kind, OutcomeKind};
use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::RunOutcome;
use crate::value::RecordedValue;

/// How many keys have whole numbers for values, and how many have texts; the former come first among the keys, then the
/// latter.
const NUMBERS: usize = Key::LiveWords as usize + 1;
const TEXTS: usize = Key::Scope as usize + 1 - NUMBERS;

/// What was given of an event.
struct Given<'a> {
    keys: KeySet,
    /// Keys whose value was `null`.
    nulls: KeySet,
    kind: Option<EventKind>,
    numbers: [u64; NUMBERS],
    texts: [&'a str; TEXTS],
    granted: bool,
    args: &'a [RecordedValue<'a>],
    outcome: Outcome<'a>,
    message: &'a str,
}

/// What stands under the key `outcome`, if not `null`.
enum Outcome<'a> {
    OfCall(Option<HostOutcome<'a>>),
    OfRun(RunOutcome),
}

impl<'a> Quick<'a, '_> {
    pub(super) fn any_line(&mut self) -> Option<TraceEvent<'a>> {
        self.white_space();
        self.fixed(b"{")?;
        let mut given = Given {
            keys: KeySet::EMPTY,
            nulls: KeySet::EMPTY,
            kind: None,
            numbers: [0; NUMBERS],
            texts: [""; TEXTS],
            granted: false,
            args: &[],
            outcome: Outcome::OfCall(None),
            message: "",
        };
        loop {
            self.white_space();
            let key = self.key(&mut given.keys)?;
            self.any_member(key, &mut given)?;
            if self.is_last(b'}')? {
                break;
            }
        }
        let event = given.event()?;
        self.only_white_space_follows().then_some(event)
    }

    #[inline(always)]
    fn any_member(&mut self, key: Key, given: &mut Given<'a>) -> Option<()> {
        let index = key as usize;
        if index < NUMBERS {
            match self.or_null(Self::unsigned)? {
                Some(number) => given.numbers[index] = number,
                None => drop(given.nulls.insert(key)),
            }
            return Some(());
        }
        match key {
            Key::Module | Key::Op | Key::Capability | Key::Function | Key::Scope => {
                given.texts[index - NUMBERS] = self.quoted_name()?;
            }
            Key::Event => match Kind::parse(self.quoted_name()?)? {
                Kind::Event(kind) => given.kind = Some(kind),
                Kind::Header => return None,
            },
            Key::Granted => given.granted = self.bool()?,
            Key::Args => given.args = self.any_values(1)?,
            Key::Outcome => given.outcome = self.any_outcome()?,
            Key::Message => match self.or_null(Self::quoted_text)? {
                Some(message) => given.message = message,
                None => drop(given.nulls.insert(key)),
            },
            _ => return None,
        }
        Some(())
    }

    fn any_outcome(&mut self) -> Option<Outcome<'a>> {
        match self.rest.first()? {
            b'n' => self.fixed(b"null").map(|()| Outcome::OfCall(None)),
            b'"' => Some(Outcome::OfRun(RunOutcome::parse(self.quoted_name()?)?)),
            _ => self.any_call_outcome().map(|outcome| Outcome::OfCall(Some(outcome))),
        }
    }

    fn any_call_outcome(&mut self) -> Option<HostOutcome<'a>> {
        self.fixed(b"{")?;
        let (mut keys, mut kind, mut outcome) = (KeySet::EMPTY, None, HostOutcome::NotRecordable);
        loop {
            self.white_space();
            match self.key(&mut keys)? {
                Key::Kind => kind = Some(OutcomeKind::parse(self.quoted_name()?)?),
                Key::Value => outcome = HostOutcome::Value(self.any_value(1)?),
                Key::Message => outcome = HostOutcome::Error(self.quoted_text()?),
                _ => return None,
            }
            if self.is_last(b'}')? {
                break;
            }
        }
        let asked_for = match kind? {
            OutcomeKind::Value => const { KeySet::of(&[Key::Kind, Key::Value]) },
            OutcomeKind::Error => const { KeySet::of(&[Key::Kind, Key::Message]) },
            OutcomeKind::NotRecordable => const { KeySet::of(&[Key::Kind]) },
        };
        (keys == asked_for).then_some(outcome)
    }

    /// A name in quotes.
    #[inline(always)]
    pub(super) fn quoted_name(&mut self) -> Option<&'a str> {
        self.fixed(b"\"")?;
        self.name()
    }

    /// A text of any length in quotes.
    #[inline(always)]
    pub(super) fn quoted_text(&mut self) -> Option<&'a str> {
        self.fixed(b"\"")?;
        self.text()
    }

    /// Passes the comma behind a member or an item, or the bracket `close`; whether it was that.
    #[inline(always)]
    pub(super) fn is_last(&mut self, close: u8) -> Option<bool> {
        if let [0..=b' ', ..] = self.rest {
            self.white_space();
        }
        let (next, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *next == b',' { Some(false) } else { (*next == close).then_some(true) }
    }
}

impl<'a> Given<'a> {
    /// The event, if all of what its kind asks for was given and nothing else.
    fn event(self) -> Option<TraceEvent<'a>> {
        let (asked_for, nullable) = asked_for(self.kind?);
        if self.keys != asked_for || !self.nulls.is_within(nullable) {
            return None;
        }
        let [id, task] = [self.number(Key::Id), self.number(Key::Task)];
        let [module, function] = [self.text(Key::Module), self.text(Key::Function)];
        Some(match self.kind? {
            EventKind::TaskSpawned => {
                TraceEvent::TaskSpawned { id, parent: self.nullable(Key::Parent), scope: self.text(Key::Scope) }
            }
            EventKind::TaskCompleted => TraceEvent::TaskCompleted { id, cpu: self.duration(Key::CpuNs) },
            EventKind::TaskCancelled => TraceEvent::TaskCancelled { id },
            EventKind::HostCall => {
                let Outcome::OfCall(outcome) = self.outcome else { return None };
                TraceEvent::HostCall(HostCall {
                    task,
                    site: CallSite::new(module, self.text(Key::Op), self.text(Key::Capability)),
                    wait: self.duration(Key::WaitNs),
                    granted: self.granted,
                    args: self.args,
                    outcome,
                })
            }
            EventKind::EntryEnter => TraceEvent::EntryEnter { module, function },
            EventKind::EntryExit => TraceEvent::EntryExit {
                module,
                function,
                cpu: self.duration(Key::CpuNs),
                wait: self.duration(Key::WaitNs),
            },
            EventKind::HeapCollected => TraceEvent::HeapCollected {
                task,
                allocated: self.number(Key::Allocated),
                freed: self.number(Key::Freed),
                live_objects: self.number(Key::LiveObjects),
                live_bytes: self.number(Key::LiveBytes),
                pause: self.duration(Key::PauseNs),
            },
            EventKind::HeapSummary => TraceEvent::HeapSummary(HeapSummary {
                collections: self.number(Key::Collections),
                object_count: self.nullable(Key::ObjectCount),
                allocated_bytes: self.nullable(Key::AllocatedBytes),
                live_bytes: self.nullable(Key::LiveBytes),
                peak_bytes: self.nullable(Key::PeakBytes),
                pause: self.nullable(Key::PauseNs).map(Duration::from_nanos),
                allocated_words: self.nullable(Key::AllocatedWords),
                capacity_words: self.nullable(Key::CapacityWords),
                live_words: self.nullable(Key::LiveWords),
            }),
            EventKind::RunEnded => {
                let Outcome::OfRun(outcome) = self.outcome else { return None };
                let message = (!self.nulls.contains(Key::Message)).then_some(self.message);
                TraceEvent::RunEnded { outcome, message }
            }
        })
    }

    fn number(&self, key: Key) -> u64 {
        self.numbers[key as usize]
    }

    fn nullable(&self, key: Key) -> Option<u64> {
        (!self.nulls.contains(key)).then_some(self.number(key))
    }

    fn duration(&self, key: Key) -> Duration {
        Duration::from_nanos(self.number(key))
    }

    fn text(&self, key: Key) -> &'a str {
        self.texts[key as usize - NUMBERS]
    }
}

/// The keys of that kind of event, and those of them whose values may be `null` as well as a number or a text.
const fn asked_for(kind: EventKind) -> (KeySet, KeySet) {
    use Key::{
        Allocated, AllocatedBytes, AllocatedWords, Args, Capability, CapacityWords, Collections, CpuNs, Event, Freed,
        Function, Granted, Id, LiveBytes, LiveObjects, LiveWords, Message, Module, ObjectCount, Op, Outcome, Parent,
        PauseNs, PeakBytes, Scope, Task, WaitNs,
    };
    match kind {
        EventKind::TaskSpawned => const { (KeySet::of(&[Event, Id, Parent, Scope]), KeySet::of(&[Parent])) },
        EventKind::TaskCompleted => const { (KeySet::of(&[Event, Id, CpuNs]), KeySet::EMPTY) },
        EventKind::TaskCancelled => const { (KeySet::of(&[Event, Id]), KeySet::EMPTY) },
        EventKind::HostCall => {
            const {
                let keys = [Event, Task, Module, Op, Capability, WaitNs, Granted, Args, Outcome];
                (KeySet::of(&keys), KeySet::EMPTY)
            }
        }
        EventKind::EntryEnter => const { (KeySet::of(&[Event, Module, Function]), KeySet::EMPTY) },
        EventKind::EntryExit => const { (KeySet::of(&[Event, Module, Function, CpuNs, WaitNs]), KeySet::EMPTY) },
        EventKind::HeapCollected => {
            const {
                let keys = [Event, Task, Allocated, Freed, LiveObjects, LiveBytes, PauseNs];
                (KeySet::of(&keys), KeySet::EMPTY)
            }
        }
        EventKind::HeapSummary => {
            const {
                let nullable = KeySet::of(&[
                    ObjectCount,
                    AllocatedBytes,
                    LiveBytes,
                    PeakBytes,
                    PauseNs,
                    AllocatedWords,
                    CapacityWords,
                    LiveWords,
                ]);
                (KeySet::of(&[Event, Collections]).and(nullable), nullable)
            }
        }
        EventKind::RunEnded => const { (KeySet::of(&[Event, Outcome, Message]), KeySet::of(&[Message])) },
    }
}
