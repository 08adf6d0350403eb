//! The value encoding as the encoder writes it.

use std::slice;

use super::{DEEPEST, Quick, inside, number};
use crate::value::{RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue};

/// So many items of an array are gathered without a stack that keeps its memory.
const FEW: usize = 4;

/// What most operations return that return nothing.
const OK: RecordedValue<'static> =
    RecordedValue::Enum(&RecordedEnum { name: "Result", case: "Ok", payload: &[RecordedValue::Unit] });

impl<'a> Quick<'a, '_> {
    /// The value that comes next, which stands at `level`, the outermost at 1.
    pub(super) fn value(&mut self, level: usize) -> Option<RecordedValue<'a>> {
        // The byte that tells most of them apart.
        let value = match self.rest.get(br#"{"type":""#.len())? {
            b's' if self.take(br#"{"type":"string","value":""#) => RecordedValue::String(self.text()?),
            b's' => self.structure(level)?,
            b'i' => {
                self.fixed(br#"{"type":"int","value":"#)?;
                RecordedValue::Int(self.signed()?)
            }
            b'f' => {
                self.fixed(br#"{"type":"float","value":"#)?;
                let (float, rest) = number::float(self.rest)?;
                self.rest = rest;
                RecordedValue::Float(float)
            }
            b'e' => self.enum_case(level)?,
            b'a' => {
                self.fixed(br#"{"type":"array","items":["#)?;
                RecordedValue::Array(self.values(inside(level, DEEPEST)?)?)
            }
            b'u' => {
                self.fixed(br#"{"type":"unit""#)?;
                RecordedValue::Unit
            }
            _ => self.rarer_value()?,
        };
        self.fixed(b"}")?;
        Some(value)
    }

    #[inline(always)]
    fn enum_case(&mut self, level: usize) -> Option<RecordedValue<'a>> {
        if self.take(br#"{"type":"enum","name":"Result","case":"Ok","payload":[{"type":"unit"}]"#) {
            inside(level, DEEPEST)?;
            return Some(OK);
        }
        self.fixed(br#"{"type":"enum","name":""#)?;
        let name = self.name()?;
        self.fixed(br#","case":""#)?;
        let case = self.name()?;
        self.fixed(br#","payload":["#)?;
        let payload = self.values(inside(level, DEEPEST)?)?;
        Some(RecordedValue::Enum(self.arena.one(RecordedEnum { name, case, payload })))
    }

    fn structure(&mut self, level: usize) -> Option<RecordedValue<'a>> {
        self.fixed(br#"{"type":"struct","name":""#)?;
        let name = self.name()?;
        self.fixed(br#","fields":["#)?;
        let fields = self.fields(inside(level, DEEPEST)?)?;
        Some(RecordedValue::Struct(self.arena.one(RecordedStruct { name, fields })))
    }

    fn rarer_value(&mut self) -> Option<RecordedValue<'a>> {
        Some(if self.take(br#"{"type":"duration","ns":"#) {
            RecordedValue::Duration { ns: self.signed()? }
        } else if self.take(br#"{"type":"bool","value":"#) {
            RecordedValue::Bool(self.bool()?)
        } else if self.take(br#"{"type":"resource","name":""#) {
            let name = self.name()?;
            self.fixed(br#","id":"#)?;
            let id = self.signed()?;
            RecordedValue::Resource(self.arena.one(RecordedResource { name, id }))
        } else if self.take(br#"{"type":"redacted","of":""#) {
            RecordedValue::Redacted { of: self.name()? }
        } else {
            self.fixed(br#"{"type":"opaque","of":""#)?;
            let of = self.name()?;
            self.fixed(br#","shown":""#)?;
            let shown = self.text()?;
            RecordedValue::Opaque(self.arena.one(RecordedOpaque { of, shown }))
        })
    }

    /// Values, each of which stands at `level`, and the closing bracket. The opening one is passed.
    #[inline(always)]
    pub(super) fn values(&mut self, level: usize) -> Option<&'a [RecordedValue<'a>]> {
        if self.take(b"]") {
            return Some(&[]);
        }
        let first = self.value(level)?;
        if self.take(b"]") {
            return Some(slice::from_ref(self.arena.one(first)));
        }
        self.more_values(first, level)
    }

    fn more_values(&mut self, first: RecordedValue<'a>, level: usize) -> Option<&'a [RecordedValue<'a>]> {
        let mut few = [first; FEW];
        for len in 1..FEW {
            self.fixed(b",")?;
            few[len] = self.value(level)?;
            if self.take(b"]") {
                // All of them are copied, which is quicker than to count.
                return Some(&self.arena.one(few)[..=len]);
            }
        }
        self.many_values(few, level)
    }

    fn many_values(&mut self, few: [RecordedValue<'a>; FEW], level: usize) -> Option<&'a [RecordedValue<'a>]> {
        let below = self.scratch().values.len();
        self.scratch().values.extend_from_slice(&few);
        loop {
            self.fixed(b",")?;
            let value = self.value(level)?;
            self.scratch().values.push(value);
            if self.take(b"]") {
                break;
            }
        }
        Some(self.gather_values(below))
    }

    /// Fields, whose values stand at `level`, and the closing bracket. The opening one is passed.
    fn fields(&mut self, level: usize) -> Option<&'a [RecordedField<'a>]> {
        if self.take(b"]") {
            return Some(&[]);
        }
        let mut few = [self.field(level)?; FEW];
        if self.take(b"]") {
            return Some(&self.arena.one(few)[..1]);
        }
        for len in 1..FEW {
            self.fixed(b",")?;
            few[len] = self.field(level)?;
            if self.take(b"]") {
                return Some(&self.arena.one(few)[..=len]);
            }
        }
        self.many_fields(few, level)
    }

    fn many_fields(&mut self, few: [RecordedField<'a>; FEW], level: usize) -> Option<&'a [RecordedField<'a>]> {
        let below = self.scratch().fields.len();
        self.scratch().fields.extend_from_slice(&few);
        loop {
            self.fixed(b",")?;
            let field = self.field(level)?;
            self.scratch().fields.push(field);
            if self.take(b"]") {
                break;
            }
        }
        Some(self.gather_fields(below))
    }

    #[inline(always)]
    fn field(&mut self, level: usize) -> Option<RecordedField<'a>> {
        self.fixed(br#"{"name":""#)?;
        let name = self.name()?;
        self.fixed(br#","value":"#)?;
        let value = self.value(level)?;
        self.fixed(b"}")?;
        Some(RecordedField { name, value })
    }
}
