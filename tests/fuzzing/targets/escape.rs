//! Any string: all escaping backends write the same bytes, and a JSON library reads them back.

use cove_trace::fuzzing::escaped_by_every_backend;
use cove_trace::{TraceEvent, ValueCapture};

use super::lines::line;
use super::reading::oracle::write_string;

/// The widest alignment that a backend may depend on.
const WIDEST: usize = 64;

pub(crate) fn check(data: &[u8]) {
    let Some((shift, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let mut quoted = String::new();
    write_string(&text, &mut quoted);

    // The text ends with its allocation, so that a checking allocator detects any load past it.
    let shift = usize::from(*shift) % WIDEST;
    let shifted = [&vec![b'.'; shift], text.as_bytes()].concat().into_boxed_slice();
    let outputs = escaped_by_every_backend(&shifted[shift..]);
    assert!(outputs.len() >= 3, "too few backends to compare");
    for (name, escaped) in outputs {
        let escaped = [b"\"", &escaped[..], b"\""].concat();
        assert_eq!(String::from_utf8_lossy(&escaped), quoted, "{name}");
    }

    let read: String = serde_json::from_str(&quoted).expect("a string of JSON");
    assert_eq!(read, text);

    // The encoder uses the default backend.
    let written = line(&TraceEvent::EntryEnter { module: &text, function: "f" }, ValueCapture::Full);
    let expected = format!("{{\"event\":\"entry_enter\",\"module\":{quoted},\"function\":\"f\"}}\n");
    assert_eq!(String::from_utf8_lossy(&written), expected);
}
