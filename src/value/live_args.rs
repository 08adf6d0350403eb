//! [`LiveArgs`]: an interpreter's own values as the arguments of a host call.

use smallvec::SmallVec;

use super::recorded::RecordedValue;
use super::writer::TraceValue;

/// The arguments of a host call, each a [live value](RecordedValue::Live). It turns an interpreter's slice of values
/// into the slice that [`HostCall::args`](crate::HostCall::args) takes. Allocates only for more than four arguments.
///
/// ```
/// # use std::time::Duration;
/// # use cove_trace::{CallSite, HostCall, LiveArgs, RecordedValue, TraceEvent, TraceSink, TraceValue};
/// fn record_refusal<V: TraceValue>(sink: &dyn TraceSink, task: u64, site: CallSite<'_>, arguments: &[V]) {
///     sink.record(&TraceEvent::HostCall(HostCall {
///         task,
///         site,
///         wait: Duration::ZERO,
///         granted: false,
///         args: &LiveArgs::new(arguments),
///         outcome: None,
///     }));
/// }
/// ```
#[derive(Debug, Clone)]
pub struct LiveArgs<'a>(SmallVec<[RecordedValue<'a>; 4]>);

impl<'a> LiveArgs<'a> {
    /// Refers to all of `values`, in order.
    #[inline]
    pub fn new<V: TraceValue>(values: &'a [V]) -> Self {
        let live = |value: &'a V| RecordedValue::Live(value);
        // Fast path without a loop.
        if values.len() <= 4 {
            let args = std::array::from_fn(|index| values.get(index).map_or(RecordedValue::Unit, live));
            return Self(SmallVec::from_buf_and_len(args, values.len()));
        }
        Self(values.iter().map(live).collect())
    }

    /// Passes all of `values` to `record`, in order. For values that need a wrapper, which must outlive the event.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use cove_trace::{CallSite, HostCall, LiveArgs, TraceEvent, TraceSink, TraceValue, ValueWriter};
    /// struct Traced<'a>(&'a f64);
    /// # impl TraceValue for Traced<'_> {
    /// #     fn type_name(&self) -> Cow<'_, str> { "Float".into() }
    /// #     fn write(&self, out: ValueWriter<'_>) { out.float(*self.0) }
    /// # }
    ///
    /// fn record_refusal(sink: &dyn TraceSink, task: u64, site: CallSite<'_>, arguments: &[f64]) {
    ///     LiveArgs::with(arguments.iter().map(Traced), |args| {
    ///         let wait = std::time::Duration::ZERO;
    ///         sink.record(&TraceEvent::HostCall(HostCall { task, site, wait, granted: false, args, outcome: None }));
    ///     });
    /// }
    /// ```
    #[inline]
    pub fn with<V: TraceValue, R>(
        values: impl IntoIterator<Item = V>,
        record: impl FnOnce(&[RecordedValue<'_>]) -> R,
    ) -> R {
        let values: SmallVec<[V; 4]> = values.into_iter().collect();
        record(&LiveArgs::new(&values))
    }
}

impl<'a> std::ops::Deref for LiveArgs<'a> {
    type Target = [RecordedValue<'a>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
