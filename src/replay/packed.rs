//! Results as a replay keeps them: in a form of its own, which is smaller than the trace's and is turned into a value without
//! looking at a character twice. Written when a trace is loaded, read when a call is answered, and never stored.
//!
//! A value is a tag, then numbers of eight bytes, texts with their length before them, and parts with their count before
//! them. Lengths and counts take seven bits of each byte, the lowest first, and the eighth says that another byte follows.

use crate::value::{RecordedValue, Value, ValueField};

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

/// Appends a value of which no part is missing. A part that is would be packed as a unit.
pub(super) fn pack(value: &RecordedValue<'_>, out: &mut Vec<u8>) {
    match *value {
        RecordedValue::Unit | RecordedValue::Redacted { .. } | RecordedValue::Opaque(_) | RecordedValue::Live(_) => {
            out.push(UNIT);
        }
        RecordedValue::Bool(value) => out.push(if value { TRUE } else { FALSE }),
        RecordedValue::Int(value) => number(INT, value.to_le_bytes(), out),
        RecordedValue::Float(value) => number(FLOAT, value.to_bits().to_le_bytes(), out),
        RecordedValue::Duration { ns } => number(DURATION, ns.to_le_bytes(), out),
        RecordedValue::String(value) => {
            out.push(STRING);
            text(value, out);
        }
        RecordedValue::Array(items) => {
            out.push(ARRAY);
            length(items.len(), out);
            items.iter().for_each(|item| pack(item, out));
        }
        RecordedValue::Enum(value) => {
            out.push(ENUM);
            text(value.name, out);
            text(value.case, out);
            length(value.payload.len(), out);
            value.payload.iter().for_each(|item| pack(item, out));
        }
        RecordedValue::Struct(value) => {
            out.push(STRUCT);
            text(value.name, out);
            length(value.fields.len(), out);
            for field in value.fields {
                text(field.name, out);
                pack(&field.value, out);
            }
        }
        RecordedValue::Resource(value) => {
            number(RESOURCE, value.id.to_le_bytes(), out);
            text(value.name, out);
        }
    }
}

fn number(tag: u8, bytes: [u8; 8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&bytes);
}

fn text(text: &str, out: &mut Vec<u8>) {
    length(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

fn length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// The value that was packed into these bytes.
pub(super) fn unpack(bytes: &[u8]) -> Value {
    Unpacker(bytes).value()
}

/// What is not unpacked yet. Bytes that [`pack`] did not write give some value, and never a panic.
struct Unpacker<'a>(&'a [u8]);

impl Unpacker<'_> {
    fn value(&mut self) -> Value {
        match self.byte() {
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INT => Value::Int(i64::from_le_bytes(self.number())),
            FLOAT => Value::Float(f64::from_bits(u64::from_le_bytes(self.number()))),
            DURATION => Value::Duration { ns: i64::from_le_bytes(self.number()) },
            STRING => Value::String(self.text()),
            ARRAY => Value::Array(self.values().into()),
            ENUM => {
                let (name, case) = (self.text(), self.text());
                Value::Enum { name, case, payload: self.values().into() }
            }
            STRUCT => {
                let name = self.text();
                Value::Struct { name, fields: self.fields().into() }
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

    fn fields(&mut self) -> Vec<ValueField<Value>> {
        let count = self.count();
        let mut fields = Vec::with_capacity(count);
        for _ in 0..count {
            let name = self.text();
            fields.push(ValueField { name, value: self.value() });
        }
        fields
    }

    /// A count of parts, each of which takes a byte or more.
    fn count(&mut self) -> usize {
        self.length().min(self.0.len())
    }

    fn text(&mut self) -> String {
        let length = self.length();
        let bytes = self.take(length);
        std::str::from_utf8(bytes).unwrap_or_default().to_owned()
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
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
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
        let field = |name: &str, value| ValueField { name: name.into(), value };
        let mut nested = OwnedValue::Unit;
        for _ in 0..126 {
            nested = OwnedValue::Array(vec![nested].into());
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
            OwnedValue::Array(vec![].into()),
            OwnedValue::Array((0..300).map(OwnedValue::Int).collect()),
            OwnedValue::Enum { name: "Result".into(), case: "Ok".into(), payload: vec![string("x")].into() },
            OwnedValue::Struct { name: "S".into(), fields: vec![field("a", string("x")), field("a", nested)].into() },
            OwnedValue::Struct { name: "S".into(), fields: vec![].into() },
            OwnedValue::Resource { name: "File".into(), id: -3 },
        ];
        for value in cases {
            let arena = Arena::new();
            let view = value.view(&arena);
            let mut packed = Vec::new();
            pack(&view, &mut packed);
            assert_eq!(Some(unpack(&packed)), view.to_value().ok());
        }
    }

    #[test]
    fn no_bytes_are_too_strange() {
        for first in 0..=u8::MAX {
            for rest in [&[][..], &[0xff; 40], &[0x7f; 3], &[1, 6, 2, 0xc3]] {
                let bytes = [&[first], rest].concat();
                let _ = unpack(&bytes);
            }
        }
    }
}
