//! Of several faults, the first one in byte order is reported, wherever the key stands that tells what an object is.

use std::ops::Range;

use cove_trace::decode::{DecodeErrorKind as Kind, Decoder};

use crate::reading::corpus;
use crate::reading::expect::{assert_accepted, assert_refused};
use crate::reading::json::{self, Node, Token, parse_valid};
use crate::reading::oracle::{Place, earliest_faults};
use crate::reading::rng::Rng;

#[test]
fn the_key_that_tells_may_stand_last() {
    assert_accepted(r#"{"id":7,"event":"task_cancelled"}"#);
    for (marked, kind) in [
        (r#"{"id":‸-7,"event":"task_cancelled"}"#, Kind::OutOfRange),
        (r#"{"id":‸"7","event":"task_cancelled"}"#, Kind::WrongType),
        (r#"{‸"scope":"","id":7,"event":"task_cancelled"}"#, Kind::UnknownKey),
        (r#"{"id":7,‸"id":8,"event":"task_cancelled"}"#, Kind::RepeatedKey),
        (r#"{"id":7,"event":"task_cancelled",‸"event":"task_cancelled"}"#, Kind::RepeatedKey),
        (r#"{"id":7,"event":"task_cancelled",‸"event":"run_ended"}"#, Kind::RepeatedKey),
        (r#"{"id":7,"event":‸"nope"}"#, Kind::UnknownName),
        (r#"{"id":7,"event":‸7}"#, Kind::WrongType),
        (r#"{"id":7‸}"#, Kind::MissingKey),
        (r#"{"event":"task_completed","cpu_ns":1‸}"#, Kind::MissingKey),
        // A key of none of the kinds is wrong even if the kind is not known.
        (r#"{"id":7,‸"nope":1,"event":"nope"}"#, Kind::UnknownKey),
        (r#"{"id":7,‸"nope":1}"#, Kind::UnknownKey),
        (r#"{‸"nope":[}"#, Kind::UnknownKey),
        // What breaks the JSON hides what comes after it.
        (r#"{"id":-7,‸;"event":"task_cancelled"}"#, Kind::Syntax),
        (r#"{"event":"task_cancelled","id":‸-7,;}"#, Kind::OutOfRange),
        (r#"{"id":[‸;],"event":"task_cancelled"}"#, Kind::Syntax),
        (r#"{"id":"‸\x","event":"task_cancelled"}"#, Kind::BadEscape),
        (r#"{"event":"task_cancelled","id":‸"\x"}"#, Kind::WrongType),
        (r#"{"event":"task_cancelled","id":7} ‸{"event":"nope"}"#, Kind::TrailingBytes),
        (r#"{"event":‸"nope"} trailing"#, Kind::UnknownName),
        (r#"{"id":7‸} trailing"#, Kind::MissingKey),
    ] {
        assert_refused(marked, kind);
    }
}

#[test]
fn the_key_that_tells_may_stand_last_in_values_and_outcomes() {
    let call = |args: &str, outcome: &str| {
        format!(
            r#"{{"args":[{args}],"outcome":{outcome},"granted":true,"wait_ns":5,"capability":"c","op":"o","module":"m","task":0,"event":"host_call"}}"#
        )
    };
    assert_accepted(&call(r#"{"value":1,"type":"int"}"#, r#"{"value":{"value":"","type":"string"},"kind":"value"}"#));
    for (args, outcome, kind) in [
        (r#"{"value":‸"1","type":"int"}"#, "null", Kind::WrongType),
        (r#"{"value":‸1.5,"type":"int"}"#, "null", Kind::OutOfRange),
        (r#"{"value":1,‸"value":1,"type":"int"}"#, "null", Kind::RepeatedKey),
        (r#"{"value":1,‸"ns":1,"type":"int"}"#, "null", Kind::UnknownKey),
        (r#"{"value":1,‸"kind":"value","type":"int"}"#, "null", Kind::UnknownKey),
        (r#"{"value":1,"type":‸"nope"}"#, "null", Kind::UnknownName),
        (r#"{"value":1‸}"#, "null", Kind::MissingKey),
        (r#"{"name":"","type":"enum"‸}"#, "null", Kind::MissingKey),
        (r#"{"items":[{"value":1‸}],"type":"array"}"#, "null", Kind::MissingKey),
        (r#"{"items":[{"value":‸true,"type":"int"}],"type":"array","type":"array"}"#, "null", Kind::WrongType),
        (r#"{"items":[{"items":[{"type":‸"nope"}],"type":"array"}],"type":"array"}"#, "null", Kind::UnknownName),
        (r#"{"fields":[{"value":{"type":"unit"}‸}],"type":"struct","name":""}"#, "null", Kind::MissingKey),
        (
            r#"{"fields":[{"value":{"type":"unit"},"name":"",‸"type":"unit"}],"type":"struct","name":""}"#,
            "null",
            Kind::UnknownKey,
        ),
        ("", r#"{"value":{"of":‸1,"type":"redacted"},"kind":"value"}"#, Kind::WrongType),
        ("", r#"{"message":‸null,"kind":"error"}"#, Kind::WrongType),
        ("", r#"{‸"message":"","kind":"value"}"#, Kind::UnknownKey),
        ("", r#"{‸"message":"","kind":"not_recordable"}"#, Kind::UnknownKey),
        ("", r#"{"message":"","kind":‸"nope"}"#, Kind::UnknownName),
        ("", r#"{"message":""‸}"#, Kind::MissingKey),
        ("", r#"{‸"type":"unit"}"#, Kind::UnknownKey),
    ] {
        assert_refused(&call(args, outcome), kind);
    }
}

/// A change that makes one fault.
#[derive(Debug, Clone)]
struct Edit {
    range: Range<usize>,
    text: String,
    blamed: Blamed,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Blamed {
    /// So far into the new text.
    New(usize),
    /// At this byte of the old line.
    Old(usize),
}

impl Edit {
    fn insert(at: usize, text: &str, kind: Kind) -> Self {
        Self { range: at..at, text: text.to_owned(), blamed: Blamed::New(0), kind }
    }
}

/// Faults that a valid line can be given, one at a time. None of them is one in a key that tells what an object is.
fn edits(root: &Node) -> Vec<Edit> {
    let mut edits = Vec::new();
    for node in root.all() {
        match &node.token {
            Token::Object(members, _) => {
                let brace = node.end - 1;
                edits.push(Edit::insert(brace, ",", Kind::Syntax));
                edits.last_mut().unwrap().blamed = Blamed::Old(brace);
                edits.push(Edit { blamed: Blamed::New(1), ..Edit::insert(brace, r#","nope":1"#, Kind::UnknownKey) });
                for (index, member) in members.iter().enumerate().skip(1) {
                    let value = member.value.as_ref().unwrap();
                    let again = format!(r#","{}":0"#, member.key);
                    edits.push(Edit { blamed: Blamed::New(1), ..Edit::insert(brace, &again, Kind::RepeatedKey) });
                    edits.push(Edit::insert(member.quote, r#""nope":1,"#, Kind::UnknownKey));
                    let before = members[index - 1].value.as_ref().unwrap().end;
                    edits.push(Edit {
                        range: before..value.end,
                        text: String::new(),
                        blamed: Blamed::Old(brace),
                        kind: Kind::MissingKey,
                    });
                    edits.push(Edit {
                        range: value.start..value.end,
                        text: "[7]".into(),
                        blamed: Blamed::New(0),
                        kind: Kind::WrongType,
                    });
                    edits.push(Edit::insert(value.start, "nope", Kind::Syntax));
                    edits.push(Edit::insert(value.start, "\u{feff}", Kind::ByteOrderMark));
                }
            }
            Token::Array(..) => edits.push(Edit::insert(node.start + 1, ",", Kind::Syntax)),
            Token::String(_) => {
                for (text, kind) in
                    [(r"\x", Kind::BadEscape), (r"\udc00", Kind::LoneSurrogate), ("\u{1}", Kind::Syntax)]
                {
                    edits.push(Edit::insert(node.start + 1, text, kind));
                }
            }
            _ => {}
        }
    }
    // An array of one number is the right type for nothing, but where an array has to be it is its item that is wrong.
    edits.retain(|edit| {
        edit.text != "[7]"
            || !root.all().iter().any(|node| node.start == edit.range.start && matches!(node.token, Token::Array(..)))
    });
    edits
}

/// The line with these changes, which do not overlap and are in order, and where each is blamed.
fn edited(line: &str, edits: &[&Edit]) -> (String, Vec<(usize, Kind)>) {
    let mut out = String::new();
    let mut at = 0;
    // Where the new texts begin.
    let mut starts = Vec::new();
    for edit in edits {
        out.push_str(&line[at..edit.range.start]);
        starts.push(out.len());
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&line[at..]);
    let moved = |old: usize| {
        let before = edits.iter().filter(|edit| edit.range.end <= old);
        before.fold(old, |new, edit| new + edit.text.len() - edit.range.len())
    };
    let blamed = edits.iter().zip(starts).map(|(edit, start)| match edit.blamed {
        Blamed::New(offset) => (start + offset, edit.kind),
        Blamed::Old(offset) => (moved(offset), edit.kind),
    });
    let blamed = blamed.collect();
    (out, blamed)
}

fn decoded(line: &str) -> Option<json::Fault> {
    let mut decoder = Decoder::new();
    let error = decoder.decode_event(line.as_bytes()).err()?;
    Some(json::Fault { offset: error.offset(), kind: error.kind() })
}

#[test]
fn of_two_faults_the_first_is_reported() {
    const PAIRS_OF_A_LINE: usize = 400;
    let mut rng = Rng::new(1);
    for (line, _) in corpus::events() {
        let edits = edits(&parse_valid(&line));
        for edit in &edits {
            let (faulty, blamed) = edited(&line, &[edit]);
            assert_eq!(decoded(&faulty).map(|fault| (fault.offset, fault.kind)), Some(blamed[0]), "{faulty}");
        }
        for _ in 0..PAIRS_OF_A_LINE {
            let (a, b) = (rng.pick(&edits), rng.pick(&edits));
            let (a, b) = if a.range.start <= b.range.start { (a, b) } else { (b, a) };
            let takes_back = |one: &Edit, other: &Edit| one.kind == Kind::MissingKey && other.kind == Kind::RepeatedKey;
            if a.range.end >= b.range.start || takes_back(a, b) || takes_back(b, a) {
                continue;
            }
            let (faulty, blamed) = edited(&line, &[a, b]);
            let found = decoded(&faulty).map(|fault| (fault.offset, fault.kind)).unwrap();
            let first = blamed.iter().map(|(offset, _)| *offset).min().unwrap();
            assert!(
                found.0 == first && blamed.contains(&found),
                "{faulty}\nfound {found:?}, expected the first of {blamed:?}"
            );
        }
    }
}

/// The same with the keys of all objects reversed, so that what an object is stands last. The naive decoder says what is
/// first: what breaks the JSON before an object has said what it is leaves it without a schema.
#[test]
fn of_two_faults_the_first_is_reported_in_reversed_lines() {
    const PAIRS_OF_A_LINE: usize = 400;
    let mut rng = Rng::new(2);
    for (line, _) in corpus::events() {
        let line = reversed(&parse_valid(&line), &line);
        let edits = edits(&parse_valid(&line));
        for _ in 0..PAIRS_OF_A_LINE {
            let (a, b) = (rng.pick(&edits), rng.pick(&edits));
            let (a, b) = if a.range.start <= b.range.start { (a, b) } else { (b, a) };
            if a.range.end >= b.range.start {
                continue;
            }
            let (faulty, _) = edited(&line, &[a, b]);
            let expected = earliest_faults(faulty.as_bytes(), Place::Event);
            match decoded(&faulty) {
                Some(found) => {
                    assert!(expected.contains(&found), "{faulty}\nfound {found:?}, expected one of {expected:?}");
                }
                None => assert_eq!(expected, [], "{faulty}"),
            }
        }
    }
}

/// The same text with the members of every object in the opposite order.
fn reversed(node: &Node, line: &str) -> String {
    let list = |brackets: [&str; 2], parts: Vec<String>| format!("{}{}{}", brackets[0], parts.join(","), brackets[1]);
    match &node.token {
        Token::Object(members, _) => {
            let part = |member: &json::Member| {
                let value = member.value.as_ref().unwrap();
                format!("{}{}", &line[member.quote..value.start], reversed(value, line))
            };
            list(["{", "}"], members.iter().rev().map(part).collect())
        }
        Token::Array(items, _) => list(["[", "]"], items.iter().map(|item| reversed(item, line)).collect()),
        _ => line[node.start..node.end].to_owned(),
    }
}
