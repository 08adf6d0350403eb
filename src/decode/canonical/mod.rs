//! The canonical path: lines as the encoder writes them, with the keys in the order of the schema and nothing between
//! tokens. It compares the text between the members' values instead of parsing it.
//!
//! This path only accepts; it reports no errors. Any `None` aborts it, and the slow path reads the line from its start.
//! So nothing may be accepted here that the slow path rejects or reads differently.

mod sites;
#[cfg(test)]
mod tests;

use std::slice;
use std::time::Duration;

pub(super) use self::sites::Sites;
use super::number;
use super::schema::{events, field, key_name, outcomes, values};
use super::scratch::Scratch;
use super::simd::{Plain, UnescapeBuffer};
use crate::arena::Arena;
use crate::cost::count_examined;
use crate::event::{CallSite, HeapSummary, HostCall, HostOutcome, TraceEvent};
use crate::names::RunOutcome;
use crate::value::{
    MAX_VALUE_DEPTH, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue,
};

/// The depth of values that this path reads. The slow path, which reads deeper ones, needs less stack for each level.
const MAX_DEPTH: usize = 16;
const _: () = assert!(MAX_DEPTH < MAX_VALUE_DEPTH);

/// Up to this many items of an array are collected on the stack.
const FEW: usize = 4;

/// The text before a member's value: the key, and the opening quote of a string.
macro_rules! before {
    ($start:expr, name, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":\"")
    };
    ($start:expr, names, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":\"")
    };
    ($start:expr, text, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":\"")
    };
    ($start:expr, run_outcome, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":\"")
    };
    ($start:expr, args, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":[")
    };
    ($start:expr, values, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":[")
    };
    ($start:expr, fields, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":[")
    };
    ($start:expr, $read:ident, $key:ident) => {
        concat!($start, "\"", key_name!($key), "\":")
    };
}

/// Reads an object as a row of the schema describes it, and returns the row's result from the enclosing function. Does
/// nothing if the object does not begin with `$start`. `$comma` separates that from the first member.
///
/// The members are read in a function of their own, which keeps the frames of nested values small in debug builds.
macro_rules! try_object {
    ($path:ident -> $type:ty, $inline:meta, $arena:ident, $start:expr, $comma:literal, {} => $result:expr) => {
        if $path.take(concat!($start, "}")) {
            return Some($result);
        }
    };
    ($path:ident -> $type:ty, $inline:meta, $arena:ident, $start:expr, $comma:literal, {
        $($first:ident)+: $read_first:ident($first_key:ident $($first_keys:ident)*)
        $(, $($member:ident)+: $read:ident($key:ident $($keys:ident)*))*
    } => $result:expr) => {
        if $path.take(before!(concat!($start, $comma), $read_first, $first_key)) {
            #[$inline]
            #[allow(unused_variables, reason = "only some kinds of value need the arena")]
            fn members<'a>(path: &mut Canonical<'a, '_>) -> Option<$type> {
                let $arena = path.arena;
                read_member!(path, $($first)+, $read_first($($first_keys)*));
                $(
                    path.fixed(before!(",", $read, $key))?;
                    read_member!(path, $($member)+, $read($($keys)*));
                )*
                path.fixed("}")?;
                Some($result)
            }
            return members($path);
        }
    };
}

/// Binds the value of one member, or the values of several that are read together.
macro_rules! read_member {
    ($path:ident, $member:ident, $read:ident()) => {
        let $member = $path.$read()?;
    };
    ($path:ident, $($member:ident)+, $read:ident($($key:ident)+)) => {
        let [$($member),+] = $path.$read($(before!(",", $read, $key)),+)?;
    };
}

/// Text that is being decoded.
pub(super) struct Canonical<'a, 's> {
    /// The text that is left, which may go on after the line.
    rest: &'a [u8],
    /// Whether `rest` ends where the line ends.
    is_framed: bool,
    /// The number of bytes of the text after `rest`.
    cut: usize,
    /// The number of values around the value at hand.
    depth: usize,
    arena: &'a Arena,
    unescaped: UnescapeBuffer<'a>,
    sites: &'s mut Sites,
    /// Stacks for long arrays, once there was one.
    scratch: Option<Scratch<'a>>,
    kept: &'s mut Scratch<'static>,
}

impl<'a, 's> Canonical<'a, 's> {
    #[inline(always)]
    pub(super) fn new(
        text: &'a [u8],
        is_framed: bool,
        arena: &'a Arena,
        sites: &'s mut Sites,
        kept: &'s mut Scratch<'static>,
    ) -> Self {
        let unescaped = UnescapeBuffer::default();
        Self { rest: text, is_framed, cut: 0, depth: 0, arena, unescaped, sites, scratch: None, kept }
    }

