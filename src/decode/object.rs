//! Objects on the slow path: their keys in any order, each exactly once.

use super::error::{DecodeError, DecodeErrorKind, quoted};
use super::lexer::{Decoded, Lexer};
use super::schema::{Key, KeySet, Kind, Shape};

/// Reads the members of the object at hand, as a row of the schema describes them, and returns the row's result.
macro_rules! read_object {
    ($lexer:ident, $shape:expr, { $($($member:ident)+: $read:ident($($key:ident)+)),* } => $result:expr) => {{
        $($(let mut $member = initial!($read);)+)*
        let mut members = $lexer.object($shape)?;
        while let Some(key) = $lexer.next_member(&mut members)? {
            match key {
                $($(Key::$key => $member = $lexer.$read()?,)+)*
                _ => $lexer.discriminator_again($shape)?,
            }
        }
        $result
    }};
}
pub(super) use read_object;

/// A placeholder for a member, which is replaced because all keys are required.
macro_rules! initial {
    (value) => {
        RecordedValue::Unit
    };
    (run_outcome) => {
        RunOutcome::Success
    };
    (backend) => {
        RecordingBackend::Ast
    };
    (capture) => {
        ValueCapture::Full
    };
    ($read:ident) => {
        Default::default()
    };
}
pub(super) use initial;

/// An object that is being read.
pub(super) struct Members<'k> {
    shape: &'k Shape<'k>,
    given: KeySet,
    is_first: bool,
}

impl Lexer<'_, '_> {
    /// Enters the object at hand.
    pub(super) fn object<'k>(&mut self, shape: &'k Shape<'k>) -> Decoded<Members<'k>> {
        self.expect(b'{', "an object")?;
        Ok(Members { shape, given: KeySet::EMPTY, is_first: true })
    }

    /// Passes the next key and its colon, and returns the key. Returns `None` after the closing brace, once every key
    /// was given.
    #[inline]
    pub(super) fn next_member(&mut self, members: &mut Members<'_>) -> Decoded<Option<Key>> {
        self.white_space();
        if self.peek() == Some(b'}') {
            if members.given != members.shape.set {
                return Err(self.missing_key(members));
            }
            self.at += 1;
            return Ok(None);
        }
        if !std::mem::take(&mut members.is_first) {
            if self.peek() != Some(b',') {
                return Err(self.misplaced("`,` or `}`"));
            }
            self.at += 1;
            self.white_space();
        }
        let start = self.at;
        let Some(key) = self.key()?.filter(|key| members.shape.set.contains(*key)) else {
            return Err(self.unknown_key(start, members.shape));
        };
        if !members.given.insert(key) {
            let expected = format!("each key of {} once", members.shape.what());
            return Err(self.fault(start, DecodeErrorKind::RepeatedKey, expected, format!("{:?} again", key.name())));
        }
        self.colon()?;
        Ok(Some(key))
    }

    /// Passes the discriminator of an object that is read as one of this shape.
    pub(super) fn discriminator_again(&mut self, shape: &Shape<'_>) -> Decoded<()> {
        let start = self.at;
        if self.string("a name")? == shape.name {
            return Ok(());
        }
        Err(self.fault(start, DecodeErrorKind::UnknownName, shape.name, "another name"))
    }

    #[cold]
    fn unknown_key(&mut self, start: usize, shape: &Shape<'_>) -> Box<DecodeError> {
        self.at = start;
        let name = self.string("a key").unwrap_or_default();
        let keys: Vec<_> = shape.keys.iter().map(|key| key.name()).collect();
        let expected = format!("a key of {} ({})", shape.what(), keys.join(", "));
        self.fault(start, DecodeErrorKind::UnknownKey, expected, format!("the key {}", quoted(name)))
    }

    #[cold]
    fn missing_key(&self, members: &Members<'_>) -> Box<DecodeError> {
        let missing = members.shape.keys.iter().find(|key| !members.given.contains(**key));
        let expected = format!("the key {:?}", missing.map_or("", |key| key.name()));
        let found = format!("the end of {}", members.shape.what());
        self.fault(self.at, DecodeErrorKind::MissingKey, expected, found)
    }

    /// Returns the first fault of the object at hand, whose discriminator is missing, unknown or behind a fault.
    #[cold]
    pub(super) fn diagnose<K: Kind>(&mut self) -> Box<DecodeError> {
        let mut keys = vec![K::KEY];
        for key in K::shapes().flat_map(|shape| shape.keys) {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        let any = Shape::new(K::ANY, None, &keys);
        self.first_fault::<K>(&any).err().unwrap_or_else(|| {
            let missing = format!("the key {:?}", K::KEY.name());
            self.fault(self.at - 1, DecodeErrorKind::MissingKey, missing, format!("the end of {}", K::ANY))
        })
    }

    /// Looks for a fault in an object that may have the keys of `any`.
    fn first_fault<K: Kind>(&mut self, any: &Shape<'_>) -> Decoded<()> {
        let mut members = self.object(any)?;
        loop {
            self.white_space();
            // Which keys are missing depends on the discriminator.
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(());
            }
            if self.next_member(&mut members)? == Some(K::KEY) {
                self.known_name::<K>()?;
            } else {
                self.pass_value()?;
            }
        }
    }

    /// Passes a discriminator, which has to be the name of a kind.
    fn known_name<K: Kind>(&mut self) -> Decoded<()> {
        let start = self.at;
        let name = self.string(K::NAME)?;
        if K::parse(name).is_some() {
            return Ok(());
        }
        let names: Vec<_> = K::shapes().map(|shape| shape.name).collect();
        let (last, others) = names.split_last().expect("there are kinds");
        let expected = format!("{}: {} or {last}", K::NAME, others.join(", "));
        Err(self.fault(start, DecodeErrorKind::UnknownName, expected, quoted(name)))
    }
}
