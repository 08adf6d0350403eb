//! Compares two values and finds the parts in which they differ.

use std::collections::HashSet;
use std::fmt;

use crate::display::{Part, shown, values_beside};
use crate::value::{RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue, TraceValue};

/// How parts that a trace left out are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// A redacted or opaque part of the first value equals any value of its type. For a replay, where the first value
    /// is the recorded one.
    InFirst,
    /// A redacted part of either value equals any value of its type. For two traces.
    InEither,
}

/// A part in which two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The path of the part, such as `args[1].fields.token`.
    pub(crate) path: String,
    /// The part of the first value, formatted for people.
    pub(crate) first: String,
    pub(crate) second: String,
}

impl Difference {
    pub(crate) fn new(path: &str, [first, second]: [String; 2]) -> Self {
        Self { path: path.to_owned(), first, second }
    }
}

/// Stands for a part that one of the values lacks.
const NOTHING: &str = "(nothing)";

/// The differences listed for one call, and the bytes of their paths, after which more are only counted. They bound the
/// output for values that differ in many deep parts.
#[cfg(feature = "diff")]
const LISTED: usize = 100;
const LISTED_BYTES: usize = 8 * 1024;

/// Compares values and collects their differences.
pub(crate) struct Comparison<'r> {
    gaps: Gaps,
    resources: Option<SameResource<'r>>,
    /// The number of differences to list.
    limit: usize,
    listed_bytes: usize,
    pub(crate) differences: Vec<Difference>,
    /// The number of differences that are not listed.
    pub(crate) more: u64,
    /// The number of parts of which only the type could be compared.
    pub(crate) unchecked: u64,
}

/// Returns whether two resources are the same.
type SameResource<'r> = &'r mut dyn FnMut(&RecordedResource<'_>, &RecordedResource<'_>) -> bool;

/// A path to a part, linked from the part to the root. It becomes text only at a difference.
struct Path<'p> {
    above: Option<&'p Path<'p>>,
    step: PathStep<'p>,
}

enum PathStep<'p> {
    Arg(usize),
    Text(&'p str),
    Part(Part<'p>),
}

impl<'p> Path<'p> {
    fn below(&'p self, step: PathStep<'p>) -> Self {
        Path { above: Some(self), step }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            above.fmt(f)?;
        }
        match &self.step {
            PathStep::Arg(index) => write!(f, "args[{index}]"),
            PathStep::Text(text) => f.write_str(text),
            PathStep::Part(part) => part.fmt(f),
        }
    }
}

impl<'r> Comparison<'r> {
    /// Creates a comparison that stops at the first difference.
    pub(crate) fn new(gaps: Gaps) -> Self {
        Self { gaps, resources: None, limit: 1, listed_bytes: 0, differences: Vec::new(), more: 0, unchecked: 0 }
    }

    /// Creates a comparison of two traces, which collects all differences. It asks `same` about resources.
    #[cfg(feature = "diff")]
    pub(crate) fn of_traces(same: SameResource<'r>) -> Self {
        Self { resources: Some(same), limit: LISTED, ..Self::new(Gaps::InEither) }
    }

    /// Returns the number of unchecked parts, or the first difference.
    pub(crate) fn into_result(self) -> Result<u64, Box<Difference>> {
        self.differences.into_iter().next().map_or(Ok(self.unchecked), |first| Err(Box::new(first)))
    }

    /// Returns whether nothing more is to be compared.
    pub(crate) fn is_done(&self) -> bool {
        self.limit == 1 && !self.differences.is_empty()
    }

    /// Compares two lists of arguments.
    pub(crate) fn args(&mut self, first: &[RecordedValue<'_>], second: &[RecordedValue<'_>]) {
        for index in 0..first.len().max(second.len()) {
            self.arg(index, first.get(index), second.get(index));
        }
    }

    /// Compares the arguments with this index, at least one of which exists.
    pub(crate) fn arg(&mut self, index: usize, first: Option<&RecordedValue<'_>>, second: Option<&RecordedValue<'_>>) {
        self.optional(&Path { above: None, step: PathStep::Arg(index) }, first, second);
    }

