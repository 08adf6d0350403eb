//! Valid lines with a few bytes changed: whatever comes out, the decoder neither panics nor disagrees with two others, a
//! JSON library about what is JSON, and a naive second decoder about what is an event and which byte is to blame if not.

mod reading;

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedEvent;
use cove_trace::{ValueCapture, encode_event, encode_header};
use reading::json::{Fault, parse};
use reading::oracle::{Place, canonical, earliest_faults};
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::same::assert_same_event;
use reading::{corpus, json};

/// Bytes that mean something to JSON, to the schema, or to UTF-8.
const TELLING: &[u8] =
    b"{}[]\":,\\/-+.0123456789eEutfnlx \t\r\n\0\x0b\x1f\x7f\x80\xa0\xbf\xc0\xc3\xd8\xe2\xed\xef\xf0\xf5\xff_abd";

const MUTANTS: usize = 80_000;

#[test]
fn changed_events() {
    let lines: Vec<String> = corpus::events().into_iter().map(|(line, _)| line).collect();
    let mut decoder = Decoder::new();
    let accepted = mutate_all(&lines, MUTANTS, 1, |mutant| check_event(&mut decoder, mutant));
    assert!(accepted > MUTANTS / 100, "{accepted} were still right");
}

#[test]
fn changed_headers() {
    let lines: Vec<String> = corpus::headers().into_iter().map(|(line, _)| line.to_owned()).collect();
    let mut decoder = Decoder::new();
    let accepted = mutate_all(&lines, MUTANTS / 10, 2, |mutant| check_header(&mut decoder, mutant));
    assert!(accepted > MUTANTS / 1000, "{accepted} were still right");
}

/// Lines of one kind where those of the other have to stand.
#[test]
fn changed_lines_in_the_wrong_place() {
    let headers: Vec<String> = corpus::headers().into_iter().map(|(line, _)| line.to_owned()).collect();
    let events: Vec<String> = corpus::events().into_iter().map(|(line, _)| line).collect();
    let mut decoder = Decoder::new();
    mutate_all(&headers, MUTANTS / 20, 3, |mutant| check_event(&mut decoder, mutant));
    mutate_all(&events, MUTANTS / 20, 4, |mutant| check_header(&mut decoder, mutant));
}

/// Gives `check` pseudo-random changes of canonical and of respelt lines, and counts how often it says yes.
fn mutate_all(lines: &[String], mutants: usize, seed: u64, mut check: impl FnMut(&[u8]) -> bool) -> usize {
    let mut rng = Rng::new(seed);
    let mut accepted = 0;
    for number in 0..mutants {
        let line = rng.pick(lines);
        let mut bytes = if rng.one_in(2) {
            respell(&json::parse_valid(line), Variation::ALL, &mut rng).into_bytes()
        } else {
            line.clone().into_bytes()
        };
        let changes = if number % 100 == 0 { 0 } else { 1 + rng.below(3) };
        for _ in 0..changes {
            change(&mut bytes, &mut rng);
        }
        accepted += usize::from(check(&bytes));
    }
    accepted
}

/// Whether `mutant` is accepted as an event.
fn check_event(decoder: &mut Decoder, mutant: &[u8]) -> bool {
    let shown = String::from_utf8_lossy(mutant).into_owned();
    let decoded = decoder.decode_event(mutant);
    let found = decoded.as_ref().err().map(|error| Fault { offset: error.offset(), kind: error.kind() });
    check_fault(found, mutant, Place::Event);
    let Ok(event) = decoded else { return false };
    assert!(serde_accepts(mutant), "{shown}");
    let mut encoded = Vec::new();
    encode_event(&event, ValueCapture::Full, &mut encoded);
    check_encoded(&encoded, mutant);
    let owned = OwnedEvent::from(&event);
    let again = OwnedEvent::from(&decoder.decode_event(&encoded).expect("what the writer writes is read"));
    assert_same_event(&again, &owned, &shown);
    true
}

/// Whether `mutant` is accepted as a header.
fn check_header(decoder: &mut Decoder, mutant: &[u8]) -> bool {
    let decoded = decoder.decode_header(mutant);
    let found = decoded.as_ref().err().map(|error| Fault { offset: error.offset(), kind: error.kind() });
    check_fault(found, mutant, Place::Header);
    let Ok(header) = decoded else { return false };
    assert!(serde_accepts(mutant), "{}", String::from_utf8_lossy(mutant));
    let mut encoded = Vec::new();
    encode_header(&header, ValueCapture::Full, &mut encoded);
    check_encoded(&encoded, mutant);
    assert_eq!(decoder.decode_header(&encoded).as_ref(), Ok(&header));
    true
}

/// Holds the fault that was found to the naive decoder's.
fn check_fault(found: Option<Fault>, mutant: &[u8], place: Place) {
    let expected = earliest_faults(mutant, place);
    let agrees = match found {
        Some(found) => expected.contains(&found),
        None => expected.is_empty(),
    };
    assert!(agrees, "{}\nfound {found:?}, expected {expected:?}", String::from_utf8_lossy(mutant));
}

/// Holds the text that the encoder makes of what was decoded to the naive one's.
fn check_encoded(encoded: &[u8], mutant: &[u8]) {
    let root = parse(mutant).root.expect("it was accepted");
    assert_eq!(String::from_utf8_lossy(encoded), canonical(&root) + "\n");
}

fn change(bytes: &mut Vec<u8>, rng: &mut Rng) {
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

fn serde_accepts(bytes: &[u8]) -> bool {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut deserializer).and_then(|_: serde_json::Value| deserializer.end()).is_ok()
}
