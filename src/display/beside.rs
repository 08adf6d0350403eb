//! Short forms of values and names, alone and beside others from which they differ.

use std::fmt::{self, Write};

use super::cells::Cells;
use super::value::{write_list, write_value};
use crate::value::RecordedValue;

/// The columns that a value or a name takes at most.
const COLUMNS: usize = 72;

/// The number of characters of a text that precede the first difference.
const CONTEXT: usize = 20;

/// A name from a trace, escaped and cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cut(|out| out.write_str(self.0)))
    }
}

/// A module and an operation: `documents.read`.
pub(crate) struct Operation<'a>(pub(crate) &'a str, pub(crate) &'a str);

impl fmt::Display for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", Name(self.0), Name(self.1))
    }
}

/// Formats a value, escaped and cut.
pub(crate) fn shown(value: &RecordedValue<'_>) -> String {
    cut(|out| write_value(out, value))
}

/// Formats values with commas between them, escaped and cut.
pub(crate) fn shown_list(values: &[RecordedValue<'_>]) -> String {
    cut(|out| write_list(out, values))
}

/// Formats two values that differ, so that the difference is visible.
pub(crate) fn values_beside(first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> [String; 2] {
    use RecordedValue as V;

    let both = [shown(first), shown(second)];
    match (first, second) {
        (V::String(one), V::String(other)) => texts_beside(one, other, |text| shown(&V::String(text))),
        (V::Duration { ns: one }, V::Duration { ns: other }) if both[0] == both[1] => {
            [one, other].map(|ns| format!("{ns} ns"))
        }
        (V::Redacted { of: one }, V::Redacted { of: other }) => {
            texts_beside(one, other, |of| shown(&V::Redacted { of }))
        }
        (V::Opaque(one), V::Opaque(other)) if one.of == other.of => {
            names_beside(one.shown, other.shown).map(|shown| format!("<{}: {shown}>", Name(one.of)))
        }
        (V::Opaque(one), V::Opaque(other)) => names_beside(one.of, other.of).map(|of| format!("<{of}>")),
        (V::Resource(one), V::Resource(other)) if one.name != other.name => {
            let [first, second] = names_beside(one.name, other.name);
            [format!("{first}#{}", one.id), format!("{second}#{}", other.id)]
        }
        _ => both,
    }
}

/// Formats two names that differ, so that the difference is visible.
pub(crate) fn names_beside(first: &str, second: &str) -> [String; 2] {
    if first != second && Name(first).to_string() == Name(second).to_string() {
        // They look alike because they are long, or because one contains an escape of the other.
        return values_beside(&RecordedValue::String(first), &RecordedValue::String(second));
    }
    texts_beside(first, second, |text| Name(text).to_string())
}

/// Formats two texts with `show`. Of long texts, it shows the part where they differ. A mark names the first character
/// that differs if it is not ASCII, since it may look like the other one.
fn texts_beside(first: &str, second: &str, show: impl Fn(&str) -> String) -> [String; 2] {
    let is_long = first.len().max(second.len()) > COLUMNS;
    let common = first.chars().zip(second.chars()).take_while(|(one, other)| one == other).count();
    let [one_mark, other_mark] = marks(first, second);
    let skip = if is_long { common.saturating_sub(CONTEXT) } else { 0 };
    let from = |text: &str| {
        let start = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
        format!("{}{}", if skip > 0 { "…" } else { "" }, show(&text[start..]))
    };
    [from(first) + &one_mark, from(second) + &other_mark]
}

/// Names the first characters in which two texts differ, unless both are ASCII.
fn marks(first: &str, second: &str) -> [String; 2] {
    let (mut one, mut other) = (first.chars(), second.chars());
    for number in 1.. {
        let differing = [one.next(), other.next()];
        if differing[0] != differing[1] {
            let is_marked = differing.iter().flatten().any(|character| !character.is_ascii());
            return differing.map(|character| match character {
                Some(character) if is_marked => mark(character, number),
                _ => String::new(),
            });
        } else if differing[0].is_none() {
            break;
        }
    }
    [String::new(), String::new()]
}

fn mark(character: char, number: usize) -> String {
    format!(" (U+{:04X} at character {number})", u32::from(character))
}

/// Tells two operations apart that may look alike: by a character, or by where the module ends.
pub(crate) fn operation_marks(first: (&str, &str), second: (&str, &str)) -> [String; 2] {
    let [one, other] = [first, second].map(|(module, op)| format!("{module}.{op}"));
    if one == other && first != second {
        return [first, second].map(|(module, _)| format!(" (module {})", Name(module)));
    }
    marks(&one, &other)
}

/// Names the first character of a name that is not ASCII, for a name that only one of two runs has.
#[cfg(feature = "diff")]
pub(crate) fn mark_of(name: &str) -> String {
    let strange = name.chars().enumerate().find(|(_, character)| !character.is_ascii());
    strange.map_or_else(String::new, |(at, character)| mark(character, at + 1))
}

fn cut(write: impl FnOnce(&mut Cells<'_>) -> fmt::Result) -> String {
    let mut text = String::new();
    let mut cells = Cells::behind(&mut text, Some(COLUMNS));
    // The only error is that the columns are used up, and `finish` shows that.
    let _ = write(&mut cells);
    cells.finish();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::RecordedOpaque;

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(1_000);
        let text = shown(&RecordedValue::String(&long));
        assert_eq!(text.chars().count(), COLUMNS);
        assert!(text.ends_with("é…"));
        let items = vec![RecordedValue::Int(7); 1_000];
        assert_eq!(shown(&RecordedValue::Array(&items)).chars().count(), COLUMNS);
        assert_eq!(Name(&long).to_string().chars().count(), COLUMNS);
    }

    #[test]
    fn of_long_texts_the_part_that_differs_is_shown() {
        let common = "x".repeat(500);
        let (one, other) = (format!("{common}one{common}"), format!("{common}two{common}"));
        let [one, other] = values_beside(&RecordedValue::String(&one), &RecordedValue::String(&other));
        assert!(one.starts_with("…\"xxxxxxxxxxxxxxxxxxxxonex"), "{one}");
        assert!(other.starts_with("…\"xxxxxxxxxxxxxxxxxxxxtwox"), "{other}");
    }

    #[test]
    fn values_that_look_alike_are_told_apart() {
        use RecordedValue as V;

        let opaque = |shown| RecordedOpaque { of: "F", shown };
        let (latin, kelvin) = (opaque("K"), opaque("\u{212a}"));
        for (first, second, expected) in [
            (
                V::String("K"),
                V::String("\u{212a}"),
                [r#""K" (U+004B at character 1)"#, "\"\u{212a}\" (U+212A at character 1)"],
            ),
            (V::String("a"), V::String("a\u{200d}"), [r#""a""#, "\"a\u{200d}\" (U+200D at character 2)"]),
            (V::String("a"), V::String("b"), [r#""a""#, r#""b""#]),
            (V::Duration { ns: 1_500 }, V::Duration { ns: 1_501 }, ["1500 ns", "1501 ns"]),
            (V::Duration { ns: 1_500 }, V::Duration { ns: 2_500 }, ["1.50 µs", "2.50 µs"]),
            (
                V::Opaque(&latin),
                V::Opaque(&kelvin),
                ["<F: K (U+004B at character 1)>", "<F: \u{212a} (U+212A at character 1)>"],
            ),
        ] {
            assert_eq!(values_beside(&first, &second), expected);
        }
        let long = "x".repeat(500);
        let (one, other) = (opaque(&long), long.clone() + "y");
        let shown = values_beside(&V::Opaque(&one), &V::Opaque(&opaque(&other)));
        assert_ne!(shown[0], shown[1]);
        assert_eq!(operation_marks(("a.b", "c"), ("a", "b.c")), [" (module a.b)", " (module a)"]);
        assert_eq!(names_beside("\u{1}", r"\u{1}"), [r#""\u{1}""#, r#""\\u{1}""#]);
    }
}
