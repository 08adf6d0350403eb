//! What a reader says about a trace, kept for comparing.

use std::io::{self, Read};

use cove_trace::decode::DecodeErrorKind;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Position, ReadError, ReadErrorKind, TraceHeader, TraceReader};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Header(TraceHeader),
    Event(OwnedEvent),
    Fault(Position, Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Line(DecodeErrorKind),
    TooLong,
    Torn { bytes: u64 },
    Io(io::ErrorKind),
}

impl From<ReadError> for Seen {
    fn from(error: ReadError) -> Self {
        let fault = match error.kind() {
            ReadErrorKind::Io(error) => Fault::Io(error.kind()),
            ReadErrorKind::Line(error) => Fault::Line(error.kind()),
            ReadErrorKind::LineTooLong { .. } => Fault::TooLong,
            ReadErrorKind::Truncated { bytes } => Fault::Torn { bytes: *bytes },
            other => unreachable!("{other:?}"),
        };
        Self::Fault(error.position(), fault)
    }
}

/// Everything that a reader says about a trace, going on after every fault.
pub(crate) fn read_all(source: impl Read) -> Vec<Seen> {
    read_all_with(&mut TraceReader::new(source))
}

pub(crate) fn read_all_with(reader: &mut TraceReader<impl Read>) -> Vec<Seen> {
    let mut all = Vec::new();
    match reader.header() {
        Ok(Some(header)) => all.push(Seen::Header(header.clone())),
        Ok(None) => {}
        Err(error) => all.push(error.into()),
    }
    loop {
        match reader.next_event() {
            Ok(Some(event)) => all.push(Seen::Event(OwnedEvent::from(&event))),
            Ok(None) => return all,
            Err(error) => all.push(error.into()),
        }
    }
}

pub(crate) fn faults(seen: &[Seen]) -> Vec<(Position, Fault)> {
    seen.iter()
        .filter_map(|seen| match seen {
            Seen::Fault(position, fault) => Some((*position, *fault)),
            _ => None,
        })
        .collect()
}

pub(crate) fn events(seen: &[Seen]) -> Vec<&OwnedEvent> {
    seen.iter()
        .filter_map(|seen| match seen {
            Seen::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}
