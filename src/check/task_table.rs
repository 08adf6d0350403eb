//! A compact map from task ids to states.

use std::collections::BTreeMap;
use std::num::NonZero;

/// Maps a task id to its packed state.
///
/// Runtimes number their tasks consecutively, so neighbours share an entry. A task takes some 20 bytes then, and three
/// times that for random ids. This is a tree because a hash table doubles its memory while it grows.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskTable(BTreeMap<u64, Neighbours>);

type Neighbours = [Option<NonZero<u64>>; NEIGHBOURS as usize];

const NEIGHBOURS: u64 = 4;

impl TaskTable {
    pub(super) fn get(&self, id: u64) -> Option<NonZero<u64>> {
        self.0.get(&(id / NEIGHBOURS))?[(id % NEIGHBOURS) as usize]
    }

    /// Returns the state of a task for reading or writing.
    pub(super) fn entry(&mut self, id: u64) -> &mut Option<NonZero<u64>> {
        &mut self.0.entry(id / NEIGHBOURS).or_default()[(id % NEIGHBOURS) as usize]
    }
}
