//! Finds the recorded call that corresponds to an actual one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::recording::{Call, Recording, Spawner};
use super::tapes::Tape;
use crate::event::{CallSite, ENTRY_TASK};

/// The order in which calls must be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The calls of each task have an order; calls of different tasks have none. The default, since the interleaving of
    /// concurrent tasks depends on the scheduler, not on the program.
    #[default]
    PerTask,
    /// All calls have the order of the trace. For interpreters that schedule their tasks deterministically.
    Strict,
}

/// How the tasks of a run are matched with the recorded ones. The entry always matches the entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TaskMatching {
    /// By their ids, for interpreters that give a task the same id in each run. A counter does if only one task spawns
    /// others.
    #[default]
    ById,
    /// By their spawns: the n-th task that a parent spawns in a scope matches the n-th that the recorded parent spawned
    /// in that scope. For interpreters whose ids depend on scheduling, such as a counter that several spawning tasks
    /// share. The interpreter reports each spawn with [`spawned`](super::Replay::spawned).
    ByScope,
}

/// A recording, and the calls of it that are used.
#[derive(Debug)]
pub(super) struct Matching {
    pub(super) recording: Recording,
    pub(super) order: Order,
    pub(super) tasks: TaskMatching,
    /// The number of used calls in the strict order.
    used: AtomicUsize,
    lineage: Lineage,
}

/// The next recorded call of a task, or of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextCall<'r> {
    /// The task that it belongs to, as recorded.
    pub(super) recorded_task: u64,
    tape: &'r Tape,
    /// The index in the order of calls.
    place: usize,
    /// The index in its tape.
    pub(super) in_task: usize,
    /// The index in the trace.
    pub(super) in_trace: usize,
    pub(super) call: &'r Call,
}

/// The reason why a task has no next recorded call.
pub(super) enum Unrecorded<'r> {
    /// All of its calls are used.
    End { recorded_task: u64, tape: &'r Tape },
    /// The recording does not contain the task.
    Task,
}

impl Matching {
    pub(super) fn new(recording: Recording) -> Self {
        Self {
            recording,
            order: Order::default(),
            tasks: TaskMatching::default(),
            used: AtomicUsize::new(0),
            lineage: Lineage::default(),
        }
    }

    /// Records that `task` was spawned.
    pub(super) fn spawned(&self, task: u64, parent: Option<u64>, scope: &str) {
        if self.tasks == TaskMatching::ByScope {
            self.lineage.spawned(&self.recording, task, parent, scope);
        }
    }

    /// Returns the recorded id of `task`.
    pub(super) fn recorded_task(&self, task: u64) -> Option<u64> {
        match self.tasks {
            TaskMatching::ById => Some(task),
            TaskMatching::ByScope => self.lineage.recorded_task(task),
        }
    }

    /// Returns the next recorded call for `task`, or the reason why there is none.
    pub(super) fn next(&self, task: u64) -> Result<NextCall<'_>, Unrecorded<'_>> {
        let known = self.recorded_task(task).and_then(|task| Some((task, self.recording.tape(task)?)));
        let next = match self.order {
            Order::PerTask => known.and_then(|(recorded_task, tape)| {
                let place = tape.used.load(Ordering::Acquire);
                self.call_at(recorded_task, tape, place, place)
            }),
            Order::Strict => {
                let place = self.used.load(Ordering::Acquire);
                self.recording.calls.get(place).and_then(|call| {
                    let tape = self.recording.tape(call.task)?;
                    self.call_at(call.task, tape, place, tape.calls.binary_search(&place).ok()?)
                })
            }
        };
        next.ok_or(match known {
            Some((recorded_task, tape)) => Unrecorded::End { recorded_task, tape },
            None => Unrecorded::Task,
        })
    }

    /// Returns whether the next call belongs to another task than `task`.
    pub(super) fn is_turn_of_another(&self, task: u64, next: &NextCall<'_>) -> bool {
        self.order == Order::Strict && self.recorded_task(task) != Some(next.recorded_task)
    }

    fn call_at<'r>(&'r self, recorded_task: u64, tape: &'r Tape, place: usize, in_task: usize) -> Option<NextCall<'r>> {
        let in_trace = *tape.calls.get(in_task)?;
        let call = self.recording.calls.get(in_trace)?;
        Some(NextCall { recorded_task, tape, place, in_task, in_trace, call })
    }

    /// Takes the next call, and `passed_over` calls before it. Returns false if another thread took it.
    pub(super) fn take(&self, next: &NextCall<'_>, passed_over: usize) -> bool {
        let (before, after) = (next.place - passed_over, next.place + 1);
        let taken = self.used(next).compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if taken && self.order == Order::Strict {
            next.tape.used.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// Returns the number of used calls in the order that holds.
    fn used<'r>(&'r self, next: &NextCall<'r>) -> &'r AtomicUsize {
        match self.order {
            Order::PerTask => &next.tape.used,
            Order::Strict => &self.used,
        }
    }

    /// Returns whether no other thread has taken the call.
    pub(super) fn is_still_next(&self, next: &NextCall<'_>) -> bool {
        self.used(next).load(Ordering::Acquire) == next.place
    }

    /// Finds a recorded call for an actual call that is not the next one.
    pub(super) fn realigned<'r>(
        &'r self,
        next: &NextCall<'r>,
        site: CallSite<'_>,
        args: &[u8],
        is_same_site: bool,
    ) -> Realigned<'r> {
        let NextCall { recorded_task, tape, in_task, .. } = *next;
        let ahead = (in_task + 1..=in_task + REALIGN_DISTANCE)
            .filter(|_| self.order == Order::PerTask)
            .map_while(|place| self.call_at(recorded_task, tape, place, place))
            .find(|ahead| self.is_call(ahead.call, site, args));
        if let Some(ahead) = ahead {
            return Realigned::Ahead { passed_over: ahead.in_task - in_task, recorded: ahead };
        }
        if let Some(recorded) = self.same_before(recorded_task, tape, in_task, site, args) {
            return Realigned::Before(recorded);
        }
        if is_same_site { Realigned::OtherArguments } else { Realigned::No }
    }

