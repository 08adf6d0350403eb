//! Bytes to events: strict, with positions, without I/O. Recursion is bounded, and no input makes it panic.
//!
//! There are two ways through a line. The canonical path (`canonical`) compares a line with what the encoder writes
//! instead of parsing it. It only accepts: every other spelling, and every fault, is left to the slow path (`lexer`,
//! `object`, `event`, `value`, `header`), which reads the line again. Both take the keys from `schema`.
//!
//! The slow path reads an object whose discriminator stands late by looking ahead (`lookahead`), so that keys may stand
//! in any order and the error is the first fault of the line. Strings borrow from the line unless they hold an escape.

mod canonical;
mod error;
mod event;
mod header;
mod keys;
mod lexer;
mod lookahead;
mod number;
mod object;
mod schema;
mod scratch;
mod simd;
mod value;

use self::canonical::{Canonical, Sites};
pub use self::error::{DecodeError, DecodeErrorKind};
use self::lexer::{Decoded, Lexer};
use self::scratch::Scratch;
use crate::arena::Arena;
use crate::event::{TraceEvent, TraceHeader};
use crate::value::RecordedValue;

/// Decodes lines, one at a time, in memory that it reuses.
///
/// ```
/// use cove_trace::decode::Decoder;
/// use cove_trace::TraceEvent;
///
/// let mut decoder = Decoder::new();
/// let event = decoder.decode_event(br#"{"event":"task_cancelled","id":7}"#)?;
/// assert_eq!(event, TraceEvent::TaskCancelled { id: 7 });
///
/// let error = decoder.decode_event(br#"{"event":"task_cancelled","id":-7}"#).unwrap_err();
/// assert_eq!(error.offset(), 31);
/// assert_eq!(error.to_string(), "expected a whole number from 0 to 18446744073709551615, found the number -7");
/// # Ok::<(), cove_trace::decode::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    arena: Arena,
    scratch: Scratch<'static>,
    sites: Sites,
}

impl Decoder {
    /// Returns a decoder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the line of an event, with or without its newline. The event borrows from the line and from the decoder.
    ///
    /// Allocates nothing in steady state. Memory stays below eleven times the length of the line.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not exactly one event of this format version. The error is the first fault in
    /// the line.
    #[inline]
    pub fn decode_event<'a>(&'a mut self, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
        let mut decoder = self.start_line();
        match decoder.canonical_event(line) {
            Some(event) => Ok(event),
            None => decoder.event_slowly(line),
        }
    }

    /// Starts another line.
    #[inline]
    pub(crate) fn start_line(&mut self) -> LineDecoder<'_> {
        self.arena.clear();
        LineDecoder { arena: &self.arena, scratch: &mut self.scratch, sites: &mut self.sites }
    }

    /// Decodes an event like [`decode_event`](Self::decode_event), by the slow path alone.
    #[cfg(any(test, feature = "__fuzzing"))]
    pub(crate) fn decode_event_slowly<'a>(&'a mut self, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
        self.start_line().event_slowly(line)
    }

    /// Decodes the line of a header, with or without its newline. Memory stays below nine times the length of the line.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not exactly one header of this format version. The version is checked before the
    /// rest of the header. Apart from that, the error is the first fault in the line.
    pub fn decode_header(&mut self, line: &[u8]) -> Result<TraceHeader, DecodeError> {
        self.arena.clear();
        slow_path(line, &self.arena, &mut self.scratch, |lexer| lexer.header_line())
    }

    /// Decodes one value, in the form of [`value_to_json`](crate::value_to_json).
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not exactly one value. The error is the first fault.
    pub fn decode_value<'a>(&'a mut self, text: &'a [u8]) -> Result<RecordedValue<'a>, DecodeError> {
        let LineDecoder { arena, scratch, sites } = self.start_line();
        let mut canonical = Canonical::new(text, true, arena, sites, scratch);
        let value = canonical.value().filter(|_| canonical.at_end());
        canonical.finish();
        match value {
            Some(value) => Ok(value),
            None => slow_path(text, arena, scratch, |lexer| lexer.lone_value()),
        }
    }

    /// Decodes a value like [`decode_value`](Self::decode_value), by the slow path alone.
    #[cfg(feature = "__fuzzing")]
    pub(crate) fn decode_value_slowly<'a>(&'a mut self, text: &'a [u8]) -> Result<RecordedValue<'a>, DecodeError> {
        self.arena.clear();
        slow_path(text, &self.arena, &mut self.scratch, |lexer| lexer.lone_value())
    }
}

/// The parts of a decoder that hold the event of one line.
pub(crate) struct LineDecoder<'a> {
    arena: &'a Arena,
    scratch: &'a mut Scratch<'static>,
    sites: &'a mut Sites,
}

impl<'a> LineDecoder<'a> {
    /// Decodes a line by the canonical path.
    ///
    /// This is inlined, so that the event is built in its place. Without optimisation, its frame is large, and must not
    /// lie below those of the slow path.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn canonical_event(&mut self, line: &'a [u8]) -> Option<TraceEvent<'a>> {
        let mut canonical = Canonical::new(line, true, self.arena, self.sites, self.scratch);
        let event = canonical.event().filter(|_| canonical.at_end());
        canonical.finish();
        event
    }

    /// Decodes the first of several lines by the canonical path. Returns the event and the length of the line without
    /// its newline. Inlined like `canonical_event`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn first_canonical_event(&mut self, lines: &'a [u8]) -> Option<(TraceEvent<'a>, usize)> {
        let mut canonical = Canonical::new(lines, false, self.arena, self.sites, self.scratch);
        let event = canonical.event().filter(|_| canonical.take_line_end());
        let len = lines.len() - canonical.finish();
        event.map(|event| (event, len))
    }

    /// Decodes a line by the slow path.
    #[inline(never)]
    pub(crate) fn event_slowly(&mut self, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
        slow_path(line, self.arena, self.scratch, |lexer| lexer.event_line())
    }
}

/// Reads any spelling of a line, and finds the first fault if there is one.
#[inline(never)]
fn slow_path<'a, T>(
    line: &'a [u8],
    arena: &'a Arena,
    kept: &mut Scratch<'static>,
    read: impl FnOnce(&mut Lexer<'a, '_>) -> Decoded<T>,
) -> Result<T, DecodeError> {
    let mut scratch = std::mem::take(kept).recycled();
    let result = read(&mut Lexer::new(line, arena, &mut scratch));
    *kept = scratch.recycled();
    result.map_err(|error| *error)
}
