//! The divergences that a replay has found.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::divergence::Divergence;
use super::recording::Completeness;
use crate::display::task_name;

/// Divergences, and counts of what could not be compared.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) keep_going: bool,
    first: OnceLock<Divergence>,
    /// The first divergences, in the order in which they were found.
    all: Mutex<Vec<Divergence>>,
    total: AtomicU64,
    incomplete: OnceLock<Incomplete>,
    unchecked: AtomicU64,
    has_calls: AtomicBool,
}

/// The number of divergences that are kept.
const KEPT: usize = 1_000;

/// The point at which the recording ended before the run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete {
    /// The reason why the recording ends there.
    pub reason: Completeness,
    /// The task that made a call after the end of the recording, if there is one.
    pub task: Option<u64>,
    /// The number, from 1, of the call in its task that was not recorded.
    pub call_in_task: Option<u64>,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        match (self.task, self.call_in_task) {
            (Some(task), Some(call)) => write!(f, "; what is missing begins with call {call} of {}", task_name(task)),
            _ => Ok(()),
        }
    }
}

impl Findings {
    /// Returns the divergence that all further calls get.
    #[inline]
    pub(super) fn stopped_by(&self) -> Option<&Divergence> {
        if self.keep_going { None } else { self.first.get() }
    }

    pub(super) fn first(&self) -> Option<&Divergence> {
        self.first.get()
    }

    /// Records a divergence and returns the one to report: the first, unless the replay keeps going.
    pub(super) fn diverged(&self, divergence: Divergence) -> Divergence {
        let mut is_first = false;
        let first = self.first.get_or_init(|| {
            is_first = true;
            divergence.clone()
        });
        if !self.keep_going && !is_first {
            return first.clone();
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT {
            all.push(divergence.clone());
        }
        divergence
    }

    pub(super) fn all(&self) -> (Vec<Divergence>, u64) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        (all.clone(), self.total.load(Ordering::Relaxed))
    }

    pub(super) fn ended_at(&self, incomplete: Incomplete) {
        self.incomplete.get_or_init(|| incomplete);
    }

    pub(super) fn incomplete(&self) -> Option<Incomplete> {
        self.incomplete.get().copied()
    }

    #[inline]
    pub(super) fn count_unchecked(&self, parts: u64) {
        if parts > 0 {
            self.unchecked.fetch_add(parts, Ordering::Relaxed);
        }
    }

    pub(super) fn unchecked(&self) -> u64 {
        self.unchecked.load(Ordering::Relaxed)
    }

    /// Records that a call was made.
    #[inline]
    pub(super) fn called(&self) {
        // Reading first avoids writes to a cache line that all threads share.
        if !self.has_calls.load(Ordering::Relaxed) {
            self.has_calls.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.has_calls.load(Ordering::Relaxed)
    }
}
