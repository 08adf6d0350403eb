//! Every key of every kind of object: left out, twice, and beside one that does not belong there.

use cove_trace::decode::DecodeErrorKind as Kind;

use crate::reading::corpus;
use crate::reading::expect::{assert_accepted, assert_header_refused_at, assert_refused_at};
use crate::reading::json::{Member, Node, Token, parse_valid};

/// Calls `check` for each object of each valid line: the line, the object, and how to hold a changed line to its fault.
fn for_every_object(check: impl Fn(&str, &Node, fn(&[u8], usize, Kind))) {
    for (line, _) in corpus::events() {
        let root = parse_valid(&line);
        for object in root.all().into_iter().filter(|node| matches!(node.token, Token::Object(..))) {
            check(&line, object, assert_refused_at);
        }
    }
    for (line, _) in corpus::headers() {
        check(line, &parse_valid(line), assert_header_refused_at);
    }
}

fn member_text<'t>(line: &'t str, member: &Member) -> &'t str {
    &line[member.quote..member.value.as_ref().unwrap().end]
}

/// The line with these members, as they are spelt, in the place of the object's own; and how far it is to the first byte
/// after each, and to the closing brace.
fn with_members(line: &str, object: &Node, members: &[String]) -> (String, Vec<usize>) {
    let mut out = line[..=object.start].to_owned();
    let mut starts = Vec::new();
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        starts.push(out.len());
        out.push_str(member);
    }
    starts.push(out.len());
    out.push_str(&line[object.end - 1..]);
    (out, starts)
}

#[test]
fn every_key_has_to_be_there() {
    for_every_object(|line, object, assert_refused_at| {
        for missing in 0..object.members().len() {
            let mut members: Vec<_> = object.members().iter().map(|m| member_text(line, m).to_owned()).collect();
            let was = members.remove(missing);
            let (faulty, starts) = with_members(line, object, &members);
            let brace = *starts.last().unwrap();
            // Without its version a header may be of any.
            let kind = if was.starts_with("\"version\"") { Kind::UnsupportedVersion } else { Kind::MissingKey };
            assert_refused_at(faulty.as_bytes(), brace, kind);
        }
    });
}

#[test]
fn no_other_key_may_be_there() {
    for_every_object(|line, object, assert_refused_at| {
        let members: Vec<_> = object.members().iter().map(|m| member_text(line, m).to_owned()).collect();
        for at in 0..=members.len() {
            for unknown in [r#""nope":1"#, r#""":{}"#, r#""Event":[]"#, r#""\u0000":"""#] {
                let mut members = members.clone();
                members.insert(at, unknown.to_owned());
                let (faulty, starts) = with_members(line, object, &members);
                assert_refused_at(faulty.as_bytes(), starts[at], Kind::UnknownKey);
            }
        }
    });
}

/// A key that another kind of object has is as unknown as any.
#[test]
fn no_key_of_another_shape_may_be_there() {
    let value = r#"{"type":"int","value":1,"ns":2}"#;
    let line = format!(
        r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[{value}],"outcome":null}}"#
    );
    assert_refused_at(line.as_bytes(), line.find("\"ns\"").unwrap(), Kind::UnknownKey);
    let line = r#"{"event":"task_cancelled","cpu_ns":1,"id":7}"#;
    assert_refused_at(line.as_bytes(), line.find("\"cpu_ns\"").unwrap(), Kind::UnknownKey);
}

#[test]
fn no_key_may_be_there_twice() {
    for_every_object(|line, object, assert_refused_at| {
        let members: Vec<_> = object.members().iter().map(|m| member_text(line, m).to_owned()).collect();
        for twice in 0..members.len() {
            let key = &object.members()[twice].key;
            let escaped = format!("\"\\u{:04x}{}", key.as_bytes()[0], &members[twice][2..]);
            for second in [members[twice].clone(), escaped] {
                for at in [twice + 1, members.len()] {
                    let mut members = members.clone();
                    members.insert(at, second.clone());
                    let (faulty, starts) = with_members(line, object, &members);
                    assert_refused_at(faulty.as_bytes(), starts[at], Kind::RepeatedKey);
                    // The second is blamed, whichever of them is the odd one.
                    members.swap(twice, at);
                    let (faulty, starts) = with_members(line, object, &members);
                    assert_refused_at(faulty.as_bytes(), starts[at], Kind::RepeatedKey);
                }
            }
        }
    });
}

/// Two keys that spell the same must not be told apart by how they spell it.
#[test]
fn an_escaped_key_is_the_key() {
    for key in ["\\u0069d", "i\\u0064", "\\u0069\\u0064"] {
        assert_accepted(&format!(r#"{{"event":"task_cancelled","{key}":7}}"#));
        let twice = format!(r#"{{"event":"task_cancelled","{key}":7,"id":7}}"#);
        assert_refused_at(twice.as_bytes(), twice.rfind("\"id\"").unwrap(), Kind::RepeatedKey);
    }
}
