//! Values: those of an interpreter, those in an event, and those that a replay returns.
//!
//! - [`TraceValue`] is the trait that an interpreter implements on its own values. A value writes itself through a
//!   [`ValueWriter`]. [`writer`] is the schema of values; [`conventions`] writes what has no shape in it; [`isolation`]
//!   protects the line from the value's code.
//! - [`RecordedValue`] is a value in an event: borrowed, and possibly redacted or opaque in parts.
//! - [`Value`] is owned, `Send` and complete. A replay returns it.

pub(crate) mod type_names;

mod encoder;

mod writer;

mod conventions;

mod encoded;

mod isolation;

mod recorded;

mod live_args;

mod replayable;

mod std_types;

use crate::line::LINE_LIMIT;
use crate::names::ValueCapture;

pub(crate) use self::conventions::{Convention, NeverReturned, type_name_of_enum};
pub use self::conventions::{EntryWriter, Thrown};
pub(crate) use self::encoded::Encoded;
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

/// Appends the JSON text of each value to `out`, with a newline after it. Equal values give equal bytes, and the texts
/// contain no newlines, so values can be stored and compared in this form.
///
/// A value longer than a line is replaced as a sink replaces it, so that it equals what was recorded of it.
pub(crate) fn encode_value_lines(values: &[RecordedValue<'_>], capture: ValueCapture, out: &mut Vec<u8>) {
    for value in values {
        let is_whole = Encoder::append(out, LINE_LIMIT, |encoder| encoder.value(value, capture));
        if !is_whole {
            // Even the name of its type is too long, so no sink has recorded it.
            Encoder::append(out, usize::MAX, |encoder| encoder.value(value, capture));
        }
        out.push(b'\n');
    }
}
