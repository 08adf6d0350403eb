use super::{Quick, Sites};
use crate::arena::Arena;
use crate::decode::scratch::Scratch;
use crate::decode::unescape::Room;
use crate::encode::{encode_event, encode_header};
use crate::event::{TraceEvent, TraceHeader};
use crate::names::{RecordingBackend, ValueCapture};
use crate::owned::OwnedEvent;
use crate::value::RecordedValue;

/// Whether the fast paths take the line, and the event that they make of it.
fn decode(line: &[u8]) -> Option<OwnedEvent> {
    let (arena, mut sites, mut scratch) = (Arena::new(), Sites::default(), Scratch::default());
    Quick::decode_event(line, &arena, &mut sites, &mut scratch).as_ref().map(OwnedEvent::from)
}

/// The same of one of the two alone.
fn decode_by(path: impl for<'a> Fn(&mut Quick<'a, '_>) -> Option<TraceEvent<'a>>, line: &[u8]) -> Option<OwnedEvent> {
    let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
    let room = Room::default();
    let mut quick = Quick { rest: line, arena: &arena, room, sites: &mut sites, scratch: None, kept: &mut kept };
    path(&mut quick).as_ref().map(OwnedEvent::from)
}

/// One of each kind, with one of each value in it.
const LINES: [&str; 14] = [
    r#"{"event":"task_spawned","id":18446744073709551615,"parent":null,"scope":"main"}"#,
    r#"{"event":"task_spawned","id":2,"parent":1,"scope":"a\\\u000b\"€"}"#,
    r#"{"event":"task_completed","id":2,"cpu_ns":18446744073709551615}"#,
    r#"{"event":"task_cancelled","id":7}"#,
    r#"{"event":"entry_enter","module":"m","function":"f\n"}"#,
    r#"{"event":"entry_exit","module":"","function":"f","cpu_ns":0,"wait_ns":12}"#,
    r#"{"event":"heap_collected","task":0,"allocated":1,"freed":2,"live_objects":3,"live_bytes":4,"pause_ns":5}"#,
    r#"{"event":"heap_summary","collections":1,"object_count":2,"allocated_bytes":3,"live_bytes":4,"peak_bytes":null,"pause_ns":6,"allocated_words":7,"capacity_words":8,"live_words":null}"#,
    r#"{"event":"run_ended","outcome":"success","message":null}"#,
    r#"{"event":"run_ended","outcome":"host_boundary","message":"not \"granted\"\t😀"}"#,
    r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":false,"args":[],"outcome":null}"#,
    r#"{"event":"host_call","task":0,"module":"cönsöle","op":"\"","capability":"console.write","wait_ns":5,"granted":true,"args":[{"type":"unit"},{"type":"bool","value":true},{"type":"int","value":-1},{"type":"float","value":-1.7976931348623157e308},{"type":"duration","ns":-9223372036854775808},{"type":"string","value":"a\"b\\c\n\r\t\u0000\u001f/é€😀"},{"type":"array","items":[]}],"outcome":{"kind":"error","message":"no \\ such\nfile"}}"#,
    r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[{"type":"enum","name":"Né","case":"None","payload":[{"type":"redacted","of":"String"}]},{"type":"resource","name":"C","id":3},{"type":"opaque","of":"F","shown":"|x|\n"}],"outcome":{"kind":"not_recordable"}}"#,
    r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[{"type":"struct","name":"P","fields":[{"name":"x","value":{"type":"float","value":0.1}}]}],"outcome":{"kind":"value","value":{"type":"enum","name":"Result","case":"Ok","payload":[{"type":"unit"}]}}}"#,
];

#[test]
fn what_the_encoder_writes_is_taken() {
    for line in LINES {
        let event = decode_by(|quick| quick.canonical_line(), line.as_bytes());
        let event = event.unwrap_or_else(|| panic!("left to the other paths: {line}"));
        let mut written = Vec::new();
        encode_event(&event.view(&Arena::new()), ValueCapture::Full, &mut written);
        assert_eq!(String::from_utf8_lossy(&written), format!("{line}\n"));
        let with_crlf = format!("{line}\r");
        assert_eq!(decode_by(|quick| quick.canonical_line(), with_crlf.as_bytes()).as_ref(), Some(&event));
        assert_eq!(decode(&written), Some(event));
    }
}

