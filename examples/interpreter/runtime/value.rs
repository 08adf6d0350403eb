//! rhai's values as a trace writes them.
//!
//! An interpreter needs no more for its values: a wrapper around a borrowed `Dynamic`, the name of its type, and a
//! method that writes it. Nothing is cloned, and no text is built.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use cove_trace::{TraceValue, ValueWriter};
use rhai::{Dynamic, FnPtr};

use super::failure::Refusal;
use super::modules::documents::Document;
use super::modules::tasks::Spawned;

/// A rhai value in a trace event.
pub(crate) struct Traced<'a>(pub(crate) &'a Dynamic);

impl TraceValue for Traced<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        type_name(self.0).into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        let value = self.0;
        if value.is_shared() {
            // A variable that a closure captured. The host gets its content, so the content is recorded.
            match value.read_lock::<Dynamic>() {
                Some(held) => Traced(&held).write(out),
                None => out.opaque(LOCKED, "locked"),
            }
        } else if value.is_unit() {
            out.unit();
        } else if let Ok(truth) = value.as_bool() {
            out.bool(truth);
        } else if let Ok(int) = value.as_int() {
            out.int(int);
        } else if let Ok(float) = value.as_float() {
            out.exact_float(float);
        } else if let Ok(text) = value.as_immutable_string_ref() {
            out.string(&text);
        } else if let Ok(character) = value.as_char() {
            out.string(character.encode_utf8(&mut [0; 4]));
        } else if let Ok(bytes) = value.as_blob_ref() {
            out.byte_string(&bytes);
        } else if let Ok(array) = value.as_array_ref() {
            out.array(|items| items.extend(array.iter().map(Traced)));
        } else if let Ok(map) = value.as_map_ref() {
            out.structure(MAP, |fields| fields.extend(map.iter().map(|(name, value)| (name, Traced(value)))));
        } else if let Some(duration) = value.read_lock::<Duration>() {
            out.duration(*duration);
        } else if let Some(document) = value.read_lock::<Document>() {
            out.resource(DOCUMENT, document.id());
        } else {
            // A function (without its captures), a task, or anything else that a trace cannot represent.
            out.opaque(type_name(value), Shown(value));
        }
    }
}

const MAP: &str = "Map";
const DOCUMENT: &str = "Document";

/// The type name of a captured variable that another thread is writing to.
const LOCKED: &str = "Shared";

/// Returns the name of the type that [`Traced::write`] writes.
fn type_name(value: &Dynamic) -> &'static str {
    if value.is_shared() {
        value.read_lock::<Dynamic>().map_or(LOCKED, |held| type_name(&held))
    } else if value.is_unit() {
        "Unit"
    } else if value.is_bool() {
        "Bool"
    } else if value.is_int() {
        "Int"
    } else if value.is_float() {
        "Float"
    } else if value.is_string() || value.is_char() || value.is_blob() {
        "String"
    } else if value.is_array() {
        "Array"
    } else if value.is_map() {
        MAP
    } else if value.is::<Duration>() {
        "Duration"
    } else if value.is::<Document>() {
        DOCUMENT
    } else if value.is::<Spawned>() {
        "Task"
    } else {
        // rhai names a host type by its Rust path.
        let path = value.type_name();
        path.rsplit_once("::").map_or(path, |(_, name)| name)
    }
}

/// Displays a rhai value. rhai itself would display only the name of a host type.
pub(crate) struct Shown<'a>(pub(crate) &'a Dynamic);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if let Some(duration) = value.read_lock::<Duration>() {
            write!(f, "{:.1?}", *duration)
        } else if let Some(task) = value.read_lock::<Spawned>() {
            task.fmt(f)
        } else if let Some(refusal) = value.read_lock::<Refusal>() {
            refusal.fmt(f)
        } else if value.read_lock::<FnPtr>().is_some_and(|function| function.is_anonymous()) {
            // Its name is a hash that differs in every process.
            f.write_str("Fn(anonymous)")
        } else {
            value.fmt(f)
        }
    }
}
