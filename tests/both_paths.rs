//! The decoder has a fast path, for lines as the encoder writes them, and a slow one for all others. For every line,
//! both give the same event, or the same error at the same byte.

#[path = "common/generate.rs"]
mod generate;
mod reading;

use cove_trace::decode::Decoder;
use cove_trace::fuzzing::{decode_event_slowly, decode_value_slowly};
use cove_trace::owned::OwnedEvent;
use cove_trace::{Arena, ValueCapture, encode_event, value_to_json};
use generate::{for_each_seed, generated};
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::{corpus, json};

/// Decoders that have seen other lines before.
#[derive(Default)]
struct Both {
    either: Decoder,
    general: Decoder,
}

impl Both {
    /// Whether both accept the line, and with the same event; or refuse it for the same reason.
    fn assert_same(&mut self, line: &[u8]) -> bool {
        let shown = String::from_utf8_lossy(line);
        match (self.either.decode_event(line), decode_event_slowly(&mut self.general, line)) {
            (Ok(event), Ok(expected)) => {
                assert_eq!(OwnedEvent::from(&event), OwnedEvent::from(&expected), "{shown}");
                true
            }
            (Err(error), Err(expected)) => {
                assert_eq!((error.offset(), &error), (expected.offset(), &expected), "{shown}");
                false
            }
            (found, expected) => panic!("{shown}\n{found:?}\n{expected:?}"),
        }
    }

    /// The same for every beginning of the line, every line with one byte changed to one of `bytes`, with one left out, and
    /// with one twice.
    fn assert_same_when_spoilt(&mut self, line: &[u8], bytes: &[u8]) {
        for at in (0..line.len()).step_by(if cfg!(miri) { 5 } else { 1 }) {
            self.assert_same(&line[..at]);
            let mut changed = line.to_vec();
            for byte in bytes {
                changed[at] = *byte;
                self.assert_same(&changed);
            }
            changed[at] = line[at];
            changed.insert(at, line[at]);
            self.assert_same(&changed);
            changed.drain(at..at + 2);
            self.assert_same(&changed);
        }
    }
}

/// Bytes that mean something to JSON, to UTF-8, or to whoever looks at several bytes together.
const TELLING: &[u8] = b"\"\\{}], \n\x1f\x80\xc3\xe2\xff09-.eu";

#[test]
fn every_kind_of_line_spoilt_at_every_byte() {
    let mut both = Both::default();
    let bytes = if cfg!(miri) { &TELLING[..2] } else { TELLING };
    for (line, event) in corpus::events().into_iter().step_by(if cfg!(miri) { 41 } else { 1 }) {
        assert!(both.assert_same(line.as_bytes()));
        assert_eq!(OwnedEvent::from(&both.either.decode_event(line.as_bytes()).unwrap()), event, "{line}");
        for behind in ["\n", "\r\n", " ", "\n\n", "}", "\u{feff}", "\0"] {
            both.assert_same(format!("{line}{behind}").as_bytes());
        }
        both.assert_same_when_spoilt(line.as_bytes(), bytes);
    }
    for (header, _) in corpus::headers() {
        assert!(!both.assert_same(header.as_bytes()));
    }
}

#[test]
fn every_kind_of_line_spelt_otherwise() {
    let (mut both, mut rng) = (Both::default(), Rng::new(3));
    for round in 0..if cfg!(miri) { 1 } else { 32 } {
        for (line, event) in corpus::events().into_iter().step_by(if cfg!(miri) { 7 } else { 1 }) {
            let variation = Variation {
                key_order: round & 1 != 0,
                white_space: round & 2 != 0,
                escapes: round & 4 != 0,
                floats: round & 8 != 0,
            };
            let respelt = respell(&json::parse_valid(&line), variation, &mut rng);
            assert!(both.assert_same(respelt.as_bytes()));
            assert_eq!(OwnedEvent::from(&both.either.decode_event(respelt.as_bytes()).unwrap()), event, "{line}");
        }
    }
}

#[test]
fn generated_events() {
    for_each_seed(300, |seed| {
        let event: OwnedEvent = generated(seed);
        let (mut both, mut rng, mut line) = (Both::default(), Rng::new(seed), Vec::new());
        encode_event(&event.view(&Arena::new()), ValueCapture::Full, &mut line);
        assert!(both.assert_same(&line));
        for _ in 0..30 {
            let mut changed = line.clone();
            let at = rng.below(changed.len());
            changed[at] = *rng.pick(TELLING);
            both.assert_same(&changed);
            both.assert_same(&line[..at]);
        }
    });
}

