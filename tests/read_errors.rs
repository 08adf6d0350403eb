//! What a reader says in words, and what its errors come from.

use std::error::Error;
use std::io::{self, Read};

use cove_trace::check::Checker;
use cove_trace::decode::{DecodeError, Decoder};
use cove_trace::owned::OwnedEvent;
use cove_trace::replay::LiveCheck;
use cove_trace::{ReadError, ReadErrorKind, Replay, TraceEvent, TraceReader};

const HEADER: &str =
    r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main.cove","args":[]}"#;

/// The error that comes after the header.
fn error_after_header(rest: impl Read) -> ReadError {
    let source = HEADER.as_bytes().chain(&b"\n"[..]).chain(rest);
    let mut reader = TraceReader::new(source).with_line_limit(HEADER.len());
    let Err(error) = reader.next_event() else { panic!("an error was to come") };
    error
}

#[test]
fn a_line_that_is_wrong() {
    let error = error_after_header(&b"{\"event\":\"task_cancelled\",\"id\":true}\n"[..]);
    let cause = "expected a whole number from 0 to 18446744073709551615, found true";
    assert_eq!(error.message().to_string(), cause);
    assert_eq!(error.to_string(), format!("line 2, column 32: {cause}"));
    assert!(error.source().is_none(), "a chain of messages repeats none");
    let ReadErrorKind::Line(line) = error.kind() else { panic!("{error:?}") };
    let said = |error: &DecodeError| format!("expected {}, found {}", error.expected(), error.found());
    assert_eq!(said(line), cause);
}

