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
    /// Whether the trace has anything of the life of tasks. One that has nothing of it is of an interpreter that records none.
    has_lives: bool,
    spawned: HashSet<u64>,
    /// Tasks of which something came before their spawn, if that came at all, and the line of it.
    before_spawn: HashMap<u64, u64>,
}

impl Beginning {
    /// Takes up an event.
    pub(super) fn event(&mut self, line: u64, event: &TraceEvent<'_>) {
        match *event {
            TraceEvent::EntryEnter { .. } => self.has_entry = true,
            TraceEvent::EntryExit { .. } if !self.has_entry => {
                self.exit_without_entry.get_or_insert(line);
            }
            TraceEvent::TaskSpawned { id, .. } => {
                self.has_lives = true;
                self.spawned.insert(id);
                // Where tasks run on threads, one may call before the record of its spawn is made.
                self.before_spawn.remove(&id);
            }
            TraceEvent::TaskCompleted { id, .. } | TraceEvent::TaskCancelled { id } => {
                self.has_lives = true;
                self.seen(line, id);
            }
            TraceEvent::HostCall(ref call) => self.seen(line, call.task),
            _ => {}
        }
    }

    fn seen(&mut self, line: u64, task: u64) {
        if task != ENTRY_TASK && !self.spawned.contains(&task) {
            self.before_spawn.entry(task).or_insert(line);
        }
    }

    /// The first line that shows that the beginning is missing, and what it shows.
    pub(super) fn sign_of_missing(&self) -> Option<(u64, MissingBeginning)> {
        let exit = self.exit_without_entry.map(|line| (line, MissingBeginning::Entry));
        let tasks = self.before_spawn.iter().filter(|_| self.has_lives);
        let tasks = tasks.map(|(task, line)| (*line, MissingBeginning::Spawn { task: *task }));
        exit.into_iter().chain(tasks).min_by_key(|(line, _)| *line)
    }
}
