//! Recorded values, each in one row.

use std::fmt::{self, Write};

use super::duration::write_duration;
use crate::value::{Convention, RecordedEnum, RecordedValue, TraceValue as _};

/// Writes a value as a program would spell it: `Point { x: 1, tags: ["a"] }`. Names and strings are written as they are
/// in the trace, so `out` must escape them, as [`Cells`](super::Cells) does.
///
/// # Errors
///
/// Returns the first error of `out`.
pub fn write_value(out: &mut impl Write, value: &RecordedValue<'_>) -> fmt::Result {
    match *value {
        RecordedValue::Array(items) => {
            out.write_char('[')?;
            write_list(out, items)?;
            out.write_char(']')
        }
        RecordedValue::Enum(value) if value.name.starts_with('@') => match Convention::of(value) {
            Some(convention) => write_convention(out, &convention),
            None => write_enum(out, value),
        },
        RecordedValue::Enum(value) => write_enum(out, value),
        RecordedValue::Struct(value) if value.fields.is_empty() => write_all(out, &[value.name, " {}"]),
        RecordedValue::Struct(value) => {
            write_all(out, &[value.name, " { "])?;
            for (index, field) in value.fields.iter().enumerate() {
                write_all(out, &[if index > 0 { ", " } else { "" }, field.name, ": "])?;
                write_value(out, &field.value)?;
            }
            out.write_str(" }")
        }
        ref leaf => write_leaf(out, leaf),
    }
}

fn write_enum(out: &mut impl Write, value: &RecordedEnum<'_>) -> fmt::Result {
    write_all(out, &[value.name, ".", value.case])?;
    if value.payload.is_empty() {
        return Ok(());
    }
    out.write_char('(')?;
    write_list(out, value.payload)?;
    out.write_char(')')
}

/// Writes a value that has no shape of its own in the format.
fn write_convention(out: &mut impl Write, convention: &Convention<'_>) -> fmt::Result {
    match *convention {
        Convention::Number(digits) => out.write_str(digits),
        Convention::Bytes(digits) => write_all(out, &["hex\"", digits, "\""]),
        Convention::Map(entries) => {
            out.write_char('{')?;
            for (index, entry) in entries.iter().enumerate() {
                let RecordedValue::Array([key, value]) = entry else { continue };
                out.write_str(if index > 0 { ", " } else { "" })?;
                write_value(out, key)?;
                out.write_str(": ")?;
                write_value(out, value)?;
            }
            out.write_char('}')
        }
        Convention::Tuple(items) => {
            out.write_char('(')?;
            write_list(out, items)?;
            out.write_str(if items.len() == 1 { ",)" } else { ")" })
        }
        Convention::Set(items) => {
            out.write_char('{')?;
            write_list(out, items)?;
            out.write_char('}')
        }
        Convention::Range { start, end, is_closed } => {
            write_bound(out, start)?;
            out.write_str(if is_closed { "..=" } else { ".." })?;
            write_bound(out, end)
        }
        Convention::Thrown(value) => {
            out.write_str("thrown ")?;
            write_value(out, value)
        }
        Convention::NeverReturned { how } => write_all(out, &["never returned: ", how]),
    }
}

/// Writes a bound of a range, or nothing for an open one.
fn write_bound(out: &mut impl Write, bound: &RecordedValue<'_>) -> fmt::Result {
    if matches!(bound, RecordedValue::Unit) { Ok(()) } else { write_value(out, bound) }
}

/// Writes texts without the cost of formatting, which would exceed all other costs.
fn write_all(out: &mut impl Write, texts: &[&str]) -> fmt::Result {
    texts.iter().try_for_each(|text| out.write_str(text))
}

fn write_leaf(out: &mut impl Write, leaf: &RecordedValue<'_>) -> fmt::Result {
    match *leaf {
        RecordedValue::Unit => out.write_str("()"),
        RecordedValue::Bool(value) => out.write_str(if value { "true" } else { "false" }),
        RecordedValue::Int(value) => out.write_str(itoa::Buffer::new().format(value)),
        RecordedValue::Float(value) => write!(out, "{value:?}"),
        RecordedValue::Duration { ns } => {
            out.write_str(if ns < 0 { "-" } else { "" })?;
            write_duration(out, ns.unsigned_abs().into())
        }
        RecordedValue::String(text) => write_quoted(out, text),
        RecordedValue::Resource(value) => write_all(out, &[value.name, "#", itoa::Buffer::new().format(value.id)]),
        RecordedValue::Redacted { of } => write_all(out, &["<redacted ", of, ">"]),
        RecordedValue::Opaque(value) => write_all(out, &["<", value.of, ": ", value.shown, ">"]),
        ref other => write_all(out, &["<", &other.type_name(), ">"]),
    }
}

