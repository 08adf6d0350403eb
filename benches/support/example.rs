//! The events of a recorded run of the example `interpreter`.

use std::env;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use cove_trace::TraceReader;
use cove_trace::owned::OwnedEvent;

/// The environment variable that names another trace.
const VARIABLE: &str = "COVE_TRACE_BENCH_TRACE";

/// Reads the trace that `cargo run --release --example interpreter` writes. The error says why there are no events.
pub fn events() -> Result<Vec<OwnedEvent>, String> {
    let path = env::var_os(VARIABLE).map_or_else(|| env::temp_dir().join("word_count.trace.jsonl"), PathBuf::from);
    read(&path).map_err(|error| {
        let path = path.display();
        format!("{path}: {error}; run the example `interpreter` first, or name a trace in {VARIABLE}")
    })
}

fn read(path: &Path) -> Result<Vec<OwnedEvent>, Box<dyn Error>> {
    let mut reader = TraceReader::new(File::open(path)?);
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(OwnedEvent::from(&event));
    }
    // The other writers do not support these; they occur once in a run.
    events.retain(|event| {
        !matches!(event, OwnedEvent::EntryEnter { .. } | OwnedEvent::EntryExit { .. } | OwnedEvent::HeapSummary(_))
    });
    Ok(events)
}
