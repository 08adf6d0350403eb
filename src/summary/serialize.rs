//! The serialized form of a summary. Its keys are a public interface: programs read them.

use serde::{Serialize, Serializer};

use super::{
    Calls, CapabilityRow, Collections, EntryRow, OperationRow, RefusalRow, RunEnd, SlowCallRow, Summary, TaskTotals,
};
use crate::event::{HeapSummary, TRACE_FORMAT_VERSION, TraceHeader};
use crate::line::number::nanoseconds;

#[derive(Serialize)]
struct Root<'s> {
    file: &'s str,
    lines: u64,
    events: u64,
    bytes: u64,
    truncated_bytes: u64,
    errors: u64,
    header: Option<Header<'s>>,
    tasks: TaskTotals,
    calls: Calls,
    capabilities: Vec<CapabilityRow<'s>>,
    /// The highest error of quantiles, in percent. They are never too low.
    quantile_error_percent: u8,
    operations: Vec<OperationRow<'s>>,
    refusals: Vec<RefusalRow<'s>>,
    slowest_calls: Vec<SlowCallRow<'s>>,
    #[serde(serialize_with = "by_task")]
    by_task: &'s Summary,
    entries: Vec<EntryRow<'s>>,
    collections: Collections,
    heap: Option<Heap>,
    outcome: Option<&'s RunEnd>,
}

// One row at a time: there may be millions of them. By reference, since that is how serde hands the field over.
fn by_task<S: Serializer>(summary: &&Summary, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(summary.by_task())
}

#[derive(Serialize)]
struct Header<'s> {
    version: u32,
    backend: &'static str,
    values: &'static str,
    entry: &'s str,
    args: &'s [String],
}

impl<'s> From<&'s TraceHeader> for Header<'s> {
    fn from(header: &'s TraceHeader) -> Self {
        Self {
            version: TRACE_FORMAT_VERSION,
            backend: header.backend.as_str(),
            values: header.values.as_str(),
            entry: &header.entry,
            args: &header.args,
        }
    }
}

#[derive(Serialize)]
struct Heap {
    collections: u64,
    object_count: Option<u64>,
    allocated_bytes: Option<u64>,
    live_bytes: Option<u64>,
    peak_bytes: Option<u64>,
    pause_ns: Option<u64>,
    allocated_words: Option<u64>,
    capacity_words: Option<u64>,
    live_words: Option<u64>,
}

impl From<HeapSummary> for Heap {
    fn from(heap: HeapSummary) -> Self {
        Self {
            collections: heap.collections,
            object_count: heap.object_count,
            allocated_bytes: heap.allocated_bytes,
            live_bytes: heap.live_bytes,
            peak_bytes: heap.peak_bytes,
            pause_ns: heap.pause.map(nanoseconds),
            allocated_words: heap.allocated_words,
            capacity_words: heap.capacity_words,
            live_words: heap.live_words,
        }
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let root = Root {
            file: &self.file,
            lines: self.lines,
            events: self.events,
            bytes: self.bytes,
            truncated_bytes: self.truncated_bytes,
            errors: self.errors,
            header: self.header.as_ref().map(Header::from),
            tasks: self.tasks,
            calls: self.calls,
            capabilities: self.capabilities(),
            quantile_error_percent: 1,
            operations: self.operations(),
            refusals: self.refusals(),
            slowest_calls: self.slowest_calls(),
            by_task: self,
            entries: self.entries(),
            collections: self.collections,
            heap: self.heap.map(Heap::from),
            outcome: self.outcome.as_ref(),
        };
        root.serialize(serializer)
    }
}
