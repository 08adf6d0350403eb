//! Two values held against each other: whether they are the same, and if not, the first part that differs.

use super::shown::{Name, shown_beside};
use crate::value::{RecordedField, RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue, TraceValue};

/// What is made of parts that a trace left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// What is redacted or opaque in the first value may be anything of its type in the second. For a replay: the first is
    /// recorded, the second asked.
    InFirst,
    /// What is redacted in either value may be anything of its type in the other. For two traces.
    InEither,
}

/// The first part in which two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Where, from the values that were compared: `.fields.token`.
    pub(crate) path: String,
    /// What the first has there, as it is shown to people.
    pub(crate) first: String,
    pub(crate) second: String,
}

/// What stands for a part that one of the values does not have.
const NOTHING: &str = "(nothing)";

impl Difference {
    fn new(first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> Self {
        let (first, second) = shown_beside(first, second);
        Self { path: String::new(), first, second }
    }

    fn of_texts(path: &str, first: &str, second: &str) -> Self {
        let (first, second) = shown_beside(&RecordedValue::String(first), &RecordedValue::String(second));
        Self { path: path.to_owned(), first, second }
    }

    pub(crate) fn missing(first: Option<&RecordedValue<'_>>, second: Option<&RecordedValue<'_>>) -> Self {
        let shown = |value: Option<&RecordedValue<'_>>| value.map_or_else(|| NOTHING.to_owned(), super::shown::shown);
        Self { path: String::new(), first: shown(first), second: shown(second) }
    }

    pub(crate) fn within(mut self, prefix: &str) -> Self {
        self.path.insert_str(0, prefix);
        self
    }
}

/// Compares values, and counts what it could not compare.
pub(crate) struct Comparison<'r> {
    gaps: Gaps,
    resources: Option<SameResource<'r>>,
    /// Parts of which only the type could be compared.
    pub(crate) unchecked: u64,
}

/// Says whether two resources are the same.
type SameResource<'r> = &'r mut dyn FnMut(&RecordedResource<'_>, &RecordedResource<'_>) -> bool;

type Step = Result<(), Box<Difference>>;

impl<'r> Comparison<'r> {
    pub(crate) fn new(gaps: Gaps) -> Self {
        Self { gaps, resources: None, unchecked: 0 }
    }

    /// The same comparison, asking `same` about resources, which are compared by their ids otherwise.
    #[cfg(feature = "diff")]
    pub(crate) fn resources(self, same: SameResource<'r>) -> Self {
        Self { resources: Some(same), ..self }
    }

    /// Compares two lists of arguments.
    pub(crate) fn args(&mut self, first: &[RecordedValue<'_>], second: &[RecordedValue<'_>]) -> Step {
        self.parts("args", first, second)
    }

    /// Compares two values.
    pub(crate) fn values(&mut self, first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> Step {
        use RecordedValue as V;

        if self.is_gap(first, second) {
            self.unchecked += 1;
            let same_type = first.type_name() == second.type_name();
            return if same_type { Ok(()) } else { Err(differ(first, second)) };
        }
        match (first, second) {
            (V::Array(first), V::Array(second)) => self.parts(".items", first, second),
            (V::Enum(one), V::Enum(other)) => {
                texts(".name", one.name, other.name)?;
                texts(".case", one.case, other.case)?;
                self.parts(".payload", one.payload, other.payload)
            }
            (V::Struct(first), V::Struct(second)) => {
                texts(".name", first.name, second.name)?;
                self.fields(first, second)
            }
            (V::Resource(one), V::Resource(other)) => {
                let is_same = self.resources.as_mut().map_or(one == other, |same| same(one, other));
                if is_same { Ok(()) } else { Err(other_resource(first, second)) }
            }
            _ if first == second => Ok(()),
            _ => Err(differ(first, second)),
        }
    }

    /// Whether one of the two is left out, so that only types can be compared.
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

    fn parts(&mut self, list: &str, first: &[RecordedValue<'_>], second: &[RecordedValue<'_>]) -> Step {
        for index in 0..first.len().max(second.len()) {
            let step = match (first.get(index), second.get(index)) {
                (Some(first), Some(second)) => self.values(first, second),
                (first, second) => Err(Box::new(Difference::missing(first, second))),
            };
            if let Err(difference) = step {
                return Err(within_part(*difference, list, index));
            }
        }
        Ok(())
    }

    fn fields(&mut self, first: &RecordedStruct<'_>, second: &RecordedStruct<'_>) -> Step {
        for index in 0..first.fields.len().max(second.fields.len()) {
            match (first.fields.get(index), second.fields.get(index)) {
                (Some(one), Some(other)) if one.name == other.name => {
                    if let Err(difference) = self.values(&one.value, &other.value) {
                        return Err(within_field(*difference, one.name));
                    }
                }
                (one, other) => return Err(other_field(first, second, index, one, other)),
            }
        }
        Ok(())
    }
}

// Out of line: the functions above recurse, and what they only need at a difference would take stack at each level.

#[cold]
#[inline(never)]
fn differ(first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> Box<Difference> {
    Box::new(Difference::new(first, second))
}

/// Two different resources, whose names and ids may be equal if they are of two runs.
#[cold]
#[inline(never)]
fn other_resource(first: &RecordedValue<'_>, second: &RecordedValue<'_>) -> Box<Difference> {
    let mut difference = Difference::new(first, second);
    if first == second {
        difference.second.push_str(", which is another one there");
    }
    Box::new(difference)
}

#[cold]
#[inline(never)]
fn within_part(difference: Difference, list: &str, index: usize) -> Box<Difference> {
    Box::new(difference.within(&format!("{list}[{index}]")))
}

#[cold]
#[inline(never)]
fn within_field(difference: Difference, name: &str) -> Box<Difference> {
    Box::new(difference.within(&format!(".fields.{}", Name(name))))
}

/// Two structs of which one has a field where the other has another one, or none.
#[cold]
#[inline(never)]
fn other_field(
    first: &RecordedStruct<'_>,
    second: &RecordedStruct<'_>,
    index: usize,
    one: Option<&RecordedField<'_>>,
    other: Option<&RecordedField<'_>>,
) -> Box<Difference> {
    let has = |value: &RecordedStruct<'_>, name: &str| value.fields.iter().any(|field| field.name == name);
    let difference = match (one, other) {
        (Some(one), _) if !has(second, one.name) => {
            Difference::missing(Some(&one.value), None).within(&format!(".fields.{}", Name(one.name)))
        }
        (_, Some(other)) if !has(first, other.name) => {
            Difference::missing(None, Some(&other.value)).within(&format!(".fields.{}", Name(other.name)))
        }
        // The same names in another order, or one of them more often.
        (one, other) => {
            let name = |field: Option<&RecordedField<'_>>| field.map_or("", |field| field.name).to_owned();
            Difference::of_texts(&format!(".fields[{index}].name"), &name(one), &name(other))
        }
    };
    Box::new(difference)
}

fn texts(path: &str, first: &str, second: &str) -> Step {
    if first == second { Ok(()) } else { Err(Box::new(Difference::of_texts(path, first, second))) }
}

/// Whether an opaque stands for a number that is not finite, of which nothing is missing.
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
        match comparison.args(&[first.view(&arena)], &[second.view(&arena)]) {
            Ok(()) => Ok(comparison.unchecked),
            Err(difference) => Err([difference.path, difference.first, difference.second]),
        }
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
