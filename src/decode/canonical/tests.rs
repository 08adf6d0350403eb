use super::{Canonical, Sites};
use crate::arena::Arena;
use crate::decode::Decoder;
use crate::decode::scratch::Scratch;
use crate::encode::{encode_event, encode_header};
use crate::event::TraceHeader;
use crate::names::{RecordingBackend, ValueCapture};
use crate::owned::OwnedEvent;
use crate::value::RecordedValue;

/// Returns the event of a line if the canonical path accepts it.
fn decode(line: &[u8]) -> Option<OwnedEvent> {
    decode_with(&mut Sites::default(), line)
}

fn decode_with(sites: &mut Sites, line: &[u8]) -> Option<OwnedEvent> {
    let (arena, mut kept) = (Arena::new(), Scratch::default());
    let mut canonical = Canonical::new(line, true, &arena, sites, &mut kept);
    let event = canonical.event().filter(|_| canonical.at_end());
    event.as_ref().map(OwnedEvent::from)
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
fn what_the_encoder_writes_is_read() {
    for line in LINES {
        let event = decode(line.as_bytes()).unwrap_or_else(|| panic!("left to the slow path: {line}"));
        let mut written = Vec::new();
        encode_event(&event.view(&Arena::new()), ValueCapture::Full, &mut written);
        assert_eq!(String::from_utf8_lossy(&written), format!("{line}\n"));
        assert_eq!(decode(&written).as_ref(), Some(&event));
        assert_eq!(decode(format!("{line}\r\n").as_bytes()), Some(event));
    }
}

/// The text may go on after the line, and the unescape buffer is then no longer than the line.
#[test]
fn a_line_is_read_out_of_several() {
    for line in LINES {
        let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
        let text = format!("{line}\n{}", "x".repeat(1 << 20));
        let mut canonical = Canonical::new(text.as_bytes(), false, &arena, &mut sites, &mut kept);
        let event = canonical.event().as_ref().map(OwnedEvent::from);
        assert_eq!(event, decode(line.as_bytes()));
        assert!(canonical.take_line_end());
        assert_eq!(canonical.finish(), text.len() - line.len());
        assert!(arena.allocated_bytes() < 1 << 16);
    }
}

/// Any number of items and fields.
#[test]
fn long_values_are_read() {
    let call = |value: &str| LINES[13].replace(r#"{"type":"float","value":0.1}"#, value);
    for count in (0..20).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let items = vec![r#"{"type":"int","value":7}"#; count].join(",");
        let fields = vec![r#"{"name":"a","value":{"type":"unit"}}"#; count].join(",");
        let array = format!(r#"{{"type":"array","items":[{items}]}}"#);
        let structure = format!(r#"{{"type":"struct","name":"P","fields":[{fields}]}}"#);
        let nested = format!(r#"{{"type":"array","items":[{}]}}"#, vec![structure.as_str(); count].join(","));
        for value in [array, structure, nested] {
            let line = call(&value);
            let slow = Decoder::new().decode_event_slowly(line.as_bytes()).map(|event| OwnedEvent::from(&event));
            assert_eq!(decode(line.as_bytes()), slow.ok(), "{value}");
        }
    }
}

#[test]
fn lone_values_are_read() {
    let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
    let mut canonical = Canonical::new(br#"{"type":"int","value":-7}"#, true, &arena, &mut sites, &mut kept);
    assert!(matches!(canonical.value(), Some(RecordedValue::Int(-7))));
    assert!(canonical.at_end());
}

/// Names that differ at their ends only, so that some share an index.
#[test]
fn call_sites_are_cached_by_all_of_their_bytes() {
    let mut sites = Sites::default();
    let line = |number: usize| LINES[10].replace("\"console\"", &format!("\"module{number}\""));
    for number in (0..64).chain(0..64) {
        let line = line(number);
        let event = decode_with(&mut sites, line.as_bytes()).expect("the line is canonical");
        let OwnedEvent::HostCall(call) = event else { panic!("{event:?}") };
        let names = [&*call.module, &*call.op, &*call.capability];
        assert_eq!(names, [&*format!("module{number}"), "print", "console.write"]);
    }
    assert!(sites.len() > 16, "64 call sites share {} entries", sites.len());
}

#[test]
fn a_header_is_no_event() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main");
    let mut line = Vec::new();
    encode_header(&header, &mut line);
    assert_eq!(decode(&line), None);
}
