//! Whole numbers: durations as the nanoseconds that a line gives them, and the digits of numbers that are not long.

use std::time::Duration;

/// The whole nanoseconds of `duration`; `u64::MAX` if there are more of them.
#[inline]
pub(super) fn nanoseconds(duration: Duration) -> u64 {
    /// From here on the seconds alone may be too many.
    const LIMIT: u64 = u64::MAX / 1_000_000_000;
    let seconds = duration.as_secs();
    if seconds < LIMIT {
        return seconds * 1_000_000_000 + u64::from(duration.subsec_nanos());
    }
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A number of at most eight digits, which is what most ids, counts and times are.
///
/// All eight digits are worked out together, without a branch: how many there are differs from event to event, and a branch
/// that a machine guesses wrong costs more than the digits. Longer numbers are left to `itoa`.
#[derive(Clone, Copy)]
pub(super) struct Eight(u64);

impl Eight {
    #[inline(always)]
    pub(super) fn of(number: u64) -> Option<Self> {
        (number < 100_000_000).then_some(Self(number))
    }

    /// The digits, and how many of these bytes are digits.
    #[inline(always)]
    pub(super) fn digits(self) -> ([u8; 8], usize) {
        // Each step splits each lane in two, the higher half of the digits in the lower half of the lane: so the first digit
        // ends up in the lowest byte. The divisions are multiplications that are exact for what a lane can hold.
        let fours = (self.0 / 10_000) | (self.0 % 10_000) << 32;
        let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
        let twos = hundreds | (fours - 100 * hundreds) << 16;
        let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
        let ones = tens | (twos - 10 * tens) << 8;
        // The last digit stays, even if it is a zero.
        let leading_zeros = (ones | 1 << 63).trailing_zeros() / 8;
        let text = (ones | u64::from_ne_bytes([b'0'; 8])) >> (8 * leading_zeros);
        (text.to_le_bytes(), 8 - leading_zeros as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_those_of_the_standard_library() {
        let step = if cfg!(miri) { 999_983 } else { 97 };
        let powers = (0..8).map(|power| 10_u64.pow(power)).flat_map(|power| [power - 1, power, power + 1]);
        for number in (0..100_000_000).step_by(step).chain(powers).chain([99_999_999]) {
            let (digits, len) = Eight::of(number).unwrap().digits();
            assert_eq!(&digits[..len], number.to_string().as_bytes());
        }
        assert!(Eight::of(100_000_000).is_none());
    }

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
