//! How deep values may nest, and that nothing deeper breaks the reader: all of it on a thread with a small stack.

use std::thread;

use cove_trace::decode::{DecodeErrorKind as Kind, Decoder};
use cove_trace::owned::OwnedEvent;
use cove_trace::{Arena, MAX_VALUE_DEPTH, ValueCapture, encode_event};

use crate::reading::corpus::{CANCELLED, HEADER};
use crate::reading::expect::assert_reader_refuses;
use crate::reading::seen::{Seen, read_all};

const SMALL_STACK: usize = 256 * 1024;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(SMALL_STACK).spawn(test).unwrap().join().unwrap();
}

/// A container with a hole for one part: what stands before the hole, and after it.
type Container = (&'static str, &'static str);

const CANONICAL: [Container; 3] = [
    (r#"{"type":"array","items":["#, "]}"),
    (r#"{"type":"enum","name":"N","case":"C","payload":["#, "]}"),
    (r#"{"type":"struct","name":"N","fields":[{"name":"f","value":"#, "}]}"),
];

const REVERSED: [Container; 3] = [
    (r#"{"items":["#, r#"],"type":"array"}"#),
    (r#"{"payload":["#, r#"],"case":"C","name":"N","type":"enum"}"#),
    (r#"{"fields":[{"value":"#, r#","name":"f"}],"name":"N","type":"struct"}"#),
];

const CALL: Container = (
    r#"{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":["#,
    r#"],"outcome":null}"#,
);
const CALL_REVERSED: Container = (
    r#"{"args":["#,
    r#"],"outcome":null,"granted":true,"wait_ns":5,"capability":"c","op":"o","module":"m","task":0,"event":"host_call"}"#,
);
const RESULT: Container = (
    r#"{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[],"outcome":{"kind":"value","value":"#,
    "}}",
);
const RESULT_REVERSED: Container = (
    r#"{"outcome":{"value":"#,
    r#","kind":"value"},"args":[],"granted":true,"wait_ns":5,"capability":"c","op":"o","module":"m","task":0,"event":"host_call"}"#,
);

/// The line with `leaf` inside of so many containers.
fn nested(line: Container, containers: &[Container], leaf: &str) -> String {
    let mut text = line.0.to_owned();
    text.extend(containers.iter().map(|container| container.0));
    text.push_str(leaf);
    text.extend(containers.iter().rev().map(|container| container.1));
    text + line.1
}

/// So many containers: all alike, or of all kinds and in both orders of keys.
fn stacks(depth: usize) -> Vec<Vec<Container>> {
    let all = CANONICAL.into_iter().chain(REVERSED);
    let mut stacks: Vec<_> = all.clone().map(|container| vec![container; depth]).collect();
    stacks.push(all.cycle().take(depth).collect());
    stacks
}

/// Where the container that would stand at level 128 begins.
fn first_too_deep(line: Container, containers: &[Container]) -> usize {
    line.0.len() + containers.iter().take(MAX_VALUE_DEPTH - 1).map(|container| container.0.len()).sum::<usize>()
}

const LINES: [Container; 4] = [CALL, CALL_REVERSED, RESULT, RESULT_REVERSED];
const SCALARS: [&str; 4] = [
    r#"{"type":"int","value":7}"#,
    r#"{"value":7,"type":"int"}"#,
    r#"{"type":"unit"}"#,
    r#"{"shown":"s","of":"T","type":"opaque"}"#,
];

#[test]
fn a_scalar_may_stand_at_level_128_and_a_container_at_127() {
    on_a_small_stack(|| {
        for line in LINES {
            for containers in stacks(MAX_VALUE_DEPTH - 1) {
                for leaf in SCALARS {
                    assert_read(&nested(line, &containers, leaf));
                }
            }
            for mut containers in stacks(MAX_VALUE_DEPTH - 2) {
                for empty in [
                    r#"{"type":"array","items":[]}"#,
                    r#"{"payload":[],"name":"","case":"","type":"enum"}"#,
                    r#"{"fields":[],"type":"struct","name":""}"#,
                ] {
                    assert_read(&nested(line, &containers, empty));
                }
                containers.truncate(3);
                assert_read(&nested(line, &containers, SCALARS[0]));
            }
        }
    });
}

/// Holds that it is read, kept, viewed, written and read back.
#[track_caller]
fn assert_read(line: &str) {
    let seen = read_all(format!("{HEADER}\n{line}\n").as_bytes());
    let [_, Seen::Event(event)] = &seen[..] else { panic!("{line}: {seen:?}") };
    let mut written = Vec::new();
    encode_event(&event.clone().view(&Arena::new()), ValueCapture::Full, &mut written);
    let mut decoder = Decoder::new();
    let again = OwnedEvent::from(&decoder.decode_event(&written).unwrap());
    assert_eq!(*event, again);
}

#[test]
fn a_container_may_not_stand_at_level_128() {
    on_a_small_stack(|| {
        for line in LINES {
            // 128 containers around a scalar that would stand at level 129; around nothing; and one more of them.
            for (depth, leaf) in [(MAX_VALUE_DEPTH, SCALARS[0]), (MAX_VALUE_DEPTH + 1, SCALARS[2])] {
                for containers in stacks(depth) {
                    let text = nested(line, &containers, leaf);
                    assert_reader_refuses(text.as_bytes(), first_too_deep(line, &containers), Kind::TooDeep);
                }
            }
            for containers in stacks(MAX_VALUE_DEPTH - 1) {
                for empty in [
                    r#"{"type":"array","items":[]}"#,
                    r#"{"payload":[],"name":"","case":"","type":"enum"}"#,
                    r#"{"fields":[],"type":"struct","name":""}"#,
                ] {
                    let text = nested(line, &containers, empty);
                    assert_reader_refuses(text.as_bytes(), first_too_deep(line, &containers), Kind::TooDeep);
                }
            }
        }
    });
}

#[test]
fn values_nested_a_hundred_thousand_deep() {
    on_a_small_stack(|| {
        for line in LINES {
            for containers in stacks(100_000) {
                let text = nested(line, &containers, SCALARS[0]);
                assert_eq!(refused(&text), (Kind::TooDeep, first_too_deep(line, &containers)));
            }
        }
    });
}

fn refused(line: &str) -> (Kind, usize) {
    let error = Decoder::new().decode_event(line.as_bytes()).expect_err("it nests too deep");
    (error.kind(), error.offset())
}

/// JSON of every sort of bracket, a hundred thousand deep, whole and cut, in every place.
#[test]
fn any_json_nested_a_hundred_thousand_deep() {
    const DEPTH: usize = 100_000;
    on_a_small_stack(|| {
        for (open, close) in [
            ("[", "]"),
            ("{\"a\":", "}"),
            ("{\"type\":", "}"),
            ("{\"event\":", "}"),
            ("[{\"\":", "}]"),
            ("[[],{\"items\":[", "]}]"),
            ("{\"a\":[1,", "]}"),
        ] {
            let cut = open.repeat(DEPTH);
            let whole = format!("{cut}0{}", close.repeat(DEPTH));
            for json in [cut, whole] {
                assert!(Decoder::new().decode_value(json.as_bytes()).is_err());
                for event in [
                    json.clone(),
                    format!(r#"{{"event":{json}}}"#),
                    format!(r#"{{"id":{json},"event":"task_cancelled"}}"#),
                    format!(r#"{{"event":"task_cancelled","nope":{json}}}"#),
                    nested(CALL, &[], &json),
                    nested(RESULT_REVERSED, &REVERSED, &json),
                    format!("{CANCELLED}{json}"),
                ] {
                    assert!(Decoder::new().decode_event(event.as_bytes()).is_err());
                }
                for header in [
                    HEADER.replace('4', &json),
                    HEADER.replace("[]", &json),
                    HEADER.replace("\"event\"", &format!("\"entry\":{json},\"event\"")),
                    HEADER.replace("\"version\":4,", &format!("\"nope\":{json},")),
                ] {
                    assert!(Decoder::new().decode_header(header.as_bytes()).is_err());
                }
            }
        }
    });
}

/// Where the schema wants something flat, it is the first bracket that is wrong, however deep it goes on.
#[test]
fn deep_json_in_the_place_of_something_flat() {
    let deep = "[".repeat(100_000);
    for line in [r#"{"event":"task_cancelled","id":"#, r#"{"event":"#, ""] {
        assert_reader_refuses(format!("{line}{deep}").as_bytes(), line.len(), Kind::WrongType);
    }
}

/// The limit is one of values: JSON in between does not count, and what stands beside does not add up.
#[test]
fn breadth_is_not_depth() {
    on_a_small_stack(|| {
        let containers: Vec<_> = REVERSED.into_iter().cycle().take(MAX_VALUE_DEPTH - 1).collect();
        let deep = nested(("", ""), &containers, SCALARS[0]);
        let text = nested(CALL_REVERSED, &[], &vec![deep; 20].join(","));
        assert_read(&text);
    });
}
