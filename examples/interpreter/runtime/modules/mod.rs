//! What scripts can ask of their host, each module in a file of its own.

mod clock;
mod console;
pub(crate) mod documents;
mod env;
pub(crate) mod tasks;

use super::host::Operation;

/// The module whose operations are the interpreter's own work and no host's: a replay performs them.
pub(crate) const PERFORMED: &str = "tasks";

/// All operations, with no host behind them: a replay must not reach one.
pub(crate) fn unplugged() -> Vec<Operation> {
    let unplug = |operation: Operation| {
        if operation.site().module() == PERFORMED { operation } else { operation.unplugged() }
    };
    operations().into_iter().map(unplug).collect()
}

/// All operations of the host.
pub(crate) fn operations() -> Vec<Operation> {
    [console::operations(), documents::operations(), clock::operations(), env::operations(), tasks::operations()]
        .into_iter()
        .flatten()
        .collect()
}
