//! Bytes to events: strict, positioned, and pure. No input, no output, no unbounded recursion, no panic.
//!
//! An event's line that is as the encoder writes it is read by a path of its own, which compares instead of parsing;
//! one whose keys stand in another order, or that has spaces between its tokens, in one pass by another (both in
//! `quick`). Neither has a verdict but yes. Rarer spellings (a key with an escape, very deep values), and every fault,
//! are the general path's.
//!
//! There, a line is taken apart field by field, as the schema says. An object whose shape is told by a later key is
//! looked ahead into, so that keys may stand in any order and a fault is still blamed on the first byte that is wrong.
//! Strings borrow from the line unless they hold an escape.

mod block;
mod error;
mod lexer;
mod number;
mod prefetch;
mod quick;
mod scan;
mod schema;
mod scratch;
mod shape;
mod string;
mod unescape;
mod utf8;
mod value;

pub use self::error::{DecodeError, DecodeErrorKind};
use self::lexer::Lexer;
use self::quick::{Quick, Sites};
use self::scratch::Scratch;
use crate::arena::Arena;
use crate::event::{TraceEvent, TraceHeader};
use crate::value::RecordedValue;

/// Takes lines apart, one at a time, in memory that it keeps for the next.
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
    /// A decoder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the line of an event apart, with or without its newline. What it gives borrows from the line and from the
    /// decoder, until the next line.
    ///
    /// Allocates nothing in steady state. Memory stays below eleven times the length of the line, whatever is in it.
    ///
    /// # Errors
    ///
    /// When the line is not exactly one event of this format version. The fault that comes first in the line is the one
    /// reported.
    pub fn decode_event<'a>(&'a mut self, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
        prefetch::behind(line);
        self.arena.clear();
        let Self { arena, scratch, sites } = self;
        match Quick::decode_event(line, arena, sites, scratch) {
            Some(event) => Ok(event),
            None => general(line, arena, scratch, |lexer| lexer.event_line()),
        }
    }

    /// [`decode_event`](Self::decode_event) without the fast paths. Tests compare the results of both.
    #[cfg(any(test, feature = "__fuzzing"))]
    pub(crate) fn decode_event_generally<'a>(&'a mut self, line: &'a [u8]) -> Result<TraceEvent<'a>, DecodeError> {
        self.generally(line, |lexer| lexer.event_line())
    }

    /// Takes the line of a header apart, with or without its newline. Memory stays below nine times the length of the
    /// line. There is no fast path: a trace has one header, and its strings are owned, so that copying them is what it
    /// costs.
    ///
    /// # Errors
    ///
    /// When the line is not exactly one header of this format version. The version is looked at before anything else
    /// that a header holds; besides that, the fault that comes first in the line is the one reported.
    pub fn decode_header(&mut self, line: &[u8]) -> Result<TraceHeader, DecodeError> {
        self.generally(line, |lexer| lexer.header_line())
    }

    /// Takes one value apart, as [`value_to_json`](crate::value_to_json) renders it.
    ///
    /// # Errors
    ///
    /// When the text is not exactly one value. The fault that comes first is the one reported.
    pub fn decode_value<'a>(&'a mut self, text: &'a [u8]) -> Result<RecordedValue<'a>, DecodeError> {
        self.arena.clear();
        let Self { arena, scratch, sites } = self;
        match Quick::decode_value(text, arena, sites, scratch) {
            Some(value) => Ok(value),
            None => general(text, arena, scratch, |lexer| lexer.lone_value()),
        }
    }

    /// [`decode_value`](Self::decode_value) without the fast paths. Tests compare the results of both.
    #[cfg(feature = "__fuzzing")]
    pub(crate) fn decode_value_generally<'a>(&'a mut self, text: &'a [u8]) -> Result<RecordedValue<'a>, DecodeError> {
        self.generally(text, |lexer| lexer.lone_value())
    }

    fn generally<'a, T>(
        &'a mut self,
        line: &'a [u8],
        step: impl FnOnce(&mut Lexer<'a, '_>) -> lexer::Step<T>,
    ) -> Result<T, DecodeError> {
        self.arena.clear();
        general(line, &self.arena, &mut self.scratch, step)
    }
}

/// The general path: any spelling, and the fault where there is one.
#[inline(never)]
fn general<'a, T>(
    line: &'a [u8],
    arena: &'a Arena,
    kept: &mut Scratch<'static>,
    step: impl FnOnce(&mut Lexer<'a, '_>) -> lexer::Step<T>,
) -> Result<T, DecodeError> {
    let mut scratch = std::mem::take(kept).recycled();
    let result = step(&mut Lexer::new(line, arena, &mut scratch));
    *kept = scratch.recycled();
    result.map_err(|error| *error)
}
