//! The calls of each task, found by the task's id.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

/// The calls of one task. Aligned so that two tasks on two threads do not write to one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Tape {
    pub(super) task: u64,
    /// Indices in [`Recording::calls`](super::recording::Recording::calls).
    pub(crate) calls: Vec<usize>,
    /// The number of calls that are used.
    pub(super) used: AtomicUsize,
    pub(super) end: TapeEnd,
}

/// How the task ended in the recorded run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum TapeEnd {
    /// The task ran to its end.
    Completed,
    /// The task was stopped while others went on, or by an event in another task. How far it got depends on scheduling.
    Stopped,
    /// Unknown: the trace ends before the task does.
    #[default]
    Unknown,
}

/// The tapes of all tasks, sorted by task id.
#[derive(Debug, Default)]
pub(super) struct Tapes(Vec<Tape>);

/// The tapes of a trace that is being loaded.
#[derive(Debug, Default)]
pub(super) struct LoadingTapes {
    tapes: Vec<Tape>,
    /// Where in `tapes` each task's is.
    places: HashMap<u64, usize>,
}

impl LoadingTapes {
    /// The tape of a task; a new one if it has none.
    pub(super) fn of(&mut self, task: u64) -> &mut Tape {
        let place = *self.places.entry(task).or_insert(self.tapes.len());
        if place == self.tapes.len() {
            self.tapes.push(Tape { task, ..Tape::default() });
        }
        &mut self.tapes[place]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Tape> {
        self.tapes.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Tape> {
        self.tapes.iter_mut()
    }

    pub(super) fn finish(self) -> Tapes {
        let Self { mut tapes, places } = self;
        drop(places);
        tapes.iter_mut().for_each(|tape| tape.calls.shrink_to_fit());
        tapes.shrink_to_fit();
        tapes.sort_unstable_by_key(|tape| tape.task);
        Tapes(tapes)
    }
}

impl Tapes {
    pub(super) fn get(&self, task: u64) -> Option<&Tape> {
        // Ids mostly come from a counter, so each tape is at the index of its id.
        let expected = usize::try_from(task).ok().and_then(|place| self.0.get(place));
        match expected {
            Some(tape) if tape.task == task => Some(tape),
            _ => self.0.binary_search_by_key(&task, |tape| tape.task).ok().map(|place| &self.0[place]),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Tape)> {
        self.0.iter().map(|tape| (tape.task, tape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_by_its_id() {
        for ids in [vec![], vec![0], vec![0, 1, 2, 3], vec![0, 2, 3, u64::MAX], vec![5, 1]] {
            let mut loading = LoadingTapes::default();
            for _ in 0..2 {
                ids.iter().for_each(|id| loading.of(*id).calls.push(*id as usize));
            }
            let tapes = loading.finish();
            for id in (0..8).chain([u64::MAX - 1, u64::MAX]) {
                let expected = ids.contains(&id).then(|| vec![id as usize; 2]);
                assert_eq!(tapes.get(id).map(|tape| tape.calls.clone()), expected);
            }
            assert_eq!(tapes.iter().count(), ids.len());
        }
    }
}