    /// Compares two results.
    #[cfg(feature = "diff")]
    pub(crate) fn results(&mut self, first: &RecordedValue<'_>, second: &RecordedValue<'_>) {
        self.values(&Path { above: None, step: PathStep::Text("outcome.value") }, first, second);
    }

    fn optional(&mut self, path: &Path<'_>, first: Option<&RecordedValue<'_>>, second: Option<&RecordedValue<'_>>) {
        match (first, second) {
            (Some(first), Some(second)) => self.values(path, first, second),
            (first, second) => self.missing(path, first, second),
        }
    }

    fn values(&mut self, path: &Path<'_>, first: &RecordedValue<'_>, second: &RecordedValue<'_>) {
        use RecordedValue as V;

        if self.is_done() {
            return;
        }
        if self.is_gap(first, second) {
            self.unchecked += 1;
            if first.type_name() != second.type_name() {
                self.differ(path, first, second);
            }
            return;
        }
        match (first, second) {
            (V::Array(first), V::Array(second)) => self.parts(path, Part::Item, first, second),
            (V::Enum(one), V::Enum(other)) => {
                self.texts(path, ".name", one.name, other.name);
                self.texts(path, ".case", one.case, other.case);
                self.parts(path, Part::Payload, one.payload, other.payload);
            }
            (V::Struct(first), V::Struct(second)) => {
                self.texts(path, ".name", first.name, second.name);
                self.fields(path, first, second);
            }
            (V::Resource(one), V::Resource(other)) => {
                if !self.resources.as_mut().map_or(one == other, |same| same(one, other)) {
                    self.differ(path, first, second);
                }
            }
            _ if first == second => {}
            _ => self.differ(path, first, second),
        }
    }

