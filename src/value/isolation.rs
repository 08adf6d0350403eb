//! Keeps a value's own code from breaking the line: panics, silence, depth and size.

use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::encoder::{Encoder, Fault};
use super::writer::{TraceValue, ValueWriter};
use crate::line::Stop;
use crate::names::ValueCapture;

/// The type name of a value that panics when asked for it.
const UNKNOWN_TYPE: &str = "Unknown";

impl Encoder {
    /// Writes one argument or result, or its redaction.
    #[inline(always)]
    pub(crate) fn value<V: TraceValue + ?Sized>(&mut self, value: &V, capture: ValueCapture) {
        match capture {
            ValueCapture::Full => self.isolated(value),
            ValueCapture::Redacted => self.redaction(value),
        }
    }

    /// Writes one argument or result. If it panics, fails, writes nothing, or makes the line longer than its limit, it
    /// is replaced by an opaque that says so.
    #[inline(always)]
    fn isolated<V: TraceValue + ?Sized>(&mut self, value: &V) {
        if self.line.stopped().is_some() {
            return;
        }
        let start = self.line.len();
        let written = catch_unwind(AssertUnwindSafe(|| {
            self.expect_value(|encoder| value.write(ValueWriter::new(encoder)));
        }));
        if let Err(panic) = written {
            discard(panic);
            self.fail();
        }
        if let Some(stop) = self.line.stopped() {
            self.replace(value, start, stop);
        }
    }

    #[cold]
    #[inline(never)]
    fn replace<V: TraceValue + ?Sized>(&mut self, value: &V, start: usize, stop: Stop) {
        if stop == Stop::OutOfMemory {
            return;
        }
        self.line.resume(start);
        self.depth = 0;
        let of = type_name_of(value);
        match self.fault.take() {
            Some(Fault::Failed) => self.opaque(&of, b"failed while being written"),
            Some(Fault::WroteNothing) => self.opaque(&of, b"wrote no value"),
            None => self.opaque(&of, (b"longer than ", self.line_limit as u64, b" bytes")),
        }
    }

    /// Writes the redaction of one argument or result: the name of its type and nothing else.
    fn redaction<V: TraceValue + ?Sized>(&mut self, value: &V) {
        self.line.put((br#"{"type":"redacted","of":""#, &*type_name_of(value), b"\"}"));
    }
}

/// Returns the JSON text of one value as a trace has it, complete or redacted.
///
/// For tests and tools, because it allocates. No limit applies to its length; an empty string means that there was no
/// memory for it.
pub fn value_to_json<V: TraceValue + ?Sized>(value: &V, capture: ValueCapture) -> String {
    let mut text = Vec::new();
    Encoder::append(&mut text, usize::MAX, |encoder| encoder.value(value, capture));
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The type name of a value, even of one that panics when asked for it.
pub(super) fn type_name_of<V: TraceValue + ?Sized>(value: &V) -> Cow<'_, str> {
    catch_unwind(AssertUnwindSafe(|| value.type_name())).unwrap_or_else(|panic| {
        discard(panic);
        Cow::Borrowed(UNKNOWN_TYPE)
    })
}

/// Drops a panic's payload, or another value whose `Drop` may panic. If it does, the new payload is leaked.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(panic);
    }
}
