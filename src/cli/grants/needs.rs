//! What runs needed, and what they were refused.

use std::collections::{BTreeMap, BTreeSet};

use cove_trace::HostCall;
use serde::Serialize;

/// Of each capability, the operations that were called (as `module.op`) and how often.
pub(super) type Operations = BTreeMap<String, BTreeMap<String, u64>>;

/// Grows with the number of different operations, not with the traces.
#[derive(Serialize)]
pub(super) struct Grants {
    pub(super) needed: Operations,
    pub(super) refused: Operations,
    /// What of the grants no run needed; none when it is not known what was granted.
    pub(super) granted_unused: Option<BTreeSet<String>>,
}

impl Grants {
    /// Nothing so far, of what was `granted`; empty when that is not known.
    pub(super) fn new(granted: &[String]) -> Self {
        let granted: BTreeSet<String> =
            granted.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let granted_unused = (!granted.is_empty()).then_some(granted);
        Self { needed: Operations::new(), refused: Operations::new(), granted_unused }
    }

    pub(super) fn add(&mut self, call: &HostCall<'_>) {
        let capability = call.site.capability();
        let operation = format!("{}.{}", call.site.module(), call.site.op());
        if call.granted
            && let Some(unused) = &mut self.granted_unused
        {
            unused.remove(capability);
        }
        let of_its_sort = if call.granted { &mut self.needed } else { &mut self.refused };
        let operations = match of_its_sort.get_mut(capability) {
            Some(operations) => operations,
            None => of_its_sort.entry(capability.to_owned()).or_default(),
        };
        *operations.entry(operation).or_default() += 1;
    }
}
