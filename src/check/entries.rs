//! The entries that began and did not end yet.

use std::collections::HashMap;

/// How many times each function was entered and not left, by module and function. Holds nothing for those that were left.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenEntries(HashMap<Box<str>, HashMap<Box<str>, u64>>);

/// A map that has room for more entries than this, and for four times as many as it holds, gives that back.
const KEPT_CAPACITY: usize = 64;

impl OpenEntries {
    pub(super) fn enter(&mut self, module: &str, function: &str) {
        *self.0.entry(module.into()).or_default().entry(function.into()).or_default() += 1;
    }

    /// Returns whether it had been entered.
    pub(super) fn exit(&mut self, module: &str, function: &str) -> bool {
        let Some(functions) = self.0.get_mut(module) else { return false };
        let Some(open) = functions.get_mut(function) else { return false };
        *open -= 1;
        if *open == 0 {
            functions.remove(function);
            give_back(functions);
            if functions.is_empty() {
                self.0.remove(module);
                give_back(&mut self.0);
            }
        }
        true
    }
}

fn give_back<V>(map: &mut HashMap<Box<str>, V>) {
    if map.capacity() > KEPT_CAPACITY && map.capacity() / 4 > map.len() {
        map.shrink_to(map.len() * 2);
    }
}
