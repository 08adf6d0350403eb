//! What RFC 8259 refuses: lax JSON, foreign lines, byte order marks, bytes that are not UTF-8.

use cove_trace::Position;
use cove_trace::decode::DecodeErrorKind as Kind;

use crate::reading::corpus::{CANCELLED, HEADER};
use crate::reading::expect::{
    assert_accepted, assert_header_refused, assert_header_refused_at, assert_refused, assert_refused_at,
};
use crate::reading::seen::{Fault, faults, read_all};

fn call_with(args: &str) -> String {
    format!(
        r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":{args},"outcome":null}}"#
    )
}

#[test]
fn commas() {
    for marked in [
        r#"{‸,"event":"task_cancelled","id":7}"#,
        r#"{"event":"task_cancelled",‸,"id":7}"#,
        r#"{"event":"task_cancelled","id":7,‸}"#,
        r#"{"event":"task_cancelled","id":7 , ‸}"#,
        r#"{"event":"task_cancelled" ‸"id":7}"#,
        r#"{"event":"task_cancelled"‸;"id":7}"#,
        r#"{"event":"task_cancelled"‸:"id":7}"#,
        r#"{"id":7,‸}"#,
        r#"{"id":7,‸,"event":"task_cancelled"}"#,
    ] {
        assert_refused(marked, Kind::Syntax);
    }
    let unit = r#"{"type":"unit"}"#;
    for args in [
        "[‸,]".to_owned(),
        format!("[‸,{unit}]"),
        format!("[{unit},‸]"),
        format!("[{unit},‸,{unit}]"),
        format!("[{unit} ‸{unit}]"),
        format!("[{unit}‸;{unit}]"),
        format!("[{unit}‸}}"),
        r#"[{"type":"unit",‸}]"#.to_owned(),
        r#"[{"items":[],‸,"type":"array"}]"#.to_owned(),
        r#"[{"items":[1,‸],"type":"array"}]"#.to_owned(),
        r#"[{"items":[{},‸],"type":"array"}]"#.to_owned(),
    ] {
        assert_refused(&call_with(&args), Kind::Syntax);
    }
    assert_header_refused(&HEADER.replace("[]", r#"["a",‸]"#), Kind::Syntax);
    assert_header_refused(&HEADER.replace("[]", r#"[‸,"a"]"#), Kind::Syntax);
    assert_header_refused(&HEADER.replace("[]", r#"["a" ‸"b"]"#), Kind::Syntax);
}

#[test]
fn colons_and_keys() {
    for marked in [
        r#"{"event"‸"task_cancelled","id":7}"#,
        r#"{"event"‸="task_cancelled","id":7}"#,
        r#"{"event"‸,"id":7}"#,
        r#"{"event"‸}"#,
        r#"{"event":‸:"task_cancelled","id":7}"#,
        r#"{"event":"task_cancelled","id" ‸7}"#,
        r#"{"event":"task_cancelled","id":‸}"#,
        r#"{"event":"task_cancelled","id":‸,"id":7}"#,
        r#"{"event":"task_cancelled",‸id:7}"#,
        r#"{"event":"task_cancelled",‸7:7}"#,
        r#"{"event":"task_cancelled",‸null:7}"#,
        r#"{"event":"task_cancelled",‸{}:7}"#,
        r#"{"event":"task_cancelled",‸'id':7}"#,
        r#"{‸event:"task_cancelled","id":7}"#,
        r#"{‸'event':'task_cancelled','id':7}"#,
        r#"{"event":‸'task_cancelled',"id":7}"#,
        r#"{"event":‸`task_cancelled`,"id":7}"#,
        r#"{"event":‸task_cancelled,"id":7}"#,
        r#"{"event":‸“task_cancelled”,"id":7}"#,
    ] {
        assert_refused(marked, Kind::Syntax);
    }
}

#[test]
fn comments_and_separators() {
    for marked in [
        r#"‸// comment"#,
        r#"‸# comment"#,
        r#"‸/* comment */{"event":"task_cancelled","id":7}"#,
        r#"{‸/* comment */"event":"task_cancelled","id":7}"#,
        r#"{"event":"task_cancelled","id":‸/**/7}"#,
        r#"{"event":"task_cancelled","id":7‸/**/}"#,
        r#"{"event":"task_cancelled","id":7 ‸// comment"#,
        "‸\u{1e}{\"event\":\"task_cancelled\",\"id\":7}",
        r#"‸)]}',{"event":"task_cancelled","id":7}"#,
    ] {
        assert_refused(marked, Kind::Syntax);
    }
    assert_refused(r#"{"event":"task_cancelled","id":7}‸// comment"#, Kind::TrailingBytes);
}

/// Only four characters are white space.
#[test]
fn what_is_not_white_space() {
    for char in [
        '\u{b}', '\u{c}', '\0', '\u{1}', '\u{1c}', '\u{7f}', '\u{85}', '\u{a0}', '\u{1680}', '\u{2003}', '\u{2028}',
        '\u{200b}', '\u{3000}',
    ] {
        for (marked, kind) in [
            (r#"‸_{"event":"task_cancelled","id":7}"#, Kind::Syntax),
            (r#"{‸_"event":"task_cancelled","id":7}"#, Kind::Syntax),
            (r#"{"event"‸_:"task_cancelled","id":7}"#, Kind::Syntax),
            (r#"{"event":‸_"task_cancelled","id":7}"#, Kind::Syntax),
            (r#"{"event":"task_cancelled"‸_,"id":7}"#, Kind::Syntax),
            (r#"{"event":"task_cancelled","id":‸_7}"#, Kind::Syntax),
            (r#"{"event":"task_cancelled","id":7‸_}"#, Kind::Syntax),
            (r#"{"id":7‸_,"event":"task_cancelled"}"#, Kind::Syntax),
            (r#"{"event":"task_cancelled","id":7}‸_"#, Kind::TrailingBytes),
            ("‸_", Kind::Syntax),
            (" \t‸_ ", Kind::Syntax),
        ] {
            // An underscore is a character of a name here.
            let (before, after) = marked.rsplit_once("‸_").unwrap();
            assert_refused(&format!("{before}‸{char}{after}"), kind);
        }
    }
}

#[test]
fn bare_words() {
    for word in [
        "True",
        "FALSE",
        "None",
        "nil",
        "undefined",
        "nulL",
        "nulll",
        "nul",
        "truefalse",
        "true1",
        "tru",
        "yes",
        "t",
        "n",
    ] {
        assert_refused(&format!(r#"{{"event":"task_spawned","id":1,"parent":‸{word},"scope":""}}"#), Kind::Syntax);
        assert_refused(&call_with("[]").replace("true", &format!("‸{word}")), Kind::Syntax);
        assert_refused(&call_with("[]").replace("null", &format!("‸{word}")), Kind::Syntax);
        assert_refused(&call_with(&format!("[‸{word}]")), Kind::Syntax);
        assert_refused(&format!(r#"{{"id":‸{word},"event":"task_cancelled"}}"#), Kind::Syntax);
        assert_refused(&format!("‸{word} "), Kind::Syntax);
    }
    // A word that is over, and what comes then is wrong.
    assert_refused(r#"{"event":"task_spawned","id":1,"parent":null‸é,"scope":""}"#, Kind::Syntax);
    assert_refused(r#"{"event":"task_spawned","id":1,"parent":null‸"","scope":""}"#, Kind::Syntax);
    assert_refused(r#"{"parent":null‸-1,"event":"task_spawned","id":1,"scope":""}"#, Kind::Syntax);
}

#[test]
fn brackets() {
    for marked in [
        "‸}",
        "‸]",
        r#"{"event":"task_cancelled","id":7‸]"#,
        r#"{"event":"task_cancelled","id":7‸)"#,
        r#"{"event":"task_cancelled"‸{"id":7}"#,
        call_with(r#"[‸}"#).as_str(),
        call_with(r#"[{"type":"array","items":[‸}}]"#).as_str(),
        call_with(r#"[{"items":[‸},"type":"array"}]"#).as_str(),
        call_with(r#"[{"items":[{}‸},"type":"array"}]"#).as_str(),
    ] {
        assert_refused(marked, Kind::Syntax);
    }
}

#[test]
fn trailing_bytes() {
    for (trailing, at) in [
        ("x", 0),
        (" x", 1),
        ("\t\t}", 2),
        ("{", 0),
        (",", 0),
        (" {\"event\":\"task_cancelled\",\"id\":7}", 1),
        ("]", 0),
        ("é", 0),
        ("null", 0),
    ] {
        assert_refused(&format!("{CANCELLED}{}‸{}", &trailing[..at], &trailing[at..]), Kind::TrailingBytes);
        assert_header_refused(&format!("{HEADER}{}‸{}", &trailing[..at], &trailing[at..]), Kind::TrailingBytes);
    }
    // A carriage return is white space and no line end.
    let line = format!("{CANCELLED}\r{CANCELLED}");
    assert_refused_at(line.as_bytes(), CANCELLED.len() + 1, Kind::TrailingBytes);
}

#[test]
fn foreign_lines() {
    for (marked, kind) in [
        ("‸hello", Kind::Syntax),
        ("  ‸hello, world", Kind::Syntax),
        ("‸3", Kind::WrongType),
        ("‸-1.5e3", Kind::WrongType),
        ("‸01", Kind::WrongType),
        ("‸true", Kind::WrongType),
        ("‸null", Kind::WrongType),
        ("‸\"task_cancelled\"", Kind::WrongType),
        ("‸[]", Kind::WrongType),
        ("‸[{\"event\":\"task_cancelled\",\"id\":7}]", Kind::WrongType),
        ("{‸}", Kind::MissingKey),
        ("{ \t‸}", Kind::MissingKey),
        ("{\"id\":7‸}", Kind::MissingKey),
        ("{‸\"level\":\"info\"}", Kind::UnknownKey),
        ("‸[2024-01-01] started", Kind::WrongType),
        ("‸thread 'main' panicked", Kind::Syntax),
    ] {
        assert_refused(marked, kind);
        assert_header_refused(marked, kind);
    }
}

#[test]
fn byte_order_marks() {
    let bom = "\u{feff}";
    // At the start of the file, as editors write it.
    let seen = faults(&read_all(format!("{bom}{HEADER}\n{CANCELLED}\n").as_bytes()));
    let start = Position { line: 1, column: 1, offset: 0 };
    assert_eq!(seen[0], (start, Fault::Line(Kind::ByteOrderMark)));
    for marked in [
        format!("‸{bom}{CANCELLED}"),
        format!(" ‸{bom}{CANCELLED}"),
        format!("‸{bom}"),
        CANCELLED.replace('{', &format!("{{‸{bom}")),
        CANCELLED.replacen(':', &format!("‸{bom}:"), 1),
        CANCELLED.replace(",", &format!(",‸{bom}")),
        CANCELLED.replace('7', &format!("‸{bom}7")),
        CANCELLED.replace('}', &format!("‸{bom}}}")),
        call_with(&format!("[‸{bom}]")),
        format!(r#"{{"id":‸{bom}7,"event":"task_cancelled"}}"#),
    ] {
        assert_refused(&marked, Kind::ByteOrderMark);
    }
    assert_header_refused(&format!("‸{bom}{HEADER}"), Kind::ByteOrderMark);
    assert_refused(&format!("{CANCELLED}‸{bom}"), Kind::TrailingBytes);
    // In a string it is a character like any other.
    assert_accepted(&format!(r#"{{"event":"entry_enter","module":"{bom}","function":"a{bom}"}}"#));
}

#[test]
fn bytes_that_are_not_utf_8() {
    let sequences: [&[u8]; 16] = [
        b"\xff",
        b"\xfe\xff",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf5",
        b"\xf5\x80\x80\x80",
        b"\x80",
        b"\xbf",
        b"\xe0\x80\x80",
        b"\xf0\x80\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
    ];
    for bad in sequences {
        for marked in [
            r#"‸{"event":"task_cancelled","id":7}"#,
            r#"{‸"event":"task_cancelled","id":7}"#,
            r#"{"‸event":"task_cancelled","id":7}"#,
            r#"{"event"‸:"task_cancelled","id":7}"#,
            r#"{"event":‸"task_cancelled","id":7}"#,
            r#"{"event":"task_‸cancelled","id":7}"#,
            r#"{"event":"task_cancelled"‸,"id":7}"#,
            r#"{"event":"task_cancelled","id":‸7}"#,
            r#"{"event":"task_cancelled","id":7‸}"#,
            r#"{"event":"task_cancelled","id":7}‸"#,
            r#"{"event":"task_cancelled","id":7} ‸ "#,
            r#"{"event":"entry_enter","module":"é\n‸","function":""}"#,
            r#"{"event":"entry_enter","module":"\‸n","function":""}"#,
            r#"{"event":"entry_enter","module":"\u00‸41","function":""}"#,
            r#"{"event":"entry_enter","module":"\ud83d‸\ude00","function":""}"#,
            r#"{"module":"‸","event":"entry_enter","function":""}"#,
            r#"{"event":"task_spawned","id":1,"parent":nu‸ll,"scope":""}"#,
            "‸",
        ] {
            let (before, after) = marked.split_once('‸').unwrap();
            let line = [before.as_bytes(), bad, after.as_bytes()].concat();
            assert_refused_at(&line, before.len(), Kind::NotUtf8);
        }
        // What is wrong earlier comes first, and what is wrong later does not.
        let line = [br#"{"event":"task_cancelled","id":-7,""#, bad, br#"":1}"#].concat();
        assert_refused_at(&line, 31, Kind::OutOfRange);
        let line = [br#"{"event":"task_cancelled",""#, bad, br#"":1,"id":-7}"#].concat();
        assert_refused_at(&line, 27, Kind::NotUtf8);
        let header = HEADER.as_bytes();
        assert_header_refused_at(&[&header[..70], bad, &header[70..]].concat(), 70, Kind::NotUtf8);
    }
}
