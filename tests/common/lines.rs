//! Encodes events to lines, and checks lines.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use cove_trace::{TraceEvent, ValueCapture, encode_event};

/// Returns the line of an event, with its newline.
pub(crate) fn line(event: &TraceEvent<'_>, capture: ValueCapture) -> Vec<u8> {
    let mut line = Vec::new();
    encode_event(event, capture, &mut line);
    line
}

/// Asserts that `line` is one line and that `serde_json` parses it as one object.
#[track_caller]
pub(crate) fn assert_is_one_line_of_json(line: &[u8]) {
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one newline, at the end");
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.disable_recursion_limit();
    let objects = reader.into_iter::<serde_json::Value>().collect::<Result<Vec<_>, _>>().expect("JSON");
    assert!(matches!(objects[..], [serde_json::Value::Object(_)]), "one object");
}
