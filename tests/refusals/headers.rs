//! What has to stand first, and what may not stand later; versions; the closed sets of names.

use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Position, RecordingBackend, RunOutcome, TraceReader, ValueCapture};

use crate::reading::corpus::{CANCELLED, HEADER};
use crate::reading::expect::{assert_accepted, assert_header_refused, assert_refused};
use crate::reading::seen::{Fault, Seen, faults, read_all};

fn cancelled() -> Seen {
    Seen::Event(OwnedEvent::TaskCancelled { id: 7 })
}

fn no_header(line: u64, column: u64, offset: u64) -> Seen {
    Seen::Fault(Position { line, column, offset }, Fault::Line(Kind::NoHeader))
}

#[test]
fn a_trace_of_nothing_has_no_header() {
    assert_eq!(read_all(&b""[..]), [no_header(1, 1, 0)]);
    assert_eq!(read_all(&b"\n"[..]), [no_header(2, 1, 1)]);
    assert_eq!(read_all(&b" \t\r\n\n"[..]), [no_header(3, 1, 5)]);
}

#[test]
fn an_event_in_the_headers_place_is_said_and_then_read() {
    for end in ["", "\n"] {
        let trace = format!("\r\n{CANCELLED}{end}");
        assert_eq!(read_all(trace.as_bytes()), [no_header(2, 10, 11), cancelled()]);
    }
    let trace = format!("{CANCELLED}\n{CANCELLED}\n");
    assert_eq!(read_all(trace.as_bytes()), [no_header(1, 10, 9), cancelled(), cancelled()]);
}

