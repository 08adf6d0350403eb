//! Objects: their keys, in any order, each exactly once; and which of several shapes an object has, told by one of its
//! keys wherever that stands.

use std::num::NonZeroUsize;

use super::error::{DecodeError, DecodeErrorKind};
use super::lexer::{Lexer, Step, WORDS, quoted};
use super::scratch::{DISCRIMINATORS, Open, OpenObject, Passed};

/// The keys of one kind of object, all of them required.
pub(super) struct Shape {
    /// What the object is, for messages.
    pub(super) what: &'static str,
    pub(super) keys: &'static [&'static str],
}

/// An object being taken apart: which of its keys were given.
pub(super) struct Members {
    shape: &'static Shape,
    given: u64,
    first: bool,
}

/// The deepest that JSON nests in any event: the event, its arguments, and for each level of values at most an object,
/// an array and a field. A look ahead passes what is deeper, but takes no note of it: nobody will get there.
const MAX_JSON_DEPTH: usize = 2 + 3 * crate::value::MAX_VALUE_DEPTH;

impl<'a> Lexer<'a, '_> {
    /// Enters the object at hand.
    pub(super) fn object(&mut self, shape: &'static Shape) -> Step<Members> {
        self.expect(b'{', "an object")?;
        Ok(Members { shape, given: 0, first: true })
    }

    /// Passes the next key and its colon, so that its value is at hand, and gives the key's number in the shape. `None`
    /// after the closing brace, once every key was given.
    pub(super) fn next_member(&mut self, members: &mut Members) -> Step<Option<usize>> {
        self.white_space();
        if self.peek() == Some(b'}') {
            self.check_complete(members)?;
            self.at += 1;
            return Ok(None);
        }
        if !std::mem::take(&mut members.first) {
            if self.peek() != Some(b',') {
                return Err(self.misplaced("`,` or `}`"));
            }
            self.at += 1;
            self.white_space();
        }
        let quote = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.misplaced("a key"));
        }
        let key = self.string("a key")?;
        let number = self.key_number(members, key, quote)?;
        self.colon()?;
        Ok(Some(number))
    }

    fn colon(&mut self) -> Step<()> {
        self.white_space();
        if self.peek() != Some(b':') {
            return Err(self.misplaced("`:`"));
        }
        self.at += 1;
        self.white_space();
        Ok(())
    }

    fn key_number(&self, members: &mut Members, key: &str, quote: usize) -> Step<usize> {
        let Shape { what, keys } = members.shape;
        // Most keys differ in length or in their first byte, which is quicker to see.
        let looks_like = |known: &str| (known.len(), known.as_bytes().first()) == (key.len(), key.as_bytes().first());
        let Some(number) = keys.iter().position(|known| looks_like(known) && *known == key) else {
            let expected = format!("a key of {what} ({})", keys.join(", "));
            return Err(self.fault(quote, DecodeErrorKind::UnknownKey, expected, format!("the key {}", quoted(key))));
        };
        if members.given & 1 << number != 0 {
            let expected = format!("each key of {what} once");
            return Err(self.fault(quote, DecodeErrorKind::RepeatedKey, expected, format!("{key:?} again")));
        }
        members.given |= 1 << number;
        Ok(number)
    }

    fn check_complete(&self, members: &Members) -> Step<()> {
        let Shape { what, keys } = members.shape;
        match keys.iter().enumerate().find(|(number, _)| members.given & 1 << number == 0) {
            Some((_, key)) => {
                let expected = format!("the key {key:?}");
                Err(self.fault(self.at, DecodeErrorKind::MissingKey, expected, format!("the end of {what}")))
            }
            None => Ok(()),
        }
    }

    /// Where the value of the key `name` is, in the object at hand. `None` when the object has no such key, or is
    /// broken before it; [`diagnose`](Self::diagnose) says which.
    ///
    /// Each byte of a line is looked at once, however deep the objects that have the key last: what is passed on the
    /// way is remembered.
    pub(super) fn find(&mut self, name: &str) -> Option<usize> {
        let start = self.at;
        if let Some(found) = self.find_in_passed(start, name) {
            return Some(found);
        }
        self.scratch.passed.clear();
        self.passed_used = 0;
        let found = self.look_ahead(name).ok().flatten();
        // A fault leaves brackets open.
        self.scratch.open.clear();
        self.scratch.open_objects.clear();
        // Noted in the order of their discriminators, asked for in the order of their braces.
        self.scratch.passed.sort_unstable_by_key(|object| object.start);
        self.at = start;
        found
    }

    fn find_in_passed(&mut self, start: usize, name: &str) -> Option<usize> {
        let passed = &self.scratch.passed;
        while passed.get(self.passed_used).is_some_and(|object| object.start < start) {
            self.passed_used += 1;
        }
        let object = passed.get(self.passed_used).filter(|object| object.start == start)?;
        let which = DISCRIMINATORS.iter().position(|discriminator| *discriminator == name)?;
        object.told_at[which].map(NonZeroUsize::get)
    }

    fn look_ahead(&mut self, name: &str) -> Step<Option<usize>> {
        self.expect(b'{', "an object")?;
        loop {
            self.white_space();
            let key = self.string("a key")?;
            self.colon()?;
            if key == name {
                return Ok(Some(self.at));
            }
            self.pass_value()?;
            self.white_space();
            if self.peek() != Some(b',') {
                return Ok(None);
            }
            self.at += 1;
        }
    }

    /// Passes the value at hand, whatever it is, as long as it is JSON. Takes note of the objects in it.
    pub(super) fn pass_value(&mut self) -> Step<()> {
        let outside = self.scratch.open.len();
        loop {
            self.white_space();
            match self.peek() {
                Some(b'{') => {
                    self.open_object();
                    self.white_space();
                    if self.peek() != Some(b'}') {
                        self.pass_key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.scratch.open.push(Open::Array);
                    self.at += 1;
                    self.white_space();
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                _ => self.pass_scalar()?,
            }
            if !self.pass_closings(outside)? {
                return Ok(());
            }
        }
    }

    fn open_object(&mut self) {
        if self.scratch.open.len() < MAX_JSON_DEPTH {
            self.scratch.open_objects.push(OpenObject { start: self.at, passed: None });
        }
        self.scratch.open.push(Open::Object);
        self.at += 1;
    }

    fn close_object(&mut self) {
        self.scratch.open.pop();
        if self.scratch.open.len() < MAX_JSON_DEPTH {
            self.scratch.open_objects.pop();
        }
        self.at += 1;
    }

    fn pass_scalar(&mut self) -> Step<()> {
        match self.peek() {
            Some(b'"') => self.pass_string(),
            Some(b'-' | b'0'..=b'9') => self.number("a value").map(drop),
            _ if WORDS.into_iter().any(|word| self.take_word(word)) => Ok(()),
            _ if self.ends_inside_a_word() => Err(self.end_of_text("a value")),
            _ => Err(self.misplaced("a value")),
        }
    }

    /// Passes a key inside of a value that is passed, and takes note if it is a discriminator.
    fn pass_key(&mut self) -> Step<()> {
        if self.peek() != Some(b'"') {
            return Err(self.misplaced("a key"));
        }
        let key = self.string("a key")?;
        self.colon()?;
        if let Some(which) = DISCRIMINATORS.iter().position(|discriminator| *discriminator == key) {
            self.note_discriminator(which);
        }
        Ok(())
    }

    /// Takes note that the innermost open object has the value of that discriminator at hand.
    fn note_discriminator(&mut self, which: usize) {
        if self.scratch.open.len() > MAX_JSON_DEPTH {
            return;
        }
        let Some(OpenObject { start, passed: number }) = self.scratch.open_objects.last_mut() else {
            return;
        };
        let passed = &mut self.scratch.passed;
        let number = *number.get_or_insert(passed.len());
        if number == passed.len() {
            passed.push(Passed { start: *start, told_at: [None; DISCRIMINATORS.len()] });
        }
        let told_at = &mut passed[number].told_at[which];
        *told_at = told_at.or(NonZeroUsize::new(self.at));
    }

    /// After a value: passes closing brackets, down to `outside` open ones, and the comma after them. Whether another
    /// value follows.
    fn pass_closings(&mut self, outside: usize) -> Step<bool> {
        while self.scratch.open.len() > outside {
            self.white_space();
            match (self.scratch.open.last(), self.peek()) {
                (Some(Open::Object), Some(b'}')) => self.close_object(),
                (Some(Open::Array), Some(b']')) => {
                    self.scratch.open.pop();
                    self.at += 1;
                }
                (Some(Open::Object), Some(b',')) => {
                    self.at += 1;
                    self.white_space();
                    self.pass_key()?;
                    return Ok(true);
                }
                (Some(Open::Array), Some(b',')) => {
                    self.at += 1;
                    return Ok(true);
                }
                (Some(Open::Object), _) => return Err(self.misplaced("`,` or `}`")),
                _ => return Err(self.misplaced("`,` or `]`")),
            }
        }
        Ok(false)
    }

    /// What the name under the key `name` of the object at hand stands for, and where that name is; if it can be found
    /// and `parse` knows it.
    pub(super) fn discriminator<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<(T, usize)> {
        let start = self.at;
        let told_at = self.find(name)?;
        self.at = told_at;
        let told = self.string("a name").ok();
        self.at = start;
        Some((parse(told?)?, told_at))
    }

    /// Says what is wrong with the object at hand, whose shape can't be told: `any` has every key that some shape has,
    /// the discriminator first.
    #[cold]
    pub(super) fn diagnose(
        &mut self,
        any: &'static Shape,
        set: &'static str,
        expected: &'static str,
        known: impl Fn(&str) -> bool,
    ) -> Box<DecodeError> {
        self.walk_to_fault(any, set, expected, known).err().unwrap_or_else(|| {
            let missing = format!("the key {:?}", any.keys[0]);
            self.fault(self.at - 1, DecodeErrorKind::MissingKey, missing, format!("the end of {}", any.what))
        })
    }

    fn walk_to_fault(
        &mut self,
        any: &'static Shape,
        set: &'static str,
        expected: &'static str,
        known: impl Fn(&str) -> bool,
    ) -> Step<()> {
        self.expect(b'{', "an object")?;
        // No key is missed here: which ones have to be there, only the shape could tell.
        let mut members = Members { shape: any, given: 0, first: true };
        loop {
            self.white_space();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(());
            }
            match self.next_member(&mut members)? {
                Some(0) => {
                    let at = self.at;
                    let name = self.string(set)?;
                    if !known(name) {
                        let found = quoted(name);
                        return Err(self.fault(at, DecodeErrorKind::UnknownName, format!("{set}: {expected}"), found));
                    }
                }
                _ => self.pass_value()?,
            }
        }
    }
}
