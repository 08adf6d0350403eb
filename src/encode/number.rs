//! Numbers, in `itoa`'s and `ryu`'s digits.

use std::time::Duration;

use super::buffer::Buffer;

impl Buffer {
    #[inline]
    pub(super) fn unsigned(&mut self, number: u64) {
        self.raw(itoa::Buffer::new().format(number).as_bytes());
    }

    #[inline]
    pub(super) fn signed(&mut self, number: i64) {
        self.raw(itoa::Buffer::new().format(number).as_bytes());
    }

    /// The shortest digits that read back to the same bits. `number` is finite.
    #[inline]
    pub(super) fn finite(&mut self, number: f64) {
        self.raw(ryu::Buffer::new().format_finite(number).as_bytes());
    }

    #[inline]
    pub(super) fn nanoseconds(&mut self, duration: Duration) {
        self.unsigned(saturating_nanoseconds(duration));
    }
}

#[inline]
fn saturating_nanoseconds(duration: Duration) -> u64 {
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
        assert_eq!(saturating_nanoseconds(longest), u64::MAX);
        assert_eq!(saturating_nanoseconds(longest - Duration::from_nanos(1)), u64::MAX - 1);
        assert_eq!(saturating_nanoseconds(longest + Duration::from_nanos(1)), u64::MAX);
        assert_eq!(saturating_nanoseconds(Duration::MAX), u64::MAX);
        assert_eq!(saturating_nanoseconds(Duration::ZERO), 0);
    }
}
