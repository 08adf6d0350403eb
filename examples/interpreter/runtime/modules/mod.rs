//! What scripts can ask of their host, each module in a file of its own.

mod clock;
mod console;
pub(crate) mod documents;
mod env;
pub(crate) mod tasks;

use super::host::Operation;

/// All operations of the host.
pub(crate) fn operations() -> Vec<Operation> {
    [console::operations(), documents::operations(), clock::operations(), env::operations(), tasks::operations()]
        .into_iter()
        .flatten()
        .collect()
}
