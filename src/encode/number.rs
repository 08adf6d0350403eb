//! Durations as the whole nanoseconds that a line gives them.

use std::time::Duration;

/// The whole nanoseconds of `duration`; `u64::MAX` if there are more of them.
#[inline]
pub(super) fn nanoseconds(duration: Duration) -> u64 {
    duration
        .as_secs()
        .checked_mul(1_000_000_000)
        .and_then(|whole| whole.checked_add(u64::from(duration.subsec_nanos())))
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_longer_than_a_u64_of_nanoseconds_saturates() {
        let longest = Duration::from_nanos(u64::MAX);
        assert_eq!(nanoseconds(longest), u64::MAX);
        assert_eq!(nanoseconds(longest - Duration::from_nanos(1)), u64::MAX - 1);
        assert_eq!(nanoseconds(longest + Duration::from_nanos(1)), u64::MAX);
        assert_eq!(nanoseconds(Duration::MAX), u64::MAX);
        assert_eq!(nanoseconds(Duration::ZERO), 0);
    }
}
