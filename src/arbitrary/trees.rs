//! Generates values that nest: bushy and shallow ones, and chains of containers around the depth limit.

use arbitrary::{Result, Unstructured};

use super::scalars::{float, name, several, signed, text};
use crate::owned::OwnedValue;
use crate::value::{MAX_VALUE_DEPTH, Value};

/// An owned value type that can be generated.
pub(super) trait Node: Sized {
    /// Generates a value without parts.
    fn leaf(u: &mut Unstructured<'_>) -> Result<Self>;

    /// Generates a value with these parts.
    fn container(u: &mut Unstructured<'_>, parts: Vec<Self>) -> Result<Self>;
}

/// Implements `Node` for an owned value type. The listed leaves are those that only this type has, and `$enum_case`
/// makes an enum of its name, case and payload.
macro_rules! node {
    ($type:ident, $enum_case:expr, { $( $index:literal => $more:expr ),* } of $count:literal, $u:ident) => {
        impl Node for $type {
            fn leaf($u: &mut Unstructured<'_>) -> Result<Self> {
                Ok(match $u.int_in_range(0..=$count - 1)? {
                    $( $index => $more, )*
                    0 => Self::Unit,
                    1 => Self::Bool($u.arbitrary()?),
                    2 => Self::Int(signed($u)?),
                    3 => Self::Duration { ns: signed($u)? },
                    4 => Self::Resource { name: name($u)?, id: signed($u)? },
                    5 | 6 => Self::Float(float($u)?),
                    7 if $u.arbitrary()? => {
                        let (name, case, text) = reserved_leaf($u)?;
                        $enum_case(name.into(), case.into(), text.map(Self::String).into_iter().collect())
                    }
                    _ => Self::String(text($u)?),
                })
            }

            fn container(u: &mut Unstructured<'_>, parts: Vec<Self>) -> Result<Self> {
                Ok(match u.int_in_range(0..=2)? {
                    0 => Self::Array(parts),
                    1 if u.arbitrary()? => {
                        let (name, case) = *u.choose(&RESERVED_CONTAINERS)?;
                        $enum_case(name.into(), case.into(), parts)
                    }
                    1 => Self::Enum { name: name(u)?, case: name(u)?, payload: parts },
                    _ => {
                        let fields = parts.into_iter().map(|part| Ok((name(u)?, part))).collect::<Result<_>>()?;
                        Self::Struct { name: name(u)?, fields }
                    }
                })
            }
        }
    };
}

node!(Value, Value::from_enum, {} of 9, u);
node!(OwnedValue, |name, case, payload| OwnedValue::Enum { name, case, payload }, {
    9 => Self::Redacted { of: name(u)? },
    10 => Self::Opaque { of: name(u)?, shown: text(u)? }
} of 11, u);

const RESERVED_CONTAINERS: [(&str, &str); 8] = [
    ("@Map", "entries"),
    ("@Tuple", "items"),
    ("@Set", "items"),
    ("@Range", "half_open"),
    ("@Range", "closed"),
    ("@Thrown", "value"),
    ("@NeverReturned", "dropped"),
    ("@Float", "NaN"),
];

/// Generates the name, the case and the text of an enum that stands for a value without parts, or nearly does.
fn reserved_leaf(u: &mut Unstructured<'_>) -> Result<(&'static str, &'static str, Option<String>)> {
    Ok(match u.int_in_range(0..=4)? {
        0 => ("@Float", *u.choose(&["NaN", "inf", "-inf", "nan"])?, None),
        1 => ("@Int", "decimal", Some(u.arbitrary::<i128>()?.to_string())),
        2 => ("@Int", "decimal", Some(u.choose(&["9223372036854775808", "007", "5", "-", "1e9"])?.to_string())),
        3 => ("@String", "hex", Some(u.choose(&["ff", "80c3", "FF", "f", "41", ""])?.to_string())),
        _ => ("@String", "hex", Some(u.arbitrary::<Vec<u8>>()?.iter().map(|byte| format!("{byte:02x}")).collect())),
    })
}

/// Generates a value: a leaf half of the time, otherwise a bush or, rarely, a chain.
pub(super) fn value<N: Node>(u: &mut Unstructured<'_>) -> Result<N> {
    match u.int_in_range(0..=7)? {
        0..=3 => N::leaf(u),
        4..=6 => bush(u, BUSH_LEVELS),
        _ => chain(u),
    }
}

const BUSH_LEVELS: usize = 4;

/// Generates a value that branches, at most `levels` deep.
fn bush<N: Node>(u: &mut Unstructured<'_>, levels: usize) -> Result<N> {
    if levels == 1 || u.int_in_range(0..=2)? == 0 {
        return N::leaf(u);
    }
    let parts = several(u, |u| bush(u, levels - 1))?;
    N::container(u, parts)
}

/// Generates nested containers, some of which have a second part. There are at most `MAX_VALUE_DEPTH + 2` of them, and
/// mostly nearly as many, so that values both reach and exceed the limit of the format.
fn chain<N: Node>(u: &mut Unstructured<'_>) -> Result<N> {
    const MOST: usize = MAX_VALUE_DEPTH + 2;
    let fewest = if u.int_in_range(0..=3)? == 0 { 1 } else { MOST - 5 };
    let mut chain = bush(u, 2)?;
    for _ in 0..u.int_in_range(fewest..=MOST)? {
        let parts = match u.int_in_range(0..=15)? {
            15 => vec![N::leaf(u)?, chain],
            14 => vec![chain, N::leaf(u)?],
            13 => vec![chain, N::container(u, Vec::new())?],
            _ => vec![chain],
        };
        chain = N::container(u, parts)?;
    }
    Ok(chain)
}
