//! The entries that began and did not end yet.

use crate::name_map::{NameMap, index_of};

/// The number of open entries of each function, by module and name. Holds nothing for a function without open entries.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenEntries(NameMap<2, u64>);

/// A map with room for more than this many entries, and for four times as many as it holds, is shrunk.
const KEPT_CAPACITY: usize = 64;

impl OpenEntries {
    pub(super) fn enter(&mut self, module: &str, function: &str) {
        let index = index_of(&mut self.0, [module, function]);
        self.0[index] += 1;
    }

    /// Returns whether the function had been entered.
    pub(super) fn exit(&mut self, module: &str, function: &str) -> bool {
        let Some((index, _, open)) = self.0.get_full_mut(&[module, function]) else { return false };
        *open -= 1;
        if *open == 0 {
            self.0.swap_remove_index(index);
            if self.0.capacity() > KEPT_CAPACITY && self.0.capacity() / 4 > self.0.len() {
                self.0.shrink_to(self.0.len() * 2);
            }
        }
        true
    }
}
