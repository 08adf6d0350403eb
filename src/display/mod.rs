//! Formats values, names, durations and counts for people.
//!
//! Texts from a trace can contain anything: control characters that act on a terminal, newlines that forge a row, a
//! megabyte without a space. [`escaped`] makes a text harmless; [`Cells`] also limits its width. The module
//! [`summary`](crate::summary), [`diff`](crate::diff), [`replay`](crate::replay) and the command all format through
//! this module, so they show a value in the same way.

mod beside;
mod cells;
mod duration;
mod escape;
mod heap;
mod part;
mod value;

use crate::event::ENTRY_TASK;

#[cfg(feature = "diff")]
pub(crate) use self::beside::mark_of;
pub(crate) use self::beside::{Name, Operation, names_beside, operation_marks, shown, shown_list, values_beside};
pub use self::cells::Cells;
pub use self::duration::{cpu_time, duration, write_duration};
pub use self::escape::{Escaped, escaped, is_unsafe_to_show};
pub use self::heap::write_heap_summary;
pub use self::part::{Part, parts};
pub use self::value::{Leaf, write_list, write_value};

/// Formats a count with its noun, which takes an `s` in the plural: `no calls`, `1 call`, `2 calls`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// Formats a task: `the entry`, or `task 3`.
#[must_use]
pub fn task_name(task: u64) -> String {
    if task == ENTRY_TASK { "the entry".to_owned() } else { format!("task {task}") }
}
