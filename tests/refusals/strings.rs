//! Strings: raw control characters, escapes, surrogates, in every place where a string may stand.

use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::OwnedEvent;

use crate::reading::corpus::HEADER;
use crate::reading::expect::{assert_accepted, assert_header_refused, assert_refused};
use crate::reading::seen::{Fault, faults, read_all};

/// Lines with `content` between the quotes of a string: a text, a text in a value, a name, a field's name, a message, a
/// key, a key far inside, and the names that tell what an object is, at the front and at the back.
fn places(content: &str) -> Vec<String> {
    let call = |args: &str, outcome: &str| {
        format!(
            r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[{args}],"outcome":{outcome}}}"#
        )
    };
    vec![
        format!(r#"{{"event":"entry_enter","module":"{content}","function":""}}"#),
        format!(r#"{{"module":"{content}","function":"","event":"entry_enter"}}"#),
        format!(r#"{{"event":"run_ended","outcome":"success","message":"{content}"}}"#),
        format!(r#"{{"event":"run_ended","outcome":"{content}","message":null}}"#),
        format!(r#"{{"event":"task_cancelled","{content}":7}}"#),
        format!(r#"{{"event":"{content}","id":7}}"#),
        format!(r#"{{"id":7,"event":"{content}"}}"#),
        call(&format!(r#"{{"type":"string","value":"{content}"}}"#), "null"),
        call(&format!(r#"{{"value":"{content}","type":"string"}}"#), "null"),
        call(&format!(r#"{{"type":"{content}"}}"#), "null"),
        call(&format!(r#"{{"type":"unit","{content}":1}}"#), "null"),
        call(
            &format!(r#"{{"type":"struct","name":"","fields":[{{"name":"{content}","value":{{"type":"unit"}}}}]}}"#),
            "null",
        ),
        call(&format!(r#"{{"items":[{{"{content}":1}}],"type":"array"}}"#), "null"),
        call("", &format!(r#"{{"kind":"error","message":"{content}"}}"#)),
        call("", &format!(r#"{{"message":"{content}","kind":"error"}}"#)),
        call("", &format!(r#"{{"kind":"{content}"}}"#)),
    ]
}

#[track_caller]
fn assert_refused_everywhere(marked: &str, kind: Kind) {
    for line in places(marked) {
        assert_refused(&line, kind);
    }
    assert_header_refused(&HEADER.replace("main.cove", marked), kind);
    assert_header_refused(&HEADER.replace("[]", &format!("[\"\",\"{marked}\"]")), kind);
}

fn module_of(content: &str) -> String {
    match assert_accepted(&places(content)[0]) {
        OwnedEvent::EntryEnter { module, .. } => module,
        event => panic!("{event:?}"),
    }
}

#[test]
fn raw_control_characters() {
    for control in (0..0x20).map(char::from).filter(|control| *control != '\n') {
        assert_refused_everywhere(&format!("‸{control}"), Kind::Syntax);
        assert_refused_everywhere(&format!("é\\n‸{control}{control}\\x"), Kind::Syntax);
    }
    for plain in [
        '\u{7f}',
        '\u{80}',
        '\u{9f}',
        '\u{a0}',
        '\u{2028}',
        '\u{2029}',
        '\u{feff}',
        '\u{fffd}',
        '\u{ffff}',
        '\u{10ffff}',
    ] {
        assert_eq!(module_of(&plain.to_string()), plain.to_string());
    }
}

/// A raw newline ends the physical line, so both halves are refused, each on its own line.
#[test]
fn a_raw_newline() {
    let line = places("a\nb")[0].clone();
    let seen = faults(&read_all(format!("{HEADER}\n{line}\n").as_bytes()));
    let half = line.find('\n').unwrap() as u64;
    let found: Vec<_> = seen.iter().map(|(position, fault)| (position.line, position.column, *fault)).collect();
    assert_eq!(found, [(2, half + 1, Fault::Line(Kind::UnexpectedEnd)), (3, 1, Fault::Line(Kind::Syntax))]);
}

#[test]
fn escapes_that_json_does_not_have() {
    let after_a_backslash =
        (' '..='~').filter(|c| !"\"\\/bfnrtu".contains(*c)).chain(['é', '\u{1f600}', '\u{7f}', '\r']);
    for char in after_a_backslash {
        assert_refused_everywhere(&format!("a‸\\{char}b"), Kind::BadEscape);
    }
    for escape in [
        "\\u",
        "\\u1",
        "\\u12",
        "\\u123",
        "\\u12G4",
        "\\uG123",
        "\\u123G",
        "\\u 123",
        "\\u+123",
        "\\u-123",
        "\\u0x12",
        "\\u{12}",
        "\\U0041",
        "\\u١٢٣٤",
        "\\u00é",
        "\\u\\u0041",
        "\\x41",
        "\\101",
        "\\'",
        "\\0",
        "\\a",
        "\\v",
        "\\e",
        "\\N",
    ] {
        assert_refused_everywhere(&format!("a‸{escape}"), Kind::BadEscape);
        assert_refused_everywhere(&format!("\\\\\\n‸{escape} and more"), Kind::BadEscape);
    }
}

#[test]
fn halves_of_surrogate_pairs() {
    for high in ["\\ud800", "\\uD83D", "\\udBfF"] {
        for rest in [
            "",
            " ",
            "text",
            "\\n",
            "\\\\",
            "\\u0041",
            "\\ud800",
            "\\udbff\\udc00",
            "\\ud83d\\ude00",
            "\\ue000",
            "\\u12G4",
            "\\u",
            "\\udc0",
            "\\udcGG",
            "\\x",
            "udc00",
            " \\udc00",
            "/\\udc00",
            "é",
            "\\uDBFF",
        ] {
            assert_refused_everywhere(&format!("a‸{high}{rest}"), Kind::LoneSurrogate);
        }
    }
    for low in ["\\udc00", "\\uDFFF", "\\uDe00"] {
        for rest in ["", "text", "\\ud83d", "\\udc00", "\\n"] {
            assert_refused_everywhere(&format!("a‸{low}{rest}"), Kind::LoneSurrogate);
            // After a whole pair, too.
            assert_refused_everywhere(&format!("\\ud83d\\ude00‸{low}{rest}"), Kind::LoneSurrogate);
        }
    }
}

#[test]
fn every_escape_that_json_has() {
    assert_eq!(module_of(r#"\"\\\/\b\f\n\r\t"#), "\"\\/\u{8}\u{c}\n\r\t");
    for (escape, expected) in [
        ("\\u0000", "\0"),
        ("\\u001f", "\u{1f}"),
        ("\\u0022", "\""),
        ("\\u005c", "\\"),
        ("\\u005C\\u005c", "\\\\"),
        ("\\u005cn", "\\n"),
        ("\\u007F", "\u{7f}"),
        ("\\u00e9", "é"),
        ("\\u07FF", "\u{7ff}"),
        ("\\u0800", "\u{800}"),
        ("\\u2028", "\u{2028}"),
        ("\\ud7ff", "\u{d7ff}"),
        ("\\ue000", "\u{e000}"),
        ("\\ufeff", "\u{feff}"),
        ("\\uffff", "\u{ffff}"),
        ("\\ud800\\udc00", "\u{10000}"),
        ("\\uD83D\\uDE00", "\u{1f600}"),
        ("\\ud83d\\ude00\\ud83d\\ude00", "\u{1f600}\u{1f600}"),
        ("\\uDbFf\\uDfFf", "\u{10ffff}"),
        ("\\\\u0041", "\\u0041"),
    ] {
        assert_eq!(module_of(escape), expected, "{escape}");
        assert_eq!(module_of(&format!("é{escape}x{escape}")), format!("é{expected}x{expected}"), "{escape}");
    }
}

#[test]
fn every_code_unit() {
    let mut escaped = String::new();
    let mut expected = String::new();
    for unit in (0..0xd800).chain(0xe000..=0xffff) {
        escaped += &format!("\\u{unit:04x}");
        expected.push(char::from_u32(unit).unwrap());
    }
    assert_eq!(module_of(&escaped), expected);
}
