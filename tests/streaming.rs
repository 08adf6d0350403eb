//! Reading as a stream: whatever the pieces in which a trace arrives, whatever happens to the source, however long the
//! lines are.

mod reading;

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use allocation_counter::measure;
use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Position, ReadErrorKind, TraceEvent, TraceReader};
use reading::corpus::{self, CANCELLED, HEADER};
use reading::json::parse_valid;
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::seen::{Fault, Seen, events, faults, read_all, read_all_with};
use reading::source::{Pieces, Repeated};

const MIB: usize = 1 << 20;

fn cancelled() -> Seen {
    Seen::Event(OwnedEvent::TaskCancelled { id: 7 })
}

fn entry_enter(module: &str) -> String {
    format!(r#"{{"event":"entry_enter","module":"{module}","function":"f"}}"#)
}

/// A small trace with everything in it that a split could hurt.
fn small_trace() -> Vec<u8> {
    let lines = [
        HEADER,
        r#"{"event":"entry_enter","module":"é€😀\ud83d\ude00\\\"\u00e9","function":"\n\r\t"}"#,
        "",
        " \t",
        r#"{"event":"host_call","task":18446744073709551615,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[{"value":-1.5e-300,"type":"float"},{"type":"int","value":-9223372036854775808}],"outcome":null}"#,
        "hello",
        CANCELLED,
        "{\"event\":\"entry_\u{1f600}",
        r#"{ "outcome" : "error" , "event" : "run_ended" , "message" : null }"#,
    ];
    let mut trace = lines.join("\r\n").into_bytes();
    trace.extend(b"\r\n\xf0\x9f\x98");
    trace
}

#[test]
fn every_split_into_two() {
    let trace = small_trace();
    let whole = read_all(&trace[..]);
    assert_eq!((events(&whole).len(), faults(&whole).len()), (4, 3), "{whole:?}");
    for at in 0..=trace.len() {
        let (first, second) = trace.split_at(at);
        assert_eq!(read_all(first.chain(second)), whole, "split at {at}");
    }
}

#[test]
fn pieces_of_every_length() {
    let trace = small_trace();
    let whole = read_all(&trace[..]);
    for most in 1..trace.len() {
        assert_eq!(read_all(Pieces { inner: &trace[..], most }), whole, "{most} bytes at a time");
    }
    let trace = corpus::trace();
    let whole = read_all(trace.as_bytes());
    for most in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(read_all(Pieces { inner: trace.as_bytes(), most }), whole, "{most} bytes at a time");
    }
}

/// Lines that end just before, at, and just after the edge of any buffer whose size is a power of two.
#[test]
fn lines_of_about_the_size_of_a_buffer() {
    let frame = entry_enter("").len() + 1;
    for size in [1 << 12, 1 << 13, 1 << 15, 1 << 16, 1 << 17, 1 << 20] {
        for len in size - 2..=size + 2 {
            for ahead in [HEADER.len() + 1, 0] {
                // The line alone has that length, or its end stands at that byte of the file.
                let module =
                    "é".repeat((len - frame - ahead) / 2) + if (len - frame - ahead) % 2 == 1 { "x" } else { "" };
                let line = entry_enter(&module);
                let trace = format!("{HEADER}\n{line}\n{CANCELLED}\n{line}\n{CANCELLED}");
                let mut reader = TraceReader::new(trace.as_bytes());
                for _ in 0..2 {
                    let event = reader.next_event().unwrap();
                    assert!(
                        matches!(event, Some(TraceEvent::EntryEnter { module: found, .. }) if found == module),
                        "{len}"
                    );
                    assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
                }
                assert_eq!(reader.next_event().unwrap(), None);
            }
        }
    }
}

/// Each event is given at its newline, while the writer waits for the reader before it goes on.
#[test]
fn a_pipe_held_open_delivers_each_event_at_its_newline() {
    let (source, mut pipe) = io::pipe().unwrap();
    let (say, hear) = mpsc::channel();
    let reading = thread::spawn(move || {
        let mut reader = TraceReader::new(source);
        say.send(Seen::Header(reader.header().unwrap().unwrap().clone())).unwrap();
        loop {
            match reader.next_event() {
                Ok(Some(event)) => say.send(Seen::Event(OwnedEvent::from(&event))).unwrap(),
                Ok(None) => return,
                Err(error) => say.send(error.into()).unwrap(),
            }
        }
    });
    // Only a reader that waits for more than the newline makes this run out.
    let next = || hear.recv_timeout(Duration::from_secs(60)).expect("it is delivered while the pipe is open");

    pipe.write_all(format!("{HEADER}\n").as_bytes()).unwrap();
    assert!(matches!(next(), Seen::Header(_)));
    for (line, event) in corpus::events() {
        pipe.write_all(line.as_bytes()).unwrap();
        pipe.write_all(b"\n").unwrap();
        assert_eq!(next(), Seen::Event(event));
    }
    pipe.write_all(b"nonsense\n").unwrap();
    assert!(matches!(next(), Seen::Fault(_, Fault::Line(Kind::Syntax))));
    // Two at once, and half of a third, which is not given.
    pipe.write_all(format!("{CANCELLED}\n{CANCELLED}\n{}", &CANCELLED[..9]).as_bytes()).unwrap();
    assert_eq!([next(), next()], [cancelled(), cancelled()]);
    assert!(hear.try_recv().is_err());
    pipe.write_all(format!("{}\r\n", &CANCELLED[9..]).as_bytes()).unwrap();
    assert_eq!(next(), cancelled());
    drop(pipe);
    reading.join().unwrap();
}

