//! The three ways into a reader: a stream, memory, pieces. What comes out is the same, whatever is in the trace and
//! wherever it is cut.

mod reading;

use std::convert::Infallible;
use std::io::{self, Read};

use allocation_counter::measure;
use cove_trace::owned::OwnedEvent;
use cove_trace::reader::{Pieces, ReadErrorKind, Source};
use cove_trace::{TraceEvent, TracePart, TraceReader};
use reading::corpus::{self, CANCELLED, HEADER};
use reading::rng::Rng;
use reading::seen::Seen;
use reading::source::Repeated;
use reading::traces;

/// A limit that some lines of the generated traces are longer than.
const LIMIT: usize = 400;

const SEEDS: u64 = if cfg!(miri) { 3 } else { 200 };

/// All there is now, each with its line.
fn walk(reader: &mut TraceReader<impl Source>, seen: &mut Vec<(u64, Seen)>) {
    let Ok(()) = reader.walk(|part| {
        seen.push(match part {
            TracePart::Header { line, header } => (line, Seen::Header(header.clone())),
            TracePart::Event { line, event } => (line, Seen::Event(OwnedEvent::from(&event))),
            TracePart::Fault(error) => (error.position().line, error.into()),
        });
        Ok::<_, Infallible>(())
    });
}

fn walked(mut reader: TraceReader<impl Source>) -> (Vec<(u64, Seen)>, u64, u64) {
    let mut seen = Vec::new();
    walk(&mut reader, &mut seen);
    (seen, reader.lines_read(), reader.bytes_read())
}

/// What comes of a trace that is fed in pieces and looked at after each.
fn fed<'t>(pieces: impl IntoIterator<Item = &'t [u8]>) -> (Vec<(u64, Seen)>, u64, u64) {
    let mut reader = TraceReader::from_pieces().with_line_limit(LIMIT);
    let mut seen = Vec::new();
    for piece in pieces {
        reader.feed(piece);
        walk(&mut reader, &mut seen);
    }
    reader.finish();
    walk(&mut reader, &mut seen);
    (seen, reader.lines_read(), reader.bytes_read())
}

#[test]
fn memory_and_a_stream() {
    for seed in 0..SEEDS {
        let trace = traces::trace(seed);
        let stream = walked(TraceReader::new(&trace[..]).with_line_limit(LIMIT));
        let memory = walked(TraceReader::from_slice(&trace).with_line_limit(LIMIT));
        assert_eq!(memory, stream, "seed {seed}: {}", String::from_utf8_lossy(&trace));
    }
}

#[test]
fn pieces_and_a_stream() {
    for seed in 0..SEEDS {
        let trace = traces::trace(seed);
        let stream = walked(TraceReader::new(&trace[..]).with_line_limit(LIMIT));
        let rng = &mut Rng::new(seed);
        for most in [1, 2, 7, 100, 1000] {
            let mut rest = &trace[..];
            let pieces = std::iter::from_fn(|| {
                let (piece, left) = rest.split_at(rest.len().min(rng.below(most + 1)));
                let is_last = rest.is_empty();
                rest = left;
                (!is_last).then_some(piece)
            });
            assert_eq!(fed(pieces), stream, "seed {seed}, {most}: {}", String::from_utf8_lossy(&trace));
        }
    }
}

#[test]
fn every_split_into_two_pieces() {
    for seed in 0..if cfg!(miri) { 1 } else { 5 } {
        let trace = traces::trace(seed);
        let stream = walked(TraceReader::new(&trace[..]).with_line_limit(LIMIT));
        for at in 0..=trace.len() {
            let (first, second) = trace.split_at(at);
            assert_eq!(fed([first, second]), stream, "seed {seed}, split at {at}");
        }
    }
}

