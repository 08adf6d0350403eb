//! The one function through which all host calls go.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use cove_trace::{ENTRY_TASK, HostCall, HostOutcome, LiveArgs, RecordedValue, RunOutcome, TraceEvent};
use mlua::Value;

use super::failure::Failure;
use super::host::{Args, Operation};
use super::value::Traced;
use super::{Ending, Run};

/// Makes a host call: checks whether it is allowed, runs the host's function, measures the wait, and records the call.
/// In a replay, the trace answers instead of the host.
///
/// All coroutines are one task, because no two of them run at the same time.
pub(super) fn call(run: &Run, operation: &Operation, args: Args<'_>) -> mlua::Result<Value> {
    let sink = run.sink();
    // Without a trace, the clock is not read.
    let started = sink.is_recording().then(Instant::now);
    let function = AssertUnwindSafe(|| match run.replaying() {
        Some(replaying) => replaying.answer(run, operation, args),
        None => run.admit(operation).and_then(|()| (operation.function)(run, args)),
    });
    let answer = catch_unwind(function).unwrap_or_else(|_| {
        run.stop(Ending::new(RunOutcome::Invariant, "a panic in the host"));
        Err(Failure::Panic)
    });

    if let Some(started) = started {
        let granted = !matches!(answer, Err(Failure::NotGranted));
        // A refused call does not wait for the host.
        let wait = if granted { started.elapsed() } else { Duration::ZERO };
        run.timing().add_wait(wait);
        // The event borrows this wrapper, so it gets a name.
        let result = answer.as_ref().map(Traced);
        // A host function only reads its arguments and runs no script, so they are still as the script passed them.
        LiveArgs::with(args.values.iter().map(Traced), |args| {
            sink.record(&TraceEvent::HostCall(HostCall {
                task: ENTRY_TASK,
                site: operation.site(),
                wait,
                granted,
                args,
                outcome: match &result {
                    Ok(value) => Some(HostOutcome::Value(RecordedValue::Live(value))),
                    Err(failure) => failure.outcome(),
                },
            }));
        });
    }
    answer.map_err(|failure| failure.raise(operation))
}
