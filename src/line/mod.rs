//! The bytes of a line, and what can be appended to them. Knows nothing of events and values.
//!
//! Read from top to bottom: a [`Buffer`] takes a [`Fragment`] with one check of its room; fragments are literal text,
//! numbers ([`number`]) and strings ([`escape`]), and tuples of fragments.

mod buffer;

pub(crate) mod number;

mod escape;

mod fragment;

#[cfg(test)]
mod tests;

pub(crate) use self::buffer::{Buffer, Fragment, Stop};
#[cfg(feature = "__fuzzing")]
pub use self::escape::escaped_by_every_backend;
pub(crate) use self::fragment::{Either, Finite, Raw};

/// The most bytes of a line, newline included: what a reader takes by default. A sink can be given a lower limit.
pub const LINE_LIMIT: usize = 64 * 1024 * 1024;
