//! Bytes to events.
mod error;
pub use self::error::{DecodeError, DecodeErrorKind};
