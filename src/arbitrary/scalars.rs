//! Texts, numbers and durations, with the ones that are hard to carry among them.

use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};

/// A few of what `make` makes, or none.
pub(super) fn several<'a, T>(
    u: &mut Unstructured<'a>,
    mut make: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..u.int_in_range(0..=4)?).map(|_| make(u)).collect()
}

pub(super) fn optional<'a, T>(
    u: &mut Unstructured<'a>,
    make: impl FnOnce(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Option<T>> {
    if u.arbitrary()? { make(u).map(Some) } else { Ok(None) }
}

/// Few, so that names repeat within a struct, and meet the names and texts that the format itself uses.
const NAMES: [&str; 16] = [
    "x",
    "",
    "token",
    "Option",
    "Some",
    "Unit",
    "Float",
    "String",
    "Array",
    "type",
    "redacted",
    "<redacted>",
    "null",
    "NaN",
    "nested deeper than 128 levels",
    "a.b[0]",
];

/// What needs an escape, what other formats escape, the first and last characters of each length in UTF-8, and the
/// neighbours of the surrogates.
const NOTABLE_CHARACTERS: [char; 24] = [
    '"',
    '\\',
    '\n',
    '\r',
    '\t',
    '\0',
    '\u{1f}',
    ' ',
    '/',
    '~',
    '\u{7f}',
    '\u{80}',
    '\u{9f}',
    '\u{85}',
    '\u{7ff}',
    '\u{800}',
    '\u{2028}',
    '\u{202e}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{feff}',
    '\u{ffff}',
    '\u{10000}',
    '\u{10ffff}',
];

/// The lengths around which code that looks at several bytes at a time, or buffers that grow by doubling, change what
/// they do.
const BLOCK_LENGTHS: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// The length around which a long text is handled in pieces.
const PIECE_LENGTH: usize = 8 * 1024;

pub(super) fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=4)? {
        match u.int_in_range(0..=5)? {
            0 => text.push_str(u.choose(&NAMES)?),
            1 => text.push(*u.choose(&NOTABLE_CHARACTERS)?),
            2 => text.push(char::from(u.int_in_range(0..=0x1f)?)),
            3 => text.push(u.arbitrary()?),
            4 => text.push_str(u.arbitrary()?),
            _ => push_run(&mut text, u)?,
        }
    }
    Ok(text)
}

/// Appends one character so many times that what follows stands at the edge of a block, or one byte beside it.
fn push_run(text: &mut String, u: &mut Unstructured<'_>) -> Result<()> {
    let rarely = u.int_in_range(0..=31)? == 31;
    let block = if rarely { PIECE_LENGTH } else { *u.choose(&BLOCK_LENGTHS)? };
    let length = block - 1 + u.int_in_range(0..=2)?;
    let repeated = if u.arbitrary()? { *u.choose(&NOTABLE_CHARACTERS)? } else { 'a' };
    text.extend(std::iter::repeat_n(repeated, length.saturating_sub(text.len()) / repeated.len_utf8()));
    Ok(())
}

/// Mostly one of a few names.
pub(super) fn name(u: &mut Unstructured<'_>) -> Result<String> {
    if u.int_in_range(0..=15)? == 15 { text(u) } else { u.choose(&NAMES).map(|name| (*name).to_owned()) }
}

/// The edges of the integer types, and of what a float holds exactly.
const NOTABLE_NUMBERS: [u64; 12] = [
    0,
    1,
    u32::MAX as u64,
    1 << 32,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX as u64,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 1,
    u64::MAX,
];

pub(super) fn unsigned(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match u.int_in_range(0..=2)? {
        0 => u8::arbitrary(u)?.into(),
        1 => *u.choose(&NOTABLE_NUMBERS)?,
        // Of any length.
        _ => u64::arbitrary(u)? >> u.int_in_range(0..=63)?,
    })
}

pub(super) fn signed(u: &mut Unstructured<'_>) -> Result<i64> {
    let number = unsigned(u)?.cast_signed();
    Ok(if u.arbitrary()? { number.wrapping_neg() } else { number })
}

const NOTABLE_FLOATS: [f64; 18] = [
    0.0,
    1.0,
    0.1,
    1.0 / 3.0,
    f64::MAX,
    f64::MIN_POSITIVE,
    // The least and the greatest subnormal.
    5e-324,
    2.225_073_858_507_201e-308,
    f64::EPSILON,
    // The last float below which every whole number is one, and its neighbours.
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    // Where the spelling changes to or from an exponent.
    1e-7,
    1e-5,
    1e15,
    1e16,
    // Halfway between two floats.
    1e23,
    // The greatest whole number in an `i64`, rounded.
    9_223_372_036_854_775_807.0,
];

pub(super) fn float(u: &mut Unstructured<'_>) -> Result<f64> {
    let number = match u.int_in_range(0..=4)? {
        0 => *u.choose(&NOTABLE_FLOATS)?,
        1 => f64::from(i16::arbitrary(u)?) / 1000.0,
        2 => unsigned(u)? as f64,
        3 => *u.choose(&[f64::INFINITY, f64::NAN])?,
        // NaN with any payload among them.
        _ => f64::from_bits(u.arbitrary()?),
    };
    Ok(if u.int_in_range(0..=3)? == 3 { -number } else { number })
}

/// More than half of them too long for a `u64` of nanoseconds, or just short enough.
pub(super) fn duration(u: &mut Unstructured<'_>) -> Result<Duration> {
    const LONGEST_EXACT: Duration = Duration::from_nanos(u64::MAX);
    const ONE: Duration = Duration::from_nanos(1);
    Ok(match u.int_in_range(0..=3)? {
        0 => Duration::from_nanos(unsigned(u)?),
        1 => *u.choose(&[Duration::ZERO, ONE, Duration::MAX.saturating_sub(ONE), Duration::MAX])?,
        2 => *u.choose(&[LONGEST_EXACT.saturating_sub(ONE), LONGEST_EXACT, LONGEST_EXACT.saturating_add(ONE)])?,
        _ => Duration::new(unsigned(u)?, u.int_in_range(0..=999_999_999)?),
    })
}
