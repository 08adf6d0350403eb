//! The documents of the JSON parsing test suite ("Parsing JSON is a Minefield"), each put into a trace line wherever its
//! shape allows: `y_` is JSON, `n_` is none, and for `i_`, which the standard leaves open, the answer stands here.
//!
//! The suite is looked for where `JSON_TEST_SUITE` says, or in a folder beside this repository; without it nothing is tested.

use std::fs;
use std::path::PathBuf;

use cove_trace::decode::{DecodeError, DecodeErrorKind as Kind, Decoder};
use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};

struct Document {
    name: String,
    text: Vec<u8>,
}

/// The documents whose names begin so; `None`, having said so, without the suite.
#[expect(clippy::print_stdout, reason = "a test that tests nothing has to say so")]
fn documents(prefix: &str) -> Option<Vec<Document>> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/json-test-suite");
    let suite = std::env::var_os("JSON_TEST_SUITE").map_or_else(default, PathBuf::from);
    let Ok(entries) = fs::read_dir(suite.join("test_parsing")) else {
        println!("SKIPPED: no JSON test suite at {}", suite.display());
        return None;
    };
    let mut documents: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read"))
        .map(|entry| (entry.file_name().into_string().expect("names are ASCII"), entry.path()))
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, path)| Document { name, text: fs::read(path).expect("the document can be read") })
        .collect();
    documents.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!documents.is_empty());
    Some(documents)
}

