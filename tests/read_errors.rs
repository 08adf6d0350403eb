//! What a reader says in words, and what its errors come from.

use std::error::Error;
use std::io::{self, Read};

use cove_trace::decode::DecodeError;
use cove_trace::{ReadError, ReadErrorKind, TraceReader};

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
    assert_eq!(error.to_string(), cause);
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some(cause));
    let ReadErrorKind::Line(line) = error.kind() else { panic!("{error:?}") };
    let said = |error: &DecodeError| format!("expected {}, found {}", error.expected(), error.found());
    assert_eq!(said(line), cause);
}

#[test]
fn a_line_that_is_too_long() {
    let error = error_after_header(&[b'x'; 1000][..]);
    assert_eq!(error.to_string(), format!("expected a line of at most {} bytes, found a longer one", HEADER.len()));
    assert!(error.source().is_none());
}

#[test]
fn a_torn_end() {
    let error = error_after_header(&b"{\"event\":"[..]);
    assert_eq!(error.to_string(), "the last line is torn: 9 bytes of an event that was not written to its end");
    assert!(error.source().is_none());
}

#[test]
fn a_source_that_fails() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable was cut"))
        }
    }
    let error = error_after_header(Failing);
    assert_eq!(error.to_string(), "the cable was cut");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the cable was cut"));
}
