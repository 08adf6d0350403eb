//! Values: what an interpreter hands over, what a trace carries, and what a replay can use.
//!
//! - [`TraceValue`] is the one trait that an interpreter implements, on its own values. Its values write themselves through a
//!   [`ValueWriter`] ([`writer`] is the schema of values; [`isolation`] protects the line from their code).
//! - [`RecordedValue`] stands in an event: borrowed, readable, perhaps redacted or opaque in parts.
//! - [`Value`] is owned, `Send` and whole: what may cross a task boundary, and so what a replay can give back.

mod encoder;
mod isolation;
mod live_args;
mod recorded;
mod replayable;
mod std_types;
pub(crate) mod type_names;
mod writer;

use crate::line::LINE_LIMIT;
use crate::names::ValueCapture;

pub(crate) use self::encoder::Encoder;
pub use self::encoder::MAX_VALUE_DEPTH;
pub(crate) use self::isolation::discard;
pub use self::isolation::value_to_json;
pub use self::live_args::LiveArgs;
pub use self::recorded::{
    RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue,
};
pub use self::replayable::{NotReplayable, Value};
pub(crate) use self::replayable::{impl_owned_value, same_float};
pub use self::writer::{FieldWriter, ItemWriter, TraceValue, ValueWriter};

/// Appends each of `values` to `out` as it stands in a trace, with a newline after it. Equal values give equal bytes, and no
/// encoding has a newline in it, so values can be compared and kept in this form.
pub(crate) fn encode_value_lines(values: &[RecordedValue<'_>], capture: ValueCapture, out: &mut Vec<u8>) {
    for value in values {
        Encoder::append(out, LINE_LIMIT, |encoder| encoder.value(value, capture));
        out.push(b'\n');
    }
}
