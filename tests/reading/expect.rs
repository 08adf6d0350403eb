//! What a reader has to say about one faulty line in the middle of a trace.

use cove_trace::Position;
use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::OwnedEvent;

use super::corpus::{CANCELLED, HEADER};
use super::json;
use super::oracle::{Place, earliest_faults};
use super::seen::{Fault, Seen, read_all};

/// Stands before the byte that is to be blamed, and is taken out before reading.
pub(crate) const MARK: char = '‸';

/// The text without its mark, and where that was.
#[track_caller]
pub(crate) fn unmarked(marked: &str) -> (String, usize) {
    let (before, after) = marked.split_once(MARK).unwrap_or_else(|| panic!("no mark in {marked}"));
    (format!("{before}{after}"), before.len())
}

#[track_caller]
pub(crate) fn assert_refused(marked: &str, kind: Kind) {
    let (line, offset) = unmarked(marked);
    assert_refused_at(line.as_bytes(), offset, kind);
}

/// Holds that an event line is refused for that byte, wherever it stands in a trace, and that all around it is read. The
/// naive decoder has to agree.
#[track_caller]
pub(crate) fn assert_refused_at(line: &[u8], offset: usize, kind: Kind) {
    let naive = earliest_faults(line, Place::Event);
    let shown = String::from_utf8_lossy(line);
    assert!(naive.contains(&json::Fault { offset, kind }), "{shown}: the naive decoder says {naive:?}");
    assert_reader_refuses(line, offset, kind);
}

/// The same, for what the naive decoder can't do.
#[track_caller]
pub(crate) fn assert_reader_refuses(line: &[u8], offset: usize, kind: Kind) {
    // Physical lines: the header, an empty one, an event, two of white space, and then the faulty one as the sixth.
    let before = format!("{HEADER}\r\n\n{CANCELLED}\r\n \t\r\n\r\n");
    let trace = [before.as_bytes(), line, b"\r\n", CANCELLED.as_bytes(), b"\n"].concat();
    let position = Position { line: 6, column: offset as u64 + 1, offset: (before.len() + offset) as u64 };
    let seen = read_all(&trace[..]);
    let shown = String::from_utf8_lossy(&line[..line.len().min(1000)]);
    let good = Seen::Event(OwnedEvent::TaskCancelled { id: 7 });
    let expected = Seen::Fault(position, Fault::Line(kind));
    assert!(matches!(seen[0], Seen::Header(_)), "{shown}: {:?}", seen[0]);
    assert_eq!(seen[1..], [&good, &expected, &good].map(Seen::to_owned), "{shown}");
}

#[track_caller]
pub(crate) fn assert_header_refused(marked: &str, kind: Kind) {
    let (line, offset) = unmarked(marked);
    assert_header_refused_at(line.as_bytes(), offset, kind);
}

/// Holds that a header line is refused for that byte. The events after it are given, unless they are of another version.
#[track_caller]
pub(crate) fn assert_header_refused_at(line: &[u8], offset: usize, kind: Kind) {
    let shown = String::from_utf8_lossy(line);
    let naive = earliest_faults(line, Place::Header);
    assert!(naive.contains(&json::Fault { offset, kind }), "{shown}: the naive decoder says {naive:?}");
    let before = "\r\n  \n";
    let trace = [before.as_bytes(), line, b"\r\n", CANCELLED.as_bytes(), b"\n"].concat();
    let position = Position { line: 3, column: offset as u64 + 1, offset: (before.len() + offset) as u64 };
    let seen = read_all(&trace[..]);
    assert_eq!(seen[0], Seen::Fault(position, Fault::Line(kind)), "{shown}");
    match kind {
        Kind::UnsupportedVersion => assert_eq!(seen.len(), 1, "{shown}"),
        _ => assert_eq!(seen.last(), Some(&Seen::Event(OwnedEvent::TaskCancelled { id: 7 })), "{shown}"),
    }
}

/// Holds that a line is read as an event among others.
#[track_caller]
pub(crate) fn assert_accepted(line: &str) -> OwnedEvent {
    assert_eq!(earliest_faults(line.as_bytes(), Place::Event), [], "{line}: the naive decoder");
    let mut seen = read_all(format!("{HEADER}\n{line}\n").as_bytes());
    match (seen.len(), seen.pop()) {
        (2, Some(Seen::Event(event))) => event,
        (_, last) => panic!("{line}: {seen:?} {last:?}"),
    }
}
