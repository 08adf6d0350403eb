//! Durations, in three digits and the unit that suits them.

use std::fmt::{self, Write};

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;

/// Formats nanoseconds as a duration, rounded to three digits: `417 ns`, `1.23 ms`, `59.9 s`. From one minute on, it
/// counts whole seconds or minutes: `2m05s`, `31h07m`.
#[must_use]
pub fn duration(nanoseconds: u128) -> String {
    let mut text = String::new();
    // Writing to a `String` never fails.
    let _ = write_duration(&mut text, nanoseconds);
    text
}

/// Formats CPU time beside the wait of the same task. A runtime computes CPU time as elapsed time minus waits. If
/// concurrent waits exceed the elapsed time, it records zero, although the CPU time is not known.
#[must_use]
pub fn cpu_time(cpu_ns: u128, wait_ns: u128) -> String {
    if cpu_ns == 0 && wait_ns > 0 { "unknown".to_owned() } else { duration(cpu_ns) }
}

/// Writes the text of [`duration`] without allocating.
///
/// # Errors
///
/// Returns the errors of `out`.
pub fn write_duration(out: &mut impl Write, nanoseconds: u128) -> fmt::Result {
    match u64::try_from(nanoseconds) {
        Ok(short @ 0..MICROSECOND) => {
            write_number(out, short)?;
            return out.write_str(" ns");
        }
        Ok(short @ MICROSECOND..MINUTE) => {
            for (unit, name) in [(MICROSECOND, " µs"), (MILLISECOND, " ms"), (SECOND, " s")] {
                // Rounding can carry into the next unit: 999.6 µs are 1.00 ms, and 59.96 s are 1m00s.
                let limit = if unit == SECOND { 5_995 } else { 99_950 };
                if u128::from(short) * 100 < u128::from(unit) * limit {
                    return write_three_digits(out, short, unit, name);
                }
            }
        }
        _ => {}
    }
    let seconds = nanoseconds.saturating_add(u128::from(SECOND / 2)) / u128::from(SECOND);
    if seconds < 3600 {
        write!(out, "{}m{:02}s", seconds / 60, seconds % 60)
    } else {
        let minutes = (seconds + 30) / 60;
        write!(out, "{}h{:02}m", minutes / 60, minutes % 60)
    }
}

/// Writes `nanoseconds` in `unit`. The rounded result must be below a thousand.
fn write_three_digits(out: &mut impl Write, nanoseconds: u64, unit: u64, name: &str) -> fmt::Result {
    let rounded = |parts: u64| (nanoseconds * parts + unit / 2) / unit;
    let (hundredths, tenths) = (rounded(100), rounded(10));
    if hundredths < 1_000 {
        write_number(out, hundredths / 100)?;
        out.write_char('.')?;
        write_number(out, hundredths / 10 % 10)?;
        write_number(out, hundredths % 10)?;
    } else if tenths < 1_000 {
        write_number(out, tenths / 10)?;
        out.write_char('.')?;
        write_number(out, tenths % 10)?;
    } else {
        write_number(out, rounded(1))?;
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
            (9_994, "9.99 µs"),
            (9_995, "10.0 µs"),
            (12_345, "12.3 µs"),
            (99_949, "99.9 µs"),
            (99_950, "100 µs"),
            (557_562, "558 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (999_999, "1.00 ms"),
            (1_239_999, "1.24 ms"),
            (999_999_999, "1.00 s"),
            (1_000_000_000, "1.00 s"),
            (59_949_999_999, "59.9 s"),
            (59_950_000_000, "1m00s"),
            (59_999_999_999, "1m00s"),
            (60_000_000_000, "1m00s"),
            (3_599_499_999_999, "59m59s"),
            (3_599_999_999_999, "1h00m"),
            (3_600_000_000_000, "1h00m"),
            (u64::MAX.into(), "5124095h35m"),
        ] {
            assert_eq!(duration(nanoseconds), shown);
        }
        assert!(duration(u128::MAX).ends_with('m'));
    }
}
