//! JSON numbers, by RFC 8259 and by the range that the schema gives them.
//!
//! [`unsigned`], [`signed`] and [`float`] read the number that `bytes` begin with, eight digits at a time, and return
//! what follows it.

use smallvec::SmallVec;

use crate::cost::count_examined;

/// Powers of ten that a 64-bit integer holds.
static TENS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 10 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// Powers of ten that a 64-bit float holds exactly.
static EXACT_TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Powers of five that a 64-bit integer holds.
static FIVES: [u64; 28] = {
    let mut powers = [1; 28];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 5 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// Parses up to eight digits at the start of `bytes`. Returns their value and their number.
#[inline(always)]
fn eight(bytes: &[u8]) -> (u64, usize) {
    const ONES: u64 = u64::MAX / 255;
    let word = match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let digits = word ^ (ONES * b'0' as u64);
    // The high bit of each byte above 9. A carry may set more bits, but only above the lowest one.
    let others = (digits.wrapping_add(ONES * 0x76) | digits) & (ONES << 7);
    let count = (others.trailing_zeros() / 8) as usize;
    // Moves the digits behind zeros. A shift by 64 bits is not allowed.
    let digits = if count == 0 { 0 } else { digits << (64 - 8 * count) };
    // Combines pairs of digits, then fours, then all eight.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    ((fours * 10_000 + (fours >> 32)) & 0xffff_ffff, count)
}

/// Parses digits and appends them to those of `number`. Returns the result and the number of digits. The result is only
/// correct if it has at most nineteen digits.
#[inline(always)]
fn digits(number: u64, bytes: &[u8]) -> (u64, usize) {
    let (value, count) = eight(bytes);
    let number = number.wrapping_mul(TENS[count]).wrapping_add(value);
    if count == 8 { more_digits(number, bytes) } else { (number, count) }
}

#[inline(always)]
fn more_digits(mut number: u64, bytes: &[u8]) -> (u64, usize) {
    let mut total = 8;
    while total <= 16 {
        let (value, count) = eight(&bytes[total..]);
        number = number.wrapping_mul(TENS[count]).wrapping_add(value);
        total += count;
        if count < 8 {
            break;
        }
    }
    (number, total)
}

#[inline(always)]
pub(super) fn unsigned(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, count) = digits(0, bytes);
    if count == 0 || count > 1 && bytes[0] == b'0' {
        return None;
    }
    if count > 19 {
        return twenty_digits(bytes);
    }
    Some((number, &bytes[count..]))
}

/// Parses a number of twenty digits, if it is in range.
#[cold]
fn twenty_digits(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_at_checked(20)?;
    if rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((str::from_utf8(number).ok()?.parse().ok()?, rest))
}

#[inline(always)]
pub(super) fn signed(bytes: &[u8]) -> Option<(i64, &[u8])> {
    match bytes {
        [b'-', bytes @ ..] => {
            let (number, rest) = unsigned(bytes)?;
            Some((0_i64.checked_sub_unsigned(number)?, rest))
        }
        bytes => {
            let (number, rest) = unsigned(bytes)?;
            Some((i64::try_from(number).ok()?, rest))
        }
    }
}

#[inline(always)]
pub(super) fn float(bytes: &[u8]) -> Option<(f64, &[u8])> {
    match short_float(bytes) {
        Some(float) => Some(float),
        None => long_float(bytes),
    }
}

#[cold]
fn long_float(bytes: &[u8]) -> Option<(f64, &[u8])> {
    let (token, rest) = bytes.split_at(run_len(bytes));
    match grammar(token) {
        Grammar::Number => Some((parse_float(str::from_utf8(token).ok()?)?, rest)),
        Grammar::Begun | Grammar::Wrong => None,
    }
}

