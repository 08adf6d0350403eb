//! Any bytes as a trace, in any split: read the same as in one piece, and every fault where it says.

use std::io::{self, Read};

use cove_trace::decode::{DecodeErrorKind, Decoder};
use cove_trace::owned::OwnedEvent;
use cove_trace::reader::DEFAULT_LINE_LIMIT;
use cove_trace::{Position, TraceReader};

use super::reading::mutate::{change_bytes, change_line};
use super::reading::rng::Rng;
use super::reading::seen::{Fault, Seen, events, faults, read_all_with};

/// Bytes before the trace: which line limit, and how the trace is split.
pub(crate) const CONTROL: usize = 2;

pub(crate) fn check(data: &[u8]) {
    let Some(([limit, split], trace)) = data.split_first_chunk::<CONTROL>() else { return };
    let limit = match limit {
        0..128 => DEFAULT_LINE_LIMIT,
        _ => 4 * usize::from(limit - 127),
    };
    let whole = read_all_with(&mut TraceReader::new(trace).with_line_limit(limit));
    for most in [1, 2 + usize::from(*split)] {
        let pieces = Pieces { rest: trace, most, rng: Rng::new(u64::from(*split)) };
        let found = read_all_with(&mut TraceReader::new(pieces).with_line_limit(limit));
        assert_eq!(found, whole, "in pieces of at most {most} bytes");
    }
    positions_fit(&whole, trace);
    events_are_those_of_the_lines(&whole, trace, limit);
}

/// Pieces of different lengths, with interruptions between them.
struct Pieces<'t> {
    rest: &'t [u8],
    most: usize,
    rng: Rng,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rng.one_in(16) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = (1 + self.rng.below(self.most)).min(self.rest.len()).min(buffer.len());
        let (now, later) = self.rest.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.rest = later;
        Ok(len)
    }
}

/// Line, column and offset say the same, and at most one fault is found in a line. Besides it, a line that stands where the
/// header has to be is told for that.
fn positions_fit(seen: &[Seen], trace: &[u8]) {
    let newlines = trace.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(newlines).collect();
    let mut last_line = 0;
    for (Position { line, column, offset }, fault) in faults(seen) {
        assert!(line > last_line, "{fault:?} on line {line} after {last_line}");
        last_line = if fault == Fault::Line(DecodeErrorKind::NoHeader) { line - 1 } else { line };
        let start = starts[usize::try_from(line - 1).expect("lines are few")] as u64;
        assert_eq!(offset, start + column - 1, "{fault:?} on line {line}, column {column}");
        assert!(offset <= trace.len() as u64, "{fault:?}");
    }
}

/// The events are those of the lines that hold one, as if each were decoded alone.
fn events_are_those_of_the_lines(seen: &[Seen], trace: &[u8], limit: usize) {
    let mut decoder = Decoder::new();
    let expected: Vec<OwnedEvent> = trace
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() <= limit)
        .filter_map(|line| decoder.decode_event(line).ok().as_ref().map(OwnedEvent::from))
        .collect();
    let found = events(seen);
    let same = found.iter().zip(&expected).all(|(found, expected)| *found == expected);
    let another_version = Fault::Line(DecodeErrorKind::UnsupportedVersion);
    let stopped = faults(seen).iter().any(|(_, fault)| *fault == another_version);
    assert!(same && (stopped || found.len() == expected.len()), "found {found:?}, expected {expected:?}");
}

/// Changes one line of the trace, or a few bytes of it all.
pub(crate) fn change(data: &mut Vec<u8>, rng: &mut Rng) {
    if data.len() <= CONTROL || rng.one_in(3) {
        return change_bytes(data, rng);
    }
    let mut lines: Vec<Vec<u8>> = data[CONTROL..].split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = rng.below(lines.len());
    match rng.below(6) {
        0 => lines.insert(at, lines[rng.below(lines.len())].clone()),
        1 => drop(lines.remove(at)),
        2 => lines[at] = rng.pick(&[&b""[..], b" \t\r", b"\0\0\0", b"\xef\xbb\xbf", b"\xc2\xa0"]).to_vec(),
        3 => lines.swap(at, 0),
        _ => change_line(&mut lines[at], rng),
    }
    data.splice(CONTROL.., lines.join(&b'\n'));
}