    /// Returns the scratch memory, and the number of bytes that are left.
    #[inline(always)]
    pub(super) fn finish(self) -> usize {
        if let Some(scratch) = self.scratch {
            *self.kept = scratch.recycled();
        }
        self.rest.len() + self.cut
    }

    /// Returns whether the line ends here, and passes a carriage return before its newline.
    #[inline(always)]
    pub(super) fn take_line_end(&mut self) -> bool {
        if let [b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        matches!(self.rest, [b'\n', ..])
    }

    /// Returns whether only white space is left.
    #[inline(always)]
    pub(super) fn at_end(&self) -> bool {
        self.cut == 0 && self.rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    }

    #[inline(always)]
    pub(super) fn event(&mut self) -> Option<TraceEvent<'a>> {
        macro_rules! try_events {
            (; $($kind:ident $name:literal { $($members:tt)* } => $result:expr;)+) => {
                $(try_object!(self -> TraceEvent<'a>, inline(always), _arena, concat!($name, "\""), ",", {
                    $($members)*
                } => $result);)+
            };
        }
        self.fixed("{\"event\":\"")?;
        events!(try_events);
        None
    }

    #[inline(always)]
    fn outcome(&mut self) -> Option<Option<HostOutcome<'a>>> {
        if self.take("null") {
            return Some(None);
        }
        macro_rules! try_outcomes {
            (; $($kind:ident $name:literal { $($members:tt)* } => $result:expr;)+) => {
                $(try_object!(
                    self -> Option<HostOutcome<'a>>, inline(always), _arena, concat!("{\"kind\":\"", $name, "\""), ",",
                    { $($members)* } => Some($result)
                );)+
            };
        }
        outcomes!(try_outcomes);
        None
    }

    pub(super) fn value(&mut self) -> Option<RecordedValue<'a>> {
        // Most kinds differ in the first byte of their names.
        let first = *self.rest.get("{\"type\":\"".len())?;
        macro_rules! try_values {
            ($arena:ident; $($kind:ident $name:literal { $($members:tt)* } => $result:expr;)+) => {
                $(if first == $name.as_bytes()[0] {
                    try_object!(
                        self -> RecordedValue<'a>, inline, $arena, concat!("{\"type\":\"", $name, "\""), ",",
                        { $($members)* } => $result
                    );
                })+
            };
        }
        values!(try_values arena arena);
        None
    }

    #[inline(always)]
    fn field(&mut self) -> Option<RecordedField<'a>> {
        macro_rules! try_field {
            ({ $($members:tt)* } => $result:expr) => {
                try_object!(self -> RecordedField<'a>, inline(always), _arena, "{", "", { $($members)* } => $result);
            };
        }
        field!(try_field);
        None
    }

    /// Reads values and the closing bracket.
    #[inline(always)]
    fn args(&mut self) -> Option<&'a [RecordedValue<'a>]> {
        self.list(Self::value, |scratch| &mut scratch.values)
    }

    /// Reads the values inside another value and the closing bracket.
    #[inline(always)]
    fn values(&mut self) -> Option<&'a [RecordedValue<'a>]> {
        self.inside(Self::args)
    }

    /// Reads fields and the closing bracket.
    #[inline(always)]
    fn fields(&mut self) -> Option<&'a [RecordedField<'a>]> {
        self.inside(|path| path.list(Self::field, |scratch| &mut scratch.fields))
    }

    #[inline(always)]
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let items = read(self);
        self.depth -= 1;
        items
    }

    #[inline(always)]
    fn list<T: Copy>(
        &mut self,
        item: impl Fn(&mut Self) -> Option<T>,
        stack: impl for<'m> Fn(&'m mut Scratch<'a>) -> &'m mut Vec<T>,
    ) -> Option<&'a [T]> {
        if self.take("]") {
            return Some(&[]);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let first = item(self)?;
        let items =
            if self.take("]") { slice::from_ref(self.arena.one(first)) } else { self.longer_list(first, item, stack)? };
        self.depth -= 1;
        Some(items)
    }

    #[inline(never)]
    fn longer_list<T: Copy>(
        &mut self,
        first: T,
        item: impl Fn(&mut Self) -> Option<T>,
        stack: impl for<'m> Fn(&'m mut Scratch<'a>) -> &'m mut Vec<T>,
    ) -> Option<&'a [T]> {
        let mut few = [first; FEW];
        for len in 1..FEW {
            self.fixed(",")?;
            few[len] = item(self)?;
            if self.take("]") {
                // Copying all of them is faster than copying a variable number.
                return Some(&self.arena.one(few)[..=len]);
            }
        }
        let below = stack(self.scratch()).len();
        stack(self.scratch()).extend_from_slice(&few);
        loop {
            self.fixed(",")?;
            let item = item(self)?;
            stack(self.scratch()).push(item);
            if self.take("]") {
                break;
            }
        }
        let arena = self.arena;
        let stack = stack(self.scratch());
        let items = arena.slice(&stack[below..]);
        stack.truncate(below);
        Some(items)
    }

    fn scratch(&mut self) -> &mut Scratch<'a> {
        self.scratch.get_or_insert_with(|| std::mem::take(self.kept).recycled())
    }

    /// Passes `text` if it comes next.
    #[inline(always)]
    fn take(&mut self, text: &'static str) -> bool {
        count_examined(text.len());
        match self.rest.split_at_checked(text.len()) {
            Some((first, rest)) if first == text.as_bytes() => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Passes `text`, which has to come next.
    #[inline(always)]
    fn fixed(&mut self, text: &'static str) -> Option<()> {
        self.take(text).then_some(())
    }

    /// Reads the names of a call site: the first one's opening quote is passed, and the other ones follow `before_op`
    /// and `before_capability`.
    #[inline(always)]
    fn names(&mut self, before_op: &'static str, before_capability: &'static str) -> Option<[&'a str; 3]> {
        match self.sites.find(self.rest) {
            Some((names, rest)) => {
                self.rest = rest;
                Some(names)
            }
            None => self.new_site(before_op, before_capability),
        }
    }

    fn new_site(&mut self, before_op: &'static str, before_capability: &'static str) -> Option<[&'a str; 3]> {
        let text = self.rest;
        let module = self.name()?;
        self.fixed(before_op)?;
        let op_start = text.len() - self.rest.len();
        let op = self.name()?;
        self.fixed(before_capability)?;
        let capability_start = text.len() - self.rest.len();
        let capability = self.name()?;
        let len = text.len() - self.rest.len();
        self.sites.insert(text, len, [(0, module), (op_start, op), (capability_start, capability)]);
        Some([module, op, capability])
    }

    /// Reads a short string and its closing quote. The opening one is passed.
    #[inline(always)]
    fn name(&mut self) -> Option<&'a str> {
        self.string(Plain::name(self.rest))
    }

    /// Reads a string of any length and its closing quote. The opening one is passed.
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
        // The buffer is as long as what is left, which must not go on after the line.
        if !self.is_framed {
            let newline = memchr::memchr(b'\n', self.rest)?;
            count_examined(newline);
            self.is_framed = true;
            self.cut = self.rest.len() - newline - 1;
            self.rest = &self.rest[..=newline];
        }
        let (text, rest) = self.unescaped.unescape(self.rest, clean, self.arena)?;
        self.rest = rest;
        Some(text)
    }

    #[inline(always)]
    fn unsigned(&mut self) -> Option<u64> {
        let (number, rest) = number::unsigned(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline(always)]
    fn signed(&mut self) -> Option<i64> {
        let (number, rest) = number::signed(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline(always)]
    fn float(&mut self) -> Option<f64> {
        let (number, rest) = number::float(self.rest)?;
        self.rest = rest;
        Some(number)
    }

    #[inline(always)]
    fn nanoseconds(&mut self) -> Option<Duration> {
        self.unsigned().map(Duration::from_nanos)
    }

    #[inline]
    fn unsigned_or_null(&mut self) -> Option<Option<u64>> {
        if self.take("null") { Some(None) } else { self.unsigned().map(Some) }
    }

    #[inline]
    fn nanoseconds_or_null(&mut self) -> Option<Option<Duration>> {
        Some(self.unsigned_or_null()?.map(Duration::from_nanos))
    }

    #[inline]
    fn text_or_null(&mut self) -> Option<Option<&'a str>> {
        if self.take("null") {
            return Some(None);
        }
        self.fixed("\"")?;
        self.text().map(Some)
    }

    #[inline]
    fn run_outcome(&mut self) -> Option<RunOutcome> {
        RunOutcome::parse(self.name()?)
    }

    #[inline(always)]
    fn bool(&mut self) -> Option<bool> {
        let is_true = self.take("true");
        (is_true || self.take("false")).then_some(is_true)
    }
}
