//! Durations for people.

const MICROSECOND: u128 = 1_000;
const MILLISECOND: u128 = 1_000 * MICROSECOND;
const SECOND: u128 = 1_000 * MILLISECOND;

/// Nanoseconds as a duration for people, in the unit that suits it and cut off after three digits: `417 ns`, `1.23 ms`,
/// `59.9 s`, `2m05s`, `31h07m`.
#[must_use]
pub fn duration(nanoseconds: u128) -> String {
    let seconds = nanoseconds / SECOND;
    match nanoseconds {
        0..MICROSECOND => format!("{nanoseconds} ns"),
        MICROSECOND..MILLISECOND => three_digits(nanoseconds, MICROSECOND, "µs"),
        MILLISECOND..SECOND => three_digits(nanoseconds, MILLISECOND, "ms"),
        _ if seconds < 60 => three_digits(nanoseconds, SECOND, "s"),
        _ if seconds < 3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn three_digits(nanoseconds: u128, unit: u128, name: &str) -> String {
    let (whole, rest) = (nanoseconds / unit, nanoseconds % unit);
    match whole {
        0..10 => format!("{whole}.{:02} {name}", rest * 100 / unit),
        10..100 => format!("{whole}.{} {name}", rest * 10 / unit),
        _ => format!("{whole} {name}"),
    }
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