/// Parses a float of at most nineteen digits and a small exponent.
#[inline(always)]
pub(super) fn short_float(bytes: &[u8]) -> Option<(f64, &[u8])> {
    let (is_negative, unsigned) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let begins_with_zero = *unsigned.first()? == b'0';
    let (mut number, mut count) = if begins_with_zero { (0, 1) } else { digits(0, unsigned) };
    if count == 0 {
        return None;
    }
    let mut rest = unsigned.get(count..)?;
    if begins_with_zero && rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let mut exponent = 0;
    if let [b'.', fraction @ ..] = rest {
        let places;
        (number, places) = digits(number, fraction);
        if places == 0 {
            return None;
        }
        // A zero before the point is not significant.
        count = if begins_with_zero { places } else { count + places };
        exponent = -(places as i32);
        rest = &fraction[places..];
    }
    if count > 19 {
        return None;
    }
    if let [b'e' | b'E', power @ ..] = rest {
        let (power, behind) = small_exponent(power)?;
        (exponent, rest) = (exponent + power, behind);
    }
    let magnitude = scaled(number, exponent)?;
    Some((if is_negative { -magnitude } else { magnitude }, rest))
}

#[cold]
fn small_exponent(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (is_negative, bytes) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (number, count) = eight(bytes);
    let number = i32::try_from(number).ok()?;
    // After eight digits, there may be more.
    (1..8).contains(&count).then(|| (if is_negative { -number } else { number }, &bytes[count..]))
}

/// Returns `number * 10^exponent`, correctly rounded. Returns `None` if the exponent is too large for this method.
#[inline(always)]
fn scaled(number: u64, exponent: i32) -> Option<f64> {
    /// Integers up to this one are exact as floats.
    const EXACT: u64 = 1 << 53;
    let power = exponent.unsigned_abs() as usize;
    // One operation on two exact floats is rounded once, except on the x87, which rounds twice.
    if number <= EXACT && power < EXACT_TENS.len() && cfg!(not(target_arch = "x86")) {
        let (float, power) = (number as f64, EXACT_TENS[power]);
        return Some(if exponent < 0 { float / power } else { float * power });
    }
    let fives = *FIVES.get(power)?;
    Some(if exponent >= 0 {
        (u128::from(number) * u128::from(fives)) as f64 * power_of_two(exponent)
    } else {
        quotient(number, fives, exponent)
    })
}

/// Returns `number / fives * 2^exponent`, where `fives` is `5^-exponent`.
#[inline(always)]
fn quotient(number: u64, fives: u64, exponent: i32) -> f64 {
    if number == 0 {
        return 0.0;
    }
    let (up, divisor_up) = (number.leading_zeros(), fives.leading_zeros());
    let dividend = u128::from(number << up) << 63;
    let divisor = u128::from(fives << divisor_up);
    // Both have their highest bit set, so the quotient has 63 or 64 bits.
    let quotient = (dividend / divisor) as u64;
    let is_exact = u128::from(quotient) * divisor == dividend;
    // The remainder matters only if the quotient is half-way between two floats.
    let sticky = quotient >> 1 | quotient & 1 | u64::from(!is_exact);
    sticky.cast_signed() as f64 * power_of_two(exponent + divisor_up as i32 - up as i32 - 62)
}

/// Returns `2^exponent`, for an exponent well within the range of a float.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns whether a number, or what could be meant as one, goes on with `byte`.
pub(super) fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

/// Returns the length of everything at the start of `bytes` that could be meant as one number.
pub(super) fn run_len(bytes: &[u8]) -> usize {
    let len = bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len());
    count_examined(len);
    len
}

pub(super) enum Grammar {
    Number,
    /// The beginning of a number, which may go on.
    Begun,
    Wrong,
}

/// Checks a token against `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
pub(super) fn grammar(token: &[u8]) -> Grammar {
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    rest = match rest {
        [] => return Grammar::Begun,
        [b'0', rest @ ..] => rest,
        _ => match skip_digits(rest) {
            Some(rest) => rest,
            None => return Grammar::Wrong,
        },
    };
    if let [b'.', fraction @ ..] = rest {
        rest = match (fraction, skip_digits(fraction)) {
            ([], _) => return Grammar::Begun,
            (_, Some(rest)) => rest,
            (_, None) => return Grammar::Wrong,
        };
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        rest = match (exponent, skip_digits(exponent)) {
            ([], _) => return Grammar::Begun,
            (_, Some(rest)) => rest,
            (_, None) => return Grammar::Wrong,
        };
    }
    if rest.is_empty() { Grammar::Number } else { Grammar::Wrong }
}

