//! Values on the slow path.

use super::error::DecodeErrorKind;
use super::lexer::{Decoded, Lexer};
use super::object::{initial, read_object};
use super::schema::{FIELD, Key, ValueKind, field, values};
use crate::value::{
    MAX_VALUE_DEPTH, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue,
};

impl<'a> Lexer<'a, '_> {
    /// Reads a text that has to be one value.
    pub(super) fn lone_value(&mut self) -> Decoded<RecordedValue<'a>> {
        self.white_space();
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    pub(super) fn value(&mut self) -> Decoded<RecordedValue<'a>> {
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("a value: an object with the key \"type\""));
        }
        let Some((kind, _)) = self.discriminator() else {
            return Err(self.diagnose::<ValueKind>());
        };
        let is_container = matches!(kind, ValueKind::Array | ValueKind::Enum | ValueKind::Struct);
        if is_container && self.depth + 1 >= MAX_VALUE_DEPTH {
            let expected = format!("values nested at most {MAX_VALUE_DEPTH} deep");
            return Err(self.fault(self.at, DecodeErrorKind::TooDeep, expected, "a deeper one"));
        }
        macro_rules! read_values {
            (
                $arena:ident;
                $($kind:ident $name:literal {
                    $($($member:ident)+: $read:ident($($key:ident)+)),*
                } => $result:expr;)+
            ) => {
                match kind {
                    $(ValueKind::$kind => {
                        // A function of its own, because values nest and a frame should hold the members of one kind.
                        #[allow(unused_variables, reason = "some kinds need no arena")]
                        #[inline(never)]
                        fn read<'a>(lexer: &mut Lexer<'a, '_>) -> Decoded<RecordedValue<'a>> {
                            let $arena = lexer.arena;
                            read_object!(lexer, ValueKind::$kind.shape(), {
                                $($($member)+: $read($($key)+)),*
                            } => Ok($result))
                        }
                        read(self)
                    })+
                }
            };
        }
        values!(read_values arena arena)
    }

    /// Reads the values inside another value.
    fn values(&mut self) -> Decoded<&'a [RecordedValue<'a>]> {
        self.depth += 1;
        let values = self.args()?;
        self.depth -= 1;
        Ok(values)
    }

    /// Reads an array of values.
    pub(super) fn args(&mut self) -> Decoded<&'a [RecordedValue<'a>]> {
        self.expect(b'[', "an array of values")?;
        let below = self.scratch.values.len();
        let mut is_first = true;
        while self.next_item(&mut is_first)? {
            let value = self.value()?;
            self.scratch.values.push(value);
        }
        let values = self.arena.slice(&self.scratch.values[below..]);
        self.scratch.values.truncate(below);
        Ok(values)
    }

    /// Reads an array of fields.
    fn fields(&mut self) -> Decoded<&'a [RecordedField<'a>]> {
        self.expect(b'[', "an array of fields")?;
        let below = self.scratch.fields.len();
        let mut is_first = true;
        self.depth += 1;
        while self.next_item(&mut is_first)? {
            let field = self.field()?;
            self.scratch.fields.push(field);
        }
        self.depth -= 1;
        let fields = self.arena.slice(&self.scratch.fields[below..]);
        self.scratch.fields.truncate(below);
        Ok(fields)
    }

    fn field(&mut self) -> Decoded<RecordedField<'a>> {
        macro_rules! read_field {
            ({ $($($member:ident)+: $read:ident($($key:ident)+)),* } => $result:expr) => {
                read_object!(self, &FIELD, { $($($member)+: $read($($key)+)),* } => Ok($result))
            };
        }
        field!(read_field)
    }

    pub(super) fn name(&mut self) -> Decoded<&'a str> {
        self.text()
    }

    pub(super) fn text(&mut self) -> Decoded<&'a str> {
        self.string("a string")
    }
}
