//! The entries that began and did not end yet.

use std::collections::HashMap;

/// How many times each function was entered and not left, by module and function.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenEntries(HashMap<Box<str>, HashMap<Box<str>, u64>>);

impl OpenEntries {
    pub(super) fn enter(&mut self, module: &str, function: &str) {
        *self.0.entry(module.into()).or_default().entry(function.into()).or_default() += 1;
    }

    /// Whether it had been entered.
    pub(super) fn exit(&mut self, module: &str, function: &str) -> bool {
        match self.0.get_mut(module).and_then(|functions| functions.get_mut(function)) {
            Some(open @ 1..) => {
                *open -= 1;
                true
            }
            _ => false,
        }
    }
}
