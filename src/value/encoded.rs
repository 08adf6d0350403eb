//! [`Encoded`]: a value that was encoded before.

use std::borrow::Cow;

use super::isolation::{type_name_of, value_to_json};
use super::writer::{TraceValue, ValueWriter};
use crate::names::ValueCapture;

/// An argument or a result as it was at one moment. It must not be a part of another value, whose depth it does not
/// know.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    type_name: Box<str>,
    /// Empty if there was no memory for it.
    json: Box<str>,
}

impl Encoded {
    pub(crate) fn new(value: &impl TraceValue) -> Self {
        let json = value_to_json(value, ValueCapture::Full).into();
        Self { type_name: type_name_of(value).into(), json }
    }
}

impl TraceValue for Encoded {
    fn type_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.type_name)
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.encoded(&self.json);
    }
}