#[test]
fn what_is_wrong_before_the_name_of_a_misplaced_line_comes_first() {
    assert_header_refused(r#"{"id":‸-7,"event":"task_cancelled"}"#, Kind::OutOfRange);
    assert_header_refused(r#"{"id":7,"event":‸"task_cancelled"}"#, Kind::NoHeader);
    assert_header_refused(r#"{"event":‸"task_cancelled","id":-7}"#, Kind::NoHeader);
    assert_refused(r#"{"version":4,"args":‸7,"event":"trace_header"}"#, Kind::WrongType);
}

#[test]
fn foreign_text_before_the_header() {
    let trace = format!("hello\n{HEADER}\n{CANCELLED}\n");
    let seen = read_all(trace.as_bytes());
    assert_eq!(faults(&seen), [(Position { line: 1, column: 1, offset: 0 }, Fault::Line(Kind::Syntax))]);
    assert!(matches!(seen[..], [_, Seen::Header(_), Seen::Event(_)] | [_, Seen::Event(_)]), "{seen:?}");
    let mut reader = TraceReader::new(trace.as_bytes());
    assert!(reader.header().is_err());
    assert_eq!(reader.next_event().unwrap(), Some(cove_trace::TraceEvent::TaskCancelled { id: 7 }));
    assert_eq!(reader.header().unwrap().unwrap().entry, "main.cove");
}

/// A header that comes late is held to the same rules, its version above all.
#[test]
fn a_late_header_with_a_fault_is_refused_for_that_fault() {
    let late = |header: &str| read_all(format!("hello\n{header}\n{CANCELLED}\n").as_bytes());
    let at = |column: u64, kind| (Position { line: 2, column, offset: 5 + column }, Fault::Line(kind));

    let seen = late(&HEADER.replace("\"version\":4", "\"version\":5"));
    assert_eq!(faults(&seen)[1..], [at(35, Kind::UnsupportedVersion)]);
    assert_eq!(seen.len(), 2, "nothing of another version is read: {seen:?}");

    let seen = late(&HEADER.replace("\"vm\"", "\"jit\""));
    assert_eq!(faults(&seen)[1..], [at(47, Kind::UnknownName)]);
    assert_eq!(seen[2..], [cancelled()]);
}

#[test]
fn a_second_header() {
    let marked = HEADER.replace("\"trace_header\"", "‸\"trace_header\"");
    assert_refused(&marked, Kind::SecondHeader);
    assert_refused(&marked.replace(":4,", ":5,"), Kind::SecondHeader);
    assert_refused(&marked.replace("\"vm\"", "7"), Kind::SecondHeader);
    assert_refused(r#"{"event":‸"trace_header"}"#, Kind::SecondHeader);
    let trace = format!("{HEADER}\n{HEADER}\n{CANCELLED}\n");
    let seen = read_all(trace.as_bytes());
    let position = Position { line: 2, column: 10, offset: HEADER.len() as u64 + 10 };
    assert_eq!(seen[1..], [Seen::Fault(position, Fault::Line(Kind::SecondHeader)), cancelled()]);
}

#[test]
fn every_version_but_one_is_refused() {
    for version in [
        "5",
        "0",
        "3",
        "40",
        "44",
        "\"4\"",
        "4.0",
        "4e0",
        "-4",
        "4294967300",
        "18446744073709551620",
        "null",
        "true",
        "[4]",
        "{\"version\":4}",
        "0.4e1",
        "1e400",
    ] {
        assert_header_refused(
            &HEADER.replace("\"version\":4", &format!("\"version\":‸{version}")),
            Kind::UnsupportedVersion,
        );
    }
    let without = HEADER.replace("\"version\":4,", "").replace('}', "‸}");
    assert_header_refused(&without, Kind::UnsupportedVersion);
    assert_header_refused(r#"{"event":"trace_header"‸}"#, Kind::UnsupportedVersion);
    // What is not JSON has no version.
    for (version, kind) in [("‸04", Kind::Syntax), ("‸+4", Kind::Syntax), ("‸four", Kind::Syntax), ("‸", Kind::Syntax)]
    {
        assert_header_refused(&HEADER.replace("\"version\":4", &format!("\"version\":{version}")), kind);
    }
}

/// A newer header may have fields, names and types that this build can't know. It is the version that is said.
#[test]
fn the_version_comes_before_everything_else() {
    for marked in [
        r#"{"event":"trace_header","version":‸5}"#,
        r#"{"event":"trace_header","version":‸5,"nope":{"nested":[1,{}]},"backend":"jit","values":"some","entry":7,"args":{}}"#,
        r#"{"nope":[[[]]],"backend":"jit","event":"trace_header","entry":null,"version":‸5}"#,
        r#"{"version":‸5,"event":"trace_header","event":"trace_header"}"#,
        r#"{"event":"trace_header","version":‸5,"version":4}"#,
        r#"{"event":"trace_header","version":‸5} trailing"#,
        r#"{"event":"trace_header","version":‸5,"#,
        r#"{"event":"trace_header","\u0076ersion":‸5}"#,
        r#"{"backend":"jit","event":"trace_header"‸}"#,
    ] {
        assert_header_refused(marked, Kind::UnsupportedVersion);
    }
    // A header that is broken before its version has none to go by.
    assert_header_refused(r#"{"event":"trace_header",‸nope,"version":5}"#, Kind::Syntax);
    assert_header_refused(&HEADER.replace("\"version\":4", "\"version\":4,‸\"version\":5"), Kind::RepeatedKey);
}

#[test]
fn a_version_error_says_both_versions() {
    for (found, said) in [("5", "5"), ("0", "0"), ("\"4\"", "\"4\""), ("4.0", "4.0"), ("null", "null")] {
        let header = HEADER.replace("\"version\":4", &format!("\"version\":{found}"));
        let error = TraceReader::new(header.as_bytes()).header().unwrap_err();
        assert!(error.is_final());
        let message = error.to_string();
        let (expected, found) = message.split_once(", found ").expect("what was found is said");
        assert!(expected.contains('4') && found.contains(said), "{message}");
    }
}

#[test]
fn every_name_of_every_closed_set() {
    for backend in RecordingBackend::ALL {
        let header = HEADER.replace("\"vm\"", &format!("\"{backend}\""));
        assert_eq!(TraceReader::new(header.as_bytes()).header().unwrap().unwrap().backend, *backend);
    }
    for values in ValueCapture::ALL {
        let header = HEADER.replace("\"full\"", &format!("\"{values}\""));
        assert_eq!(TraceReader::new(header.as_bytes()).header().unwrap().unwrap().values, *values);
    }
    for outcome in [
        "success",
        "error",
        "invariant",
        "host_boundary",
        "fuel",
        "deadline",
        "cancelled",
        "call_depth",
        "host_calls",
        "concurrency",
    ] {
        let event = assert_accepted(&format!(r#"{{"event":"run_ended","outcome":"{outcome}","message":null}}"#));
        assert_eq!(event, OwnedEvent::RunEnded { outcome: RunOutcome::parse(outcome).unwrap(), message: None });
    }
}

#[test]
fn no_name_but_those_of_its_closed_set() {
    let value = |value: &str| {
        format!(
            r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[{value}],"outcome":null}}"#
        )
    };
    let outcome = |outcome: &str| value("").replace("null", outcome);
    for (set, known) in [
        ("event", "task_cancelled"),
        ("type", "unit"),
        ("kind", "not_recordable"),
        ("outcome", "success"),
        ("backend", "vm"),
        ("values", "full"),
    ] {
        let capital = known[..1].to_uppercase() + &known[1..];
        let wrong = ["", "nope", &capital, &known.to_uppercase(), &known[1..], &known[..known.len() - 1]]
            .map(str::to_owned)
            .into_iter()
            .chain([
                format!("{known} "),
                format!(" {known}"),
                format!("{known}\\u0000"),
                known.replace('_', "-") + "s",
            ]);
        for name in wrong {
            match set {
                "event" => assert_refused(&format!(r#"{{"event":‸"{name}","id":7}}"#), Kind::UnknownName),
                "type" => assert_refused(&value(&format!(r#"{{"type":‸"{name}"}}"#)), Kind::UnknownName),
                "kind" => assert_refused(&outcome(&format!(r#"{{"kind":‸"{name}"}}"#)), Kind::UnknownName),
                "outcome" => assert_refused(
                    &format!(r#"{{"event":"run_ended","outcome":‸"{name}","message":null}}"#),
                    Kind::UnknownName,
                ),
                key => assert_header_refused(
                    &HEADER.replace(&format!(r#""{key}":"{known}""#), &format!(r#""{key}":‸"{name}""#)),
                    Kind::UnknownName,
                ),
            }
        }
    }
}
