//! Formats the numbers that traces mostly hold: durations in nanoseconds, and integers and floats with few digits.
//! Other numbers are left to `itoa`, `zmij` and `ryu`.

use std::time::Duration;

/// Converts a duration to whole nanoseconds, saturating at `u64::MAX`.
#[inline]
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    /// The fewest seconds that may overflow.
    const LIMIT: u64 = u64::MAX / 1_000_000_000;
    let seconds = duration.as_secs();
    if seconds < LIMIT {
        return seconds * 1_000_000_000 + u64::from(duration.subsec_nanos());
    }
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A number of at most eight digits, as most ids, counts and times are.
///
/// All eight digits are computed at once, without a branch: lengths differ from event to event, and a mispredicted
/// branch costs more than the superfluous digits.
#[derive(Clone, Copy)]
pub(super) struct UpTo8Digits(u64);

impl UpTo8Digits {
    #[inline(always)]
    pub(super) fn of(number: u64) -> Option<Self> {
        (number < 100_000_000).then_some(Self(number))
    }

    /// Returns the digits, left-aligned, and their count.
    #[inline(always)]
    pub(super) fn digits(self) -> ([u8; 8], usize) {
        let len = self.len();
        let text = eight_digits(self.0) >> (64 - 8 * len);
        (text.to_le_bytes(), len)
    }

    /// Counts the digits. The count is computed from the number, so it does not wait for the digits.
    #[inline(always)]
    fn len(self) -> usize {
        let bits = (self.0 | 1).ilog2() as usize;
        ((self.0 + LENGTHS[bits % LENGTHS.len()]) >> 32) as usize
    }
}

/// A number of nine to sixteen digits, split before the last eight.
#[derive(Clone, Copy)]
pub(super) struct UpTo16Digits {
    pub(super) high: UpTo8Digits,
    low: u64,
}

impl UpTo16Digits {
    #[inline(always)]
    pub(super) fn of(number: u64) -> Option<Self> {
        let (high, low) = (number / 100_000_000, number % 100_000_000);
        UpTo8Digits::of(high).map(|high| Self { high, low })
    }

    /// Returns the last eight digits, with leading zeros.
    #[inline(always)]
    pub(super) fn low_digits(self) -> [u8; 8] {
        eight_digits(self.low).to_le_bytes()
    }
}

/// Formats a number below 10^8 as eight digits with leading zeros. The first digit is in the lowest byte.
#[inline(always)]
fn eight_digits(number: u64) -> u64 {
    // Each step splits each lane in two: the leading digits go to the lower half, the trailing ones to the upper half.
    // The divisions are multiplications by reciprocals, exact for all values that a lane can hold.
    let fours = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | (twos - 10 * tens) << 8;
    ones | u64::from_ne_bytes([b'0'; 8])
}

/// Maps the position of a number's highest set bit to a summand. The upper 32 bits of the sum are the number's digit
/// count.
///
/// If all numbers with that bit length have `n` digits, the summand is `n << 32`. If some reach a power of ten, it is
/// `((n + 1) << 32) - power`, so that the sum carries into the upper half from that power on.
static LENGTHS: [u64; 32] = {
    let mut lengths = [0; 32];
    let mut bits = 0;
    while bits < 32 {
        let least = 1_u64 << bits;
        let digits = least.ilog10() + 1;
        let power = 10_u64.pow(digits);
        lengths[bits] = if power < 2 * least { ((digits as u64 + 1) << 32) - power } else { (digits as u64) << 32 };
        bits += 1;
    }
    lengths
};

/// The absolute value of a float that has at most four decimal places, such as a price, a percentage or an integer.
///
/// Its text equals that of `ryu`. At most one decimal of fifteen digits or fewer reads back as a given float, so that
/// decimal is also the shortest.
#[derive(Clone, Copy)]
pub(super) struct ShortDecimal {
    ten_thousandths: u64,
}

impl ShortDecimal {
    #[inline(always)]
    pub(super) fn of(number: f64) -> Option<Self> {
        let size = number.abs();
        // The upper bound keeps to fifteen digits. The lower bound excludes zero, whose sign a comparison does not
        // show.
        if !(1e-4..1e11).contains(&size) {
            return None;
        }
        // The product is off by less than half a unit, so rounding it finds the decimal if there is one.
        let ten_thousandths = (size * 10_000.0 + 0.5) as i64;
        // Both operands are exact, so the division rounds once, just as parsing the decimal does.
        let reads_back = ten_thousandths as f64 / 10_000.0 == size;
        reads_back.then_some(Self { ten_thousandths: ten_thousandths.cast_unsigned() })
    }