    /// Returns whether one of the values is left out, so that only types can be compared.
    fn is_gap(&self, first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> bool {
        let is_redacted = |value: &RecordedValue<'_>| matches!(value, RecordedValue::Redacted { .. });
        match self.gaps {
            Gaps::InFirst => match first {
                RecordedValue::Opaque(opaque) => !is_number(opaque),
                other => is_redacted(other),
            },
            Gaps::InEither => is_redacted(first) || is_redacted(second),
        }
    }

    fn parts(
        &mut self,
        path: &Path<'_>,
        part: fn(usize) -> Part<'static>,
        first: &[RecordedValue<'_>],
        second: &[RecordedValue<'_>],
    ) {
        for index in 0..first.len().max(second.len()) {
            self.optional(&path.below(PathStep::Part(part(index))), first.get(index), second.get(index));
        }
    }

    fn fields(&mut self, path: &Path<'_>, first: &RecordedStruct<'_>, second: &RecordedStruct<'_>) {
        for (one, other) in first.fields.iter().zip(second.fields) {
            if one.name != other.name {
                return self.other_fields(path, first, second);
            }
            self.values(&path.below(PathStep::Part(Part::Field(one.name))), &one.value, &other.value);
        }
        if first.fields.len() != second.fields.len() {
            self.other_fields(path, first, second);
        }
    }

    // Out of line: the functions above recurse, and these locals would enlarge the stack frame of each level.

    /// Compares the fields of two structs from the first name on that differs.
    #[cold]
    #[inline(never)]
    fn other_fields(&mut self, path: &Path<'_>, first: &RecordedStruct<'_>, second: &RecordedStruct<'_>) {
        fn names<'v>(value: &RecordedStruct<'v>) -> HashSet<&'v str> {
            value.fields.iter().map(|field| field.name).collect()
        }
        let (names_of_first, names_of_second) = (names(first), names(second));
        let same = first.fields.iter().zip(second.fields).take_while(|(one, other)| one.name == other.name).count();
        let (mut one, mut other) = (&first.fields[same..], &second.fields[same..]);
        while !(one.is_empty() && other.is_empty()) {
            let field = |field: &RecordedField<'_>| path.below(PathStep::Part(Part::Field(field.name))).to_string();
            match (one, other) {
                ([left, rest @ ..], _) if !names_of_second.contains(left.name) => {
                    self.missing(&Path { above: None, step: PathStep::Text(&field(left)) }, Some(&left.value), None);
                    one = rest;
                }
                (_, [right, rest @ ..]) if !names_of_first.contains(right.name) => {
                    self.missing(&Path { above: None, step: PathStep::Text(&field(right)) }, None, Some(&right.value));
                    other = rest;
                }
                ([left, left_rest @ ..], [right, right_rest @ ..]) if left.name == right.name => {
                    self.values(&path.below(PathStep::Part(Part::Field(left.name))), &left.value, &right.value);
                    (one, other) = (left_rest, right_rest);
                }
                // The same names in another order, or one of them more often.
                _ => {
                    let index = first.fields.len() - one.len();
                    let name = |rest: &'_ [RecordedField<'_>]| rest.first().map_or("", |field| field.name).to_owned();
                    return self.texts(path, &format!(".fields[{index}].name"), &name(one), &name(other));
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn differ(&mut self, path: &Path<'_>, first: &RecordedValue<'_>, second: &RecordedValue<'_>) {
        self.found(path, || {
            let [one, mut other] = values_beside(first, second);
            if first == second {
                // Two resources of two runs.
                other.push_str(", which is another one there");
            }
            [one, other]
        });
    }

    #[cold]
    #[inline(never)]
    fn missing(&mut self, path: &Path<'_>, first: Option<&RecordedValue<'_>>, second: Option<&RecordedValue<'_>>) {
        self.found(path, || [first, second].map(|value| value.map_or_else(|| NOTHING.to_owned(), shown)));
    }

    fn texts(&mut self, path: &Path<'_>, step: &str, first: &str, second: &str) {
        if first != second {
            self.differ(
                &path.below(PathStep::Text(step)),
                &RecordedValue::String(first),
                &RecordedValue::String(second),
            );
        }
    }

    fn found(&mut self, path: &Path<'_>, sides: impl FnOnce() -> [String; 2]) {
        let is_listed = self.differences.is_empty() || self.listed_bytes < LISTED_BYTES;
        if self.differences.len() < self.limit && is_listed {
            let text = path.to_string();
            self.listed_bytes += text.len();
            self.differences.push(Difference::new(&text, sides()));
        } else {
            self.more += 1;
        }
    }
}

/// Returns whether an opaque stands for a number that is not finite, which is complete.
fn is_number(opaque: &RecordedOpaque<'_>) -> bool {
    opaque.of == "Float" && matches!(opaque.shown, "NaN" | "inf" | "-inf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::owned::OwnedValue;

    fn array(items: Vec<OwnedValue>) -> OwnedValue {
        OwnedValue::Array(items)
    }

    fn structure(fields: Vec<(&str, OwnedValue)>) -> OwnedValue {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
        OwnedValue::Struct { name: "S".into(), fields }
    }

    fn string(text: &str) -> OwnedValue {
        OwnedValue::String(text.into())
    }

    fn opaque(of: &str, shown: &str) -> OwnedValue {
        OwnedValue::Opaque { of: of.into(), shown: shown.into() }
    }

    fn redacted(of: &str) -> OwnedValue {
        OwnedValue::Redacted { of: of.into() }
    }

    fn compared(gaps: Gaps, first: &OwnedValue, second: &OwnedValue) -> Result<u64, [String; 3]> {
        let arena = Arena::new();
        let mut comparison = Comparison::new(gaps);
        comparison.args(&[first.view(&arena)], &[second.view(&arena)]);
        comparison.into_result().map_err(|difference| [difference.path, difference.first, difference.second])
    }

    #[test]
    fn the_first_differing_part_is_named() {
        let one = OwnedValue::Int(1);
        let two = OwnedValue::Int(2);
        let case = |case: &str, payload: OwnedValue| OwnedValue::Enum {
            name: "E".into(),
            case: case.into(),
            payload: vec![payload],
        };
        let cases = [
            (one.clone(), two.clone(), ["args[0]", "1", "2"]),
            (one.clone(), OwnedValue::Float(1.0), ["args[0]", "1", "1.0"]),
            (OwnedValue::Float(0.0), OwnedValue::Float(-0.0), ["args[0]", "0.0", "-0.0"]),
            (array(vec![one.clone()]), array(vec![one.clone(), two.clone()]), ["args[0].items[1]", "(nothing)", "2"]),
            (array(vec![]), array(vec![one.clone()]), ["args[0].items[0]", "(nothing)", "1"]),
            (
                structure(vec![("a", one.clone()), ("token", string("x"))]),
                structure(vec![("a", one.clone()), ("token", string("y"))]),
                ["args[0].fields.token", "\"x\"", "\"y\""],
            ),
            (
                structure(vec![("a", one.clone()), ("b", two.clone())]),
                structure(vec![("b", two.clone())]),
                ["args[0].fields.a", "1", "(nothing)"],
            ),
            (
                structure(vec![("b", two.clone())]),
                structure(vec![("a", one.clone()), ("b", two.clone())]),
                ["args[0].fields.a", "(nothing)", "1"],
            ),
            (
                structure(vec![("a", one.clone()), ("b", two.clone())]),
                structure(vec![("b", two.clone()), ("a", one.clone())]),
                ["args[0].fields[0].name", "\"a\"", "\"b\""],
            ),
            (case("A", one.clone()), case("B", one.clone()), ["args[0].case", "\"A\"", "\"B\""]),
            (case("A", one.clone()), case("A", two.clone()), ["args[0].payload[0]", "1", "2"]),
            (
                array(vec![structure(vec![("deep", case("A", one.clone()))])]),
                array(vec![structure(vec![("deep", case("A", two.clone()))])]),
                ["args[0].items[0].fields.deep.payload[0]", "1", "2"],
            ),
        ];
        for (first, second, expected) in cases {
            for gaps in [Gaps::InFirst, Gaps::InEither] {
                assert_eq!(compared(gaps, &first, &second), Err(expected.map(str::to_owned)));
                assert_eq!(compared(gaps, &first, &first), Ok(0));
            }
        }
    }

    #[test]
    fn what_is_left_out_is_compared_by_its_type_and_counted() {
        let value = |part: OwnedValue| structure(vec![("a", OwnedValue::Int(1)), ("part", part)]);
        let whole = value(string("x"));
        assert_eq!(compared(Gaps::InFirst, &value(redacted("String")), &whole), Ok(1));
        assert_eq!(compared(Gaps::InFirst, &value(opaque("String", "?")), &whole), Ok(1));
        assert_eq!(compared(Gaps::InEither, &value(redacted("String")), &whole), Ok(1));
        assert_eq!(compared(Gaps::InEither, &whole, &value(redacted("String"))), Ok(1));
        assert!(compared(Gaps::InFirst, &whole, &value(redacted("String"))).is_err());
        assert!(compared(Gaps::InEither, &value(opaque("F", "one")), &value(opaque("F", "other"))).is_err());
        let [path, ..] = compared(Gaps::InFirst, &value(redacted("Int")), &whole).unwrap_err();
        assert_eq!(path, "args[0].fields.part");
        // What differs beside a gap is found.
        let other = structure(vec![("a", OwnedValue::Int(2)), ("part", string("x"))]);
        assert!(compared(Gaps::InFirst, &value(redacted("String")), &other).is_err());
    }

    #[test]
    fn numbers_that_are_not_finite_are_compared() {
        let [nan, infinite] = [opaque("Float", "NaN"), opaque("Float", "inf")];
        assert_eq!(compared(Gaps::InFirst, &nan, &OwnedValue::Float(f64::NAN)), Ok(0));
        assert!(compared(Gaps::InFirst, &nan, &infinite).is_err());
        assert!(compared(Gaps::InFirst, &nan, &OwnedValue::Float(1.0)).is_err());
    }
}
