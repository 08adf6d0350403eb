//! The events of a run that was really recorded.

use std::env;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use cove_trace::TraceReader;
use cove_trace::owned::OwnedEvent;

/// Names another trace than that of the example.
const VARIABLE: &str = "COVE_TRACE_BENCH_TRACE";

/// The events of the trace that `cargo run --release --example interpreter` leaves behind, or says why there are none.
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
    // These come once in a run, and the other writers do not know them.
    events.retain(|event| {
        !matches!(event, OwnedEvent::EntryEnter { .. } | OwnedEvent::EntryExit { .. } | OwnedEvent::HeapSummary(_))
    });
    Ok(events)
}
