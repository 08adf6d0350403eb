//! Traces made for these tests, and what is asked of them.

use std::time::Duration;

use cove_trace::replay::{Answer, Divergence};
use cove_trace::{
    CallSite, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, Replay, RunOutcome, TraceEvent,
    TraceHeader, TraceSink, ValueCapture,
};

pub(crate) use cove_trace::RecordedValue::{Int, String as Text, Unit};

/// A run being recorded.
pub(crate) struct Recorded(JsonlSink<Vec<u8>>);

impl Recorded {
    pub(crate) fn full() -> Self {
        Self::with(ValueCapture::Full)
    }

    pub(crate) fn redacted() -> Self {
        Self::with(ValueCapture::Redacted)
    }

    fn with(capture: ValueCapture) -> Self {
        let header = TraceHeader::new(RecordingBackend::Vm, capture, "main.cove").with_args(["-v"]);
        Self(JsonlSink::new(Vec::new(), &header).expect("a vector takes it"))
    }

    pub(crate) fn event(self, event: &TraceEvent<'_>) -> Self {
        self.0.record(event);
        self
    }

    /// A call of `operation`, as in `console.log`, that was granted.
    pub(crate) fn call(self, task: u64, operation: &str, args: &[RecordedValue<'_>], outcome: HostOutcome<'_>) -> Self {
        self.any_call(task, operation, true, args, Some(outcome))
    }

    /// A call that gave a value.
    pub(crate) fn gave(self, task: u64, operation: &str, args: &[RecordedValue<'_>], value: RecordedValue<'_>) -> Self {
        self.call(task, operation, args, HostOutcome::Value(value))
    }

    pub(crate) fn any_call(
        self,
        task: u64,
        operation: &str,
        granted: bool,
        args: &[RecordedValue<'_>],
        outcome: Option<HostOutcome<'_>>,
    ) -> Self {
        let site = site(operation);
        self.event(&TraceEvent::HostCall(HostCall {
            task,
            site,
            wait: Duration::from_nanos(7),
            granted,
            args,
            outcome,
        }))
    }

    pub(crate) fn entered(self) -> Self {
        self.event(&TraceEvent::EntryEnter { module: "main", function: "main" })
    }

    pub(crate) fn exited(self) -> Self {
        let (cpu, wait) = (Duration::ZERO, Duration::ZERO);
        self.event(&TraceEvent::EntryExit { module: "main", function: "main", cpu, wait })
    }

    pub(crate) fn spawned(self, id: u64, parent: u64, scope: &str) -> Self {
        self.event(&TraceEvent::TaskSpawned { id, parent: Some(parent), scope })
    }

    pub(crate) fn completed(self, id: u64) -> Self {
        self.event(&TraceEvent::TaskCompleted { id, cpu: Duration::ZERO })
    }

    pub(crate) fn cancelled(self, id: u64) -> Self {
        self.event(&TraceEvent::TaskCancelled { id })
    }

    /// The trace of a run that ended well.
    pub(crate) fn ended(self) -> Vec<u8> {
        self.ended_as(RunOutcome::Success, None)
    }

    pub(crate) fn ended_as(self, outcome: RunOutcome, message: Option<&str>) -> Vec<u8> {
        self.event(&TraceEvent::RunEnded { outcome, message }).cut()
    }

    /// The trace of a run that was killed.
    pub(crate) fn cut(self) -> Vec<u8> {
        self.0.finish().writer
    }
}

/// `console.log` under the capability `console`.
pub(crate) fn site(operation: &str) -> CallSite<'_> {
    let (module, op) = operation.split_once('.').expect("a module and an operation");
    CallSite::new(module, op, module)
}

pub(crate) fn opened(trace: &[u8]) -> Replay {
    Replay::open(trace).expect("a trace to replay")
}

/// Asks `replay` as an interpreter would.
pub(crate) fn ask(
    replay: &Replay,
    task: u64,
    operation: &str,
    args: &[RecordedValue<'_>],
) -> Result<Answer, Divergence> {
    replay.call(task, site(operation), args)
}

/// The divergence of a call that has to diverge.
#[track_caller]
pub(crate) fn diverging(replay: &Replay, task: u64, operation: &str, args: &[RecordedValue<'_>]) -> Divergence {
    ask(replay, task, operation, args).expect_err("a divergence")
}
