//! Internals that fuzz targets and tests compare with the public interface. Not part of that interface: anything here
//! may change in any version.

use crate::decode::{DecodeError, Decoder};
use crate::event::TraceEvent;
pub use crate::line::escaped_by_every_backend;
use crate::value::RecordedValue;

/// Decodes an event like [`Decoder::decode_event`], by the slow path alone.
///
/// # Errors
///
/// As [`Decoder::decode_event`].
pub fn decode_event_slowly<'a>(decoder: &'a mut Decoder, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
    decoder.decode_event_slowly(line)
}

/// Decodes a value like [`Decoder::decode_value`], by the slow path alone.
///
/// # Errors
///
/// As [`Decoder::decode_value`].
pub fn decode_value_slowly<'a>(decoder: &'a mut Decoder, text: &'a [u8]) -> Result<RecordedValue<'a>, DecodeError> {
    decoder.decode_value_slowly(text)
}
