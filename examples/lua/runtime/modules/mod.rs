//! What scripts can ask of their host, each module in a file of its own.

mod console;
pub(crate) mod files;
pub(crate) mod kv;

use super::host::Operation;

/// All operations of the host.
pub(crate) fn operations() -> Vec<Operation> {
    [console::operations(), files::operations(), kv::operations()].into_iter().flatten().collect()
}

/// All operations, with no host behind them: a replay must not reach one.
pub(crate) fn unplugged() -> Vec<Operation> {
    operations().into_iter().map(Operation::unplugged).collect()
}
