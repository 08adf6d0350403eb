//! Recorded values and calls as people see them in a report: short, on one line, and harmless on a terminal.

use std::fmt::{self, Write as _};

use crate::event::CallSite;
use crate::value::RecordedValue;

/// How many characters of a value are shown.
const BUDGET: usize = 72;

/// How many characters of a text are shown before the first one that differs.
const CONTEXT: usize = 20;

/// A name out of a trace, with what could act on a terminal escaped, and not longer than a line of a report can bear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, is_cut) = first_characters(self.0, BUDGET);
        for character in shown.chars() {
            match character {
                '"' | '\'' | '\\' => f.write_char(character)?,
                other => write!(f, "{}", other.escape_debug())?,
            }
        }
        f.write_str(if is_cut { "…" } else { "" })
    }
}

/// An operation: `documents.read`.
pub(crate) struct Operation<'a>(pub(crate) CallSite<'a>);

impl fmt::Display for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", Name(self.0.module()), Name(self.0.op()))
    }
}

/// A value, cut where it is too long.
pub(crate) fn shown(value: &RecordedValue<'_>) -> String {
    let mut out = Short::new(BUDGET);
    // The only error is that there is no more room.
    let _ = out.value(value);
    out.text
}

/// Values in a row, as the arguments of a call.
pub(crate) fn shown_all(values: &[RecordedValue<'_>]) -> String {
    let mut out = Short::new(BUDGET);
    let _ = out.values(values);
    out.text
}

/// Two values that differ. Of two texts that begin alike the part is shown in which they differ.
pub(crate) fn shown_beside(first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> (String, String) {
    if let (RecordedValue::String(one), RecordedValue::String(other)) = (first, second) {
        let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        if one.chars().count().max(other.chars().count()) > BUDGET && common > CONTEXT {
            return (text_from(one, common - CONTEXT), text_from(other, common - CONTEXT));
        }
    }
    (shown(first), shown(second))
}

/// Two names that differ. Of long names that are shown alike, the part is shown in which they differ.
pub(crate) fn names_beside(first: &str, second: &str) -> (String, String) {
    let names = (Name(first).to_string(), Name(second).to_string());
    if names.0 == names.1 {
        return shown_beside(&RecordedValue::String(first), &RecordedValue::String(second));
    }
    names
}

/// A text without its first characters.
fn text_from(text: &str, skip: usize) -> String {
    let from = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let mut out = Short::new(BUDGET);
    let _ = out.write_str("…").and_then(|()| out.text(&text[from..]));
    out.text
}

fn first_characters(text: &str, count: usize) -> (&str, bool) {
    match text.char_indices().nth(count) {
        Some((at, _)) => (&text[..at], true),
        None => (text, false),
    }
}

/// A text that takes so many characters and no more.
struct Short {
    text: String,
    room: usize,
}

impl Short {
    fn new(room: usize) -> Self {
        Self { text: String::new(), room }
    }

    fn value(&mut self, value: &RecordedValue<'_>) -> fmt::Result {
        match *value {
            RecordedValue::Unit => self.write_str("()"),
            RecordedValue::Bool(value) => write!(self, "{value}"),
            RecordedValue::Int(value) => write!(self, "{value}"),
            RecordedValue::Float(value) => write!(self, "{value:?}"),
            RecordedValue::Duration { ns } => write!(self, "{ns}ns"),
            RecordedValue::String(text) => self.text(text),
            RecordedValue::Array(items) => {
                self.write_str("[")?;
                self.values(items)?;
                self.write_str("]")
            }
            RecordedValue::Enum(value) => {
                write!(self, "{}.{}", Name(value.name), Name(value.case))?;
                if value.payload.is_empty() {
                    return Ok(());
                }
                self.write_str("(")?;
                self.values(value.payload)?;
                self.write_str(")")
            }
            RecordedValue::Struct(value) => {
                write!(self, "{} {{", Name(value.name))?;
                for (index, field) in value.fields.iter().enumerate() {
                    write!(self, "{} {}: ", if index > 0 { "," } else { "" }, Name(field.name))?;
                    self.value(&field.value)?;
                }
                self.write_str(if value.fields.is_empty() { "}" } else { " }" })
            }
            RecordedValue::Resource(value) => write!(self, "{} #{}", Name(value.name), value.id),
            RecordedValue::Redacted { of } => write!(self, "<redacted {}>", Name(of)),
            RecordedValue::Opaque(value) => write!(self, "<{}: {}>", Name(value.of), Name(value.shown)),
            // Only what was read or encoded before is shown.
            RecordedValue::Live(_) => self.write_str("<live>"),
        }
    }

    fn values(&mut self, values: &[RecordedValue<'_>]) -> fmt::Result {
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.write_str(", ")?;
            }
            self.value(value)?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> fmt::Result {
        write!(self, "{text:?}")
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (fits, is_cut) = first_characters(text, self.room);
        self.text.push_str(fits);
        if is_cut {
            self.room = 0;
            self.text.push('…');
            return Err(fmt::Error);
        }
        self.room -= text.chars().count();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::owned::OwnedValue;

    #[test]
    fn every_shape_has_a_form() {
        let field = |name: &str, value| (name.into(), value);
        let cases = [
            (OwnedValue::Unit, "()"),
            (OwnedValue::Bool(true), "true"),
            (OwnedValue::Int(-3), "-3"),
            (OwnedValue::Float(2.0), "2.0"),
            (OwnedValue::Duration { ns: 1_500 }, "1500ns"),
            (OwnedValue::String("a\n\u{1b}\u{202e}\"'é".into()), r#""a\n\u{1b}\u{202e}\"'é""#),
            (OwnedValue::Array(vec![OwnedValue::Int(1), OwnedValue::Unit]), "[1, ()]"),
            (OwnedValue::Enum { name: "E".into(), case: "A".into(), payload: vec![] }, "E.A"),
            (OwnedValue::Enum { name: "E".into(), case: "A".into(), payload: vec![OwnedValue::Int(1)] }, "E.A(1)"),
            (
                OwnedValue::Struct {
                    name: "S".into(),
                    fields: vec![field("a", OwnedValue::Int(1)), field("b", OwnedValue::Unit)],
                },
                "S { a: 1, b: () }",
            ),
            (OwnedValue::Struct { name: "S".into(), fields: vec![] }, "S {}"),
            (OwnedValue::Resource { name: "File".into(), id: 3 }, "File #3"),
            (OwnedValue::Redacted { of: "String".into() }, "<redacted String>"),
            (OwnedValue::Opaque { of: "Fn".into(), shown: "f\u{7}".into() }, r"<Fn: f\u{7}>"),
        ];
        for (value, expected) in cases {
            assert_eq!(shown(&value.view(&Arena::new())), expected);
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(1_000);
        let text = shown(&RecordedValue::String(&long));
        assert_eq!(text.chars().count(), BUDGET + 1);
        assert!(text.ends_with("é…"));
        let items = vec![RecordedValue::Int(7); 1_000];
        assert_eq!(shown(&RecordedValue::Array(&items)).chars().count(), BUDGET + 1);
        assert_eq!(Name(&long).to_string().chars().count(), BUDGET + 1);
    }

    #[test]
    fn of_long_texts_the_part_that_differs_is_shown() {
        let common = "x".repeat(500);
        let (one, other) = (format!("{common}one{common}"), format!("{common}two{common}"));
        let (one, other) = shown_beside(&RecordedValue::String(&one), &RecordedValue::String(&other));
        assert!(one.starts_with("…\"xxxxxxxxxxxxxxxxxxxxonex"), "{one}");
        assert!(other.starts_with("…\"xxxxxxxxxxxxxxxxxxxxtwox"), "{other}");
    }
}
