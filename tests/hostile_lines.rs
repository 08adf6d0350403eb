//! Lines as long as a reader takes them, full of what costs a decoder most. Whatever becomes of them, memory stays within
//! its bound, what is allocated and copied grows with the length alone, and the next line is read.
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

mod reading;

use allocation_counter::measure;
use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::reader::DEFAULT_LINE_LIMIT;
use cove_trace::{ReadErrorKind, TraceEvent, TraceReader};
use reading::corpus::{CANCELLED, HEADER};

/// A build without optimization would take minutes for lines of that length, and has the same bounds for shorter ones.
const LEN: usize = match (cfg!(miri), cfg!(debug_assertions)) {
    (true, _) => 4 << 10,
    (_, true) => DEFAULT_LINE_LIMIT / 16,
    _ => DEFAULT_LINE_LIMIT,
};

/// What becomes of a line: an event, or an error of this kind on the byte at this offset.
type Becomes = Option<(usize, Kind)>;

/// Reads a line of `before`, as many times `unit` as there is room for, and `after`.
#[track_caller]
fn assert_read(before: &str, unit: &str, after: &str, becomes: impl FnOnce(usize) -> Becomes) {
    let times = (LEN - before.len() - after.len()) / unit.len();
    let line = [before, &unit.repeat(times), after].concat();
    let becomes = becomes(line.len());
    let trace = format!("{HEADER}\n{line}\n{CANCELLED}\n");
    let what = format!("{before:.40} {unit} {after:.40}");
    // Memory for the line itself is the caller's when it reads from a slice.
    let used = measure(|| {
        let mut reader = TraceReader::from_slice(trace.as_bytes());
        reader.header().unwrap();
        let became = match reader.next_event() {
            Ok(event) => event.is_none().then_some((0, Kind::UnexpectedEnd)),
            Err(error) => {
                let ReadErrorKind::Line(fault) = error.kind() else { panic!("{what}: {error}") };
                assert!(fault.found().len() < 200, "{what}: an error quotes little");
                Some((fault.offset(), fault.kind()))
            }
        };
        assert_eq!(became, becomes, "{what}");
        assert_eq!(reader.next_event().unwrap(), Some(TraceEvent::TaskCancelled { id: 7 }), "{what}");
    });
    let (most, all) = (11 * LEN as u64 + (1 << 20), 40 * LEN as u64 + (1 << 20));
    assert!(used.bytes_max <= most && used.bytes_total <= all, "{what}: {used:?}");
}

fn good(_: usize) -> Becomes {
    None
}

const CALL: &str =
    r#"{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":1,"granted":true,"args":["#;
const CALLED: &str = r#"],"outcome":null}"#;

#[test]
fn backslashes() {
    let (before, after) = (r#"{"event":"entry_enter","module":""#, r#"","function":"f"}"#);
    assert_read(before, r"\\", after, good);
    assert_read(before, r"\u005c", after, good);
    assert_read("", r"\", "", |_| Some((0, Kind::Syntax)));
    // Each quote in it is escaped.
    assert_read(before, r#"\""#, "", |len| Some((len, Kind::UnexpectedEnd)));
    // The key that tells stands last.
    assert_read(r#"{"module":""#, r"\\", r#"","function":"f","event":"entry_enter"}"#, good);
}

#[test]
fn brackets() {
    for (unit, at, kind) in [
        ("[", 0, Kind::WrongType),
        ("[]", 0, Kind::WrongType),
        ("{", 1, Kind::Syntax),
        ("]", 0, Kind::Syntax),
        ("}", 0, Kind::Syntax),
    ] {
        assert_read("", unit, "", |_| Some((at, kind)));
    }
    assert_read(CALL, "[", "", |_| Some((CALL.len(), Kind::WrongType)));
}

#[test]
fn digits() {
    let at = r#"{"event":"task_cancelled","id":"#.len();
    assert_read(r#"{"event":"task_cancelled","id":"#, "1", "}", |_| Some((at, Kind::OutOfRange)));
    let float = format!("{CALL}{{\"type\":\"float\",\"value\":");
    assert_read(&format!("{float}0."), "0", &format!("1}}{CALLED}"), good);
    assert_read(&float, "9", &format!("}}{CALLED}"), |_| Some((float.len(), Kind::OutOfRange)));
    assert_read(&format!("{float}1e"), "9", &format!("}}{CALLED}"), |_| Some((float.len(), Kind::OutOfRange)));
    assert_read(&format!("{float}1e-"), "9", &format!("}}{CALLED}"), good);
}

#[test]
fn keys() {
    let unknown = r#"{"event":"task_cancelled","#;
    assert_read(unknown, r#""k":0,"#, r#""id":7}"#, |_| Some((unknown.len(), Kind::UnknownKey)));
    assert_read("{", r#""id":7,"#, r#""event":"task_cancelled"}"#, |_| Some((8, Kind::RepeatedKey)));
    let fields = format!("{CALL}{{\"type\":\"struct\",\"name\":\"n\",\"fields\":[");
    let field = r#"{"name":"k","value":{"type":"unit"}},"#;
    assert_read(&fields, field, &format!("{}]}}{CALLED}", field.trim_end_matches(',')), good);
}

#[test]
fn values() {
    for value in [r#"{"type":"unit"},"#, r#"{"type":"int","value":1},"#, r#"{"value":true,"type":"bool"},"#] {
        assert_read(CALL, value, &format!("{}{CALLED}", value.trim_end_matches(',')), good);
    }
    // The array comes before what says that it is one.
    let after = format!("{{\"type\":\"unit\"}}],\"type\":\"array\"}}{CALLED}");
    assert_read(&format!("{CALL}{{\"items\":["), r#"{"type":"unit"},"#, &after, good);
}

/// What is wrong stands last, and each path of the decoder comes as far as that.
#[test]
fn values_before_a_fault() {
    let after = r#"{"type":"unit"}],"outcome":7}"#;
    for value in [r#"{"type":"unit"},"#, r#"{"type":"string","value":"\n"},"#, r#"{"type":"array","items":[]},"#] {
        assert_read(CALL, value, after, |len| Some((len - 2, Kind::WrongType)));
    }
    let field = r#"{"name":"","value":{"type":"unit"}},"#;
    let fields = format!("{CALL}{{\"type\":\"struct\",\"name\":\"n\",\"fields\":[");
    let after = format!("{}]}}],\"outcome\":7}}", field.trim_end_matches(','));
    assert_read(&fields, field, &after, |len| Some((len - 2, Kind::WrongType)));
}

#[test]
fn white_space_and_commas() {
    assert_read("{", " ", r#""event":"task_cancelled","id":7}"#, good);
    assert_read(CANCELLED, " ", "", good);
    assert_read(CANCELLED, ",", "", |_| Some((CANCELLED.len(), Kind::TrailingBytes)));
    assert_read(CALL, ",", CALLED, |_| Some((CALL.len(), Kind::Syntax)));
}