#[test]
fn an_event_is_there_with_its_newline() {
    let mut reader = TraceReader::from_pieces();
    assert!(reader.header().unwrap().is_none(), "not there yet, and no error");
    let (start, end) = HEADER.split_at(20);
    reader.feed(start.as_bytes());
    assert!(reader.header().unwrap().is_none());
    assert!(reader.next_event().unwrap().is_none());
    reader.feed(end.as_bytes());
    assert!(reader.header().unwrap().is_none());
    reader.feed(b"\n");
    assert!(reader.header().unwrap().is_some());
    reader.feed(CANCELLED.as_bytes());
    assert!(reader.next_event().unwrap().is_none());
    reader.feed(b"\n{");
    assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
    assert!(reader.next_event().unwrap().is_none());
    reader.finish();
    reader.feed(b"ignored");
    assert!(reader.next_event().unwrap_err().is_final(), "torn");
    assert!(reader.next_event().unwrap().is_none());
}

#[test]
fn strings_of_a_trace_in_memory_stay_where_they_are() {
    let trace = format!("{HEADER}\n{{\"event\":\"entry_enter\",\"module\":\"here\",\"function\":\"f\"}}\n");
    let mut reader = TraceReader::from_slice(trace.as_bytes());
    let Some(TraceEvent::EntryEnter { module, .. }) = reader.next_event().unwrap() else { panic!("an entry_enter") };
    assert!(trace.as_bytes().as_ptr_range().contains(&module.as_ptr()));
}

#[test]
fn a_trace_in_memory_takes_no_memory_for_its_length() {
    let line = format!("{{\"event\":\"entry_enter\",\"module\":\"{}\",\"function\":\"f\"}}\n", "x".repeat(1 << 20));
    let trace = format!("{HEADER}\n{}", line.repeat(8));
    let used = measure(|| {
        let mut reader = TraceReader::from_slice(trace.as_bytes());
        while reader.next_event().unwrap().is_some() {}
    });
    assert!(used.bytes_max < 16 * 1024, "{used:?}");
}

#[test]
fn long_lines_in_pieces_take_no_memory() {
    let used = measure(|| {
        let mut reader = TraceReader::from_pieces().with_line_limit(1000);
        reader.feed(format!("{HEADER}\n").as_bytes());
        for _ in 0..100_000 {
            reader.feed(&[b'x'; 100]);
            assert!(reader.next_event().unwrap().is_none());
        }
        reader.feed(format!("\n{CANCELLED}\n").as_bytes());
        assert_eq!(reader.next_event().unwrap_err().position().column, 1001);
        assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
    });
    assert!(used.bytes_max < 256 * 1024, "{used:?}");
}

// Passing lines.

/// What comes from a line on, when those before it are passed, and whether it was said to be there.
fn from_line(mut reader: TraceReader<impl Source>, line: u64) -> (bool, Vec<(u64, Seen)>) {
    let mut seen = Vec::new();
    // The header's faults are said before anything is passed.
    while reader.header().is_err() {}
    let is_there = reader.pass_to_line(line).expect("a slice is read without errors of its own");
    walk(&mut reader, &mut seen);
    seen.retain(|(_, seen)| !matches!(seen, Seen::Header(_)));
    (is_there, seen)
}

#[test]
fn passing_to_a_line_gives_what_reading_to_it_gives() {
    for (trace, lines) in [(corpus::trace(), true), (corpus::trace().trim_end().to_owned(), false)] {
        let trace = trace.as_bytes();
        let count = trace.iter().filter(|&&byte| byte == b'\n').count() as u64 + u64::from(!lines);
        let (all, ..) = walked(TraceReader::from_slice(trace));
        for line in 2..=count + 2 {
            let expected: Vec<_> = all.iter().filter(|(at, _)| *at >= line).cloned().collect();
            let expected = (line <= count, expected);
            assert_eq!(from_line(TraceReader::from_slice(trace), line), expected, "{line}");
            assert_eq!(from_line(TraceReader::new(trace), line), expected, "{line}");
        }
        let mut reader = TraceReader::new(trace);
        assert!(!reader.pass_to_line(count + 5).unwrap());
        assert_eq!(reader.lines_read(), count, "those that there are");
    }
}

