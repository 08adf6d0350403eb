//! The heap summary of a run, in one row.

use std::fmt::{self, Write};

use super::duration::write_duration;
use crate::event::HeapSummary;

/// Writes the known figures of a heap summary: `collections 3, objects alive 7, pause 1.20 ms`.
///
/// # Errors
///
/// Returns the first error of `out`.
pub fn write_heap_summary(out: &mut impl Write, heap: &HeapSummary) -> fmt::Result {
    write!(out, "collections {}", heap.collections)?;
    for (name, figure) in [
        ("objects alive", heap.object_count),
        ("bytes allocated", heap.allocated_bytes),
        ("bytes alive", heap.live_bytes),
        ("bytes at most", heap.peak_bytes),
        ("words allocated", heap.allocated_words),
        ("words of room", heap.capacity_words),
        ("words alive", heap.live_words),
    ] {
        if let Some(figure) = figure {
            write!(out, ", {name} {figure}")?;
        }
    }
    heap.pause.map_or(Ok(()), |pause| {
        out.write_str(", pause ")?;
        write_duration(out, pause.as_nanos())
    })
}