    /// Returns the integer part.
    #[inline(always)]
    pub(super) fn whole(self) -> u64 {
        self.ten_thousandths / 10_000
    }

    /// Returns the decimal point with the digits behind it, left-aligned, and their length in bytes.
    #[inline(always)]
    pub(super) fn fraction(self) -> ([u8; 8], usize) {
        let four = self.ten_thousandths % 10_000;
        let hundreds = (four * 10_486) >> 20;
        let twos = hundreds | (four - 100 * hundreds) << 16;
        let tens = ((twos * 103) >> 10) & 0x000f_000f;
        let ones = tens | (twos - 10 * tens) << 8;
        // The first digit is kept even if it is zero.
        let trailing_zeros = ((ones | 1) as u32).leading_zeros() / 8;
        let text = (ones | u64::from_ne_bytes([b'0'; 8])) << 8 | u64::from(b'.');
        (text.to_le_bytes(), 5 - trailing_zeros as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short_decimal(number: f64) -> Option<String> {
        let short = ShortDecimal::of(number)?;
        let (fraction, len) = short.fraction();
        let sign = if number < 0.0 { "-" } else { "" };
        Some(format!("{sign}{}{}", short.whole(), std::str::from_utf8(&fraction[..len]).unwrap()))
    }

    #[test]
    fn short_decimals_are_formatted_like_ryu() {
        let mut ryu = ryu::Buffer::new();
        let mut assert_same = |number: f64| {
            if let Some(short) = short_decimal(number) {
                assert_eq!(short, ryu.format(number));
            }
        };
        let mut random = 1_u64;
        for _ in 0..if cfg!(miri) { 300 } else { 300_000 } {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            assert_same(f64::from_bits(random));
            let digits = random >> (random & 63);
            for scale in [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6] {
                let number = digits as f64 / scale;
                for number in [number, -number, number.next_up(), number.next_down()] {
                    assert_same(number);
                }
            }
        }
    }

    #[test]
    fn only_decimals_of_four_places_and_fifteen_digits_are_short() {
        let cases = [
            (1.0, "1.0"),
            (-0.5, "-0.5"),
            (12.34, "12.34"),
            (0.0001, "0.0001"),
            (1.0304, "1.0304"),
            (100.0, "100.0"),
            (99_999_999_999.999, "99999999999.999"),
        ];
        for (number, text) in cases {
            assert_eq!(short_decimal(number).as_deref(), Some(text));
        }
        for number in [0.0, -0.0, 0.00001, 0.12345, 0.1 + 0.2, 1e11, f64::MAX, 5e-324, f64::NAN, f64::INFINITY] {
            assert_eq!(short_decimal(number), None, "{number:?}");
        }
    }

    #[test]
    fn up_to_eight_digits_are_formatted_like_the_standard_library() {
        let step = if cfg!(miri) { 999_983 } else { 97 };
        let powers = (0..8).map(|power| 10_u64.pow(power)).flat_map(|power| [power - 1, power, power + 1]);
        for number in (0..100_000_000).step_by(step).chain(powers).chain([99_999_999]) {
            let (digits, len) = UpTo8Digits::of(number).unwrap().digits();
            assert_eq!(&digits[..len], number.to_string().as_bytes());
        }
        assert!(UpTo8Digits::of(100_000_000).is_none());
    }

    #[test]
    fn nine_to_sixteen_digits_are_formatted_like_the_standard_library() {
        let step = if cfg!(miri) { 999_983_000_999 } else { 9_999_991_007 };
        let powers = (8..16).map(|power| 10_u64.pow(power)).flat_map(|power| [power, power + 1, 10 * power - 1]);
        for number in (100_000_000..10_u64.pow(16)).step_by(step).chain(powers) {
            let number_of_16 = UpTo16Digits::of(number).unwrap();
            let (high, len) = number_of_16.high.digits();
            let text = [&high[..len], &number_of_16.low_digits()].concat();
            assert_eq!(text, number.to_string().as_bytes());
        }
        assert!(UpTo16Digits::of(10_u64.pow(16)).is_none());
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
