//! Whole traces with everything in them that can go wrong in a file, out of seeds.

use super::corpus::{self, HEADER};
use super::rng::Rng;

/// The first line of some traces.
const ENTRIES: [&str; 3] = [
    HEADER,
    r#"{"event":"trace_header","version":4,"backend":"ast","values":"redacted","entry":"main","args":["<redacted>","no"]}"#,
    r#"{"event":"trace_header","version":5,"backend":"ast","values":"full","entry":"main","args":[]}"#,
];

/// Lines that are no events.
const BAD: [&[u8]; 10] = [
    b"hello",
    b"{}",
    b"3",
    b"{\"event\":\"task_cancelled\",\"id\":-7}",
    b"{\"event\":\"task_cancelled\",\"id\":7",
    b"{\"event\":\"entry_enter\",\"module\":\"\xff\",\"function\":\"\"}",
    b"\0\0\0\0",
    b"{\"event\":\"task_cancelled\",\"id\":7}\0\0\0\0",
    b"\xef\xbb\xbf{}",
    b"\\\\\\\\\\\\\\\\\\\\\\\\",
];

/// Ends that no newline follows.
const ENDS: [&[u8]; 7] = [
    b"",
    b"{\"event\":\"task_cancelled\",\"id\":7}",
    b"{\"event\":\"task_can",
    b"{\"event\":\"entry_enter\",\"module\":\"\xf0\x9f\x98",
    b"\0\0\0\0\0\0\0\0\0\0",
    b"{\"event\":\"ta\0\0\0\0",
    b"hello",
];

/// A trace of up to some dozens of lines: mostly of events that belong to a few tasks and entries, so that they come to
/// contradict each other, with and without a header, a `run_ended`, bad, blank and long lines, and ends of every kind.
pub(crate) fn trace(seed: u64) -> Vec<u8> {
    let rng = &mut Rng::new(seed);
    let events: Vec<String> = corpus::events().into_iter().map(|(line, _)| line).collect();
    let mut trace = Vec::new();
    let damage = [2, 10, 1000][rng.below(3)];
    match rng.below(12) {
        0 => {}
        1 => line(&mut trace, ENTRIES[2].as_bytes(), rng),
        2..=4 => line(&mut trace, ENTRIES[1].as_bytes(), rng),
        _ => line(&mut trace, ENTRIES[0].as_bytes(), rng),
    }
    for _ in 0..rng.below(60) {
        if rng.one_in(damage) {
            match rng.below(4) {
                0 => line(&mut trace, rng.pick(&ENTRIES).as_bytes(), rng),
                _ => line(&mut trace, rng.pick::<&[u8]>(&BAD), rng),
            }
        } else if rng.one_in(8) {
            line(&mut trace, rng.pick::<&[u8]>(&[b"", b" \t"]), rng);
        } else if rng.one_in(40) {
            let long = format!(r#"{{"event":"entry_enter","module":"{}","function":""}}"#, "x".repeat(rng.below(500)));
            line(&mut trace, long.as_bytes(), rng);
        } else if rng.one_in(3) {
            line(&mut trace, rng.pick(&events).as_bytes(), rng);
        } else {
            line(&mut trace, related(rng).as_bytes(), rng);
        }
    }
    trace.extend(*rng.pick::<&[u8]>(&ENDS));
    trace
}

fn line(trace: &mut Vec<u8>, text: &[u8], rng: &mut Rng) {
    trace.extend(text);
    trace.extend(if rng.one_in(8) { &b"\r\n"[..] } else { b"\n" });
}

/// An event that has to do with others.
fn related(rng: &mut Rng) -> String {
    let (id, other) = (rng.below(6), rng.below(6));
    match rng.below(16) {
        0..=3 => format!(r#"{{"event":"task_spawned","id":{id},"parent":{other},"scope":"s"}}"#),
        4 => format!(r#"{{"event":"task_completed","id":{id},"cpu_ns":{other}}}"#),
        5 => format!(r#"{{"event":"task_cancelled","id":{id}}}"#),
        6..=11 => {
            let outcome = *rng.pick(&["null", r#"{"kind":"value","value":{"type":"int","value":1}}"#]);
            let arg = *rng.pick(&["", r#"{"type":"redacted","of":"Int"}"#, r#"{"type":"int","value":1}"#]);
            let granted = !rng.one_in(3);
            format!(
                r#"{{"event":"host_call","task":{id},"module":"m","op":"o{other}","capability":"c","wait_ns":{other},"granted":{granted},"args":[{arg}],"outcome":{outcome}}}"#
            )
        }
        12 => format!(r#"{{"event":"entry_enter","module":"m","function":"f{}"}}"#, other % 2),
        13 => format!(r#"{{"event":"entry_exit","module":"m","function":"f{}","cpu_ns":1,"wait_ns":2}}"#, other % 2),
        14 => r#"{"event":"heap_collected","task":0,"allocated":1,"freed":2,"live_objects":3,"live_bytes":4,"pause_ns":5}"#
            .to_owned(),
        _ => r#"{"event":"run_ended","outcome":"error","message":"m"}"#.to_owned(),
    }
}
