//! Finds values that a redacted trace must not contain. Findings name their position only, since they must not leak
//! values either.

use crate::event::{HostCall, HostOutcome, TraceEvent, TraceHeader};
use crate::value::RecordedValue;

pub(super) fn header(header: &TraceHeader, error: &mut impl FnMut(String)) {
    for (index, arg) in header.args.iter().enumerate() {
        if arg != TraceHeader::REDACTED_ARG {
            error(format!("the trace is redacted, but args[{index}] of its header is not"));
        }
    }
}

pub(super) fn event(event: &TraceEvent<'_>, error: &mut impl FnMut(String)) {
    match event {
        TraceEvent::HostCall(call) => host_call(call, error),
        TraceEvent::RunEnded { outcome, message: Some(_) } if outcome.is_programs_own() => {
            error(format!("the trace is redacted, but the program's message about its {outcome} is not"));
        }
        _ => {}
    }
}

fn host_call(call: &HostCall<'_>, error: &mut impl FnMut(String)) {
    let (module, op) = (call.site.module(), call.site.op());
    for (index, arg) in call.args.iter().enumerate() {
        if !is_redacted(arg) {
            error(format!("the trace is redacted, but args[{index}] of {module}.{op} is not"));
        }
    }
    if let Some(HostOutcome::Value(value)) = &call.outcome
        && !is_redacted(value)
    {
        error(format!("the trace is redacted, but the result of {module}.{op} is not"));
    }
}

fn is_redacted(value: &RecordedValue<'_>) -> bool {
    matches!(value, RecordedValue::Redacted { .. })
}