/// What a source does when it is asked to read.
enum Step {
    Give(Vec<u8>),
    Fail(io::ErrorKind),
    End,
}

/// Does one step after the other; counts how often it is asked.
struct Script<'c> {
    steps: std::vec::IntoIter<Step>,
    asked: &'c Cell<usize>,
}

impl<'c> Script<'c> {
    fn new(steps: Vec<Step>, asked: &'c Cell<usize>) -> Self {
        Self { steps: steps.into_iter(), asked }
    }
}

impl Read for Script<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.asked.set(self.asked.get() + 1);
        match self.steps.next() {
            Some(Step::Give(bytes)) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Ok(bytes.len())
            }
            Some(Step::Fail(kind)) => Err(kind.into()),
            Some(Step::End) | None => Ok(0),
        }
    }
}

#[test]
fn interruptions_are_gone_through() {
    let trace = small_trace();
    let mut steps = Vec::new();
    for byte in &trace {
        steps.extend([
            Step::Fail(io::ErrorKind::Interrupted),
            Step::Fail(io::ErrorKind::Interrupted),
            Step::Give(vec![*byte]),
        ]);
    }
    steps.push(Step::Fail(io::ErrorKind::Interrupted));
    let asked = Cell::new(0);
    assert_eq!(read_all(Script::new(steps, &asked)), read_all(&trace[..]));
}

/// An error of the source is the last thing that is said. What comes after it could have a gap before it.
#[test]
fn an_error_of_the_source_is_final_and_said_once() {
    let lines = format!("{HEADER}\n{CANCELLED}\n");
    for kind in [
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::WouldBlock,
        io::ErrorKind::TimedOut,
        io::ErrorKind::UnexpectedEof,
    ] {
        for half in ["", &CANCELLED[..12], CANCELLED] {
            let asked = Cell::new(0);
            let steps = vec![
                Step::Give(lines.clone().into_bytes()),
                Step::Give(half.as_bytes().to_vec()),
                Step::Fail(kind),
                Step::Give(format!("\n{CANCELLED}\n").into_bytes()),
            ];
            // A piece of no bytes is the end of a source.
            let steps: Vec<_> =
                steps.into_iter().filter(|step| !matches!(step, Step::Give(bytes) if bytes.is_empty())).collect();
            let mut reader = TraceReader::new(Script::new(steps, &asked));
            assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
            let error = reader.next_event().unwrap_err();
            assert!(matches!(error.kind(), ReadErrorKind::Io(error) if error.kind() == kind), "{error:?}");
            assert!(error.is_final());
            assert_eq!(error.position(), Position { line: 3, column: 1, offset: lines.len() as u64 });
            assert_eq!(reader.line(), 3);
            let reads = asked.get();
            for _ in 0..3 {
                assert_eq!(reader.next_event().unwrap(), None);
                assert_eq!(reader.header().unwrap().unwrap().entry, "main.cove");
            }
            assert_eq!(asked.get(), reads, "it is not read on");
        }
    }
    let asked = Cell::new(0);
    let mut reader = TraceReader::new(Script::new(vec![Step::Fail(io::ErrorKind::PermissionDenied)], &asked));
    assert!(reader.header().is_err_and(|error| error.is_final()));
    assert!(reader.header().unwrap().is_none() && reader.next_event().unwrap().is_none());
}

/// A file that grows after its end was met is for a new reader.
/// A trace that ends on the line where its header should be is told so there, and not on a line that does not exist.
#[test]
fn the_end_of_a_trace_without_a_header_is_where_the_bytes_end() {
    for (trace, line, column) in [("", 1, 1), ("\n", 2, 1), (" \t\r", 1, 4), ("\n \n  ", 3, 3)] {
        let mut reader = TraceReader::new(trace.as_bytes());
        let error = reader.next_event().unwrap_err();
        let offset = trace.len() as u64;
        assert_eq!(error.position(), Position { line, column, offset }, "{trace:?}");
        assert_eq!(reader.line(), line);
    }
}

