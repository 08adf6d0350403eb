//! The one door through which fuzz targets see what the public interface hides. No part of that interface: it may change
//! with any version.

use crate::decode::{DecodeError, Decoder};
pub use crate::line::escaped_by_every_backend;
use crate::event::TraceEvent;

/// Decodes without the fast path, by the one that takes any spelling.
///
/// # Errors
///
/// As [`Decoder::decode_event`].
pub fn decode_event_generally<'a>(decoder: &'a mut Decoder, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
    decoder.decode_event_generally(line)
}
