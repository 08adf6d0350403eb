//! A second decoder, naive on purpose: all faults of a line by the schema, of which the earliest is what the real decoder
//! has to report, and the canonical text of a line without any.
//!
//! Nothing of the crate is used but the names of the kinds of fault.

use cove_trace::decode::DecodeErrorKind as Kind;

use super::json::{Fault, Node, Token, parse};

/// What the schema wants under a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Want {
    /// The name that tells the object's shape.
    Tag,
    U64,
    U64OrNull,
    I64,
    Float,
    Bool,
    Str,
    StrOrNull,
    Name(&'static [&'static str]),
    Version,
    Strings,
    Values,
    Fields,
    Value,
    OutcomeOrNull,
}

/// The keys of an object, in the canonical order.
pub(crate) type Shape = &'static [(&'static str, Want)];

/// Objects whose shape is told by one of their keys.
pub(crate) struct Union {
    pub(crate) tag: &'static str,
    pub(crate) shapes: &'static [(&'static str, Shape)],
}

use Want::{
    Bool, Fields, Float, I64, Name, OutcomeOrNull, Str, StrOrNull, Strings, Tag, U64, U64OrNull, Value, Values, Version,
};

const BACKENDS: &[&str] = &["ast", "vm"];
const CAPTURES: &[&str] = &["full", "redacted"];
const RUN_OUTCOMES: &[&str] = &[
    "success",
    "error",
    "invariant",
    "host_boundary",
    "fuel",
    "deadline",
    "cancelled",
    "call_depth",
    "host_calls",
    "concurrency",
];

pub(crate) const LINE: Union = Union {
    tag: "event",
    shapes: &[
        (
            "trace_header",
            &[
                ("event", Tag),
                ("version", Version),
                ("backend", Name(BACKENDS)),
                ("values", Name(CAPTURES)),
                ("entry", Str),
                ("args", Strings),
            ],
        ),
        ("task_spawned", &[("event", Tag), ("id", U64), ("parent", U64OrNull), ("scope", Str)]),
        ("task_completed", &[("event", Tag), ("id", U64), ("cpu_ns", U64)]),
        ("task_cancelled", &[("event", Tag), ("id", U64)]),
        (
            "host_call",
            &[
                ("event", Tag),
                ("task", U64),
                ("module", Str),
                ("op", Str),
                ("capability", Str),
                ("wait_ns", U64),
                ("granted", Bool),
                ("args", Values),
                ("outcome", OutcomeOrNull),
            ],
        ),
        ("entry_enter", &[("event", Tag), ("module", Str), ("function", Str)]),
        ("entry_exit", &[("event", Tag), ("module", Str), ("function", Str), ("cpu_ns", U64), ("wait_ns", U64)]),
        (
            "heap_collected",
            &[
                ("event", Tag),
                ("task", U64),
                ("allocated", U64),
                ("freed", U64),
                ("live_objects", U64),
                ("live_bytes", U64),
                ("pause_ns", U64),
            ],
        ),
        (
            "heap_summary",
            &[
                ("event", Tag),
                ("collections", U64),
                ("object_count", U64OrNull),
                ("allocated_bytes", U64OrNull),
                ("live_bytes", U64OrNull),
                ("peak_bytes", U64OrNull),
                ("pause_ns", U64OrNull),
                ("allocated_words", U64OrNull),
                ("capacity_words", U64OrNull),
                ("live_words", U64OrNull),
            ],
        ),
        ("run_ended", &[("event", Tag), ("outcome", Name(RUN_OUTCOMES)), ("message", StrOrNull)]),
    ],
};

pub(crate) const VALUE: Union = Union {
    tag: "type",
    shapes: &[
        ("unit", &[("type", Tag)]),
        ("bool", &[("type", Tag), ("value", Bool)]),
        ("int", &[("type", Tag), ("value", I64)]),
        ("float", &[("type", Tag), ("value", Float)]),
        ("duration", &[("type", Tag), ("ns", I64)]),
        ("string", &[("type", Tag), ("value", Str)]),
        ("array", &[("type", Tag), ("items", Values)]),
        ("enum", &[("type", Tag), ("name", Str), ("case", Str), ("payload", Values)]),
        ("struct", &[("type", Tag), ("name", Str), ("fields", Fields)]),
        ("resource", &[("type", Tag), ("name", Str), ("id", I64)]),
        ("redacted", &[("type", Tag), ("of", Str)]),
        ("opaque", &[("type", Tag), ("of", Str), ("shown", Str)]),
    ],
};

pub(crate) const OUTCOME: Union = Union {
    tag: "kind",
    shapes: &[
        ("value", &[("kind", Tag), ("value", Value)]),
        ("error", &[("kind", Tag), ("message", Str)]),
        ("not_recordable", &[("kind", Tag)]),
    ],
};

/// Values that have values in them.
const CONTAINERS: &[&str] = &["array", "enum", "struct"];

