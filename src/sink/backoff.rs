//! When to write again after the writer had no room.

use std::io;
use std::time::{Duration, Instant};

/// Whether the disk, a quota or a limit on the size of files left no room. Attempts to write in that state can take
/// milliseconds each, so they are spaced out.
pub(super) fn is_lack_of_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// After this time the next event is an attempt, however few were skipped.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Spaces out attempts that fail: 1 event is skipped after the first failure, then 2, 4, 8 and so on.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// Attempts that failed since one succeeded.
    failures: u32,
    /// Events skipped since the last attempt.
    skipped: u64,
    /// When the last attempt failed. `None` where there is no clock.
    failed_at: Option<Instant>,
}

impl Backoff {
    /// Whether the last attempt failed.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.failures > 0
    }

    /// Whether the next event is skipped. Counts it if it is.
    pub(super) fn skips(&mut self) -> bool {
        let is_too_early = self.failures > 0
            && self.skipped < 1_u64.checked_shl(self.failures - 1).unwrap_or(u64::MAX)
            && self.failed_at.is_none_or(|failed_at| failed_at.elapsed() < LONGEST_WAIT);
        self.skipped += u64::from(is_too_early);
        is_too_early
    }

    pub(super) fn attempt_failed(&mut self) {
        // `Instant::now` panics on this target.
        const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        self.failures = self.failures.saturating_add(1);
        self.skipped = 0;
        self.failed_at = HAS_CLOCK.then(Instant::now);
    }

    #[inline]
    pub(super) const fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a clock, so that a slow machine changes nothing.
    fn fail(backoff: &mut Backoff) {
        backoff.attempt_failed();
        backoff.failed_at = None;
    }

    fn skipped(backoff: &mut Backoff) -> usize {
        std::iter::repeat_with(|| backoff.skips()).take_while(|skips| *skips).count()
    }

    #[test]
    fn the_number_of_skipped_events_doubles_until_an_attempt_succeeds() {
        let mut backoff = Backoff::default();
        for expected in [0, 1, 2, 4, 8, 16, 32] {
            assert_eq!(skipped(&mut backoff), expected);
            fail(&mut backoff);
        }
        backoff.reset();
        assert_eq!(skipped(&mut backoff), 0);
        fail(&mut backoff);
        assert_eq!(skipped(&mut backoff), 1);
    }

    #[test]
    fn after_a_second_the_next_event_is_an_attempt() {
        let mut backoff = Backoff { failures: 40, ..Backoff::default() };
        backoff.attempt_failed();
        let failed_at = backoff.failed_at.unwrap();
        backoff.failed_at = failed_at.checked_add(LONGEST_WAIT);
        assert!(backoff.skips());
        backoff.failed_at = failed_at.checked_sub(LONGEST_WAIT);
        assert!(!backoff.skips());
    }

    #[test]
    fn many_failures_do_not_overflow() {
        let mut backoff = Backoff { failures: u32::MAX, ..Backoff::default() };
        fail(&mut backoff);
        assert!(backoff.skips());
    }
}