/// Any number of items and fields.
#[test]
fn long_values_are_taken() {
    let call = |value: &str| LINES[13].replace(r#"{"type":"float","value":0.1}"#, value);
    for count in (0..20).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let items = vec![r#"{"type":"int","value":7}"#; count].join(",");
        let fields = vec![r#"{"name":"a","value":{"type":"unit"}}"#; count].join(",");
        let array = format!(r#"{{"type":"array","items":[{items}]}}"#);
        let structure = format!(r#"{{"type":"struct","name":"P","fields":[{fields}]}}"#);
        let nested = format!(r#"{{"type":"array","items":[{}]}}"#, vec![structure.as_str(); count].join(","));
        for value in [array, structure, nested] {
            let line = call(&value);
            let canonical = decode_by(|quick| quick.canonical_line(), line.as_bytes());
            assert!(canonical.is_some(), "{value}");
            assert_eq!(decode_by(|quick| quick.any_line(), line.as_bytes()), canonical, "{value}");
        }
    }
}

#[test]
fn lone_values_are_taken() {
    for text in [r#"{"type":"int","value":-7}"#, r#"{"value":-7,"type":"int"}"#, r#" { "type" : "int" ,"value": -7 } "#]
    {
        let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
        let value = Quick::decode_value(text.as_bytes(), &arena, &mut sites, &mut kept);
        assert!(matches!(value, Some(RecordedValue::Int(-7))), "{text}");
    }
}

#[test]
fn a_header_is_no_event() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main");
    let mut line = Vec::new();
    encode_header(&header, &mut line);
    assert_eq!(decode(&line), None);
}

/// A line as a program with another order of keys writes it, and how it stands in the format.
const ANY_ORDER: [(&str, &str); 3] = [
    (r#" { "parent" : null ,"scope":"main", "id":1,"event":"task_spawned" } "#, LINES[0]),
    ("{\t\"message\": null, \"outcome\": \"success\", \"event\": \"run_ended\"}\r", LINES[8]),
    (
        r#"{"args": [{"value": -1, "type": "int"}, {"value": 5, "type": "float"}], "capability": "c", "event": "host_call", "granted": true, "module": "m", "op": "o", "outcome": {"value": {"payload": [ ], "case": "None", "name": "Option", "type": "enum"}, "kind": "value"}, "task": 0, "wait_ns": 5}"#,
        LINES[10],
    ),
];

/// Keys in the order of the alphabet and against it, and a line for each with white space before it.
#[test]
fn what_other_programs_write_is_taken() {
    for line in LINES {
        let event = decode(line.as_bytes());
        let tree: serde_json::Value = serde_json::from_str(line).unwrap();
        for respelt in [tree.to_string(), backwards(&tree), format!("{tree:#}"), line.to_owned()] {
            let read = decode_by(|quick| quick.any_line(), respelt.as_bytes());
            assert!(read.is_some(), "left to the general path: {respelt}");
            assert_eq!(read, event, "{respelt}");
        }
    }
}

/// With its keys in the order against the alphabet.
fn backwards(tree: &serde_json::Value) -> String {
    let text = |parts: Vec<String>| parts.join(" , ");
    match tree {
        serde_json::Value::Object(members) => {
            let member = |(key, value)| format!("{} :{}", serde_json::Value::from(key as &str), backwards(value));
            format!("{{{}}}", text(members.iter().rev().map(|(key, value)| member((key, value))).collect()))
        }
        serde_json::Value::Array(items) => format!("[{} ]", text(items.iter().map(backwards).collect())),
        leaf => leaf.to_string(),
    }
}

#[test]
fn other_orders_and_spaces_are_taken() {
    for (line, like) in ANY_ORDER {
        let (event, like) = (decode(line.as_bytes()), decode(like.as_bytes()));
        let kind = |event: &Option<OwnedEvent>| event.as_ref().map(std::mem::discriminant);
        assert!(event.is_some(), "left to the general path: {line}");
        assert_eq!(kind(&event), kind(&like), "{line}");
    }
}