/// Containers may stand at the levels before this one, other values at this one too.
const LAST_LEVEL: usize = 128;

pub(crate) const FIELD: Shape = &[("name", Str), ("value", Value)];

/// What a line has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Header,
    Event,
}

/// The faults of `line` at its earliest faulty byte; empty when it is right. More than one when that byte can be blamed
/// for more than one thing.
pub(crate) fn earliest_faults(line: &[u8], place: Place) -> Vec<Fault> {
    let all = faults(line, place);
    let first = all.iter().map(|fault| fault.offset).min();
    all.into_iter().filter(|fault| Some(fault.offset) == first).collect()
}

fn faults(line: &[u8], place: Place) -> Vec<Fault> {
    let parsed = parse(line);
    let mut faults = Vec::from_iter(parsed.broken);
    if let Some(root) = &parsed.root {
        check_union(root, &LINE, 0, &mut faults);
        let (name, at) = told(root, &LINE).map_or((None, 0), |(name, _, at)| (Some(name), at));
        if name == Some("trace_header")
            && let Some(fault) = version_fault(root, line)
        {
            // Nothing else that a header of another version holds can be judged.
            faults = vec![fault];
        }
        match (place, name) {
            (Place::Header, Some("trace_header")) | (_, None) => {}
            (Place::Header, Some(_)) => faults.push(Fault { offset: at, kind: Kind::NoHeader }),
            (Place::Event, Some("trace_header")) => faults.push(Fault { offset: at, kind: Kind::SecondHeader }),
            (Place::Event, Some(_)) => {}
        }
    }
    faults
}

fn version_fault(header: &Node, line: &[u8]) -> Option<Fault> {
    let kind = Kind::UnsupportedVersion;
    let Token::Object(members, close) = &header.token else { return None };
    match members.iter().find(|member| member.key == "version") {
        Some(member) => {
            let value = member.value.as_ref().filter(|value| is_whole(value))?;
            (&line[value.start..value.end] != b"4").then_some(Fault { offset: value.start, kind })
        }
        None => close.map(|close| Fault { offset: close.0, kind }),
    }
}

fn is_whole(node: &Node) -> bool {
    use Token::{Array, Object, PartOfNumber, PartOfString};
    !matches!(node.token, PartOfString | PartOfNumber | Array(_, None) | Object(_, None))
}

/// Which of the union's shapes an object has, by the first key that tells, and where that key's value is.
pub(crate) fn told(node: &Node, union: &Union) -> Option<(&'static str, Shape, usize)> {
    let tag = node.members().iter().find(|member| member.key == union.tag)?.value.as_ref()?;
    let Token::String(told) = &tag.token else { return None };
    union.shapes.iter().find(|(name, _)| name == told).map(|(name, shape)| (*name, *shape, tag.start))
}

/// A value inside of so many others.
fn check_value(node: &Node, around: usize, faults: &mut Vec<Fault>) {
    let level = around + 1;
    if level >= LAST_LEVEL && told(node, &VALUE).is_some_and(|(name, ..)| CONTAINERS.contains(&name)) {
        faults.push(Fault { offset: node.start, kind: Kind::TooDeep });
    }
    check_union(node, &VALUE, level, faults);
}

/// An object inside of so many values, itself among them if it is one.
fn check_union(node: &Node, union: &Union, level: usize, faults: &mut Vec<Fault>) {
    if !matches!(node.token, Token::Object(..)) {
        return faults.push(Fault { offset: node.start, kind: Kind::WrongType });
    }
    if let Some((_, shape, _)) = told(node, union) {
        return check_shape(node, shape, level, faults);
    }
    // What can be said about an object whose shape is not known: that no shape has such a key, and that the key which
    // would tell is missing, or what is wrong with it.
    let keys: Vec<&str> = union.shapes.iter().flat_map(|(_, shape)| *shape).map(|(key, _)| *key).collect();
    check_keys(node, &keys, faults);
    let tag = node.members().iter().find(|member| member.key == union.tag);
    match (tag, &node.token) {
        (None, Token::Object(_, Some(close))) => faults.push(Fault { offset: close.0, kind: Kind::MissingKey }),
        (Some(tag), _) => {
            let names = union.shapes.iter().map(|(name, _)| *name);
            faults.extend(tag.value.as_ref().and_then(|value| name_fault(value, names)));
        }
        _ => {}
    }
}

fn check_keys(node: &Node, keys: &[&str], faults: &mut Vec<Fault>) {
    for (index, member) in node.members().iter().enumerate() {
        if !keys.contains(&member.key.as_str()) {
            faults.push(Fault { offset: member.quote, kind: Kind::UnknownKey });
        } else if node.members()[..index].iter().any(|before| before.key == member.key) {
            faults.push(Fault { offset: member.quote, kind: Kind::RepeatedKey });
        }
    }
}

