//! The parts of an event that the checker needs.

use crate::event::TraceEvent;
use crate::names::EventKind;

/// An event without its values and figures. `N` represents its names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fact<N> {
    Spawned { id: u64, parent: Option<u64> },
    Completed { id: u64 },
    Cancelled { id: u64 },
    Called { task: u64, names: N, has_ungranted_outcome: bool },
    Entered(N),
    Exited(N),
    HeapCollected,
    HeapSummary,
    Ended,
}

/// A module, and an operation or a function of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QualifiedName<'a> {
    pub(super) module: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Fact<QualifiedName<'a>> {
    pub(super) fn of(event: &TraceEvent<'a>) -> Self {
        match *event {
            TraceEvent::TaskSpawned { id, parent, .. } => Self::Spawned { id, parent },
            TraceEvent::TaskCompleted { id, .. } => Self::Completed { id },
            TraceEvent::TaskCancelled { id } => Self::Cancelled { id },
            TraceEvent::HostCall(ref call) => Self::Called {
                task: call.task,
                names: QualifiedName { module: call.site.module(), name: call.site.op() },
                has_ungranted_outcome: !call.granted && call.outcome.is_some(),
            },
            TraceEvent::EntryEnter { module, function } => Self::Entered(QualifiedName { module, name: function }),
            TraceEvent::EntryExit { module, function, .. } => Self::Exited(QualifiedName { module, name: function }),
            TraceEvent::HeapCollected { .. } => Self::HeapCollected,
            TraceEvent::HeapSummary(_) => Self::HeapSummary,
            TraceEvent::RunEnded { .. } => Self::Ended,
        }
    }
}

impl<N> Fact<N> {
    /// Converts the names.
    pub(super) fn map_names<M>(self, map: impl FnOnce(N) -> M) -> Fact<M> {
        match self {
            Self::Spawned { id, parent } => Fact::Spawned { id, parent },
            Self::Completed { id } => Fact::Completed { id },
            Self::Cancelled { id } => Fact::Cancelled { id },
            Self::Called { task, names, has_ungranted_outcome } => {
                Fact::Called { task, names: map(names), has_ungranted_outcome }
            }
            Self::Entered(names) => Fact::Entered(map(names)),
            Self::Exited(names) => Fact::Exited(map(names)),
            Self::HeapCollected => Fact::HeapCollected,
            Self::HeapSummary => Fact::HeapSummary,
            Self::Ended => Fact::Ended,
        }
    }

    /// Returns the kind of the event.
    pub(super) fn kind(&self) -> EventKind {
        match self {
            Self::Spawned { .. } => EventKind::TaskSpawned,
            Self::Completed { .. } => EventKind::TaskCompleted,
            Self::Cancelled { .. } => EventKind::TaskCancelled,
            Self::Called { .. } => EventKind::HostCall,
            Self::Entered(_) => EventKind::EntryEnter,
            Self::Exited(_) => EventKind::EntryExit,
            Self::HeapCollected => EventKind::HeapCollected,
            Self::HeapSummary => EventKind::HeapSummary,
            Self::Ended => EventKind::RunEnded,
        }
    }
}
