//! The three ends of a trace, told apart: a clean one, one that its writer died in, and damage that only looks like one.

mod reading;

use allocation_counter::measure;
use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Position, ReadErrorKind, TraceEvent, TraceReader};
use reading::corpus::{self, CANCELLED, HEADER};
use reading::json::parse_valid;
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::seen::{Fault, Seen, faults, read_all, read_all_with};
use reading::source::Repeated;
use std::io::Read;

fn cancelled() -> Seen {
    Seen::Event(OwnedEvent::TaskCancelled { id: 7 })
}

/// Lines that are spelt in ways that a cut could take for something else.
fn tricky_lines() -> Vec<String> {
    let float = |number: &str| {
        format!(
            r#"{{"event":"host_call","task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"args":[{{"value":{number},"type":"float"}},{{"type":"float","value":{number}}}],"outcome":null}}"#
        )
    };
    let mut lines: Vec<_> =
        ["-0", "-0.0e-0", "1e5", "1E+05", "1.5e-300", "123.456E+10", "-12345678901234567890", "1e-400"]
            .map(float)
            .into();
    // Without its exponent it is out of range.
    lines.push(float(&format!("1{}e-400", "0".repeat(400))));
    lines.push(float(&format!("1{}.5E-0400", "0".repeat(400))));
    lines.push(r#"{"event":"entry_enter","module":"\ud83d\ude00\uD83D\uDE00\\\"\/\b\f\n\r\t\u0041\u00e9\ud7ff\ue000é€😀","function":"\\"}"#.into());
    lines.push(
        r#"{"\u0066unction":"\ud800\udc00","m\u006fdule":"\udbff\udfff","\u0065vent":"entr\u0079_enter"}"#.into(),
    );
    lines.push(r#"{"message":null,"outcome":"host_calls","event":"run_ended"}"#.into());
    lines
}

/// Every valid line, canonical and spelt differently. None begins or ends with white space.
fn lines() -> Vec<String> {
    let mut rng = Rng::new(1);
    let mut lines = tricky_lines();
    for (line, _) in corpus::events() {
        lines.push(respell(&parse_valid(&line), Variation::ALL, &mut rng).trim().to_owned());
        lines.push(line);
    }
    lines
}

#[test]
fn every_proper_prefix_of_an_event_is_torn() {
    let before = format!("{HEADER}\r\n\n{CANCELLED}\n");
    for line in lines() {
        // One digit after the other of a number of four hundred makes no difference.
        let lengths = (1..line.len()).filter(|len| !line.as_bytes()[..*len].ends_with(b"000000") || len % 50 == 0);
        for len in lengths {
            let trace = [before.as_bytes(), &line.as_bytes()[..len]].concat();
            let seen = read_all(&trace[..]);
            let position = Position { line: 4, column: len as u64 + 1, offset: trace.len() as u64 };
            let torn = Seen::Fault(position, Fault::Torn { bytes: len as u64 });
            assert_eq!(seen[1..], [cancelled(), torn], "{} of {line}", String::from_utf8_lossy(&trace[before.len()..]));
        }
        let whole = read_all(format!("{before}{line}").as_bytes());
        assert!(matches!(whole[1..], [_, Seen::Event(_)]), "{line}: {whole:?}");
    }
}

#[test]
fn every_proper_prefix_of_a_header_is_torn() {
    let mut rng = Rng::new(2);
    for (line, _) in corpus::headers() {
        let respelt = (0..3).map(|_| respell(&parse_valid(line), Variation::ALL, &mut rng).trim().to_owned());
        for line in std::iter::once(line.to_owned()).chain(respelt) {
            for len in 1..line.len() {
                let seen = read_all(&line.as_bytes()[..len]);
                let position = Position { line: 1, column: len as u64 + 1, offset: len as u64 };
                assert_eq!(
                    seen,
                    [Seen::Fault(position, Fault::Torn { bytes: len as u64 })],
                    "{}",
                    &line[..line.floor_char_boundary(len)]
                );
            }
            assert!(matches!(read_all(line.as_bytes())[..], [Seen::Header(_)]));
        }
    }
}

/// White space around a line that is cut does not make it whole, nor is white space alone half of anything.
#[test]
fn white_space_and_a_torn_end() {
    for (last, bytes) in
        [(" \t{", 3), ("{ ", 2), ("\r{\"event\" \r", 11), (" {\"event\":\"task_cancelled\",\"id\":7 \r", 35)]
    {
        let seen = read_all(format!("{HEADER}\n{CANCELLED}\n{last}").as_bytes());
        assert_eq!(
            faults(&seen).into_iter().map(|(_, fault)| fault).collect::<Vec<_>>(),
            [Fault::Torn { bytes }],
            "{last:?}"
        );
    }
    for last in [" ", "\r", "\t \r", "  \n "] {
        let seen = read_all(format!("{HEADER}\n{CANCELLED}\n{last}").as_bytes());
        assert_eq!(seen[1..], [cancelled()]);
    }
}

#[test]
fn a_torn_end_is_the_last_thing_that_is_said() {
    let trace = format!("{HEADER}\n{CANCELLED}\n{{\"event\":");
    let mut reader = TraceReader::new(trace.as_bytes());
    assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
    let error = reader.next_event().unwrap_err();
    assert!(error.is_final());
    assert!(error.to_string().contains("9 bytes"), "{error}");
    assert_eq!(reader.line(), 3);
    for _ in 0..3 {
        assert_eq!(reader.next_event().unwrap(), None);
    }
    assert_eq!((reader.lines_read(), reader.bytes_read()), (3, trace.len() as u64));
}

/// What is wrong with the last line is not always that it stops.
#[test]
fn damage_in_an_unterminated_last_line_is_no_torn_end() {
    for (last, offset, kind) in [
        ("hello", 0, Kind::Syntax),
        ("3", 0, Kind::WrongType),
        ("[", 0, Kind::WrongType),
        ("{}", 1, Kind::MissingKey),
        ("{\"nope\"", 1, Kind::UnknownKey),
        ("{\"event\":\"task_cancelled\",\"id\":-7", 31, Kind::OutOfRange),
        ("{\"event\":\"task_cancelled\",\"id\":99999999999999999999", 31, Kind::OutOfRange),
        ("{\"event\":\"task_cancelled\",\"id\":7,", 33, Kind::UnexpectedEnd),
        ("{\"event\":\"task_cancelled\",\"id\":7} x", 34, Kind::TrailingBytes),
        ("{\"event\":\"task_cancelled\"t", 25, Kind::Syntax),
        ("{\"event\":\"task_cancelled\",t", 26, Kind::Syntax),
        ("{\"event\":\"nope\"", 9, Kind::UnknownName),
        ("{\"event\":\"trace_header\"", 9, Kind::SecondHeader),
        ("{\"event\":\"\\x", 10, Kind::BadEscape),
        ("{\"event\":\"\\ud83dx", 10, Kind::LoneSurrogate),
        ("\u{feff}{", 0, Kind::ByteOrderMark),
    ] {
        let before = format!("{HEADER}\n{CANCELLED}\n");
        let seen = read_all(format!("{before}{last}").as_bytes());
        let (position, fault) = faults(&seen)[0];
        if kind == Kind::UnexpectedEnd {
            assert_eq!(fault, Fault::Torn { bytes: last.len() as u64 });
            continue;
        }
        assert_eq!(fault, Fault::Line(kind), "{last}");
        assert_eq!(position, Position { line: 3, column: offset + 1, offset: before.len() as u64 + offset }, "{last}");
    }
    for bytes in [&b"\xff"[..], b"{\"\xc3\"", b"\xe2\x82{", b"{\"event\":\"\xed\xa0\x80"] {
        let trace = [HEADER.as_bytes(), b"\n", bytes].concat();
        assert!(matches!(faults(&read_all(&trace[..]))[..], [(_, Fault::Line(Kind::NotUtf8))]), "{bytes:?}");
    }
}

#[test]
fn a_half_line_in_the_middle_is_damage() {
    for (line, _) in corpus::events() {
        let half = &line[..line.floor_char_boundary(line.len() / 2)];
        let seen = read_all(format!("{HEADER}\n{half}\n{CANCELLED}\n").as_bytes());
        let position =
            Position { line: 2, column: half.len() as u64 + 1, offset: (HEADER.len() + 1 + half.len()) as u64 };
        assert_eq!(seen[1..], [Seen::Fault(position, Fault::Line(Kind::UnexpectedEnd)), cancelled()]);
    }
}

#[test]
fn a_tail_of_nul_bytes_is_torn() {
    let header = format!("{HEADER}\n");
    let lines = format!("{HEADER}\n{CANCELLED}\n");
    for nuls in [1, 2, 100, 70_000] {
        for (before, last) in [
            ("", ""),
            ("", HEADER),
            ("", "{\"event\":"),
            (&header, ""),
            (&header, CANCELLED),
            (&lines, ""),
            (&lines, CANCELLED),
            (&lines, &CANCELLED[..20]),
            (&lines, "{\"event\":\"entry_enter\",\"module\":\"\u{1f600}"),
            (&lines, "  "),
            (&lines, "\r"),
        ] {
            let trace = format!("{before}{last}{}", "\0".repeat(nuls));
            let seen = read_all(trace.as_bytes());
            // What was written ends where the first of them stands.
            let position = Position {
                line: before.lines().count() as u64 + 1,
                column: last.len() as u64 + 1,
                offset: (before.len() + last.len()) as u64,
            };
            let torn = (position, Fault::Torn { bytes: (last.len() + nuls) as u64 });
            assert_eq!(faults(&seen), [torn], "{before}{last}");
            assert_eq!(seen.len(), before.lines().count() + 1, "all before it stands");
        }
    }
}

/// Two hundred megabytes of them: a file that was laid out far ahead.
#[test]
fn a_long_tail_of_nul_bytes_takes_no_memory() {
    const NULS: u64 = 200 << 20;
    let before = format!("{HEADER}\n{CANCELLED}\n");
    for (nuls, limit, last) in
        [(NULS, 64 << 10, ""), (NULS / 10, 64 << 10, CANCELLED), (NULS / 10, 1 << 20, &CANCELLED[..9])]
    {
        let source = before.as_bytes().chain(last.as_bytes()).chain(Repeated::new(&[0; 4096], nuls / 4096));
        let mut seen = Vec::new();
        let counted = measure(|| seen = read_all_with(&mut TraceReader::new(source).with_line_limit(limit)));
        let torn = Fault::Torn { bytes: last.len() as u64 + nuls };
        let end = (before.len() + last.len()) as u64;
        let position = Position { line: 3, column: last.len() as u64 + 1, offset: end };
        assert_eq!(seen[1..], [cancelled(), Seen::Fault(position, torn)]);
        assert!(counted.bytes_max < 4 << 20, "{counted:?}");
    }
}

#[test]
fn nul_bytes_in_the_middle_are_damage_and_the_rest_is_read() {
    let lines = format!("{HEADER}\n{CANCELLED}\n");
    for (line, column, kind) in [
        ("\0\0\0\0".to_owned(), 1, Kind::Syntax),
        (format!("\0\0{CANCELLED}"), 1, Kind::Syntax),
        (format!("{CANCELLED}\0\0"), 34, Kind::TrailingBytes),
        (CANCELLED.replace("cancelled", "can\0elled"), 19, Kind::Syntax),
        ("{\"event\"\0\0\0\0".to_owned(), 9, Kind::Syntax),
    ] {
        let seen = read_all(format!("{lines}{line}\n{CANCELLED}\n").as_bytes());
        let position = Position { line: 3, column, offset: lines.len() as u64 + column - 1 };
        assert_eq!(seen[1..], [cancelled(), Seen::Fault(position, Fault::Line(kind)), cancelled()], "{line:?}");
        // Also when the last line is torn besides.
        let seen = read_all(format!("{lines}{line}\n{CANCELLED}\n\0\0").as_bytes());
        assert!(matches!(faults(&seen)[..], [_, (_, Fault::Torn { bytes: 2 })]));
    }
}

#[test]
fn a_clean_end_is_no_fault() {
    for end in ["", "\n", "\r\n", "\n\n", "\n \t\r\n "] {
        let trace = format!("{HEADER}\n{CANCELLED}{end}");
        let mut reader = TraceReader::new(trace.as_bytes());
        assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }));
        for _ in 0..3 {
            assert_eq!(reader.next_event().unwrap(), None);
        }
        assert_eq!(reader.bytes_read(), trace.len() as u64);
        assert_eq!(reader.line(), 2);
    }
}

#[test]
fn the_kinds_of_error_say_which_end_it_is() {
    let last = |trace: &str| {
        let mut reader = TraceReader::new(trace.as_bytes());
        loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some((error.is_final(), matches!(error.kind(), ReadErrorKind::Truncated { .. }))),
            }
        }
    };
    assert_eq!(last(&format!("{HEADER}\n{CANCELLED}")), None);
    assert_eq!(last(&format!("{HEADER}\n{CANCELLED}\n{{")), Some((true, true)));
    assert_eq!(last(&format!("{HEADER}\n{CANCELLED}\n\0")), Some((true, true)));
    assert_eq!(last(&format!("{HEADER}\n{{\n{CANCELLED}\n")), Some((false, false)));
    assert_eq!(last(&format!("{HEADER}\n\0\n{CANCELLED}\n")), Some((false, false)));
}