#[test]
fn lines_that_were_read_are_not_gone_back_to() {
    let trace = format!("{HEADER}\n{}", format!("{CANCELLED}\n").repeat(3));
    let mut reader = TraceReader::from_slice(trace.as_bytes());
    assert!(!reader.pass_to_line(1).unwrap(), "the header was just read");
    assert!(reader.pass_to_line(3).unwrap());
    assert!(reader.pass_to_line(3).unwrap(), "it is still the next");
    assert_eq!(reader.next_event_with_line().unwrap().unwrap().0, 3);
    assert!(!reader.pass_to_line(3).unwrap());
    assert_eq!(reader.next_event_with_line().unwrap().unwrap().0, 4);
    assert!(!reader.pass_to_line(5).unwrap(), "the end");
    assert!(reader.next_event().unwrap().is_none());
}

#[test]
fn bad_and_long_lines_are_passed_without_a_word_and_without_memory() {
    let start = format!("{HEADER}\nhello\n");
    let used = measure(|| {
        let long = Repeated::new(&[b'x'; 1000], 100_000);
        let end = format!("\n{CANCELLED}\n");
        let mut reader = TraceReader::new(start.as_bytes().chain(long).chain(end.as_bytes())).with_line_limit(1000);
        assert!(reader.pass_to_line(4).unwrap());
        assert_eq!(reader.next_event_with_line().unwrap(), Some((4, TraceEvent::TaskCancelled { id: 7 })));
    });
    assert!(used.bytes_max < 256 * 1024, "{used:?}");
}

#[test]
fn passing_lines_of_a_trace_in_pieces_goes_as_far_as_it_is_there() {
    let trace = format!("{HEADER}\nhello\n{CANCELLED}\n");
    for size in 1..trace.len() {
        let mut reader: TraceReader<Pieces> = TraceReader::from_pieces();
        let mut found = Vec::new();
        for piece in trace.as_bytes().chunks(size) {
            reader.feed(piece);
            if reader.header().unwrap().is_some() && reader.pass_to_line(3).unwrap() {
                found.extend(
                    reader.next_event_with_line().unwrap().map(|(line, event)| (line, OwnedEvent::from(&event))),
                );
            }
        }
        assert_eq!(found, [(3, OwnedEvent::TaskCancelled { id: 7 })], "{size}");
    }
}

#[test]
fn of_a_line_that_is_not_there_whole_nothing_is_let_go() {
    let mut reader: TraceReader<Pieces> = TraceReader::from_pieces();
    let (start, end) = CANCELLED.split_at(12);
    reader.feed(format!("{HEADER}\n{start}").as_bytes());
    assert!(!reader.pass_to_line(5).unwrap());
    reader.feed(format!("{end}\n").as_bytes());
    assert_eq!(reader.next_event_with_line().unwrap(), Some((2, TraceEvent::TaskCancelled { id: 7 })));
}

#[test]
fn a_long_line_that_reading_has_begun_on_is_passed_too() {
    let long = "x".repeat(1000);
    let mut reader = TraceReader::from_pieces().with_line_limit(200);
    reader.feed(format!("{HEADER}\n{long}").as_bytes());
    assert!(reader.next_event().unwrap().is_none(), "its end is not there yet");
    assert!(!reader.pass_to_line(3).unwrap());
    reader.feed(format!("{long}\n{CANCELLED}\n").as_bytes());
    assert!(reader.pass_to_line(3).unwrap());
    assert_eq!(reader.next_event_with_line().unwrap(), Some((3, TraceEvent::TaskCancelled { id: 7 })));
}

/// Gives a trace, and then an error instead of an end.
struct Broken<'t>(&'t [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::ErrorKind::ConnectionReset.into()) } else { self.0.read(buffer) }
    }
}

#[test]
fn an_error_of_the_source_while_lines_are_passed_is_given_and_final() {
    let trace = format!("{HEADER}\n{CANCELLED}\nhalf a li");
    let mut reader = TraceReader::new(Broken(trace.as_bytes()));
    let error = reader.pass_to_line(9).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::Io(error) if error.kind() == io::ErrorKind::ConnectionReset));
    assert!(error.is_final());
    assert!(!reader.pass_to_line(9).unwrap());
    assert!(reader.next_event().unwrap().is_none());
}
