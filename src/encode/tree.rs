//! Recorded values: trees that stand in an event already. They are written without the guards that a value's own code
//! needs, and a value without parts goes out in one row with what stands around it.
//!
//! The functions that call themselves level by level write nothing on their own: without optimisation the stack that a row
//! takes would be kept at each level until the innermost part is written.

use super::buffer::Part;
use super::parts::{Finite, Tail};
use super::shapes;
use super::value::{Encoder, ValueWriter};
use crate::value::{RecordedEnum, RecordedField, RecordedValue, TraceValue, type_names};

impl Encoder {
    /// Writes one argument or result whole, and `after` behind it. If code of its own panics, fails or says nothing, it is
    /// replaced from its first byte.
    #[inline(always)]
    pub(super) fn whole(&mut self, value: &RecordedValue<'_>, after: Tail) {
        if is_leaf(value) {
            return self.leaf(value, after);
        }
        self.begin_whole();
        match *value {
            RecordedValue::Live(value) => self.live(value, after),
            _ => self.branch(value, after),
        }
        self.end_whole(value, after);
    }

    /// Writes `value`, and `after` behind it.
    #[inline]
    pub(super) fn recorded_value(&mut self, value: &RecordedValue<'_>, after: Tail) {
        if is_leaf(value) {
            self.leaf(value, after);
        } else {
            self.branch(value, after);
        }
    }

    /// Writes a value that is no leaf, and `after`.
    fn branch(&mut self, value: &RecordedValue<'_>, after: Tail) {
        match *value {
            RecordedValue::Array(items) => {
                if self.admits_container(type_names::ARRAY, after) {
                    self.open_array();
                    self.items(items);
                    self.close_container(after);
                }
            }
            RecordedValue::Enum(value) => {
                if self.admits_container(value.name, after) {
                    match value.payload {
                        [only] if is_leaf(only) => self.enum_of_a_leaf(value, only, after),
                        payload => {
                            self.open_enum(value.name, value.case);
                            self.items(payload);
                            self.close_container(after);
                        }
                    }
                }
            }
            RecordedValue::Struct(value) => {
                if self.admits_container(value.name, after) {
                    self.open_struct(value.name);
                    self.fields(value.fields);
                    self.close_container(after);
                }
            }
            RecordedValue::Live(value) => self.live(value, after),
            _ => self.leaf(value, after),
        }
    }

    fn items(&mut self, items: &[RecordedValue<'_>]) {
        self.open += 1;
        if let Some((last, others)) = items.split_last() {
            for item in others {
                self.recorded_value(item, Tail::COMMA);
            }
            self.recorded_value(last, Tail::NONE);
        }
        self.open -= 1;
    }

    fn fields(&mut self, fields: &[RecordedField<'_>]) {
        self.open += 1;
        if let Some((last, others)) = fields.split_last() {
            for field in others {
                self.field(field, shapes::FIELD_END_AND_NEXT);
            }
            self.field(last, shapes::FIELD_END);
        }
        self.open -= 1;
    }

    #[inline]
    fn field(&mut self, field: &RecordedField<'_>, after: Tail) {
        if is_leaf(&field.value) {
            self.field_of_a_leaf(field, after);
        } else {
            self.open_field(field.name, true);
            self.branch(&field.value, after);
        }
    }

    #[inline(always)]
    fn live(&mut self, value: &dyn TraceValue, after: Tail) {
        ValueWriter::new(self).live(value);
        self.line.put(after);
    }

    fn leaf(&mut self, value: &RecordedValue<'_>, after: Tail) {
        self.surrounded_leaf(b"", value, after);
    }

    fn enum_of_a_leaf(&mut self, value: &RecordedEnum<'_>, leaf: &RecordedValue<'_>, after: Tail) {
        self.surrounded_leaf(shapes::enum_start(value.name, value.case), leaf, (shapes::container_end(), after));
    }

    fn field_of_a_leaf(&mut self, field: &RecordedField<'_>, after: Tail) {
        self.surrounded_leaf(shapes::field_start(field.name), &field.value, after);
    }

    /// Writes `before`, a leaf, and `after`, all in one row, out of the caller's way.
    #[inline(never)]
    pub(super) fn leaf_in_a_row(&mut self, before: impl Part, leaf: &RecordedValue<'_>, after: impl Part) {
        self.surrounded_leaf(before, leaf, after);
    }

    /// Writes `before`, a leaf, and `after`, all in one row.
    #[inline(always)]
    fn surrounded_leaf(&mut self, before: impl Part, leaf: &RecordedValue<'_>, after: impl Part) {
        let line = &mut self.line;
        match *leaf {
            RecordedValue::Unit => line.put((before, shapes::unit(), after)),
            RecordedValue::Bool(value) => line.put((before, shapes::bool(value), after)),
            RecordedValue::Int(value) => line.put((before, shapes::int(value), after)),
            RecordedValue::Float(value) => match Finite::new(value) {
                Some(value) => line.put((before, shapes::float(value), after)),
                None => line.put((before, shapes::opaque(type_names::FLOAT, shapes::not_finite(value)), after)),
            },
            RecordedValue::Duration { ns } => line.put((before, shapes::duration(ns), after)),
            RecordedValue::String(text) => line.put((before, shapes::string(text), after)),
            RecordedValue::Resource(value) => line.put((before, shapes::resource(value.name, value.id), after)),
            RecordedValue::Redacted { of } => line.put((before, shapes::redacted(of), after)),
            RecordedValue::Opaque(value) => line.put((before, shapes::opaque(value.of, value.shown), after)),
            RecordedValue::Array(_) | RecordedValue::Enum(_) | RecordedValue::Struct(_) | RecordedValue::Live(_) => {
                self.silent();
            }
        }
    }
}

/// What `value` is `Ok` of, if that is a leaf.
#[inline(always)]
pub(super) fn ok_of_a_leaf<'v>(value: &RecordedValue<'v>) -> Option<&'v RecordedValue<'v>> {
    match value {
        RecordedValue::Enum(RecordedEnum { name: "Result", case: "Ok", payload: [leaf] }) if is_leaf(leaf) => {
            Some(leaf)
        }
        _ => None,
    }
}

/// Whether a value is written in one row: it has no parts, and no code of its own.
#[inline(always)]
fn is_leaf(value: &RecordedValue<'_>) -> bool {
    !matches!(
        value,
        RecordedValue::Array(_) | RecordedValue::Enum(_) | RecordedValue::Struct(_) | RecordedValue::Live(_)
    )
}
