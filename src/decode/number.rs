//! JSON numbers, by RFC 8259 and by the range that the schema gives them.

use smallvec::SmallVec;

use super::error::DecodeErrorKind;
use super::lexer::{Lexer, Step, shortened};
use crate::cost::count_examined;

const UNSIGNED: &str = "a whole number from 0 to 18446744073709551615";
const UNSIGNED_OR_NULL: &str = "null or a whole number from 0 to 18446744073709551615";
const SIGNED: &str = "a whole number from -9223372036854775808 to 9223372036854775807";
const FLOAT: &str = "a number that a 64-bit float can hold";

impl<'a> Lexer<'a, '_> {
    pub(super) fn unsigned(&mut self) -> Step<u64> {
        self.integer(UNSIGNED)
    }

    pub(super) fn unsigned_or_null(&mut self) -> Step<Option<u64>> {
        if self.take_word("null") {
            return Ok(None);
        }
        self.integer(UNSIGNED_OR_NULL).map(Some)
    }

    pub(super) fn signed(&mut self) -> Step<i64> {
        self.integer(SIGNED)
    }

    fn integer<N: std::str::FromStr>(&mut self, expected: &'static str) -> Step<N> {
        let start = self.at;
        let token = self.number(expected)?;
        // What is a number by RFC 8259 and neither overflows nor has a sign that the type lacks, Rust reads too; a
        // fraction or an exponent it does not.
        token.parse().map_err(|_| {
            let found = format!("the number {}", shortened(token));
            self.fault(start, DecodeErrorKind::OutOfRange, expected, found)
        })
    }

    pub(super) fn float(&mut self) -> Step<f64> {
        let start = self.at;
        let token = self.number(FLOAT)?;
        match parse_float(token) {
            Some(number) => Ok(number),
            // More of a negative exponent may have been to come.
            _ if self.at_end() => Err(self.end_of_text("the rest of the number")),
            _ => {
                let found = format!("the number {}", shortened(token));
                Err(self.fault(start, DecodeErrorKind::OutOfRange, FLOAT, found))
            }
        }
    }

    /// A number's token, checked against the grammar.
    pub(super) fn number(&mut self, expected: &'static str) -> Step<&'a str> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected(expected));
        }
        let run = self.number_run();
        match grammar(run.as_bytes()) {
            Grammar::Number => {
                self.at += run.len();
                Ok(run)
            }
            Grammar::Begun if self.at + run.len() == self.text.len() => Err(self.end_of_text("the rest of the number")),
            Grammar::Begun | Grammar::Wrong => {
                Err(self.fault(self.at, DecodeErrorKind::Syntax, "a number as JSON writes it", self.found()))
            }
        }
    }

    /// Everything that someone could have meant as one number.
    pub(super) fn number_run(&self) -> &'a str {
        let rest = &self.text[self.at..];
        &rest[..number_run_len(rest.as_bytes())]
    }
}

fn number_run_len(bytes: &[u8]) -> usize {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
    let len = bytes.iter().position(|byte| !part(byte)).unwrap_or(bytes.len());
    count_examined(len);
    len
}

/// The number that `bytes` begin with, if it is one and a float can hold it, and what follows.
#[cold]
pub(super) fn float(bytes: &[u8]) -> Option<(f64, &[u8])> {
    let (token, rest) = bytes.split_at(number_run_len(bytes));
    match grammar(token) {
        Grammar::Number => Some((parse_float(str::from_utf8(token).ok()?)?, rest)),
        Grammar::Begun | Grammar::Wrong => None,
    }
}

enum Grammar {
    Number,
    /// The beginning of a number.
    Begun,
    Wrong,
}

/// Holds a token against `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
fn grammar(token: &[u8]) -> Grammar {
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    rest = match rest {
        [] => return Grammar::Begun,
        [b'0', rest @ ..] => rest,
        _ => match digits(rest) {
            Some(rest) => rest,
            None => return Grammar::Wrong,
        },
    };
    if let [b'.', fraction @ ..] = rest {
        rest = match (fraction, digits(fraction)) {
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
        rest = match (exponent, digits(exponent)) {
            ([], _) => return Grammar::Begun,
            (_, Some(rest)) => rest,
            (_, None) => return Grammar::Wrong,
        };
    }
    if rest.is_empty() { Grammar::Number } else { Grammar::Wrong }
}

/// What follows a run of digits, if there is one.
fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    (end > 0).then(|| &bytes[end..])
}

/// The float that is nearest to `token`, a number by RFC 8259. `None` when that is infinite.
fn parse_float(token: &str) -> Option<f64> {
    let float = if token.len() <= LONG { token.parse().ok()? } else { parse_long(token)? };
    float.is_finite().then_some(float)
}

/// The standard library can be relied on for tokens up to this length. It takes no exponent for more than 65536, so
/// that a longer one may not meet with as many digits.
const LONG: usize = 1024;

/// No float has more significant digits than 767, and neither has the middle between two: all that counts behind so
/// many is whether there is anything.
const SIGNIFICANT: usize = 800;

/// The same for a token of any length, in time that grows with it and not faster: first brought to a short token for a
/// float that is rounded to the same.
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
    // As if the point stood before the first of the digits.
    let point = (significant as i64 - fraction.len() as i64).saturating_add(saturating_integer(exponent));
    // What is further off is zero or infinite all the same.
    let exponent = point.clamp(-LONG_EXPONENT, LONG_EXPONENT) - kept as i64 - 1;
    short.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
    str::from_utf8(&short).ok()?.parse().ok()
}

/// Ten to this power, or to the negative of it, is far out of the range of a float.
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
    use super::{LONG, parse_float, parse_long};

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
                // The middle between 1 and the next float, and just above it.
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

    /// The middle between zero and the smallest float, and what is a little more than that.
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