fn call(module: &str, args: &str) -> String {
    format!(
        r#"{{"event":"host_call","task":1,"module":"{module}","op":"read","capability":"documents.read","wait_ns":5,"granted":true,"args":[{args}],"outcome":null}}"#
    )
}

/// Strings with something special at each place, of lengths on either side of those that are looked at together.
#[test]
fn strings_of_every_length() {
    let mut both = Both::default();
    let specials = [
        "",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u0007",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\x",
        "\"",
        "\n",
        "é",
        "€",
        "😀",
    ];
    for len in (0..220).filter(|len| if cfg!(miri) { *len == 63 } else { *len < 20 || len % 16 < 2 }) {
        for at in (0..=len).step_by(if cfg!(miri) {
            40
        } else if len < 20 {
            1
        } else {
            13
        }) {
            for special in specials {
                let text = format!("{}{special}{}", "x".repeat(at), "y".repeat(len - at));
                both.assert_same(call("documents", &format!(r#"{{"type":"string","value":"{text}"}}"#)).as_bytes());
                both.assert_same(call(&text, "").as_bytes());
                // At the end of the line, where not so much is there to be read.
                both.assert_same(format!(r#"{{"event":"run_ended","outcome":"error","message":"{text}"}}"#).as_bytes());
                both.assert_same(
                    format!(r#"{{"event":"run_ended","outcome":"error","message":"{text}{text}"#).as_bytes(),
                );
            }
        }
    }
}

/// One that stands close behind another, or across the end of a block.
#[test]
fn strings_full_of_escapes() {
    let (mut both, mut rng) = (Both::default(), Rng::new(5));
    let pieces =
        ["\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "a", "text", "é", "€", "😀", " and so on and on "];
    for round in 0..if cfg!(miri) { 10 } else { 3_000 } {
        let text: String = (0..rng.below(60)).map(|_| *rng.pick(&pieces)).collect();
        let mut line = call("documents", &format!(r#"{{"type":"string","value":"{text}"}}"#)).into_bytes();
        assert!(both.assert_same(&line));
        if round % 2 == 0 {
            let at = rng.below(line.len());
            line[at] = *rng.pick(TELLING);
            both.assert_same(&line);
        }
    }
}

#[test]
fn numbers_of_every_form() {
    let (mut both, mut rng) = (Both::default(), Rng::new(6));
    for _ in 0..if cfg!(miri) { 12 } else { 5_000 } {
        let number: String = (0..1 + rng.below(26)).map(|_| char::from(*rng.pick(b"00123456789999-+.eE"))).collect();
        let number = if rng.one_in(2) { number } else { number.replace(['-', '+', '.', 'e', 'E'], "1") };
        for value in [
            format!(r#"{{"type":"int","value":{number}}}"#),
            format!(r#"{{"type":"float","value":{number}}}"#),
            format!(r#"{{"type":"duration","ns":-{number}}}"#),
        ] {
            both.assert_same(call("", &value).as_bytes());
        }
        both.assert_same(format!(r#"{{"event":"task_cancelled","id":{number}}}"#).as_bytes());
        both.assert_same(format!(r#"{{"event":"task_cancelled","id":{number}"#).as_bytes());
    }
}

#[test]
fn values_down_to_the_deepest() {
    let mut both = Both::default();
    for (open, close) in [
        (r#"{"type":"array","items":["#, "]}"),
        (r#"{"type":"enum","name":"A","case":"B","payload":[{"type":"int","value":5},"#, "]}"),
        (r#"{"type":"struct","name":"A","fields":[{"name":"x","value":"#, "}]}"),
    ] {
        for leaf in [
            r#"{"type":"unit"}"#,
            r#"{"type":"array","items":[]}"#,
            r#"{"type":"enum","name":"Result","case":"Ok","payload":[{"type":"unit"}]}"#,
        ] {
            for depth in [9, 2, 127, 129, 1, 125, 126, 128, 500].into_iter().take(if cfg!(miri) { 2 } else { 9 }) {
                let value = format!("{}{leaf}{}", open.repeat(depth), close.repeat(depth));
                let accepted = both.assert_same(call("deep", &value).as_bytes());
                let is_leaf_flat = leaf.contains("unit") && !leaf.contains("enum");
                assert_eq!(accepted, depth + usize::from(!is_leaf_flat) < 128, "{depth} times {open} around {leaf}");
            }
        }
    }
}

/// More call sites than are remembered, some of which differ in their last byte alone.
#[test]
fn many_call_sites() {
    let (mut both, mut rng) = (Both::default(), Rng::new(7));
    for _ in 0..if cfg!(miri) { 15 } else { 2_000 } {
        let name = |rng: &mut Rng| {
            "documents_and_everything".split_at(rng.below(25)).0.to_owned() + ["", "a", "é", "\\n"][rng.below(4)]
        };
        let (module, op, capability) = (name(&mut rng), name(&mut rng), name(&mut rng));
        let line = format!(
            r#"{{"event":"host_call","task":1,"module":"{module}","op":"{op}","capability":"{capability}","wait_ns":5,"granted":true,"args":[],"outcome":null}}"#
        );
        assert!(both.assert_same(line.as_bytes()));
        assert!(both.assert_same(line.as_bytes()));
        let mut changed = line.into_bytes();
        let at = rng.below(100);
        changed[at] = *rng.pick(TELLING);
        both.assert_same(&changed);
    }
}

const NO_ESCAPES: Variation = Variation { escapes: false, ..Variation::ALL };

#[test]
fn every_kind_of_line_spelt_otherwise_and_spoilt() {
    let (mut both, mut rng) = (Both::default(), Rng::new(8));
    let bytes = if cfg!(miri) { &TELLING[..2] } else { TELLING };
    for (line, _) in corpus::events().into_iter().step_by(if cfg!(miri) { 41 } else { 1 }) {
        let respelt = respell(&json::parse_valid(&line), NO_ESCAPES, &mut rng);
        assert!(both.assert_same(respelt.as_bytes()));
        both.assert_same_when_spoilt(respelt.as_bytes(), bytes);
    }
}

/// A member left out, given twice, taken from another object, or with the value of another.
#[test]
fn members_mixed_up() {
    let (mut both, mut rng) = (Both::default(), Rng::new(9));
    let events = corpus::events();
    let members: Vec<(&str, &str)> = events.iter().flat_map(|(line, _)| pairs(line)).collect();
    for (line, _) in events.iter().step_by(if cfg!(miri) { 41 } else { 1 }) {
        for _ in 0..if cfg!(miri) { 2 } else { 40 } {
            let mut pairs = pairs(line);
            let (at, other) = (rng.below(pairs.len()), *rng.pick(&members));
            match rng.below(5) {
                0 => drop(pairs.remove(at)),
                1 => pairs.push(pairs[at]),
                2 => pairs.insert(at, other),
                3 => pairs[at] = other,
                _ => pairs[at].1 = other.1,
            }
            rng.shuffle(&mut pairs);
            let space = *rng.pick(&["", " ", "  "]);
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}:{space}{value}")).collect();
            both.assert_same(format!("{{{}}}", pairs.join(&format!(",{space}"))).as_bytes());
        }
    }
}

/// Keys and values of an object, as they stand in its line.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0, false, false, 1);
    let mut pairs = Vec::new();
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b',' | b'}' if depth == 1 => {
                pairs.extend(line[start..at].split_once(':'));
                start = at + 1;
            }
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    pairs
}

/// Values on their own, in every spelling, whole and spoilt.
#[test]
fn lone_values() {
    let (mut decoder, mut general, mut rng) = (Decoder::new(), Decoder::new(), Rng::new(10));
    let mut assert_same = |text: &[u8]| {
        let shown = String::from_utf8_lossy(text);
        match (decoder.decode_value(text), decode_value_slowly(&mut general, text)) {
            (Ok(value), Ok(expected)) => {
                let [value, expected] = [value, expected].map(|value| value_to_json(&value, ValueCapture::Full));
                assert_eq!(value, expected, "{shown}");
            }
            (found, expected) => assert_eq!(found.err(), expected.err(), "{shown}"),
        }
    };
    for (line, _) in corpus::events().into_iter().step_by(if cfg!(miri) { 41 } else { 1 }) {
        let node = json::parse_valid(&line);
        let args = node.members().iter().filter(|member| member.key == "args");
        for arg in args.flat_map(|args| args.value.iter()).flat_map(json::Node::items) {
            for variation in [Variation::NONE, NO_ESCAPES, Variation::ALL] {
                let text = respell(arg, variation, &mut rng);
                assert_same(text.as_bytes());
                for at in (0..text.len()).step_by(if cfg!(miri) { 97 } else { 1 }) {
                    assert_same(&text.as_bytes()[..at]);
                    let mut changed = text.clone().into_bytes();
                    changed[at] = *rng.pick(TELLING);
                    assert_same(&changed);
                }
            }
        }
    }
}