#[test]
fn nothing_comes_after_the_end() {
    let asked = Cell::new(0);
    let lines = format!("{HEADER}\n{CANCELLED}\n");
    let steps = vec![Step::Give(lines.clone().into_bytes()), Step::End, Step::Give(lines.into_bytes())];
    let seen = read_all(Script::new(steps, &asked));
    assert!(matches!(&seen[..], [Seen::Header(_), event] if *event == cancelled()));
    assert_eq!(asked.get(), 2);
}

/// A source may claim to have given more than there was room for.
#[test]
fn a_source_that_lies_about_how_much_it_gave() {
    struct Liar(usize);
    impl Read for Liar {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer[0] = b'\n';
            self.0 -= 1;
            Ok(if self.0 == 0 { 0 } else { usize::MAX })
        }
    }
    // Whatever comes of it, it ends.
    read_all(Liar(3));
}

#[test]
fn bad_lines_are_said_once_each_and_counted() {
    let lines = [
        HEADER,
        CANCELLED,
        "{\"broken",
        "",
        CANCELLED,
        "nonsense",
        "3",
        "\u{feff}",
        CANCELLED,
        "{}",
        HEADER,
        "\0",
        CANCELLED,
    ];
    let trace = lines.join("\n") + "\n";
    let mut reader = TraceReader::new(trace.as_bytes());
    let seen = read_all_with(&mut reader);
    let found: Vec<_> = faults(&seen).into_iter().map(|(position, fault)| (position.line, fault)).collect();
    let expected = [
        (3, Kind::UnexpectedEnd),
        (6, Kind::Syntax),
        (7, Kind::WrongType),
        (8, Kind::ByteOrderMark),
        (10, Kind::MissingKey),
        (11, Kind::SecondHeader),
        (12, Kind::Syntax),
    ];
    assert_eq!(found, expected.map(|(line, kind)| (line, Fault::Line(kind))));
    assert_eq!(events(&seen).len(), 4);
    assert_eq!((reader.lines_read(), reader.bytes_read()), (13, trace.len() as u64));
}

/// Where the reader stands, while events, faults and blank lines go by.
#[test]
fn the_line_is_that_of_the_last_event_or_fault() {
    let long = entry_enter(&"x".repeat(500));
    let trace = format!("\n{HEADER}\n\n\n{CANCELLED}\n\nnonsense\n{long}\n\n{CANCELLED}\n\n\n\0");
    let mut reader = TraceReader::new(trace.as_bytes()).with_line_limit(200);
    assert_eq!((reader.line(), reader.lines_read(), reader.bytes_read()), (0, 0, 0));
    reader.header().unwrap();
    assert_eq!((reader.line(), reader.lines_read()), (2, 2));
    for (line, is_event) in [(5, true), (7, false), (8, false), (10, true), (13, false)] {
        assert_eq!(reader.next_event().is_ok(), is_event);
        assert_eq!((reader.line(), reader.lines_read()), (line, line));
    }
    assert!(reader.next_event().unwrap().is_none());
    assert_eq!((reader.line(), reader.lines_read(), reader.bytes_read()), (13, 13, trace.len() as u64));
}

#[test]
fn the_limit_is_for_the_line_without_its_newline() {
    let line = entry_enter(&"x".repeat(1000));
    for (limit, end, fits) in [
        (line.len(), "\n", true),
        (line.len(), "", true),
        (line.len() - 1, "\n", false),
        (line.len() - 1, "", false),
        (line.len(), "\r\n", false),
        (line.len() + 1, "\r\n", true),
        (usize::MAX, "\n", true),
    ] {
        for most in [1, 7, usize::MAX] {
            let trace = format!("{HEADER}\n{line}{end}");
            let mut reader = TraceReader::new(Pieces { inner: trace.as_bytes(), most }).with_line_limit(limit);
            match reader.next_event() {
                Ok(event) => assert!(fits && event.is_some()),
                Err(error) => {
                    assert!(!fits && !error.is_final());
                    assert!(matches!(error.kind(), ReadErrorKind::LineTooLong { limit: said } if *said == limit));
                    // The first byte that is too much.
                    let offset = (HEADER.len() + 1 + limit) as u64;
                    assert_eq!(error.position(), Position { line: 2, column: limit as u64 + 1, offset });
                }
            }
            assert!(reader.next_event().unwrap().is_none());
            assert_eq!(reader.bytes_read(), trace.len() as u64);
        }
    }
}

