//! Values that nest: bushy and shallow, or a chain that goes to the depth limit and past it.

use arbitrary::{Result, Unstructured};

use super::scalars::{float, name, several, signed, text};
use crate::owned::OwnedValue;
use crate::value::{MAX_VALUE_DEPTH, Tree, Value, ValueField};

/// What both owned value types can be made of.
pub(super) trait Node: Tree<Value = Self> {
    /// A value without parts.
    fn leaf(u: &mut Unstructured<'_>) -> Result<Self>;

    /// A value with these parts.
    fn container(u: &mut Unstructured<'_>, parts: Vec<Self>) -> Result<Self>;
}

macro_rules! node {
    ($type:ident { $( $index:literal => $more:expr ),* } of $count:literal, $u:ident) => {
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
                    _ => Self::String(text($u)?),
                })
            }

            fn container(u: &mut Unstructured<'_>, parts: Vec<Self>) -> Result<Self> {
                Ok(match u.int_in_range(0..=2)? {
                    0 => Self::Array(parts.into()),
                    1 => Self::Enum { name: name(u)?, case: name(u)?, payload: parts.into() },
                    _ => {
                        let name_it = |value| Ok(ValueField { name: name(u)?, value });
                        let fields = parts.into_iter().map(name_it).collect::<Result<_>>()?;
                        Self::Struct { name: name(u)?, fields }
                    }
                })
            }
        }
    };
}

node!(Value {} of 9, u);
node!(OwnedValue {
    9 => Self::Redacted { of: name(u)? },
    10 => Self::Opaque { of: name(u)?, shown: text(u)? }
} of 11, u);

pub(super) fn value<N: Node>(u: &mut Unstructured<'_>) -> Result<N> {
    match u.int_in_range(0..=7)? {
        0..=3 => N::leaf(u),
        4..=6 => bush(u, BUSH_LEVELS),
        _ => chain(u),
    }
}

const BUSH_LEVELS: usize = 4;

/// A value that branches, at most `levels` deep.
fn bush<N: Node>(u: &mut Unstructured<'_>, levels: usize) -> Result<N> {
    if levels == 1 || u.int_in_range(0..=2)? == 0 {
        return N::leaf(u);
    }
    let parts = several(u, |u| bush(u, levels - 1))?;
    N::container(u, parts)
}

/// Containers in containers, mostly about as many as the format admits, with a few parts beside the chain. Built from the
/// innermost, so its length is bound by nothing but the number chosen here.
fn chain<N: Node>(u: &mut Unstructured<'_>) -> Result<N> {
    let containers = match u.int_in_range(0..=3)? {
        0 => u.int_in_range(1..=4 * MAX_VALUE_DEPTH)?,
        _ => u.int_in_range(MAX_VALUE_DEPTH - 3..=MAX_VALUE_DEPTH + 2)?,
    };
    let mut chain = bush(u, 2)?;
    for _ in 0..containers {
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