/// Writes a text in quotes, with a backslash before each quote and backslash.
fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut plain = text;
    while let Some(at) = memchr::memchr2(b'"', b'\\', plain.as_bytes()) {
        out.write_str(&plain[..at])?;
        out.write_char('\\')?;
        out.write_str(&plain[at..=at])?;
        plain = &plain[at + 1..];
    }
    out.write_str(plain)?;
    out.write_char('"')
}

/// Writes values with commas between them, as [`write_value`] writes each.
///
/// # Errors
///
/// Returns the first error of `out`.
pub fn write_list(out: &mut impl Write, values: &[RecordedValue<'_>]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        write_value(out, value)?;
    }
    Ok(())
}

/// Formats a value without parts. Of a value with parts, it formats the type name.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'v>(pub &'v RecordedValue<'v>);

impl fmt::Display for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_leaf(f, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{
        NeverReturned, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, Thrown, TraceValue, Value,
    };
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_shape() {
        let one = [RecordedValue::Int(-1)];
        let fields = [
            RecordedField { name: "x", value: RecordedValue::Float(1e16) },
            RecordedField { name: "y", value: RecordedValue::Array(&[]) },
        ];
        for (value, shown) in [
            (RecordedValue::Unit, "()"),
            (RecordedValue::Bool(true), "true"),
            (RecordedValue::Float(-0.0), "-0.0"),
            (RecordedValue::Duration { ns: i64::MIN }, "-2562047h47m"),
            (RecordedValue::Duration { ns: 1_500 }, "1.50 µs"),
            (RecordedValue::String("a \"b\" \\c"), r#""a \"b\" \\c""#),
            (RecordedValue::Array(&[RecordedValue::Unit, RecordedValue::Int(2)]), "[(), 2]"),
            (RecordedValue::Enum(&RecordedEnum { name: "Option", case: "None", payload: &[] }), "Option.None"),
            (RecordedValue::Enum(&RecordedEnum { name: "Option", case: "Some", payload: &one }), "Option.Some(-1)"),
            (RecordedValue::Struct(&RecordedStruct { name: "Empty", fields: &[] }), "Empty {}"),
            (RecordedValue::Struct(&RecordedStruct { name: "P", fields: &fields }), "P { x: 1e16, y: [] }"),
            (RecordedValue::Resource(&RecordedResource { name: "File", id: 3 }), "File#3"),
            (RecordedValue::Redacted { of: "Token" }, "<redacted Token>"),
            (RecordedValue::Opaque(&RecordedOpaque { of: "Closure", shown: "|x| x" }), "<Closure: |x| x>"),
        ] {
            let mut text = String::new();
            write_value(&mut text, &value).unwrap();
            assert_eq!(text, shown);
        }
    }

    /// Returns the row of `value` as it is read back.
    fn shown(value: &dyn TraceValue) -> String {
        let owned = crate::owned::OwnedValue::from(&RecordedValue::Live(value));
        let mut text = String::new();
        write_value(&mut text, &owned.view(&crate::Arena::new())).unwrap();
        text
    }

    #[test]
    fn values_that_have_no_shape_of_their_own() {
        assert_eq!(shown(&f64::NEG_INFINITY), "-inf");
        assert_eq!(shown(&u64::MAX), "18446744073709551615");
        assert_eq!(shown(&Value::Bytes(vec![0xff, 0])), "hex\"ff00\"");
        assert_eq!(shown(&BTreeMap::from([(1, "a"), (2, "b")])), r#"{1: "a", 2: "b"}"#);
        assert_eq!(shown(&(1, "a")), r#"(1, "a")"#);
        assert_eq!(shown(&(1,)), "(1,)");
        assert_eq!(shown(&BTreeSet::from([1, 2])), "{1, 2}");
        assert_eq!(shown(&(1..3)), "1..3");
        assert_eq!(shown(&(..=3)), "..=3");
        assert_eq!(shown(&(..)), "..");
        assert_eq!(shown(&Thrown("no")), r#"thrown "no""#);
        assert_eq!(shown(&NeverReturned::Panicked), "never returned: panicked");
        let other = Value::Enum { name: "@Tuple".into(), case: "parts".into(), payload: vec![Value::Unit] };
        assert_eq!(shown(&other), "@Tuple.parts(())");
    }
}
