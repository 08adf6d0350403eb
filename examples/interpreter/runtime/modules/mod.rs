//! The operations of the host, one file per module.

mod clock;
mod console;
pub(crate) mod documents;
mod env;
pub(crate) mod tasks;

use super::host::Operation;

/// The module whose operations the interpreter itself performs, also in a replay.
pub(crate) const PERFORMED: &str = "tasks";

/// All operations without their host functions, which a replay must not reach.
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