impl Document {
    /// What the document holds, out of the array that most of them wrap it in.
    fn unwrapped(&self) -> &[u8] {
        let text = self.text.trim_ascii();
        text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text).trim_ascii()
    }

    fn parsed(&self) -> serde_json::Value {
        serde_json::from_slice(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// What the suite's parsers would have to say, without a schema: the document stands where any JSON may stand, before what
/// says which event it is.
fn as_json(document: &[u8]) -> Result<u64, DecodeError> {
    let line = [br#"{"id":"#, document, br#","event":"task_cancelled"}"#].concat();
    let mut decoder = Decoder::new();
    match OwnedEvent::from(&decoder.decode_event(&line)?) {
        OwnedEvent::TaskCancelled { id } => Ok(id),
        event => panic!("{event:?}"),
    }
}

fn as_string(document: &[u8]) -> Result<String, DecodeError> {
    let line = [br#"{"event":"entry_enter","module":"#, document, br#","function":""}"#].concat();
    let mut decoder = Decoder::new();
    match OwnedEvent::from(&decoder.decode_event(&line)?) {
        OwnedEvent::EntryEnter { module, .. } => Ok(module),
        event => panic!("{event:?}"),
    }
}

fn as_float(document: &[u8]) -> Result<f64, DecodeError> {
    let line = [
        br#"{"event":"host_call","task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"args":[],"outcome":{"kind":"value","value":{"type":"float","value":"#,
        document,
        b"}}}",
    ]
    .concat();
    let mut decoder = Decoder::new();
    match OwnedEvent::from(&decoder.decode_event(&line)?) {
        OwnedEvent::HostCall(call) => match call.outcome {
            Some(OwnedOutcome::Value(OwnedValue::Float(float))) => Ok(float),
            outcome => panic!("{outcome:?}"),
        },
        event => panic!("{event:?}"),
    }
}

/// Faults that JSON has whatever its schema.
fn is_of_json(kind: Kind) -> bool {
    use Kind::{BadEscape, ByteOrderMark, LoneSurrogate, NotUtf8, Syntax, TrailingBytes, UnexpectedEnd};
    matches!(kind, BadEscape | ByteOrderMark | LoneSurrogate | NotUtf8 | Syntax | TrailingBytes | UnexpectedEnd)
}

#[test]
fn no_document_is_a_line_of_a_trace() {
    let Some(documents) = documents("") else { return };
    for document in documents {
        let mut decoder = Decoder::new();
        assert!(decoder.decode_event(&document.text).is_err(), "{}", document.name);
        assert!(decoder.decode_header(&document.text).is_err(), "{}", document.name);
        assert!(decoder.decode_value(&document.text).is_err(), "{}", document.name);
    }
}

#[test]
fn what_is_no_json_is_refused_as_such() {
    let Some(documents) = documents("n_") else { return };
    for document in documents {
        // One brace too many closes the event itself, which then lacks a key; between brackets it closes nothing.
        let bracketed = [b"[", &document.text[..], b"]"].concat();
        let errors = [&document.text, &bracketed].map(|text| as_json(text).expect_err(&document.name));
        assert!(errors.iter().any(|error| is_of_json(error.kind())), "{}: {errors:?}", document.name);
        for text in [&document.text[..], document.unwrapped()] {
            assert!(as_string(text).is_err(), "{}", document.name);
            assert!(as_float(text).is_err(), "{}", document.name);
        }
    }
}

#[test]
fn what_is_json_is_refused_for_its_type_alone() {
    let Some(documents) = documents("y_") else { return };
    for document in documents {
        let found = as_json(&document.text);
        let Some(id) = document.parsed().as_u64() else {
            let error = found.expect_err(&document.name);
            assert!(matches!(error.kind(), Kind::WrongType | Kind::OutOfRange), "{}: {error}", document.name);
            let white_space = document.text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            assert_eq!(error.offset(), r#"{"id":"#.len() + white_space, "{}", document.name);
            continue;
        };
        assert_eq!(found, Ok(id), "{}", document.name);
    }
}

#[test]
fn strings_and_numbers_have_their_values() {
    let Some(documents) = documents("y_") else { return };
    let (mut strings, mut numbers) = (0, 0);
    for document in documents {
        let parsed = match document.parsed() {
            serde_json::Value::Array(mut items) if items.len() == 1 => items.remove(0),
            parsed => parsed,
        };
        match parsed {
            serde_json::Value::String(expected) => {
                assert_eq!(as_string(document.unwrapped()), Ok(expected), "{}", document.name);
                strings += 1;
            }
            serde_json::Value::Number(expected) => {
                let found = as_float(document.unwrapped()).expect(&document.name);
                // A library that takes -0 for a whole number has no sign for it.
                let expected = if document.unwrapped() == b"-0" { -0.0 } else { expected.as_f64().unwrap() };
                assert_eq!(found.to_bits(), expected.to_bits(), "{}: {found}", document.name);
                numbers += 1;
            }
            _ => {}
        }
    }
    assert!(strings > 40 && numbers > 15, "{strings} strings, {numbers} numbers");
}

/// The answer to a document that a parser may take or leave.
enum Answer {
    /// A number in a float's place. In a whole number's place it is out of range.
    Float(f64),
    /// A number that no float can hold.
    TooLarge,
    /// Refused, wherever it stands.
    Refused(Kind),
    /// JSON like any other.
    Json,
}

const ANSWERS: [(&str, Answer); 35] = [
    // What is too small for a float is zero, what is too large is refused, and precision is lost as a float loses it.
    ("i_number_double_huge_neg_exp", Answer::Float(0.0)),
    ("i_number_huge_exp", Answer::TooLarge),
    ("i_number_neg_int_huge_exp", Answer::TooLarge),
    ("i_number_pos_double_huge_exp", Answer::TooLarge),
    ("i_number_real_neg_overflow", Answer::TooLarge),
    ("i_number_real_pos_overflow", Answer::TooLarge),
    ("i_number_real_underflow", Answer::Float(0.0)),
    ("i_number_too_big_neg_int", Answer::Float(-123_123_123_123_123_123_123_123_123_123.0)),
    ("i_number_too_big_pos_int", Answer::Float(100_000_000_000_000_000_000.0)),
    (
        "i_number_very_big_negative_int",
        Answer::Float(-237_462_374_673_276_894_279_832_749_832_423_479_823_246_327_846.0),
    ),
    // Half a surrogate pair is no character.
    ("i_object_key_lone_2nd_surrogate", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_1st_surrogate_but_2nd_missing", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_1st_valid_surrogate_2nd_invalid", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_incomplete_surrogate_and_escape_valid", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_incomplete_surrogate_pair", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_incomplete_surrogates_escape_valid", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_invalid_lonely_surrogate", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_invalid_surrogate", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_inverted_surrogates_U+1D11E", Answer::Refused(Kind::LoneSurrogate)),
    ("i_string_lone_second_surrogate", Answer::Refused(Kind::LoneSurrogate)),
    // A trace is UTF-8 and nothing else.
    ("i_string_UTF-16LE_with_BOM", Answer::Refused(Kind::NotUtf8)),
    ("i_string_UTF-8_invalid_sequence", Answer::Refused(Kind::NotUtf8)),
    ("i_string_UTF8_surrogate_U+D800", Answer::Refused(Kind::NotUtf8)),
    ("i_string_invalid_utf-8", Answer::Refused(Kind::NotUtf8)),
    ("i_string_iso_latin_1", Answer::Refused(Kind::NotUtf8)),
    ("i_string_lone_utf8_continuation_byte", Answer::Refused(Kind::NotUtf8)),
    ("i_string_not_in_unicode_range", Answer::Refused(Kind::NotUtf8)),
    ("i_string_overlong_sequence_2_bytes", Answer::Refused(Kind::NotUtf8)),
    ("i_string_overlong_sequence_6_bytes", Answer::Refused(Kind::NotUtf8)),
    ("i_string_overlong_sequence_6_bytes_null", Answer::Refused(Kind::NotUtf8)),
    ("i_string_truncated-utf-8", Answer::Refused(Kind::NotUtf8)),
    // These have a NUL byte before they have one that is not UTF-8.
    ("i_string_utf16BE_no_BOM", Answer::Refused(Kind::Syntax)),
    ("i_string_utf16LE_no_BOM", Answer::Refused(Kind::Syntax)),
    // Nesting is limited for values, not for JSON that is none.
    ("i_structure_500_nested_arrays", Answer::Json),
    ("i_structure_UTF-8_BOM_empty_object", Answer::Refused(Kind::ByteOrderMark)),
];

#[test]
fn what_is_left_open_has_an_answer() {
    let Some(documents) = documents("i_") else { return };
    for document in documents {
        let name = document.name.strip_suffix(".json").unwrap();
        let (_, answer) =
            ANSWERS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no answer to {name}"));
        let kind = |found: Result<(), DecodeError>| found.expect_err(name).kind();
        let json = kind(as_json(&document.text).map(drop));
        let inside = kind(as_json(document.unwrapped()).map(drop));
        match answer {
            Answer::Float(expected) => {
                assert_eq!((json, inside), (Kind::WrongType, Kind::OutOfRange), "{name}");
                assert_eq!(as_float(document.unwrapped()).map(f64::to_bits), Ok(expected.to_bits()), "{name}");
            }
            Answer::TooLarge => {
                assert_eq!((json, inside), (Kind::WrongType, Kind::OutOfRange), "{name}");
                assert_eq!(kind(as_float(document.unwrapped()).map(drop)), Kind::OutOfRange, "{name}");
            }
            Answer::Refused(expected) => {
                assert_eq!((json, inside), (*expected, *expected), "{name}");
                if document.unwrapped().starts_with(b"\"") {
                    assert_eq!(kind(as_string(document.unwrapped()).map(drop)), *expected, "{name}");
                }
            }
            Answer::Json => assert_eq!(json, Kind::WrongType, "{name}"),
        }
    }
}
