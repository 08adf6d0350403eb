//! Every key of every kind of object, with a value of every other type.

use cove_trace::decode::DecodeErrorKind as Kind;

use crate::reading::corpus;
use crate::reading::expect::{assert_header_refused_at, assert_refused_at};
use crate::reading::json::{Node, Token, parse_valid};
use crate::reading::oracle::{FIELD, LINE, OUTCOME, Shape, VALUE, Want, told};

/// A value of each JSON type, and of each kind of number that the schema tells apart.
const SPECIMENS: [&str; 11] =
    ["null", "true", "false", "7", "-7", "1.5", "1e2", r#""nope""#, "[]", r#"["nope"]"#, r#"{"nope":1}"#];

/// What is wrong with the specimen in that place, and at which of its bytes; `None` when nothing is.
fn fault(want: Want, specimen: &str) -> Option<(usize, Kind)> {
    let wrong_type = Some((0, Kind::WrongType));
    let is_number = specimen.parse::<f64>().is_ok();
    let is_whole = specimen.parse::<i64>().is_ok();
    let range = |admitted: bool| if admitted { None } else { Some((0, Kind::OutOfRange)) };
    match (want, specimen) {
        (Want::Version, _) => Some((0, Kind::UnsupportedVersion)),
        (Want::U64OrNull | Want::StrOrNull | Want::OutcomeOrNull, "null") => None,
        (Want::U64 | Want::U64OrNull, _) if is_number => range(specimen == "7"),
        (Want::I64, _) if is_number => range(is_whole),
        (Want::Float, _) if is_number => None,
        (Want::Bool, "true" | "false") => None,
        (Want::Str | Want::StrOrNull, r#""nope""#) => None,
        (Want::Tag | Want::Name(_), r#""nope""#) => Some((0, Kind::UnknownName)),
        (Want::Strings | Want::Values | Want::Fields, "[]") | (Want::Strings, r#"["nope"]"#) => None,
        (Want::Values | Want::Fields, r#"["nope"]"#) => Some((1, Kind::WrongType)),
        (Want::Value | Want::OutcomeOrNull, r#"{"nope":1}"#) => Some((1, Kind::UnknownKey)),
        _ => wrong_type,
    }
}

/// Calls `check` for everything that stands under a key in `node`, with what the schema wants there.
fn for_every_member(node: &Node, shape: Shape, check: &mut dyn FnMut(Want, &Node)) {
    for member in node.members() {
        let (_, want) = shape.iter().find(|(key, _)| *key == member.key).unwrap();
        let value = member.value.as_ref().unwrap();
        check(*want, value);
        let union = match want {
            Want::OutcomeOrNull => &OUTCOME,
            _ => &VALUE,
        };
        if let Some((_, shape, _)) = told(value, union) {
            for_every_member(value, shape, check);
        }
        if let Token::Array(items, _) = &value.token {
            for item in items {
                match want {
                    Want::Values => for_every_member(item, told(item, &VALUE).unwrap().1, check),
                    Want::Fields => for_every_member(item, FIELD, check),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn every_value_has_to_be_of_its_type() {
    let events = corpus::events().into_iter().map(|(line, _)| (line, assert_refused_at as fn(&[u8], usize, Kind)));
    let headers = corpus::headers().into_iter().map(|(line, _)| (line.to_owned(), assert_header_refused_at as _));
    for (line, assert_refused_at) in events.chain(headers) {
        let root = parse_valid(&line);
        let shape = told(&root, &LINE).unwrap().1;
        for_every_member(&root, shape, &mut |want, value| {
            for specimen in SPECIMENS {
                if let Some((at, kind)) = fault(want, specimen) {
                    let faulty = [&line[..value.start], specimen, &line[value.end..]].concat();
                    assert_refused_at(faulty.as_bytes(), value.start + at, kind);
                }
            }
        });
    }
}

/// What stands in an array has to be of its type too.
#[test]
fn every_item_has_to_be_of_its_type() {
    for (line, _) in corpus::events() {
        let args = line.find(r#""args":["#).map(|at| at + r#""args":["#.len());
        for (open, is_field) in
            [(args, false), (find_last(&line, r#""items":["#), false), (find_last(&line, r#""fields":["#), true)]
        {
            let Some(at) = open else { continue };
            let comma = if line.as_bytes()[at] == b']' { "" } else { "," };
            for specimen in SPECIMENS {
                let (blamed, kind) =
                    if specimen.starts_with('{') { (1, Kind::UnknownKey) } else { (0, Kind::WrongType) };
                let faulty = [&line[..at], specimen, comma, &line[at..]].concat();
                assert_refused_at(faulty.as_bytes(), at + blamed, kind);
            }
            let empty = [&line[..at], "{}", comma, &line[at..]].concat();
            let brace = at + 1;
            assert_refused_at(empty.as_bytes(), brace, Kind::MissingKey);
            if is_field {
                let value = [&line[..at], r#"{"type":"unit"}"#, comma, &line[at..]].concat();
                assert_refused_at(value.as_bytes(), at + 1, Kind::UnknownKey);
            }
        }
    }
}

fn find_last(line: &str, opening: &str) -> Option<usize> {
    line.rfind(opening).map(|at| at + opening.len())
}
