//! Generates strings, numbers and durations, biased towards edge cases.

use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};

/// Generates up to four items with `make`.
pub(super) fn several<'a, T>(
    u: &mut Unstructured<'a>,
    mut make: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..u.int_in_range(0..=4)?).map(|_| make(u)).collect()
}

/// Generates an item with `make`, or `None`.
pub(super) fn optional<'a, T>(
    u: &mut Unstructured<'a>,
    make: impl FnOnce(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Option<T>> {
    if u.arbitrary()? { make(u).map(Some) } else { Ok(None) }
}

/// A small set, so that names repeat within a struct and collide with names and texts of the format itself.
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

/// Characters that need an escape or that other formats escape, the first and last characters of each length in UTF-8,
/// and the neighbours of the surrogates.
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

/// Lengths at which code that processes several bytes at a time, or a buffer that doubles, changes its behaviour.
const BLOCK_LENGTHS: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// The length from which a long string is processed in pieces.
const PIECE_LENGTH: usize = 8 * 1024;

/// Generates a string of up to four parts: names, notable and other characters, and runs of one character.
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

/// Repeats one character so that the next one is at the edge of a block, or one byte before or after it.
fn push_run(text: &mut String, u: &mut Unstructured<'_>) -> Result<()> {
    let rarely = u.int_in_range(0..=31)? == 31;
    let block = if rarely { PIECE_LENGTH } else { *u.choose(&BLOCK_LENGTHS)? };
    let length = block - 1 + u.int_in_range(0..=2)?;
    let repeated = if u.arbitrary()? { *u.choose(&NOTABLE_CHARACTERS)? } else { 'a' };
    text.extend(std::iter::repeat_n(repeated, length.saturating_sub(text.len()) / repeated.len_utf8()));
    Ok(())
}

/// Generates a name: mostly one of [`NAMES`].
pub(super) fn name(u: &mut Unstructured<'_>) -> Result<String> {
    if u.int_in_range(0..=15)? == 15 { text(u) } else { u.choose(&NAMES).map(|name| (*name).to_owned()) }
}

/// The limits of the integer types, and of the integers that a float represents exactly.
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

/// Generates an integer of any magnitude.
pub(super) fn unsigned(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match u.int_in_range(0..=2)? {
        0 => u8::arbitrary(u)?.into(),
        1 => *u.choose(&NOTABLE_NUMBERS)?,
        _ => u64::arbitrary(u)? >> u.int_in_range(0..=63)?,
    })
}

/// Generates an integer of any magnitude and either sign.
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
    // The smallest and the largest subnormal.
    5e-324,
    2.225_073_858_507_201e-308,
    f64::EPSILON,
    // 2^53, up to which floats represent every integer, and its neighbours.
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    // The limits between the notations with and without an exponent.
    1e-7,
    1e-5,
    1e15,
    1e16,
    // Halfway between two floats.
    1e23,
    // `i64::MAX`, rounded.
    9_223_372_036_854_775_807.0,
];

/// Generates a float, sometimes an infinity or a NaN.
pub(super) fn float(u: &mut Unstructured<'_>) -> Result<f64> {
    let number = match u.int_in_range(0..=4)? {
        0 => *u.choose(&NOTABLE_FLOATS)?,
        1 => f64::from(i16::arbitrary(u)?) / 1000.0,
        2 => unsigned(u)? as f64,
        3 => *u.choose(&[f64::INFINITY, f64::NAN])?,
        // Includes NaNs with any payload.
        _ => f64::from_bits(u.arbitrary()?),
    };
    Ok(if u.int_in_range(0..=3)? == 3 { -number } else { number })
}

/// Generates a duration, often close to or beyond `u64::MAX` nanoseconds.
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