/// What stands in a number's place, or inside a string, and what the message calls it.
#[test]
fn what_was_found_is_said_in_words() {
    let found_in =
        |line: String| Decoder::new().decode_event(line.as_bytes()).expect_err("it is refused").found().to_owned();
    let found = |value: &str| found_in(format!(r#"{{"event":"task_cancelled","id":{value}}}"#));
    for (value, expected) in [
        (r#"{"a":1}"#, "an object"),
        ("[1]", "an array"),
        (r#""text""#, r#"the string "text""#),
        ("\"a\\nb\tc\"", r#"the string "a\\nb\tc""#),
        ("true", "true"),
        ("nul", "nul"),
        ("-1", "the number -1"),
        ("1.5", "the number 1.5"),
        ("01", "the number 01"),
        ("\u{feff}7", "a byte order mark"),
        ("?", r#""?""#),
        ("é", r#""é""#),
        ("\u{1}", r#""\u{1}""#),
        ("", r#""}""#),
    ] {
        assert_eq!(found(value), expected, "{value}");
    }
    for (text, expected) in
        [(r"\ud83d and so on", r#""\\ud83d""#), (r"\x and so on", r#""\\x and""#), ("\t", "the byte 0x09")]
    {
        let line = format!(r#"{{"event":"task_spawned","id":1,"parent":null,"scope":"{text}"}}"#);
        assert_eq!(found_in(line), expected, "{text}");
    }
    for (character, before, behind) in [("a", "", ""), ("1", "the number ", ""), ("é", r#"the string ""#, "\"")] {
        let quotes = if behind.is_empty() { "" } else { "\"" };
        let value = |len: usize| format!("{quotes}{}{quotes}", character.repeat(len));
        assert_eq!(found(&value(40)), format!("{before}{}{behind}", character.repeat(40)));
        assert_eq!(found(&value(41)), format!("{before}{}...{behind}", character.repeat(40)));
    }
}

#[test]
fn a_line_that_is_too_long() {
    let error = error_after_header(&[b'x'; 1000][..]);
    assert_eq!(
        error.message().to_string(),
        format!("expected a line of at most {} bytes, found a longer one", HEADER.len())
    );
    assert!(error.source().is_none());
}

/// Also where an object is passed over, in search of what says what it is.
#[test]
fn what_was_expected_between_two_members_or_items() {
    for (value, expected) in [(r#"{"b":1 2}"#, "`,` or `}`"), ("[1 2]", "`,` or `]`")] {
        let line = format!(r#"{{"args":[{{"value":{value}}}],"event":"host_call"}}"#);
        let error = Decoder::new().decode_event(line.as_bytes()).expect_err("it is refused");
        assert_eq!((error.expected(), error.found()), (expected, "the number 2"));
    }
}

/// A second question for a header that is not there goes back by one line and not further.
#[test]
fn lines_after_a_missing_header_are_counted_right() {
    let trace = b"{\"event\":\"task_cancelled\",\"id\":7}\n\n{\"event\":\"task_cancelled\",\"id\":-7}\n";
    let mut reader = TraceReader::new(trace.chain(Failing));
    assert_eq!(reader.header().expect_err("it is missing").position().line, 1);
    for _ in 0..3 {
        assert!(reader.header().expect("that was said").is_none());
    }
    assert!(reader.next_event().expect("it was only no header").is_some());
    assert_eq!(reader.next_event().expect_err("it is out of range").position().line, 3);
    assert_eq!(reader.next_event().expect_err("it fails").position().line, 4);
}

/// The limit that holds when no other is set.
#[test]
fn a_line_of_more_than_64_mebibytes() {
    let said = |len: u64| {
        let line = io::repeat(b'?').take(len).chain(&b"\n"[..]);
        TraceReader::new(line).next_event().expect_err("it is refused").message().to_string()
    };
    assert_eq!(said(64 * 1024 * 1024 + 1), "expected a line of at most 67108864 bytes, found a longer one");
    assert!(said(64 * 1024 * 1024).ends_with("found \"?\""));
}

#[test]
fn a_torn_end() {
    let error = error_after_header(&b"{\"event\":"[..]);
    assert_eq!(
        error.message().to_string(),
        "the last line is torn: 9 bytes of an event that was not written to its end"
    );
    assert!(error.source().is_none());
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the cable was cut"))
    }
}

#[test]
fn a_source_that_fails() {
    let error = error_after_header(Failing);
    assert_eq!(error.message().to_string(), "the cable was cut");
    assert!(error.source().is_none(), "a chain of messages repeats none");
    let given_back = std::io::Error::from(error);
    assert_eq!((given_back.kind(), given_back.to_string().as_str()), (io::ErrorKind::Other, "the cable was cut"));
}

#[test]
fn the_iterator_of_owned_events_goes_on_after_an_error() {
    let lines = ["{\"event\":\"task_cancelled\",\"id\":1}", "x", "{\"event\":\"task_cancelled\",\"id\":2}"];
    let trace = format!("{HEADER}\n{}\n", lines.join("\n"));
    let mut reader = TraceReader::from_slice(trace.as_bytes());
    let events: Vec<_> = reader.events().map(|event| event.map_err(|error| error.position().line)).collect();
    let cancelled = |id| Ok(OwnedEvent::from(&TraceEvent::TaskCancelled { id }));
    assert_eq!(events, [cancelled(1), Err(3), cancelled(2)]);
}

#[test]
fn all_that_reads_a_trace_takes_a_slice() {
    let trace = format!("{HEADER}\n{{\"event\":\"run_ended\",\"outcome\":\"success\",\"message\":null}}\n");
    let reader = || TraceReader::from_slice(trace.as_bytes());
    assert_eq!(Checker::new().read(&mut reader(), |remark| panic!("{remark:?}")).events, 1);
    assert_eq!(Replay::from_reader(&mut reader()).unwrap().calls_recorded(), 0);
    assert!(LiveCheck::from_reader(&mut reader()).is_ok());
    #[cfg(feature = "summary")]
    assert_eq!(cove_trace::summary::Summary::read(&mut reader(), |error| panic!("{error}")).events, 1);
    #[cfg(feature = "diff")]
    assert!(cove_trace::diff::Diff::load(&mut reader(), &mut reader()).is_ok());
}
