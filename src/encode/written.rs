//! Recorded values compared and printed by what a full trace writes for them. Bounded by the depth limit whatever is
//! compared, and the same for a live value as for its recorded form.

use std::fmt;

use super::value_to_json;
use crate::names::ValueCapture;
use crate::value::RecordedValue;

impl PartialEq for RecordedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        value_to_json(self, ValueCapture::Full) == value_to_json(other, ValueCapture::Full)
    }
}

impl fmt::Debug for RecordedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&value_to_json(self, ValueCapture::Full))
    }
}
