//! The value encoding, read back.

use super::error::DecodeErrorKind;
use super::lexer::{Lexer, Step};
use super::shape::Shape;
use crate::value::{
    MAX_VALUE_DEPTH, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue,
};

/// The shapes a value can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Unit,
    Bool,
    Int,
    Float,
    Duration,
    String,
    Array,
    Enum,
    Struct,
    Resource,
    Redacted,
    Opaque,
}

impl Kind {
    const EXPECTED: &'static str =
        "unit, bool, int, float, duration, string, array, enum, struct, resource, redacted or opaque";

    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "unit" => Self::Unit,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "duration" => Self::Duration,
            "string" => Self::String,
            "array" => Self::Array,
            "enum" => Self::Enum,
            "struct" => Self::Struct,
            "resource" => Self::Resource,
            "redacted" => Self::Redacted,
            "opaque" => Self::Opaque,
            _ => return None,
        })
    }

    const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Enum | Self::Struct)
    }
}

/// Every key that some value has.
static ANY: Shape = Shape {
    what: "a value",
    keys: &["type", "value", "ns", "items", "name", "case", "payload", "fields", "id", "of", "shown"],
};
static UNIT: Shape = Shape { what: "a unit value", keys: &["type"] };
static BOOL: Shape = Shape { what: "a bool value", keys: &["type", "value"] };
static INT: Shape = Shape { what: "an int value", keys: &["type", "value"] };
static FLOAT: Shape = Shape { what: "a float value", keys: &["type", "value"] };
static DURATION: Shape = Shape { what: "a duration value", keys: &["type", "ns"] };
static STRING: Shape = Shape { what: "a string value", keys: &["type", "value"] };
static ARRAY: Shape = Shape { what: "an array value", keys: &["type", "items"] };
static ENUM: Shape = Shape { what: "an enum value", keys: &["type", "name", "case", "payload"] };
static STRUCT: Shape = Shape { what: "a struct value", keys: &["type", "name", "fields"] };
static RESOURCE: Shape = Shape { what: "a resource value", keys: &["type", "name", "id"] };
static REDACTED: Shape = Shape { what: "a redacted value", keys: &["type", "of"] };
static OPAQUE: Shape = Shape { what: "an opaque value", keys: &["type", "of", "shown"] };
static FIELD: Shape = Shape { what: "a field", keys: &["name", "value"] };

