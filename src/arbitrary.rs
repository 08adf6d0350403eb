//! `Arbitrary` for headers, owned events and values, biased towards edge cases of the format.
//!
//! Generation terminates: when the data is used up, each choice takes its first option, which is the smallest.

mod scalars;
mod trees;

use arbitrary::{Arbitrary, Result, Unstructured};

use self::scalars::{duration, optional, several, text, unsigned};
use crate::event::{HeapSummary, TraceHeader};
use crate::names::{RecordingBackend, RunOutcome, ValueCapture};
use crate::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use crate::value::Value;

/// Implements `Arbitrary` for enumerations of the format.
macro_rules! any_member {
    ($( $set:ty ),+) => { $(
        impl<'a> Arbitrary<'a> for $set {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                u.choose(Self::ALL).copied()
            }
        }
    )+ };
}

any_member!(RecordingBackend, RunOutcome, ValueCapture);

impl<'a> Arbitrary<'a> for TraceHeader {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self { backend: u.arbitrary()?, values: u.arbitrary()?, entry: text(u)?, args: several(u, text)? })
    }
}

/// Half of the events are host calls.
impl<'a> Arbitrary<'a> for OwnedEvent {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=15)? {
            0 => Self::TaskCancelled { id: unsigned(u)? },
            1 => Self::TaskSpawned { id: unsigned(u)?, parent: optional(u, unsigned)?, scope: text(u)? },
            2 => Self::TaskCompleted { id: unsigned(u)?, cpu: duration(u)? },
            3 => Self::EntryEnter { module: text(u)?, function: text(u)? },
            4 => Self::EntryExit { module: text(u)?, function: text(u)?, cpu: duration(u)?, wait: duration(u)? },
            5 => Self::HeapCollected {
                task: unsigned(u)?,
                allocated: unsigned(u)?,
                freed: unsigned(u)?,
                live_objects: unsigned(u)?,
                live_bytes: unsigned(u)?,
                pause: duration(u)?,
            },
            6 => Self::HeapSummary(u.arbitrary()?),
            7 => Self::RunEnded { outcome: u.arbitrary()?, message: optional(u, text)? },
            _ => Self::HostCall(u.arbitrary()?),
        })
    }
}

impl<'a> Arbitrary<'a> for OwnedHostCall {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            task: unsigned(u)?,
            module: text(u)?,
            op: text(u)?,
            capability: text(u)?,
            wait: duration(u)?,
            granted: u.arbitrary()?,
            args: several(u, Unstructured::arbitrary)?,
            outcome: optional(u, Unstructured::arbitrary)?,
        })
    }
}

impl<'a> Arbitrary<'a> for OwnedOutcome {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=3)? {
            0 => Self::NotRecordable,
            1 => Self::Error(text(u)?),
            _ => Self::Value(u.arbitrary()?),
        })
    }
}

impl<'a> Arbitrary<'a> for HeapSummary {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            collections: unsigned(u)?,
            object_count: optional(u, unsigned)?,
            allocated_bytes: optional(u, unsigned)?,
            live_bytes: optional(u, unsigned)?,
            peak_bytes: optional(u, unsigned)?,
            pause: optional(u, duration)?,
            allocated_words: optional(u, unsigned)?,
            capacity_words: optional(u, unsigned)?,
            live_words: optional(u, unsigned)?,
        })
    }
}

impl<'a> Arbitrary<'a> for OwnedValue {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        trees::value(u)
    }
}

/// Generates non-finite floats, too, which a value from a trace never contains.
impl<'a> Arbitrary<'a> for Value {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        trees::value(u)
    }
}
