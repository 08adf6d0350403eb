//! Whether a trace begins where its run did.

use std::collections::{HashMap, HashSet};

use super::open_error::MissingBeginning;
use crate::event::{ENTRY_TASK, TraceEvent};

/// What a trace says about its beginning, taken up event by event.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// Whether the entry was entered.
    pub(super) has_entry: bool,
    exit_without_entry: Option<u64>,
    spawned: HashSet<u64>,
    /// The tasks that came to an end, and the line of it.
    ended: HashMap<u64, u64>,
}

impl Beginning {
    /// Takes up an event. Of host calls it needs none.
    pub(super) fn event(&mut self, line: u64, event: &TraceEvent<'_>) {
        match *event {
            TraceEvent::EntryEnter { .. } => self.has_entry = true,
            TraceEvent::EntryExit { .. } if !self.has_entry => {
                self.exit_without_entry.get_or_insert(line);
            }
            TraceEvent::TaskSpawned { id, .. } => {
                self.spawned.insert(id);
            }
            TraceEvent::TaskCompleted { id, .. } | TraceEvent::TaskCancelled { id } => {
                self.ended.entry(id).or_insert(line);
            }
            _ => {}
        }
    }

    /// The first line that shows that the beginning is missing, and what it shows. Of each task that calls,
    /// `first_calls` has the line of its first call.
    pub(super) fn sign_of_missing(
        &self,
        first_calls: impl Iterator<Item = (u64, u64)>,
    ) -> Option<(u64, MissingBeginning)> {
        let exit = self.exit_without_entry.map(|line| (line, MissingBeginning::Entry));
        // A trace that has nothing of the life of any task is of an interpreter that records none.
        let has_lives = !self.spawned.is_empty() || !self.ended.is_empty();
        // A task is spawned if the trace says so anywhere: where tasks run on threads, one may call before the record
        // of its spawn is made.
        let unspawned = self
            .ended
            .iter()
            .map(|(task, line)| (*task, *line))
            .chain(first_calls)
            .filter(|(task, _)| has_lives && *task != ENTRY_TASK && !self.spawned.contains(task))
            .map(|(task, line)| (line, MissingBeginning::Spawn { task }));
        exit.into_iter().chain(unspawned).min_by_key(|(line, _)| *line)
    }
}
