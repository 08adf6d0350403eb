//! A value as an indented tree: each part on a line of its own, with its path.

use std::io::{self, Write};

use cove_trace::summary::escaped;
use cove_trace::{RecordedValue, TraceValue as _};

use crate::value_text::Leaf;

/// Writes `value`, which stands at the path `root`. No value of a trace nests deep enough to make this recursion a
/// danger.
pub(super) fn write(out: &mut impl Write, root: &str, value: &RecordedValue<'_>) -> io::Result<()> {
    let mut path = root.to_owned();
    write_part(out, &mut path, 1, value)
}

fn write_part(out: &mut impl Write, path: &mut String, depth: usize, value: &RecordedValue<'_>) -> io::Result<()> {
    write!(out, "{:1$}{2}: {3}", "", depth * 2, escaped(path), escaped(&type_name(value)))?;
    let (what, parts): (_, &[RecordedValue<'_>]) = match *value {
        RecordedValue::Array(items) => ("items", items),
        RecordedValue::Enum(value) => ("payload", value.payload),
        RecordedValue::Struct(value) => {
            writeln!(out)?;
            return value
                .fields
                .iter()
                .try_for_each(|field| write_below(out, path, &format!(".fields.{}", field.name), depth, &field.value));
        }
        RecordedValue::Unit | RecordedValue::Redacted { .. } => return writeln!(out),
        RecordedValue::Opaque(value) => return writeln!(out, " shown as {}", escaped(value.shown)),
        RecordedValue::Resource(value) => return writeln!(out, " {}", value.id),
        RecordedValue::Duration { ns } => return writeln!(out, " {ns} ns ({})", Leaf(value)),
        ref leaf => return writeln!(out, " {}", escaped(&Leaf(leaf).to_string())),
    };
    writeln!(out)?;
    parts
        .iter()
        .enumerate()
        .try_for_each(|(index, part)| write_below(out, path, &format!(".{what}[{index}]"), depth, part))
}

/// Writes a part that stands at `step` below `path`.
fn write_below(
    out: &mut impl Write,
    path: &mut String,
    step: &str,
    depth: usize,
    part: &RecordedValue<'_>,
) -> io::Result<()> {
    let above = path.len();
    path.push_str(step);
    write_part(out, path, depth + 1, part)?;
    path.truncate(above);
    Ok(())
}

/// What kind of value it is, with the name that it gives itself.
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
