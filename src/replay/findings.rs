//! What a replay found so far.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::divergence::Divergence;
use super::recording::Completeness;
use crate::display::task_name;

/// Divergences, and what could not be compared.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) keep_going: bool,
    first: OnceLock<Divergence>,
    /// The first ones, in the order in which they were found.
    all: Mutex<Vec<Divergence>>,
    total: AtomicU64,
    incomplete: OnceLock<Incomplete>,
    unchecked: AtomicU64,
    has_calls: AtomicBool,
}

/// How many divergences are kept.
const KEPT: usize = 1_000;

/// Where the recording ended before the run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete {
    /// Why the recording ends there.
    pub reason: Completeness,
    /// The task that asked for more than was recorded; none when the run came to its end without that.
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
    /// The divergence after which nothing is answered any more.
    #[inline]
    pub(super) fn stopped_by(&self) -> Option<&Divergence> {
        if self.keep_going { None } else { self.first.get() }
    }

    pub(super) fn first(&self) -> Option<&Divergence> {
        self.first.get()
    }

    /// Takes a divergence up, and gives the one to report: the first, unless all are asked for.
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

    /// Remembers that something was asked, if only once too often.
    #[inline]
    pub(super) fn called(&self) {
        // Read first, so that a line which all threads read is written to once.
        if !self.has_calls.load(Ordering::Relaxed) {
            self.has_calls.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.has_calls.load(Ordering::Relaxed)
    }
}