/// Returns what follows a run of at least one digit.
fn skip_digits(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    (end > 0).then(|| &bytes[end..])
}

/// Returns the float nearest to `token`, which is a number by RFC 8259. Returns `None` if it is infinite.
pub(super) fn parse_float(token: &str) -> Option<f64> {
    let float = if token.len() <= LONG { token.parse().ok()? } else { parse_long(token)? };
    float.is_finite().then_some(float)
}

/// The maximum length of tokens for the standard library. It limits exponents to 65536, which is wrong for a mantissa
/// with as many digits.
const LONG: usize = 1024;

/// No float, and no middle between two floats, has more than 767 significant digits. Of further digits, it only matters
/// whether all are zero.
const SIGNIFICANT: usize = 800;

/// Parses a float of any length in linear time, by way of a short token that rounds to the same float.
fn parse_long(token: &str) -> Option<f64> {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0');
    let significant = digits.clone().count();

    let mut short: SmallVec<[u8; LONG]> = SmallVec::new();
    short.extend_from_slice(sign.as_bytes());
    short.extend(digits.by_ref().take(SIGNIFICANT));
    let kept = significant.min(SIGNIFICANT);
    let is_more = digits.any(|digit| digit != b'0');
    short.push(if is_more { b'1' } else { b'0' });
    short.push(b'e');
    // The exponent if the point is moved before the first significant digit.
    let point = (significant as i64 - fraction.len() as i64).saturating_add(saturating_integer(exponent));
    // Beyond this, the float is zero or infinite.
    let exponent = point.clamp(-LONG_EXPONENT, LONG_EXPONENT) - kept as i64 - 1;
    short.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
    str::from_utf8(&short).ok()?.parse().ok()
}

/// `10^LONG_EXPONENT` and `10^-LONG_EXPONENT` are far out of the range of a float.
const LONG_EXPONENT: i64 = 1000;

