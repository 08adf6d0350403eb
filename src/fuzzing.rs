//! The one door through which fuzz targets see what the public interface hides. No part of that interface: it may change
//! with any version.

use crate::decode::{DecodeError, Decoder};
pub use crate::encode::escape_paths;
use crate::event::TraceEvent;

/// Decodes by the path that takes any spelling. There is no other yet.
///
/// # Errors
///
/// As [`Decoder::decode_event`].
pub fn decode_event_generally<'a>(decoder: &'a mut Decoder, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
    decoder.decode_event(line)
}
