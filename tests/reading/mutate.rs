//! Changes to lines: of a few bytes, or of what the bytes mean to JSON and to the schema.

use std::ops::Range;
use std::sync::LazyLock;

use super::corpus;
use super::json::{Node, Token, nesting, parse};
use super::respell::{Variation, respell};
use super::rng::Rng;

/// Bytes that mean something to JSON, to the schema, or to UTF-8.
const TELLING: &[u8] =
    b"{}[]\":,\\/-+.0123456789eEutfnlx \t\r\n\0\x0b\x1f\x7f\x80\xa0\xbf\xc0\xc3\xd8\xe2\xed\xef\xf0\xf5\xff_abd";

pub(crate) fn change_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        return bytes.push(*rng.pick(TELLING));
    }
    let at = rng.below(bytes.len());
    match rng.below(6) {
        0 => {
            bytes.remove(at);
        }
        1 => bytes.insert(at, *rng.pick(TELLING)),
        2 => bytes[at] = *rng.pick(TELLING),
        3 => bytes[at] ^= 1 << rng.below(8),
        4 => {
            // A piece twice, or gone.
            let end = bytes.len().min(at + 1 + rng.below(30));
            let piece = bytes[at..end].to_vec();
            if rng.one_in(2) {
                bytes.splice(at..at, piece);
            } else {
                bytes.drain(at..end);
            }
        }
        _ => bytes.truncate(at),
    }
}

/// What the corpus has, as lines.
static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let headers = corpus::headers().into_iter().map(|(line, _)| line.to_owned());
    headers.chain(corpus::events().into_iter().map(|(line, _)| line)).collect()
});

/// Texts that could stand where another value stands.
static VALUES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let words = "null true false 0 4 5 -0 -1 0.0 1e400 1e-400 01 1. 18446744073709551615 18446744073709551616 \
                 9223372036854775808 -9223372036854775808 -9223372036854775809 9007199254740993 2.5e-324 [] {} [[]] \"\" \
                 \"4\" \"\\u0061\" \"\\ud83d\\ude00\" \"\\ud83d\" \"\\udc00\" \"\\x\" \"\u{e9}\u{1f600}\"";
    let words = words.split_whitespace().map(str::to_owned);
    words.chain(corpus::values().into_iter().map(|(text, _)| text.to_owned())).collect()
});

/// Keys and names of the schema, and some that are none.
const NAMES: &[&str] = &[
    "event",
    "id",
    "type",
    "kind",
    "name",
    "value",
    "items",
    "fields",
    "payload",
    "case",
    "of",
    "shown",
    "ns",
    "version",
    "args",
    "outcome",
    "message",
    "module",
    "op",
    "task",
    "wait_ns",
    "int",
    "float",
    "array",
    "struct",
    "enum",
    "unit",
    "string",
    "opaque",
    "trace_header",
    "host_call",
    "task_cancelled",
    "run_ended",
    "heap_summary",
    "x",
    "",
];

/// As deep as a text may nest that is taken apart here.
const DEEPEST: usize = 1000;

/// Makes another line of `line`, one that mostly gets as far as the schema.
pub(crate) fn change_line(line: &mut Vec<u8>, rng: &mut Rng) {
    if rng.one_in(8) {
        *line = rng.pick(&LINES).clone().into_bytes();
    }
    if rng.one_in(4) {
        change_bytes(line, rng);
    }
    if nesting(line) > DEEPEST {
        return;
    }
    let parsed = parse(line);
    let Some(root) = parsed.root else { return };
    if parsed.broken.is_none() && rng.one_in(4) {
        *line = respell(&root, Variation::ALL, rng).into_bytes();
        return;
    }
    change_tokens(line, &root, rng);
}

/// Changes one thing that JSON knows: a value, a member of an object, a key.
fn change_tokens(line: &mut Vec<u8>, root: &Node, rng: &mut Rng) {
    let nodes = root.all();
    let node = *rng.pick(&nodes);
    match rng.below(6) {
        0 => replace(line, node.start..node.end, rng.pick(&VALUES).as_bytes()),
        1 => {
            let other = *rng.pick(&nodes);
            let text = line[other.start..other.end].to_vec();
            replace(line, node.start..node.end, &text);
        }
        2 => {
            // Mostly about as deep as the format admits.
            let around = if rng.one_in(2) { 120 + rng.below(12) } else { 1 + rng.below(3) };
            let (before, after) = *rng.pick(&[
                (r#"{"type":"array","items":["#, "]}"),
                (r#"{"payload":["#, r#"],"case":"","name":"","type":"enum"}"#),
                (r#"{"type":"struct","name":"","fields":[{"value":"#, r#","name":""}]}"#),
            ]);
            let inside = String::from_utf8_lossy(&line[node.start..node.end]).into_owned();
            let nested = format!("{}{inside}{}", before.repeat(around), after.repeat(around));
            replace(line, node.start..node.end, nested.as_bytes());
        }
        3 => {
            let name = format!("\"{}\"", rng.pick(NAMES));
            if let Token::String(_) = node.token {
                replace(line, node.start..node.end, name.as_bytes());
            } else if !node.members().is_empty() {
                let member = rng.pick(node.members());
                // Of a key that is spelt with escapes, a part.
                replace(line, member.quote..member.quote + member.key.len() + 2, name.as_bytes());
            }
        }
        _ => change_members(line, &nodes, rng),
    }
}

fn replace(line: &mut Vec<u8>, range: Range<usize>, text: &[u8]) {
    line.splice(range, text.iter().copied());
}

/// Removes a member of an object, or repeats it, or has two change places.
fn change_members(line: &mut Vec<u8>, nodes: &[&Node], rng: &mut Rng) {
    let objects: Vec<_> = nodes.iter().filter(|node| !node.members().is_empty()).collect();
    if objects.is_empty() {
        return;
    }
    let object = *rng.pick(&objects);
    let mut members: Vec<Vec<u8>> = object
        .members()
        .iter()
        .map(|member| line[member.quote..member.value.as_ref().map_or(object.end, |value| value.end)].to_vec())
        .collect();
    let at = rng.below(members.len());
    match rng.below(3) {
        0 => drop(members.remove(at)),
        1 => members.push(members[at].clone()),
        _ => members.swap(at, 0),
    }
    let text = [b"{", &members.join(&b',')[..], b"}"].concat();
    replace(line, object.start..object.end, &text);
}