/// A line of 70 KB, of 1 MB, of more than 64 MB; each is passed without being held, and the next is read.
#[test]
fn long_lines_take_no_memory_and_the_next_is_read() {
    for (len, limit) in [(70_000, 200), (MIB, 64 << 10), (65 * MIB, MIB), (200 * MIB, 64 << 10)] {
        for terminated in [true, false] {
            let before = format!("{HEADER}\n{CANCELLED}\n{{\"event\":\"entry_enter\",\"module\":\"");
            let after = if terminated { format!("\"}}\n{CANCELLED}\n") } else { String::new() };
            let unit = [b'x'; 1000];
            let source = before.as_bytes().chain(Repeated::new(&unit, len as u64 / 1000)).chain(after.as_bytes());
            let mut seen = Vec::new();
            let counted = measure(|| seen = read_all_with(&mut TraceReader::new(source).with_line_limit(limit)));
            let start = before.rfind('\n').unwrap() as u64 + 1;
            let position = Position { line: 3, column: limit as u64 + 1, offset: start + limit as u64 };
            let mut expected = vec![cancelled(), Seen::Fault(position, Fault::TooLong)];
            expected.extend(terminated.then(cancelled));
            assert_eq!(seen[1..], expected);
            assert!(counted.bytes_max < (4 * limit + MIB) as u64, "{len} bytes, limit {limit}: {counted:?}");
        }
    }
}

/// The same with the limit that nobody set.
#[test]
fn lines_about_the_default_limit() {
    let limit = cove_trace::reader::DEFAULT_LINE_LIMIT;
    assert_eq!(limit, 64 * MIB);
    let before = format!("{HEADER}\n");
    let after = format!("\n{CANCELLED}\n");
    let unit = [b'x'; 1024];
    let source =
        before.as_bytes().chain(Repeated::new(&unit, limit as u64 / 1024)).chain(&b"x"[..]).chain(after.as_bytes());
    let mut seen = Vec::new();
    let counted = measure(|| seen = read_all(source));
    assert!(matches!(seen[..], [_, Seen::Fault(_, Fault::TooLong), Seen::Event(_)]), "{seen:?}");
    assert!(counted.bytes_max < (2 * limit + MIB) as u64, "{counted:?}");
    // One of a megabyte is nothing special.
    let line = entry_enter(&"x".repeat(MIB));
    let seen = read_all(format!("{HEADER}\n{line}\n{CANCELLED}\n").as_bytes());
    assert!(matches!(&seen[1..], [Seen::Event(_), last] if *last == cancelled()));
}

/// A short trace of ordinary lines after each other, spelt in many ways, in pieces of many lengths.
#[test]
fn pieces_of_random_length() {
    struct Random<'t>(&'t [u8], Rng);
    impl Read for Random<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = 1 + self.1.below(200);
            let len = buffer.len().min(most);
            self.0.read(&mut buffer[..len])
        }
    }
    let mut rng = Rng::new(1);
    let mut trace = format!("{HEADER}\n");
    let mut expected = Vec::new();
    for (line, event) in corpus::events() {
        for _ in 0..3 {
            trace += &respell(&parse_valid(&line), Variation::ALL, &mut rng);
            trace += "\n";
            expected.push(Seen::Event(event.clone()));
        }
    }
    for seed in 0..20 {
        assert_eq!(read_all(Random(trace.as_bytes(), Rng::new(seed)))[1..], expected);
    }
}

#[test]
fn the_text_of_the_last_line_is_at_hand() {
    let header = r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#;
    let odd = r#" {"id":1, "event":"task_cancelled"} "#;
    let trace = format!("{header}\n{odd}\r\nnonsense\n");
    let mut reader = TraceReader::new(trace.as_bytes());
    assert_eq!(reader.line_text(), b"", "nothing is read yet");
    reader.header().unwrap();
    assert_eq!(reader.line_text(), header.as_bytes());
    reader.next_event().unwrap();
    assert_eq!(reader.line_text(), format!("{odd}\r").as_bytes());
    reader.next_event().unwrap_err();
    assert_eq!(reader.line_text(), b"nonsense");
    assert_eq!(reader.next_event().unwrap(), None);
}

/// What is wrong with a line is where it is, whatever came before: blank lines count as lines, and CRLF as two bytes.
#[test]
fn a_wrong_type_on_line_seven() {
    let wrong = r#"{"event":"task_cancelled","id":"7"}"#;
    let before = format!("\r\n{HEADER}\r\n\n{CANCELLED}\r\n \t\r\n\r\n");
    let column = r#"{"event":"task_cancelled","id":"#.len() as u64;
    let position = Position { line: 7, column: column + 1, offset: before.len() as u64 + column };
    for trace in [format!("{before}{wrong}\r\n{CANCELLED}\r\n"), format!("{before}{wrong}\n{CANCELLED}")] {
        for most in [1, 7, trace.len()] {
            let seen = read_all(Pieces { inner: trace.as_bytes(), most });
            assert_eq!(faults(&seen), [(position, Fault::Line(Kind::WrongType))], "{trace}");
            assert_eq!(seen.last(), Some(&cancelled()));
        }
    }
}
