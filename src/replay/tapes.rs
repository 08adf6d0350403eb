//! The calls of each task, found by the task's id.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

/// The calls of one task. Aligned so that two tasks on two threads do not write to one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Tape {
    /// Indices in [`Recording::calls`](super::recording::Recording::calls).
    pub(crate) calls: Vec<usize>,
    /// The number of calls that the replay has asked for.
    pub(super) asked: AtomicUsize,
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
pub(super) struct Tapes(Vec<(u64, Tape)>);

impl From<HashMap<u64, Tape>> for Tapes {
    fn from(tapes: HashMap<u64, Tape>) -> Self {
        let mut tapes: Vec<_> = tapes.into_iter().collect();
        tapes.sort_unstable_by_key(|(task, _)| *task);
        Self(tapes)
    }
}

impl Tapes {
    pub(super) fn get(&self, task: u64) -> Option<&Tape> {
        // Ids mostly come from a counter, so each tape is at the index of its id.
        let expected = usize::try_from(task).ok().and_then(|place| self.0.get(place));
        match expected {
            Some((id, tape)) if *id == task => Some(tape),
            _ => self.0.binary_search_by_key(&task, |(id, _)| *id).ok().map(|place| &self.0[place].1),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Tape)> {
        self.0.iter().map(|(task, tape)| (*task, tape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_by_its_id() {
        for ids in [vec![], vec![0], vec![0, 1, 2, 3], vec![0, 2, 3, u64::MAX], vec![5, 1]] {
            let tape = |id: &u64| (*id, Tape { calls: vec![*id as usize], ..Tape::default() });
            let tapes = Tapes::from(ids.iter().map(tape).collect::<HashMap<_, _>>());
            for id in (0..8).chain([u64::MAX - 1, u64::MAX]) {
                let expected = ids.contains(&id).then(|| vec![id as usize]);
                assert_eq!(tapes.get(id).map(|tape| tape.calls.clone()), expected);
            }
            assert_eq!(tapes.iter().count(), ids.len());
        }
    }
}