    /// Finds the same call among the last ones of a task whose calls are all used.
    pub(super) fn same_before_end<'r>(
        &'r self,
        unrecorded: &Unrecorded<'r>,
        site: CallSite<'_>,
        args: &[u8],
    ) -> Option<NextCall<'r>> {
        match *unrecorded {
            Unrecorded::End { recorded_task, tape } => {
                self.same_before(recorded_task, tape, tape.calls.len(), site, args)
            }
            Unrecorded::Task => None,
        }
    }

    /// Finds the same call among the last ones before an index in a task.
    fn same_before<'r>(
        &'r self,
        recorded_task: u64,
        tape: &'r Tape,
        in_task: usize,
        site: CallSite<'_>,
        args: &[u8],
    ) -> Option<NextCall<'r>> {
        (in_task.saturating_sub(REALIGN_DISTANCE)..in_task)
            .rev()
            .filter(|_| self.order == Order::PerTask)
            .filter_map(|place| self.call_at(recorded_task, tape, place, place))
            .find(|before| self.is_call(before.call, site, args))
    }

    /// Takes the calls that a realigned call uses up. Returns false if another thread took the next call.
    pub(super) fn take_realigned(&self, next: &NextCall<'_>, realigned: &Realigned<'_>) -> bool {
        match realigned {
            Realigned::Ahead { recorded, passed_over } => self.take(recorded, *passed_over),
            Realigned::OtherArguments => self.take(next, 0),
            Realigned::Before(_) | Realigned::No => self.is_still_next(next),
        }
    }

    /// The recorded calls of that task before the one at `in_task`, two at most, each with its place in the task.
    pub(super) fn before(&self, recorded_task: u64, in_task: usize) -> impl Iterator<Item = (usize, &Call)> {
        let calls = self.recording.tape(recorded_task).map_or(&[][..], |tape| &tape.calls);
        (in_task.saturating_sub(2)..in_task.min(calls.len()))
            .filter_map(|place| Some((place, self.recording.calls.get(calls[place])?)))
    }

    /// Returns whether `task` has unused calls.
    pub(super) fn has_calls_left(&self, task: u64) -> bool {
        let tape = self.recorded_task(task).and_then(|task| self.recording.tape(task));
        tape.is_some_and(|tape| tape.left() > 0)
    }

    /// Returns the number of used calls.
    pub(super) fn calls_used(&self) -> usize {
        self.recording.tapes().map(|(_, tape)| tape.used.load(Ordering::Acquire)).sum()
    }

    /// Returns whether a recorded call has this site and these arguments.
    pub(super) fn is_call(&self, call: &Call, site: CallSite<'_>, args: &[u8]) -> bool {
        self.recording.site(call) == site && self.recording.args(call) == args
    }
}

/// The number of calls in either direction among which a realignment looks.
const REALIGN_DISTANCE: usize = 16;

/// A recorded call for an actual call that is not the next one.
pub(super) enum Realigned<'r> {
    /// The same call, further on.
    Ahead { recorded: NextCall<'r>, passed_over: usize },
    /// The same call, which was used or passed over before.
    Before(NextCall<'r>),
    /// The next call, although its arguments differ.
    OtherArguments,
    /// None.
    No,
}

impl<'r> Realigned<'r> {
    /// The recorded call, if there is one.
    pub(super) fn recorded(&self, next: &NextCall<'r>) -> Option<NextCall<'r>> {
        match self {
            Self::Ahead { recorded, .. } | Self::Before(recorded) => Some(*recorded),
            Self::OtherArguments => Some(*next),
            Self::No => None,
        }
    }
}

impl Tape {
    /// Returns the number of unused calls.
    pub(super) fn left(&self) -> usize {
        self.calls.len() - self.used.load(Ordering::Acquire)
    }
}

/// Maps tasks of the run to recorded tasks by their spawns.
#[derive(Debug, Default)]
struct Lineage {
    /// None for a task that the recording does not have.
    recorded: RwLock<HashMap<u64, Option<u64>>>,
    /// How many tasks each recorded parent spawned in each scope.
    spawned: Mutex<HashMap<Spawner, usize>>,
}

impl Lineage {
    fn spawned(&self, recording: &Recording, task: u64, parent: Option<u64>, scope: &str) {
        let recorded_parent = match parent {
            None => Some(None),
            Some(parent) => self.recorded_task(parent).map(Some),
        };
        // The recording does not contain the children of a task that it does not contain.
        let recorded = recorded_parent.and_then(|parent| {
            let spawner = (parent, scope.into());
            let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
            let index = spawned.entry(spawner.clone()).or_default();
            *index += 1;
            recording.child(&spawner, *index - 1)
        });
        self.recorded.write().unwrap_or_else(PoisonError::into_inner).insert(task, recorded);
    }

    fn recorded_task(&self, task: u64) -> Option<u64> {
        if task == ENTRY_TASK {
            return Some(ENTRY_TASK);
        }
        self.recorded.read().unwrap_or_else(PoisonError::into_inner).get(&task).copied().flatten()
    }
}
