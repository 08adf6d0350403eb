//! `cove-trace cat`.

use std::fmt::Write as _;

use cove_trace::ValueCapture;
use serde_json::Value;

use crate::harness::{run_on, run_on_stdin};
use crate::known_run::known_run;

fn known_text(capture: ValueCapture) -> String {
    String::from_utf8(known_run(capture)).unwrap()
}

#[test]
fn what_a_sink_wrote_comes_out_as_it_is() {
    for capture in [ValueCapture::Full, ValueCapture::Redacted] {
        let trace = known_text(capture);
        for run in [run_on(&trace, &["cat"]), run_on_stdin(&trace, &["cat"])] {
            run.assert_clean();
            assert_eq!(run.stdout, trace);
        }
    }
}

/// The same JSON text spelt otherwise: keys the other way round, white space between tokens, every character of every
/// string as an escape.
fn respell(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => respell_string(text, out),
        Value::Array(items) => {
            out.push_str("[ ");
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { " ,\t" });
                respell(item, out);
            }
            out.push_str(" ]");
        }
        Value::Object(keys) => {
            out.push_str("{\t");
            for (index, (key, value)) in keys.iter().rev().enumerate() {
                out.push_str(if index == 0 { "" } else { " , " });
                respell_string(key, out);
                out.push_str(" : ");
                respell(value, out);
            }
            out.push_str("\r}");
        }
        other => write!(out, "{other}").unwrap(),
    }
}

fn respell_string(text: &str, out: &mut String) {
    out.push('"');
    for unit in text.encode_utf16() {
        match unit {
            0x2f => out.push_str("\\/"),
            0x61 => out.push('a'),
            _ => write!(out, "\\u{unit:04X}").unwrap(),
        }
    }
    out.push('"');
}

fn respelt(lines: &str) -> String {
    let mut respelt = String::new();
    for line in lines.lines() {
        respell(&serde_json::from_str(line).unwrap(), &mut respelt);
        respelt.push_str(" \r\n\n");
    }
    respelt
}

#[test]
fn any_other_spelling_becomes_canonical() {
    for capture in [ValueCapture::Full, ValueCapture::Redacted] {
        let trace = known_text(capture);
        let respelt = format!("\r\n \t\n{}", respelt(&trace));
        for spelling in [&respelt, respelt.trim_end()] {
            let run = run_on(spelling, &["cat"]);
            run.assert_clean();
            assert_eq!(run.stdout, trace);
        }
    }
}

#[test]
fn what_can_be_read_of_a_broken_trace_comes_out() {
    let trace = known_text(ValueCapture::Full);
    let lines: Vec<&str> = trace.lines().collect();
    let broken = format!("hello\n{}\n[]\n{}\n{{}}\n{}\n{{\"event\"", lines[0], lines[1], lines[2]);
    let run = run_on(&broken, &["cat"]);
    assert_eq!(run.stdout, format!("{}\n{}\n{}\n", lines[0], lines[1], lines[2]));
    assert_eq!(run.code, Some(1));
    let places: Vec<&str> = run.stderr.lines().filter_map(|line| line.split(": error: ").next()).collect();
    assert_eq!(places, ["run.jsonl:1:1", "run.jsonl:3:1", "run.jsonl:5:2", "run.jsonl:7:9"], "{}", run.stderr);
}

#[test]
fn events_without_a_header_come_out() {
    let trace = known_text(ValueCapture::Full);
    let events = trace.split_once('\n').unwrap().1;
    for spelling in [events, &respelt(events)] {
        let run = run_on(spelling, &["cat"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), events));
        assert!(run.stderr.starts_with("run.jsonl:1:"), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn another_version_ends_it() {
    let trace = known_text(ValueCapture::Full).replacen("\"version\":4", "\"version\":3", 1);
    for above in ["", "hello\n"] {
        let run = run_on(format!("{above}{trace}"), &["cat"]);
        assert_eq!(run.stdout, "");
        let sentence = "run.jsonl: error: a trace of version 3; this program reads version 4 and no other";
        run.assert_said(2, &[sentence]);
    }
}