fn check_shape(node: &Node, shape: Shape, level: usize, faults: &mut Vec<Fault>) {
    let Token::Object(members, close) = &node.token else {
        return faults.push(Fault { offset: node.start, kind: Kind::WrongType });
    };
    let keys: Vec<&str> = shape.iter().map(|(key, _)| *key).collect();
    check_keys(node, &keys, faults);
    for member in members {
        if let (Some((_, want)), Some(value)) = (shape.iter().find(|(key, _)| *key == member.key), &member.value) {
            check(value, *want, level, faults);
        }
    }
    if let Some(close) = close
        && keys.iter().any(|key| members.iter().all(|member| member.key != *key))
    {
        faults.push(Fault { offset: close.0, kind: Kind::MissingKey });
    }
}

fn name_fault(node: &Node, mut names: impl Iterator<Item = &'static str>) -> Option<Fault> {
    let kind = match &node.token {
        Token::String(told) if names.any(|name| name == told) => return None,
        Token::String(_) => Kind::UnknownName,
        Token::PartOfString => return None,
        _ => Kind::WrongType,
    };
    Some(Fault { offset: node.start, kind })
}

fn check(node: &Node, want: Want, level: usize, faults: &mut Vec<Fault>) {
    let null = matches!(node.token, Token::Null);
    let string = matches!(node.token, Token::String(_) | Token::PartOfString);
    let number = matches!(node.token, Token::Number { .. } | Token::PartOfNumber);
    let right_type = match want {
        Want::Tag | Want::Str => string,
        Want::StrOrNull => string || null,
        Want::Name(names) => return faults.extend(name_fault(node, names.iter().copied())),
        Want::U64 | Want::I64 | Want::Float | Want::Version => number,
        Want::U64OrNull => number || null,
        Want::Bool => matches!(node.token, Token::Bool(_)),
        Want::Strings | Want::Values | Want::Fields => matches!(node.token, Token::Array(..)),
        Want::Value => return check_value(node, level, faults),
        Want::OutcomeOrNull if null => true,
        Want::OutcomeOrNull => return check_union(node, &OUTCOME, level, faults),
    };
    if !right_type {
        return faults.push(Fault { offset: node.start, kind: Kind::WrongType });
    }
    match &node.token {
        Token::Number { may_go_on: true, .. } if matches!(want, Want::Float) => {}
        Token::Number { text, .. } if !in_range(text, want) => {
            faults.push(Fault { offset: node.start, kind: Kind::OutOfRange });
        }
        Token::Array(items, _) => {
            for item in items {
                match want {
                    Want::Strings => check(item, Want::Str, level, faults),
                    Want::Values => check_value(item, level, faults),
                    _ => check_shape(item, FIELD, level, faults),
                }
            }
        }
        _ => {}
    }
}

/// Whether a number by RFC 8259 is one that the schema admits, by its text alone.
fn in_range(number: &str, want: Want) -> bool {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let at_most = |most: &str| {
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        whole && (digits.len() < most.len() || digits.len() == most.len() && digits <= most)
    };
    match want {
        Want::Float => number.parse::<f64>().unwrap().is_finite(),
        Want::I64 if negative => at_most("9223372036854775808"),
        Want::I64 => at_most("9223372036854775807"),
        _ => !negative && at_most("18446744073709551615"),
    }
}

/// The canonical text of a line that has no fault.
pub(crate) fn canonical(line: &Node) -> String {
    let mut out = String::new();
    write_union(line, &LINE, &mut out);
    out
}

fn write_union(node: &Node, union: &Union, out: &mut String) {
    write_shape(node, told(node, union).unwrap().1, out);
}

fn write_shape(node: &Node, shape: Shape, out: &mut String) {
    for (index, (key, want)) in shape.iter().enumerate() {
        out.push_str(if index == 0 { "{\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        let member = node.members().iter().find(|member| member.key == *key).unwrap();
        write(member.value.as_ref().unwrap(), *want, out);
    }
    out.push('}');
}

fn write(node: &Node, want: Want, out: &mut String) {
    match &node.token {
        Token::Null => out.push_str("null"),
        Token::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Token::Number { text, .. } if matches!(want, Want::Float) => {
            out.push_str(ryu::Buffer::new().format_finite(text.parse::<f64>().unwrap()));
        }
        Token::Number { text, .. } if text == "-0" => out.push('0'),
        Token::Number { text, .. } => out.push_str(text),
        Token::String(text) => write_string(text, out),
        Token::Array(items, _) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                match want {
                    Want::Strings => write(item, Want::Str, out),
                    Want::Values => write_union(item, &VALUE, out),
                    _ => write_shape(item, FIELD, out),
                }
            }
            out.push(']');
        }
        Token::Object(..) if matches!(want, Want::Value) => write_union(node, &VALUE, out),
        Token::Object(..) => write_union(node, &OUTCOME, out),
        Token::PartOfString | Token::PartOfNumber => unreachable!("the line is whole"),
    }
}

pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
}
