//! The operations of the host, one file per module.

mod console;
pub(crate) mod files;
pub(crate) mod kv;

use super::host::Operation;

/// All operations of the host.
pub(crate) fn operations() -> Vec<Operation> {
    [console::operations(), files::operations(), kv::operations()].into_iter().flatten().collect()
}

/// All operations without their host functions, which a replay must not reach.
pub(crate) fn unplugged() -> Vec<Operation> {
    operations().into_iter().map(Operation::unplugged).collect()
}
