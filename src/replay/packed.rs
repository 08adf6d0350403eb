//! Results as a replay keeps them: in a form of its own, which is smaller than the trace's and is turned into a value
//! without looking at a character twice. Written when a trace is loaded, read when a call is answered, and never
//! stored.
//!
//! A value is a tag, then numbers of eight bytes, the lengths of its texts, and parts with their count before them.
//! Lengths and counts take seven bits of each byte, the lowest first, and the eighth says that another byte follows.
//! The texts stand apart, one after the other in a string: cut out of one, a text need not be looked through for bytes
//! that are none.

use crate::value::{RecordedValue, Value};

const UNIT: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const DURATION: u8 = 5;
const STRING: u8 = 6;
const ARRAY: u8 = 7;
const ENUM: u8 = 8;
const STRUCT: u8 = 9;
const RESOURCE: u8 = 10;

/// A packed value. Two values are equal when their packed forms are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Packed<'r> {
    pub(super) shape: &'r [u8],
    pub(super) texts: &'r str,
}

/// Packs values behind what stands in these.
pub(super) struct Packer<'o> {
    pub(super) shapes: &'o mut Vec<u8>,
    pub(super) texts: &'o mut String,
}

impl Packer<'_> {
    /// Appends a value of which no part is missing. A part that is would be packed as a unit.
    pub(super) fn pack(&mut self, value: &RecordedValue<'_>) {
        match *value {
            RecordedValue::Unit
            | RecordedValue::Redacted { .. }
            | RecordedValue::Opaque(_)
            | RecordedValue::Live(_) => self.shapes.push(UNIT),
            RecordedValue::Bool(value) => self.shapes.push(if value { TRUE } else { FALSE }),
            RecordedValue::Int(value) => self.number(INT, value.to_le_bytes()),
            RecordedValue::Float(value) => self.number(FLOAT, value.to_bits().to_le_bytes()),
            RecordedValue::Duration { ns } => self.number(DURATION, ns.to_le_bytes()),
            RecordedValue::String(value) => {
                self.shapes.push(STRING);
                self.text(value);
            }
            RecordedValue::Array(items) => {
                self.shapes.push(ARRAY);
                self.length(items.len());
                items.iter().for_each(|item| self.pack(item));
            }
            RecordedValue::Enum(value) => {
                self.shapes.push(ENUM);
                self.text(value.name);
                self.text(value.case);
                self.length(value.payload.len());
                value.payload.iter().for_each(|item| self.pack(item));
            }
            RecordedValue::Struct(value) => {
                self.shapes.push(STRUCT);
                self.text(value.name);
                self.length(value.fields.len());
                for field in value.fields {
                    self.text(field.name);
                    self.pack(&field.value);
                }
            }
            RecordedValue::Resource(value) => {
                self.number(RESOURCE, value.id.to_le_bytes());
                self.text(value.name);
            }
        }
    }

    fn number(&mut self, tag: u8, bytes: [u8; 8]) {
        self.shapes.push(tag);
        self.shapes.extend_from_slice(&bytes);
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.texts.push_str(text);
    }

    fn length(&mut self, mut length: usize) {
        while length >= 0x80 {
            self.shapes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.shapes.push(length as u8);
    }
}

impl Packed<'_> {
    /// The value that was packed into this. What [`Packer`] did not make gives some value, and never a panic.
    pub(super) fn unpack(self) -> Value {
        Unpacker(self).value()
    }
}

/// What is not unpacked yet.
struct Unpacker<'p>(Packed<'p>);

impl Unpacker<'_> {
    fn value(&mut self) -> Value {
        match self.byte() {
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INT => Value::Int(i64::from_le_bytes(self.number())),
            FLOAT => Value::Float(f64::from_bits(u64::from_le_bytes(self.number()))),
            DURATION => Value::Duration { ns: i64::from_le_bytes(self.number()) },
            STRING => Value::String(self.text()),
            ARRAY => Value::Array(self.values()),
            ENUM => {
                let (name, case) = (self.text(), self.text());
                Value::from_enum(name, case, self.values())
            }
            STRUCT => {
                let name = self.text();
                Value::Struct { name, fields: self.fields() }
            }
            RESOURCE => {
                let id = i64::from_le_bytes(self.number());
                Value::Resource { name: self.text(), id }
            }
            _ => Value::Unit,
        }
    }

    fn values(&mut self) -> Vec<Value> {
        let count = self.count();
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.value());
        }
        values
    }

    fn fields(&mut self) -> Vec<(String, Value)> {
        let count = self.count();
        let mut fields = Vec::with_capacity(count);
        for _ in 0..count {
            let name = self.text();
            fields.push((name, self.value()));
        }
        fields
    }

    /// A count of parts, each of which takes a byte or more.
    fn count(&mut self) -> usize {
        self.length().min(self.0.shape.len())
    }

    fn text(&mut self) -> String {
        let length = self.length();
        let (text, rest) = self.0.texts.split_at_checked(length).unwrap_or_default();
        self.0.texts = rest;
        text.to_owned()
    }

    fn length(&mut self) -> usize {
        let mut length = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte();
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        length
    }

    fn number(&mut self) -> [u8; 8] {
        self.take(8).try_into().unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.0.shape.split_at(count.min(self.0.shape.len()));
        self.0.shape = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::owned::OwnedValue;

    fn string(text: &str) -> OwnedValue {
        OwnedValue::String(text.into())
    }

    #[test]
    fn every_shape_is_the_same_after_it() {
        let field = |name: &str, value| (name.into(), value);
        let mut nested = OwnedValue::Unit;
        for _ in 0..126 {
            nested = OwnedValue::Array(vec![nested]);
        }
        let long = "é".repeat(100_000);
        let cases = [
            OwnedValue::Unit,
            OwnedValue::Bool(true),
            OwnedValue::Bool(false),
            OwnedValue::Int(i64::MIN),
            OwnedValue::Float(-0.0),
            OwnedValue::Float(5e-324),
            OwnedValue::Duration { ns: -1 },
            string(""),
            string("a\n\"\0😀"),
            string(&long[..126]),
            string(&long[..128]),
            string(&long),
            OwnedValue::Array(vec![]),
            OwnedValue::Array((0..300).map(OwnedValue::Int).collect()),
            OwnedValue::Enum { name: "Result".into(), case: "Ok".into(), payload: vec![string("x")] },
            OwnedValue::Struct { name: "S".into(), fields: vec![field("a", string("x")), field("a", nested)] },
            OwnedValue::Struct { name: "S".into(), fields: vec![] },
            OwnedValue::Resource { name: "File".into(), id: -3 },
        ];
        for value in cases {
            let arena = Arena::new();
            let view = value.view(&arena);
            let (mut shapes, mut texts) = (vec![UNIT], "before it".to_owned());
            let (shape_at, text_at) = (shapes.len(), texts.len());
            Packer { shapes: &mut shapes, texts: &mut texts }.pack(&view);
            let packed = Packed { shape: &shapes[shape_at..], texts: &texts[text_at..] };
            assert_eq!(Some(packed.unpack()), view.to_value().ok());
        }
    }

    #[test]
    fn no_bytes_are_too_strange() {
        for first in 0..=u8::MAX {
            for rest in [&[][..], &[0xff; 40], &[0x7f; 3], &[1, 6, 2, 0xc3]] {
                for texts in ["", "é", "some text, and some more"] {
                    let _ = Packed { shape: &[&[first], rest].concat(), texts }.unpack();
                }
            }
        }
    }
}
