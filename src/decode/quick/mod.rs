//! The quick paths: one for lines as the encoder writes them (`canonical`), and one for keys in any order with spaces
//! between tokens (`any_order`).
//!
//! Neither has a verdict but yes: whatever is unexpected, a fault or only a rarer spelling, is left to the general
//! path, which reads the line from its start. So nothing may be accepted here that the general path refuses or reads
//! differently.

mod any_order;
mod any_order_value;
mod canonical;
mod canonical_value;
mod keys;
mod number;
mod sites;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(super) use self::sites::Sites;
use super::scan::Plain;
use super::scratch::Scratch;
use super::unescape::Room;
use crate::arena::Arena;
use crate::cost::count_examined;
use crate::event::TraceEvent;
use crate::value::{MAX_VALUE_DEPTH, RecordedField, RecordedValue};

/// How deep values stand that are read here. Those further inside are left to the general path, which takes less of the
/// stack.
const DEEPEST: usize = 16;
/// The same where keys come in any order: that takes twice as much of the stack for each level.
const DEEPEST_IN_ANY_ORDER: usize = 8;
const _: () = assert!(DEEPEST <= MAX_VALUE_DEPTH && DEEPEST_IN_ANY_ORDER <= DEEPEST);

/// The level of what is inside of a container at `level`, unless that is deeper than `deepest`.
#[inline(always)]
fn inside(level: usize, deepest: usize) -> Option<usize> {
    (level < deepest).then_some(level + 1)
}

/// A line being taken apart. `None` from any step is the end of it.
pub(super) struct Quick<'a, 's> {
    /// What is left of the line.
    rest: &'a [u8],
    arena: &'a Arena,
    room: Room<'a>,
    sites: &'s mut Sites,
    /// Stacks for long arrays, once there was one.
    scratch: Option<Scratch<'a>>,
    kept: &'s mut Scratch<'static>,
}

impl<'a, 's> Quick<'a, 's> {
    /// The event of a line, if it is canonical or only its keys and spaces are not.
    #[inline]
    pub(super) fn decode_event(
        line: &'a [u8],
        arena: &'a Arena,
        sites: &'s mut Sites,
        kept: &'s mut Scratch<'static>,
    ) -> Option<TraceEvent<'a>> {
        let mut quick = Self { rest: line, arena, room: Room::default(), sites, scratch: None, kept };
        let event = match quick.canonical_line() {
            Some(event) => Some(event),
            None => quick.again(line, Self::any_line),
        };
        quick.keep_scratch();
        event
    }

    /// The value that a text is, under the same conditions.
    pub(super) fn decode_value(
        text: &'a [u8],
        arena: &'a Arena,
        sites: &'s mut Sites,
        kept: &'s mut Scratch<'static>,
    ) -> Option<RecordedValue<'a>> {
        let mut quick = Self { rest: text, arena, room: Room::default(), sites, scratch: None, kept };
        let canonical = quick.value(1).filter(|_| quick.only_white_space_follows());
        let value = canonical.or_else(|| quick.again(text, Self::lone_any_value));
        quick.keep_scratch();
        value
    }

    /// Starts over.
    #[inline(never)]
    fn again<T>(&mut self, line: &'a [u8], read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.rest = line;
        if let Some(scratch) = self.scratch.take() {
            self.scratch = Some(scratch.recycled());
        }
        read(self)
    }

    #[inline(always)]
    fn keep_scratch(self) {
        if let Some(scratch) = self.scratch {
            *self.kept = scratch.recycled();
        }
    }

    fn scratch(&mut self) -> &mut Scratch<'a> {
        self.scratch.get_or_insert_with(|| std::mem::take(self.kept).recycled())
    }

    /// Takes the values off their stack, down to `below` of them.
    fn gather_values(&mut self, below: usize) -> &'a [RecordedValue<'a>] {
        let arena = self.arena;
        let stack = &mut self.scratch().values;
        let values = arena.slice(&stack[below..]);
        stack.truncate(below);
        values
    }

    /// Takes the fields off their stack, down to `below` of them.
    fn gather_fields(&mut self, below: usize) -> &'a [RecordedField<'a>] {
        let arena = self.arena;
        let stack = &mut self.scratch().fields;
        let fields = arena.slice(&stack[below..]);
        stack.truncate(below);
        fields
    }

    /// Passes JSON white space.
    #[inline(always)]
    fn white_space(&mut self) {
        // One space is what most writers put, if any.
        if let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if let [0..=b' ', ..] = self.rest {
            self.more_white_space();
        }
    }

    #[inline(never)]
    fn more_white_space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            count_examined(1);
            self.rest = rest;
        }
    }

    #[inline(always)]
    fn only_white_space_follows(&mut self) -> bool {
        self.white_space();
        self.rest.is_empty()
    }

    /// Passes `text`, if that is what comes next.
    #[inline(always)]
    fn take<const N: usize>(&mut self, text: &[u8; N]) -> bool {
        count_examined(N);
        match self.rest.split_first_chunk::<N>() {
            Some((first, rest)) if first == text => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Passes `text`, which has to come next.
    #[inline(always)]
    fn fixed<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        self.take(text).then_some(())
    }

    /// A name and its closing quote. The opening one is passed.
    #[inline(always)]
    fn name(&mut self) -> Option<&'a str> {
        self.string(Plain::name(self.rest))
    }

    /// A text of any length and its closing quote. The opening one is passed.
    #[inline(always)]
    fn text(&mut self) -> Option<&'a str> {
        self.string(Plain::text(self.rest))
    }

    #[inline(always)]
    fn string(&mut self, plain: Plain<'a>) -> Option<&'a str> {
        match plain.rest {
            [b'"', rest @ ..] => {
                self.rest = rest;
                plain.to_str()
            }
            [b'\\', ..] => self.escaped(plain.len()),
            _ => None,
        }
    }

    #[inline(never)]
    fn escaped(&mut self, clean: usize) -> Option<&'a str> {
        let (text, rest) = self.room.unescape(self.rest, clean, self.arena)?;
        self.rest = rest;
        Some(text)
    }

    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        let (number, rest) = number::unsigned(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let (number, rest) = number::signed(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline]
    fn nanoseconds(&mut self) -> Option<Duration> {
        self.unsigned().map(Duration::from_nanos)
    }

    #[inline(always)]
    fn bool(&mut self) -> Option<bool> {
        let is_true = self.take(b"true");
        (is_true || self.take(b"false")).then_some(is_true)
    }

    #[inline(always)]
    fn or_null<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.take(b"null") { Some(None) } else { read(self).map(Some) }
    }
}
