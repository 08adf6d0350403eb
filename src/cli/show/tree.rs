//! A value as an indented tree: each part on a line of its own, with its path from the value above it.

use std::fmt::Display;
use std::io::{self, Write};

use cove_trace::display::{Leaf, escaped, parts};
use cove_trace::{RecordedValue, TraceValue as _};

/// Writes `value` with the label `root`. The recursion is bounded, since the reader limits the depth of values.
pub(super) fn write(out: &mut impl Write, root: &str, value: &RecordedValue<'_>) -> io::Result<()> {
    write_part(out, &escaped(root), 1, value)
}

fn write_part(out: &mut impl Write, label: &dyn Display, depth: usize, value: &RecordedValue<'_>) -> io::Result<()> {
    write!(out, "{:1$}{label}: {2}", "", depth * 2, escaped(&type_name(value)))?;
    match *value {
        RecordedValue::Opaque(value) => write!(out, " shown as {}", escaped(value.shown))?,
        RecordedValue::Resource(value) => write!(out, " {}", value.id)?,
        RecordedValue::Duration { ns } => write!(out, " {ns} ns ({})", Leaf(value))?,
        RecordedValue::Bool(_) | RecordedValue::Int(_) | RecordedValue::Float(_) | RecordedValue::String(_) => {
            write!(out, " {}", escaped(&Leaf(value).to_string()))?;
        }
        _ => {}
    }
    writeln!(out)?;
    parts(value).try_for_each(|(part, value)| write_part(out, &part, depth + 1, value))
}

/// Returns the kind of a value, with the name that the program gives it.
fn type_name(value: &RecordedValue<'_>) -> String {
    match *value {
        RecordedValue::Array(items) => format!("Array of {}", items.len()),
        RecordedValue::Enum(value) => format!("enum {}.{}", value.name, value.case),
        RecordedValue::Struct(value) => format!("struct {}", value.name),
        RecordedValue::Resource(value) => format!("resource {}", value.name),
        RecordedValue::Redacted { of } => format!("redacted {of}"),
        RecordedValue::Opaque(value) => format!("opaque {}", value.of),
        ref leaf => leaf.type_name().into_owned(),
    }
}
