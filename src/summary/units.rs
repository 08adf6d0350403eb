//! Durations for people.

use std::fmt::{self, Write};

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;

/// Nanoseconds as a duration for people, in the unit that suits it and cut off after three digits: `417 ns`, `1.23 ms`,
/// `59.9 s`, `2m05s`, `31h07m`.
#[must_use]
pub fn duration(nanoseconds: u128) -> String {
    let mut text = String::new();
    // A `String` takes everything.
    let _ = write_duration(&mut text, nanoseconds);
    text
}

/// Writes what [`duration`] gives, and allocates nothing.
///
/// # Errors
///
/// Those of `out`.
pub fn write_duration(out: &mut impl Write, nanoseconds: u128) -> fmt::Result {
    match u64::try_from(nanoseconds) {
        Ok(short @ 0..MICROSECOND) => {
            write_number(out, short)?;
            out.write_str(" ns")
        }
        Ok(short @ MICROSECOND..MILLISECOND) => write_three_digits(out, short, MICROSECOND, " µs"),
        Ok(short @ MILLISECOND..SECOND) => write_three_digits(out, short, MILLISECOND, " ms"),
        Ok(short @ SECOND..MINUTE) => write_three_digits(out, short, SECOND, " s"),
        _ => {
            let seconds = nanoseconds / u128::from(SECOND);
            if seconds < 3600 {
                write!(out, "{}m{:02}s", seconds / 60, seconds % 60)
            } else {
                write!(out, "{}h{:02}m", seconds / 3600, seconds / 60 % 60)
            }
        }
    }
}

/// `nanoseconds` as so many `unit`s, which must be less than a thousand.
fn write_three_digits(out: &mut impl Write, nanoseconds: u64, unit: u64, name: &str) -> fmt::Result {
    let (whole, rest) = (nanoseconds / unit, nanoseconds % unit);
    write_number(out, whole)?;
    if whole < 100 {
        let hundredths = rest * 100 / unit;
        out.write_char('.')?;
        write_number(out, hundredths / 10)?;
        if whole < 10 {
            write_number(out, hundredths % 10)?;
        }
    }
    out.write_str(name)
}

fn write_number(out: &mut impl Write, number: u64) -> fmt::Result {
    out.write_str(itoa::Buffer::new().format(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_and_its_edges() {
        for (nanoseconds, shown) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (999_999, "999 µs"),
            (1_239_999, "1.23 ms"),
            (999_999_999, "999 ms"),
            (1_000_000_000, "1.00 s"),
            (59_999_999_999, "59.9 s"),
            (60_000_000_000, "1m00s"),
            (3_599_999_999_999, "59m59s"),
            (3_600_000_000_000, "1h00m"),
            (u64::MAX.into(), "5124095h34m"),
        ] {
            assert_eq!(duration(nanoseconds), shown);
        }
        assert!(duration(u128::MAX).ends_with('m'));
    }
}
