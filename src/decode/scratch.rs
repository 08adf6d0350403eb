//! The stacks of a decoder. Their memory is reused for each line.

use std::num::NonZeroUsize;

use super::schema::{Key, Kind as _, OutcomeKind, ValueKind};
use crate::value::{RecordedField, RecordedValue};

/// Stacks that are empty between lines and keep their capacity.
#[derive(Debug, Default)]
pub(super) struct Scratch<'a> {
    /// The items of all open arrays and payloads.
    pub(super) values: Vec<RecordedValue<'a>>,
    /// The fields of all open structs.
    pub(super) fields: Vec<RecordedField<'a>>,
    /// The brackets that are open in a look-ahead.
    pub(super) open: Vec<Open>,
    /// The objects among them, down to the depth to which an event may nest.
    pub(super) open_objects: Vec<OpenObject>,
    /// The objects with a discriminator that a look-ahead has skipped.
    pub(super) skipped: Vec<SkippedObject>,
}

/// A bracket that is open in a look-ahead.
#[derive(Debug, Clone, Copy)]
pub(super) enum Open {
    Object,
    Array,
}

/// An object that is open in a look-ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenObject {
    /// The offset of its brace.
    pub(super) start: usize,
    /// The object's index in `skipped`, once one of its discriminators was found.
    pub(super) skipped: Option<usize>,
}

/// An object with a discriminator that a look-ahead has skipped. It need not be searched again.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkippedObject {
    /// The offset of its brace.
    pub(super) start: usize,
    /// The offsets of the values of [`DISCRIMINATORS`]. An offset is never zero.
    pub(super) discriminators: [Option<NonZeroUsize>; DISCRIMINATORS.len()],
}

/// The discriminators of objects inside an event.
pub(super) const DISCRIMINATORS: [Key; 2] = [ValueKind::KEY, OutcomeKind::KEY];

/// A stack with more capacity than this many entries is freed.
const KEPT_ENTRIES: usize = 16 * 1024;

impl Scratch<'_> {
    /// Empties the stacks for another line, and keeps their memory.
    pub(super) fn recycled<'b>(self) -> Scratch<'b> {
        Scratch {
            values: recycle(self.values, |_| None),
            fields: recycle(self.fields, |_| None),
            open: recycle(self.open, |_| None),
            open_objects: recycle(self.open_objects, |_| None),
            skipped: recycle(self.skipped, |_| None),
        }
    }
}

/// Empties a vector and changes the lifetime of its items. Collecting from a vector's own iterator reuses its memory,
/// as a test that counts allocations verifies.
fn recycle<A, B>(mut vec: Vec<A>, never: impl FnMut(A) -> Option<B>) -> Vec<B> {
    if vec.capacity() > KEPT_ENTRIES {
        return Vec::new();
    }
    vec.clear();
    vec.into_iter().filter_map(never).collect()
}
