//! The value encoding with keys in any order and white space between tokens.

use std::slice;

use super::keys::{Key, KeySet};
use super::{DEEPEST_IN_ANY_ORDER, Quick, inside, number};
use crate::cost::count_examined;
use crate::decode::value::Kind;
use crate::value::{RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue};

/// What stands under the key `value` of a value.
#[derive(Clone, Copy)]
enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    /// What begins with a number of a type not known yet, and how much of it that is.
    Number(&'a [u8], usize),
}

impl<'a> Quick<'a, '_> {
    /// A text that is one value and nothing else.
    pub(super) fn lone_any_value(&mut self) -> Option<RecordedValue<'a>> {
        self.white_space();
        let value = self.any_value(1)?;
        self.only_white_space_follows().then_some(value)
    }

    /// The value that comes next, which stands at `level`, the outermost at 1.
    pub(super) fn any_value(&mut self, level: usize) -> Option<RecordedValue<'a>> {
        self.fixed(b"{")?;
        let (mut keys, mut kind, mut scalar, mut whole) = (KeySet::EMPTY, None, Scalar::Bool(false), 0);
        // Keys that no kind of value has both of share a place.
        let (mut name, mut second, mut values, mut fields) = ("", "", &[][..], &[][..]);
        loop {
            self.white_space();
            match self.key(&mut keys)? {
                Key::Type => kind = Some(Kind::parse(self.quoted_name()?)?),
                Key::Value => scalar = self.scalar(kind)?,
                Key::Ns | Key::Id => whole = self.signed()?,
                Key::Name | Key::Of => name = self.quoted_name()?,
                Key::Case => second = self.quoted_name()?,
                Key::Shown => second = self.quoted_text()?,
                Key::Items | Key::Payload => values = self.any_values(inside(level, DEEPEST_IN_ANY_ORDER)?)?,
                Key::Fields => fields = self.any_fields(inside(level, DEEPEST_IN_ANY_ORDER)?)?,
                _ => return None,
            }
            if self.is_last(b'}')? {
                break;
            }
        }
        let kind = kind?;
        if keys != asked_for(kind) {
            return None;
        }
        Some(match kind {
            Kind::Unit => RecordedValue::Unit,
            Kind::Bool => match scalar {
                Scalar::Bool(value) => RecordedValue::Bool(value),
                _ => return None,
            },
            Kind::Int => RecordedValue::Int(scalar.int()?),
            Kind::Float => RecordedValue::Float(scalar.float()?),
            Kind::String => match scalar {
                Scalar::Text(text) => RecordedValue::String(text),
                _ => return None,
            },
            Kind::Duration => RecordedValue::Duration { ns: whole },
            Kind::Array => RecordedValue::Array(values),
            Kind::Enum => RecordedValue::Enum(self.arena.one(RecordedEnum { name, case: second, payload: values })),
            Kind::Struct => RecordedValue::Struct(self.arena.one(RecordedStruct { name, fields })),
            Kind::Resource => RecordedValue::Resource(self.arena.one(RecordedResource { name, id: whole })),
            Kind::Redacted => RecordedValue::Redacted { of: name },
            Kind::Opaque => RecordedValue::Opaque(self.arena.one(RecordedOpaque { of: name, shown: second })),
        })
    }

    /// What stands under the key `value`, in a value of that kind, if it is known already.
    #[inline(always)]
    fn scalar(&mut self, kind: Option<Kind>) -> Option<Scalar<'a>> {
        Some(match (self.rest.first()?, kind) {
            (b'"', _) => Scalar::Text(self.quoted_text()?),
            (_, Some(Kind::Int)) => Scalar::Int(self.signed()?),
            (_, Some(Kind::Float)) => {
                let (float, rest) = number::float(self.rest)?;
                self.rest = rest;
                Scalar::Float(float)
            }
            (b't' | b'f', _) => Scalar::Bool(self.bool()?),
            _ => {
                let number = self.rest;
                let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = number.iter().position(|byte| !part(byte))?;
                count_examined(len);
                self.rest = &number[len..];
                Scalar::Number(number, len)
            }
        })
    }

    /// An array of values, each of which stands at `level`.
    pub(super) fn any_values(&mut self, level: usize) -> Option<&'a [RecordedValue<'a>]> {
        if self.begins_empty()? {
            return Some(&[]);
        }
        let first = self.any_value(level)?;
        if self.is_last(b']')? {
            return Some(slice::from_ref(self.arena.one(first)));
        }
        let below = self.scratch().values.len();
        self.scratch().values.push(first);
        loop {
            self.white_space();
            let value = self.any_value(level)?;
            self.scratch().values.push(value);
            if self.is_last(b']')? {
                return Some(self.gather_values(below));
            }
        }
    }

    /// An array of fields, whose values stand at `level`.
    fn any_fields(&mut self, level: usize) -> Option<&'a [RecordedField<'a>]> {
        if self.begins_empty()? {
            return Some(&[]);
        }
        let below = self.scratch().fields.len();
        loop {
            self.white_space();
            let field = self.any_field(level)?;
            self.scratch().fields.push(field);
            if self.is_last(b']')? {
                return Some(self.gather_fields(below));
            }
        }
    }

    fn any_field(&mut self, level: usize) -> Option<RecordedField<'a>> {
        self.fixed(b"{")?;
        let mut field = RecordedField { name: "", value: RecordedValue::Unit };
        let mut keys = KeySet::EMPTY;
        loop {
            self.white_space();
            match self.key(&mut keys)? {
                Key::Name => field.name = self.quoted_name()?,
                Key::Value => field.value = self.any_value(level)?,
                _ => return None,
            }
            if self.is_last(b'}')? {
                break;
            }
        }
        (keys == const { KeySet::of(&[Key::Name, Key::Value]) }).then_some(field)
    }

    /// Passes the opening bracket of an array, and the closing one if that follows; whether it does.
    #[inline(always)]
    fn begins_empty(&mut self) -> Option<bool> {
        self.fixed(b"[")?;
        self.white_space();
        Some(self.take(b"]"))
    }
}

impl Scalar<'_> {
    #[inline(always)]
    fn int(self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(number),
            Self::Number(bytes, len) => {
                number::signed(bytes).filter(|(_, rest)| bytes.len() - rest.len() == len).map(|(number, _)| number)
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn float(self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(number),
            Self::Number(bytes, len) => {
                number::float(bytes).filter(|(_, rest)| bytes.len() - rest.len() == len).map(|(number, _)| number)
            }
            _ => None,
        }
    }
}

/// The keys of that kind of value.
const fn asked_for(kind: Kind) -> KeySet {
    match kind {
        Kind::Unit => const { KeySet::of(&[Key::Type]) },
        Kind::Bool | Kind::Int | Kind::Float | Kind::String => const { KeySet::of(&[Key::Type, Key::Value]) },
        Kind::Duration => const { KeySet::of(&[Key::Type, Key::Ns]) },
        Kind::Array => const { KeySet::of(&[Key::Type, Key::Items]) },
        Kind::Enum => const { KeySet::of(&[Key::Type, Key::Name, Key::Case, Key::Payload]) },
        Kind::Struct => const { KeySet::of(&[Key::Type, Key::Name, Key::Fields]) },
        Kind::Resource => const { KeySet::of(&[Key::Type, Key::Name, Key::Id]) },
        Kind::Redacted => const { KeySet::of(&[Key::Type, Key::Of]) },
        Kind::Opaque => const { KeySet::of(&[Key::Type, Key::Of, Key::Shown]) },
    }
}