fn saturating_integer(token: &str) -> i64 {
    let magnitude = token
        .trim_start_matches(['+', '-'])
        .bytes()
        .fold(0_i64, |magnitude, digit| magnitude.saturating_mul(10).saturating_add((digit - b'0').into()));
    if token.starts_with('-') { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::{LONG, float, parse_float, parse_long, short_float, signed, unsigned};

    /// A generator with a fixed seed.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.0 ^ self.0 >> 31
        }
    }

    const BEHIND: [&str; 8] = ["", "}", ",\"", "}}]", "}            ", "/:;,.-+eE \u{ff}", "\u{ff}", "\u{1}\u{10ffff}"];

    const ROUNDS: usize = if cfg!(miri) { 20 } else { 10_000 };

    #[test]
    fn integers_are_read_as_the_standard_library_reads_them() {
        let mut random = Random(1);
        let numbers = (0..ROUNDS).map(|round| random.next() >> (round % 64));
        let edges = [0, 1, 9, 10, 99_999_999, 100_000_000, 9_999_999_999_999_999, i64::MAX as u64, 1 << 63, u64::MAX];
        for (round, number) in edges.into_iter().chain(numbers).enumerate() {
            let behind = BEHIND[round % BEHIND.len()];
            let text = format!("{number}{behind}");
            assert_eq!(unsigned(text.as_bytes()), Some((number, behind.as_bytes())), "{text}");
            assert_eq!(signed(text.as_bytes()), i64::try_from(number).ok().map(|n| (n, behind.as_bytes())), "{text}");
            let text = format!("-{number}{behind}");
            assert_eq!(unsigned(text.as_bytes()), None);
            let negative = format!("-{number}").parse::<i64>().ok();
            assert_eq!(signed(text.as_bytes()), negative.map(|n| (n, behind.as_bytes())), "{text}");
        }
    }

    /// This includes bytes that UTF-8 does not have: numbers are read before the line is checked.
    #[test]
    fn a_number_ends_before_every_byte_that_is_no_digit() {
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for digits in ["7", "12", "1234567", "12345678", "123456789"] {
                let text = [digits.as_bytes(), &[byte], b"34567890"].concat();
                let expected = (digits.parse::<u64>().unwrap(), &text[digits.len()..]);
                assert_eq!(unsigned(&text), Some(expected), "{byte:#x} behind {digits}");
            }
        }
    }

    #[test]
    fn what_is_no_integer_is_none() {
        for text in ["", "-", "00", "01", "+1", "x", ".5", "18446744073709551616", "99999999999999999999", "--1"] {
            assert_eq!(unsigned(text.as_bytes()), None, "{text}");
            assert_eq!(signed(text.as_bytes()), None, "{text}");
        }
        assert_eq!(unsigned("1".repeat(21).as_bytes()), None);
        assert_eq!(unsigned("1".repeat(100).as_bytes()), None);
    }

    #[track_caller]
    fn assert_float(text: &str, behind: &str) {
        let expected: f64 = text.parse().expect("a number");
        let line = format!("{text}{behind}");
        let (read, rest) = float(line.as_bytes()).expect("a number");
        assert_eq!((read.to_bits(), rest), (expected.to_bits(), behind.as_bytes()), "{line}");
    }

    #[test]
    fn floats_are_read_as_the_standard_library_reads_them() {
        let mut random = Random(2);
        for round in 0..ROUNDS {
            let behind = BEHIND[round % 5];
            let float = f64::from_bits(random.next());
            if float.is_finite() {
                assert_float(&format!("{float:e}"), behind);
            }
            // Any number of digits on both sides of the point, with small exponents.
            let digits = random.next().to_string() + &random.next().to_string();
            let point = random.next() as usize % 21;
            let len = point + 1 + random.next() as usize % 20;
            let whole = digits[..point].trim_start_matches('0');
            let (whole, fraction) = (if whole.is_empty() { "0" } else { whole }, &digits[point..len.min(digits.len())]);
            let sign = ["", "-"][round % 2];
            assert_float(&format!("{sign}{whole}.{fraction}"), behind);
            assert_float(&format!("{sign}{whole}"), behind);
            let exponent = random.next() as i64 % 40;
            assert_float(&format!("{sign}{whole}.{fraction}e{exponent}"), behind);
            assert_float(&format!("{sign}{whole}E{exponent:+}"), behind);
            assert_float(&format!("0.{}", random.next() >> 11), behind);
        }
    }

    /// Decimals half-way between two floats, and their closest neighbours of the same length.
    #[test]
    fn floats_beside_the_middle_between_two_are_rounded_right() {
        let mut random = Random(3);
        for round in 0..ROUNDS {
            let above_exact = (1_u64 << 53 | random.next() >> 11) << 1 | 1;
            for number in [above_exact - 1, above_exact, above_exact + 1] {
                for exponent in [0, -1, -5, -22, -23, -27, -28, 1, 5, 22, 23, 27, 28] {
                    assert_float(&format!("{number}e{exponent}"), BEHIND[round % 5]);
                }
            }
        }
        for text in [
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740992.5",
            "0.5000000000000000277",
            "1.0000000000000001110",
            "1.000000000000000111",
            "1.000000000000000112",
            "4503599627370496.5",
            "4503599627370497.5",
            "0.0",
            "-0.0",
            "0e5",
            "-0",
            "0.000000000000000000",
            "1e22",
            "1e23",
            "123456789e-30",
        ] {
            assert_float(text, "}");
        }
    }

    /// The usual floats of programs need no slow path.
    #[test]
    fn usual_floats_are_read_the_short_way() {
        for text in [
            "0.1",
            "-0.0",
            "12.5",
            "3",
            "0",
            "-7.25e3",
            "1e22",
            "5E-3",
            "2.5e+7",
            "1234567890123456.7",
            "1e27",
            "3e-25",
        ] {
            let behind = format!("{text}}}]");
            let (float, rest) = short_float(behind.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((float.to_bits(), rest), (text.parse::<f64>().unwrap().to_bits(), &b"}]"[..]), "{text}");
        }
    }

    #[test]
    fn what_is_no_float_is_none() {
        for text in ["", "-", "00.5", "01", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-.5", "1e400", "NaN"] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_long_exponent_meets_with_as_many_digits() {
        for zeros in [300, 1100, 65_536, 400_000].into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
            let nought = "0".repeat(zeros);
            for (token, float) in [
                (format!("0.{nought}1e{}", zeros + 1), Some(1.0)),
                (format!("-0.{nought}15E+{}", zeros + 1), Some(-1.5)),
                (format!("1{nought}e-{zeros}"), Some(1.0)),
                (format!("25{nought}.0e-{}", zeros + 1), Some(2.5)),
                (format!("17976931348623157{nought}e{}", 292 - zeros as i64), Some(f64::MAX)),
                (format!("1{nought}e{}", 309 - zeros as i64), None),
                (format!("0.{nought}5e{}", zeros as i64 - 323), Some(f64::from_bits(1))),
                (format!("0.{nought}2e{}", zeros as i64 - 323), Some(0.0)),
                (format!("1.{nought}"), Some(1.0)),
                (format!("1.{nought}1"), Some(1.0)),
                (format!("1e-{nought}7"), Some(1e-7)),
                (format!("0.{nought}"), Some(0.0)),
                (format!("-0.{nought}e{}", "9".repeat(zeros)), Some(-0.0)),
                (format!("1e{}", "9".repeat(zeros)), None),
                (format!("1e-{}", "9".repeat(zeros)), Some(0.0)),
                // The middle between 1 and the next float, and a number just above it.
                (format!("1.00000000000000011102230246251565404236316680908203125{nought}"), Some(1.0)),
                (
                    format!("1.00000000000000011102230246251565404236316680908203125{nought}1"),
                    Some(1.000_000_000_000_000_2),
                ),
            ] {
                let read = parse_float(&token).map(f64::to_bits);
                assert_eq!(read, float.map(f64::to_bits), "{}... with {zeros} zeros", &token[..20]);
            }
        }
    }

    /// The middle between zero and the smallest float, and a number just above it.
    #[test]
    fn the_last_of_very_many_digits_counts() {
        let mut carry = 0;
        let middle: String = format!("{:.1075}", f64::from_bits(1))
            .chars()
            .map(|digit| match digit.to_digit(10) {
                Some(digit) => {
                    let half = (10 * carry + digit) / 2;
                    carry = digit % 2;
                    char::from(b'0' + half as u8)
                }
                None => digit,
            })
            .collect();
        assert!(middle.len() > LONG && middle.ends_with('5'));
        assert_eq!(parse_float(&middle), Some(0.0));
        assert_eq!(parse_float(&format!("{middle}{}1", "0".repeat(1000))), Some(f64::from_bits(1)));
        assert_eq!(parse_float(&format!("{}4", &middle[..middle.len() - 1])), Some(0.0));
    }

    #[test]
    fn a_long_token_is_read_as_the_standard_library_reads_it() {
        let digits: String = (0..3000_u32).map(|index| char::from(b'0' + (index * index % 97 % 10) as u8)).collect();
        for start in (0..2000).step_by(13) {
            for (whole, exponent) in [(1, 0), (1, 300), (5, -320), (400, -100), (900, -1200), (1000, -700)] {
                let (whole, fraction) = digits[start..].split_at(whole);
                let token = format!("1{whole}.{fraction}e{exponent}");
                let expected: f64 = token.parse().unwrap_or_default();
                assert_eq!(parse_long(&token).map(f64::to_bits), Some(expected.to_bits()), "{start} {exponent}");
            }
        }
    }
}