impl<'a> Lexer<'a, '_> {
    /// A text that is one value and nothing else.
    pub(super) fn lone_value(&mut self) -> Step<RecordedValue<'a>> {
        self.white_space();
        let value = self.value(1)?;
        self.end()?;
        Ok(value)
    }

    /// The value at hand, which stands at `level`, the outermost at 1.
    pub(super) fn value(&mut self, level: usize) -> Step<RecordedValue<'a>> {
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("a value: an object with the key \"type\""));
        }
        let Some((kind, _)) = self.discriminator("type", Kind::parse) else {
            return Err(self.diagnose(&ANY, "a value type", Kind::EXPECTED, |name| Kind::parse(name).is_some()));
        };
        if kind.is_container() && level >= MAX_VALUE_DEPTH {
            let expected = format!("values nested at most {MAX_VALUE_DEPTH} deep");
            return Err(self.fault(self.at, DecodeErrorKind::TooDeep, expected, "a deeper one"));
        }
        match kind {
            Kind::Unit => self.unit(),
            Kind::Bool => self.bool_value(),
            Kind::Int => self.int_value(),
            Kind::Float => self.float_value(),
            Kind::Duration => self.duration_value(),
            Kind::String => self.string_value(),
            Kind::Array => self.array_value(level),
            Kind::Enum => self.enum_value(level),
            Kind::Struct => self.struct_value(level),
            Kind::Resource => self.resource_value(),
            Kind::Redacted => self.redacted_value(),
            Kind::Opaque => self.opaque_value(),
        }
    }

    fn unit(&mut self) -> Step<RecordedValue<'a>> {
        let mut members = self.object(&UNIT)?;
        while self.next_member(&mut members)?.is_some() {
            self.discriminator_again()?;
        }
        Ok(RecordedValue::Unit)
    }

    fn bool_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = false;
        let mut members = self.object(&BOOL)?;
        while let Some(key) = self.next_member(&mut members)? {
            match BOOL.keys[key] {
                "value" => value = self.bool()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Bool(value))
    }

    fn int_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = 0;
        let mut members = self.object(&INT)?;
        while let Some(key) = self.next_member(&mut members)? {
            match INT.keys[key] {
                "value" => value = self.signed()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Int(value))
    }

    fn float_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = 0.0;
        let mut members = self.object(&FLOAT)?;
        while let Some(key) = self.next_member(&mut members)? {
            match FLOAT.keys[key] {
                "value" => value = self.float()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Float(value))
    }

    fn duration_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut ns = 0;
        let mut members = self.object(&DURATION)?;
        while let Some(key) = self.next_member(&mut members)? {
            match DURATION.keys[key] {
                "ns" => ns = self.signed()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Duration { ns })
    }

    fn string_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = "";
        let mut members = self.object(&STRING)?;
        while let Some(key) = self.next_member(&mut members)? {
            match STRING.keys[key] {
                "value" => value = self.text()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::String(value))
    }

    fn array_value(&mut self, level: usize) -> Step<RecordedValue<'a>> {
        let mut items: &[_] = &[];
        let mut members = self.object(&ARRAY)?;
        while let Some(key) = self.next_member(&mut members)? {
            match ARRAY.keys[key] {
                "items" => items = self.values(level + 1)?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Array(items))
    }

    fn enum_value(&mut self, level: usize) -> Step<RecordedValue<'a>> {
        let mut value = RecordedEnum { name: "", case: "", payload: &[] };
        let mut members = self.object(&ENUM)?;
        while let Some(key) = self.next_member(&mut members)? {
            match ENUM.keys[key] {
                "name" => value.name = self.text()?,
                "case" => value.case = self.text()?,
                "payload" => value.payload = self.values(level + 1)?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Enum(self.arena.one(value)))
    }

    fn struct_value(&mut self, level: usize) -> Step<RecordedValue<'a>> {
        let mut value = RecordedStruct { name: "", fields: &[] };
        let mut members = self.object(&STRUCT)?;
        while let Some(key) = self.next_member(&mut members)? {
            match STRUCT.keys[key] {
                "name" => value.name = self.text()?,
                "fields" => value.fields = self.fields(level + 1)?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Struct(self.arena.one(value)))
    }

    fn resource_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = RecordedResource { name: "", id: 0 };
        let mut members = self.object(&RESOURCE)?;
        while let Some(key) = self.next_member(&mut members)? {
            match RESOURCE.keys[key] {
                "name" => value.name = self.text()?,
                "id" => value.id = self.signed()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Resource(self.arena.one(value)))
    }

    fn redacted_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut of = "";
        let mut members = self.object(&REDACTED)?;
        while let Some(key) = self.next_member(&mut members)? {
            match REDACTED.keys[key] {
                "of" => of = self.text()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Redacted { of })
    }

    fn opaque_value(&mut self) -> Step<RecordedValue<'a>> {
        let mut value = RecordedOpaque { of: "", shown: "" };
        let mut members = self.object(&OPAQUE)?;
        while let Some(key) = self.next_member(&mut members)? {
            match OPAQUE.keys[key] {
                "of" => value.of = self.text()?,
                "shown" => value.shown = self.text()?,
                _ => self.discriminator_again()?,
            }
        }
        Ok(RecordedValue::Opaque(self.arena.one(value)))
    }

    /// An array of values, each of which stands at `level`.
    pub(super) fn values(&mut self, level: usize) -> Step<&'a [RecordedValue<'a>]> {
        self.expect(b'[', "an array of values")?;
        let below = self.scratch.values.len();
        let mut first = true;
        while self.next_item(&mut first)? {
            let value = self.value(level)?;
            self.scratch.values.push(value);
        }
        let items = self.arena.slice(&self.scratch.values[below..]);
        self.scratch.values.truncate(below);
        Ok(items)
    }

    /// An array of fields, whose values stand at `level`.
    fn fields(&mut self, level: usize) -> Step<&'a [RecordedField<'a>]> {
        self.expect(b'[', "an array of fields")?;
        let below = self.scratch.fields.len();
        let mut first = true;
        while self.next_item(&mut first)? {
            let field = self.field(level)?;
            self.scratch.fields.push(field);
        }
        let fields = self.arena.slice(&self.scratch.fields[below..]);
        self.scratch.fields.truncate(below);
        Ok(fields)
    }

    fn field(&mut self, level: usize) -> Step<RecordedField<'a>> {
        let mut field = RecordedField { name: "", value: RecordedValue::Unit };
        let mut members = self.object(&FIELD)?;
        while let Some(key) = self.next_member(&mut members)? {
            match FIELD.keys[key] {
                "name" => field.name = self.text()?,
                _ => field.value = self.value(level)?,
            }
        }
        Ok(field)
    }

    /// Whether another item of the array follows, and if so puts it at hand; otherwise passes the closing bracket.
    pub(super) fn next_item(&mut self, first: &mut bool) -> Step<bool> {
        self.white_space();
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                return Ok(false);
            }
            _ if std::mem::take(first) => return Ok(true),
            Some(b',') => self.at += 1,
            _ => return Err(self.misplaced("`,` or `]`")),
        }
        self.white_space();
        if self.peek() == Some(b']') {
            return Err(self.misplaced("another item"));
        }
        Ok(true)
    }

    pub(super) fn text(&mut self) -> Step<&'a str> {
        self.string("a string")
    }

    pub(super) fn bool(&mut self) -> Step<bool> {
        if self.take_word("true") {
            Ok(true)
        } else if self.take_word("false") {
            Ok(false)
        } else {
            Err(self.unexpected("true or false"))
        }
    }

    /// Passes the name that has told the object's shape already, and so is a string.
    pub(super) fn discriminator_again(&mut self) -> Step<()> {
        self.pass_string()
    }
}
