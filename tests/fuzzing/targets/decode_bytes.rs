//! Any bytes as a line: no panic; the same from every path of the decoder, from a naive second one, and, about what is JSON
//! at all, from a JSON library.

use std::collections::BTreeSet;
use std::fmt;

use cove_trace::decode::{DecodeErrorKind as Kind, Decoder};
use cove_trace::fuzzing::decode_event_slowly;
use cove_trace::owned::OwnedEvent;
use cove_trace::{ValueCapture, encode_event, encode_header, value_to_json};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::reading::json::{Fault, nesting, parse};
use super::reading::oracle::{Place, canonical, earliest_faults};

pub(crate) fn check(data: &[u8]) {
    let mut decoder = Decoder::new();
    check_event(&mut decoder, data);
    check_header(&mut decoder, data);
    check_value(&mut decoder, data);
}

/// How deep a text may nest so that decoders that recurse can be asked about it.
const RECURSION_LIMIT: usize = 1000;

/// Whether `line` is accepted as an event.
pub(crate) fn check_event(decoder: &mut Decoder, line: &[u8]) -> bool {
    paths_agree(line);
    let shown = String::from_utf8_lossy(line).into_owned();
    let decoded = decoder.decode_event(line);
    let found = decoded.as_ref().err().map(|error| Fault { offset: error.offset(), kind: error.kind() });
    check_fault(found, line, Place::Event);
    let Ok(event) = decoded else { return false };
    let mut encoded = Vec::new();
    encode_event(&event, ValueCapture::Full, &mut encoded);
    check_encoded(&encoded, line);
    let owned = OwnedEvent::from(&event);
    let again = OwnedEvent::from(&decoder.decode_event(&encoded).expect("what the writer writes is read"));
    assert_eq!(again, owned, "{shown}");
    true
}

/// Whether `line` is accepted as a header.
pub(crate) fn check_header(decoder: &mut Decoder, line: &[u8]) -> bool {
    let decoded = decoder.decode_header(line);
    let found = decoded.as_ref().err().map(|error| Fault { offset: error.offset(), kind: error.kind() });
    check_fault(found, line, Place::Header);
    let Ok(header) = decoded else { return false };
    let mut encoded = Vec::new();
    encode_header(&header, &mut encoded);
    let mut expected = header.clone();
    if header.values == ValueCapture::Redacted {
        expected.args.fill("<redacted>".to_owned());
    }
    if expected == header {
        check_encoded(&encoded, line);
    }
    assert_eq!(decoder.decode_header(&encoded), Ok(expected));
    true
}

fn check_value(decoder: &mut Decoder, text: &[u8]) {
    let Ok(value) = decoder.decode_value(text) else { return };
    let written = value_to_json(&value, ValueCapture::Full);
    let mut decoder = Decoder::new();
    let again = decoder.decode_value(written.as_bytes()).expect("what the writer writes is read");
    assert_eq!(value_to_json(&again, ValueCapture::Full), written);
}

fn paths_agree(line: &[u8]) {
    let (mut decoder, mut general) = (Decoder::new(), Decoder::new());
    match (decoder.decode_event(line), decode_event_slowly(&mut general, line)) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(OwnedEvent::from(&found), OwnedEvent::from(&expected));
        }
        (Err(found), Err(expected)) => assert_eq!(found, expected),
        (found, expected) => panic!("{found:?}, generally {expected:?}"),
    }
}

/// Holds the fault that was found to those of the naive decoder, and of a JSON library.
fn check_fault(found: Option<Fault>, line: &[u8], place: Place) {
    if nesting(line) > RECURSION_LIMIT {
        assert!(found.is_some(), "nothing that nests this deep is an event");
        return;
    }
    let shown = String::from_utf8_lossy(line);
    let expected = earliest_faults(line, place);
    let agrees = match found {
        Some(found) => expected.contains(&found),
        None => expected.is_empty(),
    };
    assert!(agrees, "{shown}\nfound {found:?}, expected {expected:?}");

    // The library does not say which fault is the first. But what it reads has no fault that JSON itself has, and what it
    // does not read has one of some kind.
    match library_says(line) {
        Ok(()) => assert!(found.is_none_or(|fault| !is_of_json(fault.kind)), "{shown}\nfound {found:?}"),
        Err(error) => assert!(found.is_some(), "{shown}\nnothing found, but {error}"),
    }
}

/// Faults that a text has whatever its schema.
fn is_of_json(kind: Kind) -> bool {
    use Kind::{BadEscape, ByteOrderMark, LoneSurrogate, NotUtf8, Syntax, TrailingBytes, UnexpectedEnd};
    matches!(kind, BadEscape | ByteOrderMark | LoneSurrogate | NotUtf8 | Syntax | TrailingBytes | UnexpectedEnd)
}

/// Whether a JSON library reads the text, floats exactly and at any depth, and finds no key twice in an object. It refuses one
/// thing that is JSON: a number too large for a float. Such a number is out of range wherever the schema has a number,
/// and of the wrong type everywhere else.
fn library_says(line: &[u8]) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    deserializer.disable_recursion_limit();
    Json::deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Any JSON whose objects have no key twice. Keeps nothing.
struct Json;

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_str<E>(self, _: &str) -> Result<Json, E> {
        Ok(Json)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        while items.next_element::<Json>()?.is_some() {}
        Ok(Json)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value::<Json>()?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a key twice"));
            }
        }
        Ok(Json)
    }
}

/// Holds the text that the encoder makes of what was decoded to the naive one's.
fn check_encoded(encoded: &[u8], line: &[u8]) {
    let root = parse(line).root.expect("it was accepted");
    assert_eq!(String::from_utf8_lossy(encoded), canonical(&root) + "\n");
}
