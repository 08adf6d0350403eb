//! The capabilities and operations that runs needed, and those that were refused.

use std::collections::{BTreeMap, BTreeSet};

use cove_trace::HostCall;
use serde::Serialize;

/// For each capability, module and operation, the number of calls.
pub(super) type Operations = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

/// Grows with the number of different operations, not with the traces.
#[derive(Serialize)]
pub(super) struct Grants {
    pub(super) needed: Operations,
    pub(super) refused: Operations,
    /// The granted capabilities that no run needed; `None` if it is not known what was granted.
    pub(super) granted_unused: Option<BTreeSet<String>>,
}

impl Grants {
    /// Starts with the capabilities that were `granted`; none if that is not known.
    pub(super) fn new(granted: &[String]) -> Self {
        let granted: BTreeSet<String> =
            granted.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let granted_unused = (!granted.is_empty()).then_some(granted);
        Self { needed: Operations::new(), refused: Operations::new(), granted_unused }
    }

    pub(super) fn add(&mut self, call: &HostCall<'_>) {
        let capability = call.site.capability();
        if call.granted
            && let Some(unused) = &mut self.granted_unused
        {
            unused.remove(capability);
        }
        let operations = if call.granted { &mut self.needed } else { &mut self.refused };
        let modules = operations.entry(capability.to_owned()).or_default();
        let calls = modules.entry(call.site.module().to_owned()).or_default();
        *calls.entry(call.site.op().to_owned()).or_default() += 1;
    }
}

/// Iterates over the operations of a capability, each as `module.op`. A part that contains a dot is put in quotes, so
/// that two operations never have the same text.
pub(super) fn operations(modules: &BTreeMap<String, BTreeMap<String, u64>>) -> impl Iterator<Item = (String, u64)> {
    let part = |part: &str| if part.contains(['.', '"']) { format!("{part:?}") } else { part.to_owned() };
    modules.iter().flat_map(move |(module, calls)| {
        calls.iter().map(move |(op, count)| (format!("{}.{}", part(module), part(op)), *count))
    })
}
