//! The kinds of events.

use clap::ValueEnum;
use cove_trace::TraceEvent;

/// The kinds of events, by their names in the format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum EventKind {
    TaskSpawned,
    TaskCompleted,
    TaskCancelled,
    HostCall,
    EntryEnter,
    EntryExit,
    HeapCollected,
    HeapSummary,
    RunEnded,
}

impl EventKind {
    pub(crate) fn of(event: &TraceEvent<'_>) -> Self {
        match event {
            TraceEvent::TaskSpawned { .. } => Self::TaskSpawned,
            TraceEvent::TaskCompleted { .. } => Self::TaskCompleted,
            TraceEvent::TaskCancelled { .. } => Self::TaskCancelled,
            TraceEvent::HostCall(_) => Self::HostCall,
            TraceEvent::EntryEnter { .. } => Self::EntryEnter,
            TraceEvent::EntryExit { .. } => Self::EntryExit,
            TraceEvent::HeapCollected { .. } => Self::HeapCollected,
            TraceEvent::HeapSummary(_) => Self::HeapSummary,
            TraceEvent::RunEnded { .. } => Self::RunEnded,
        }
    }

    /// Its name in the format.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
