//! Discriminators that stand behind other keys, found by looking ahead.

use std::num::NonZeroUsize;

use super::error::WORDS;
use super::lexer::{Decoded, Lexer};
use super::schema::{Key, Kind};
use super::scratch::{DISCRIMINATORS, Open, OpenObject, SkippedObject};

/// The deepest that JSON nests in any event: the event, its arguments, and for each level of values at most an object,
/// an array and a field. Deeper objects are not cached; decoding rejects them first.
const MAX_JSON_DEPTH: usize = 2 + 3 * crate::value::MAX_VALUE_DEPTH;

impl Lexer<'_, '_> {
    /// Returns the kind of the object at hand and the offset of its discriminator. Returns `None` if the discriminator
    /// is missing, unknown or behind a fault.
    pub(super) fn discriminator<K: Kind>(&mut self) -> Option<(K, usize)> {
        let start = self.at;
        let value = self.find(K::KEY)?;
        self.at = value;
        let name = self.string("a name").ok();
        self.at = start;
        Some((K::parse(name?)?, value))
    }

    /// Returns the offset of the value of `key` in the object at hand. Returns `None` if the object has no such key, or
    /// a fault before it.
    ///
    /// Objects that are skipped on the way are cached, so each byte of a line is examined a fixed number of times,
    /// however deep objects with late discriminators nest.
    pub(super) fn find(&mut self, key: Key) -> Option<usize> {
        let start = self.at;
        if let Some(found) = self.find_in_skipped(start, key) {
            return Some(found);
        }
        self.scratch.skipped.clear();
        self.skipped_used = 0;
        let found = self.look_ahead(key).ok().flatten();
        // A fault leaves brackets open.
        self.scratch.open.clear();
        self.scratch.open_objects.clear();
        // They were added in the order of their discriminators.
        self.scratch.skipped.sort_unstable_by_key(|object| object.start);
        self.at = start;
        found
    }

    fn find_in_skipped(&mut self, start: usize, key: Key) -> Option<usize> {
        let skipped = &self.scratch.skipped;
        while skipped.get(self.skipped_used).is_some_and(|object| object.start < start) {
            self.skipped_used += 1;
        }
        let object = skipped.get(self.skipped_used).filter(|object| object.start == start)?;
        let index = DISCRIMINATORS.iter().position(|discriminator| *discriminator == key)?;
        object.discriminators[index].map(NonZeroUsize::get)
    }

    fn look_ahead(&mut self, key: Key) -> Decoded<Option<usize>> {
        self.expect(b'{', "an object")?;
        loop {
            self.white_space();
            let found = self.key()?;
            self.colon()?;
            if found == Some(key) {
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

    /// Passes the value at hand if it is valid JSON, and caches the discriminators of the objects in it.
    pub(super) fn pass_value(&mut self) -> Decoded<()> {
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
            self.scratch.open_objects.push(OpenObject { start: self.at, skipped: None });
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

    fn pass_scalar(&mut self) -> Decoded<()> {
        match self.peek() {
            Some(b'"') => self.pass_string(),
            Some(b'-' | b'0'..=b'9') => self.pass_number(),
            _ if WORDS.into_iter().any(|word| self.take_word(word)) => Ok(()),
            _ if self.ends_inside_a_word() => Err(self.end_of_text("a value")),
            _ => Err(self.misplaced("a value")),
        }
    }

    /// Passes a key of a skipped object and its colon.
    fn pass_key(&mut self) -> Decoded<()> {
        let key = self.key()?;
        self.colon()?;
        if let Some(index) = DISCRIMINATORS.iter().position(|discriminator| key == Some(*discriminator)) {
            self.cache_discriminator(index);
        }
        Ok(())
    }

    /// Caches that the innermost open object has the value of this discriminator at hand.
    fn cache_discriminator(&mut self, index: usize) {
        if self.scratch.open.len() > MAX_JSON_DEPTH {
            return;
        }
        let Some(OpenObject { start, skipped: number }) = self.scratch.open_objects.last_mut() else {
            return;
        };
        let skipped = &mut self.scratch.skipped;
        let number = *number.get_or_insert(skipped.len());
        if number == skipped.len() {
            skipped.push(SkippedObject { start: *start, discriminators: [None; DISCRIMINATORS.len()] });
        }
        let value = &mut skipped[number].discriminators[index];
        *value = value.or(NonZeroUsize::new(self.at));
    }

    /// After a value: passes closing brackets, down to `outside` open ones, and the comma after them. Returns whether
    /// another value follows.
    fn pass_closings(&mut self, outside: usize) -> Decoded<bool> {
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
}
