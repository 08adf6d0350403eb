//! Something about each task, a million of them too, in little memory.

use std::collections::BTreeMap;
use std::num::NonZero;

/// A small number's worth of knowledge of each task, by its id.
///
/// Runtimes number their tasks one after the other, so neighbours share an entry: some 20 bytes a task then, and three times
/// that for ids at random. A tree, since a hash table holds all of it twice while it grows.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskTable(BTreeMap<u64, Neighbours>);

type Neighbours = [Option<NonZero<u64>>; NEIGHBOURS as usize];

const NEIGHBOURS: u64 = 4;

impl TaskTable {
    pub(super) fn get(&self, id: u64) -> Option<NonZero<u64>> {
        self.0.get(&(id / NEIGHBOURS))?[(id % NEIGHBOURS) as usize]
    }

    /// Where what is known of a task stands, or is to stand.
    pub(super) fn entry(&mut self, id: u64) -> &mut Option<NonZero<u64>> {
        &mut self.0.entry(id / NEIGHBOURS).or_default()[(id % NEIGHBOURS) as usize]
    }
}
