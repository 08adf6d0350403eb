//! The state of each task.

use std::num::NonZero;

use super::fact::QualifiedName;
use super::task_table::TaskTable;
use crate::event::ENTRY_TASK;

/// The last state change of each task, by its id. Entries are never removed, since ids must not repeat.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskStates(TaskTable);

#[derive(Debug, Clone, Copy)]
struct Task {
    state: State,
    /// The line of the change, from 1.
    line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The task was referred to without having been spawned.
    Unspawned,
    Spawned,
    Completed,
    Cancelled,
}

const STATES: [State; 4] = [State::Unspawned, State::Spawned, State::Completed, State::Cancelled];

impl Task {
    /// Packs the state for the table. Line numbers above a quarter of `u64::MAX` saturate.
    fn packed(self) -> Option<NonZero<u64>> {
        let states = STATES.len() as u64;
        NonZero::new(self.line.min(u64::MAX / states) * states + self.state as u64)
    }

    fn unpacked(packed: NonZero<u64>) -> Self {
        let states = STATES.len() as u64;
        Self { state: STATES[(packed.get() % states) as usize], line: packed.get() / states }
    }
}

impl State {
    /// Returns the state as a predicate after "it".
    const fn past(self) -> &'static str {
        match self {
            Self::Unspawned => "was referred to",
            Self::Spawned => "was spawned",
            Self::Completed => "completed",
            Self::Cancelled => "was cancelled",
        }
    }
}

impl TaskStates {
    pub(super) fn spawned(
        &mut self,
        line: u64,
        id: u64,
        parent: Option<u64>,
        partial: bool,
        error: &mut impl FnMut(String),
    ) {
        if let Some(parent) = parent
            && self.is_first_of_unspawned(line, parent)
            && !partial
        {
            error(format!("task {id} is spawned by task {parent}, which was never spawned"));
        }
        if id == ENTRY_TASK {
            error(format!("task {ENTRY_TASK} is spawned, but that is the entry's id"));
            return;
        }
        let entry = self.0.entry(id);
        let before = entry.map(Task::unpacked);
        *entry = Task { state: State::Spawned, line }.packed();
        if let Some(before) = before {
            error(format!("task {id} is spawned, but it already {} on line {}", before.state.past(), before.line));
        }
    }

    pub(super) fn completed(&mut self, line: u64, id: u64, partial: bool, error: &mut impl FnMut(String)) {
        self.ended(Task { state: State::Completed, line }, id, "completes", partial, error);
    }

    pub(super) fn cancelled(&mut self, line: u64, id: u64, partial: bool, error: &mut impl FnMut(String)) {
        self.ended(Task { state: State::Cancelled, line }, id, "is cancelled", partial, error);
    }

    fn ended(&mut self, end: Task, id: u64, does: &str, partial: bool, error: &mut impl FnMut(String)) {
        // A missing beginning does not explain this: the entry is never spawned.
        if id == ENTRY_TASK {
            error(format!("task {ENTRY_TASK} {does}, but that is the entry, which is no spawned task"));
            return;
        }
        let entry = self.0.entry(id);
        match entry.map(Task::unpacked) {
            Some(Task { state: State::Spawned, .. }) => {}
            // The first end is kept, since a call after it is an error whatever follows.
            Some(Task { state: state @ (State::Completed | State::Cancelled), line }) => {
                error(format!("task {id} {does}, but it already {} on line {line}", state.past()));
                return;
            }
            Some(Task { state: State::Unspawned, .. }) | None => {
                if !partial {
                    error(format!("task {id} {does}, but was never spawned"));
                }
            }
        }
        *entry = end.packed();
    }

    pub(super) fn called(
        &mut self,
        line: u64,
        id: u64,
        names: QualifiedName<'_>,
        partial: bool,
        error: &mut impl FnMut(String),
    ) {
        let QualifiedName { module, name: op } = names;
        if let Some(Task { state: State::Completed, line }) = self.0.get(id).map(Task::unpacked) {
            error(format!("task {id} calls {module}.{op}, but it already completed on line {line}"));
        } else if self.is_first_of_unspawned(line, id) && !partial {
            error(format!("task {id} calls {module}.{op}, but was never spawned"));
        }
    }

    /// Returns whether this is the first reference to a task that was not spawned.
    fn is_first_of_unspawned(&mut self, line: u64, id: u64) -> bool {
        if id == ENTRY_TASK {
            return false;
        }
        let entry = self.0.entry(id);
        let is_first = entry.is_none();
        if is_first {
            *entry = Task { state: State::Unspawned, line }.packed();
        }
        is_first
    }
}
