//! What goes wrong around the traces: files, names, command lines.

use cove_trace::{RecordedValue, TraceEvent, ValueCapture};

use crate::harness::{Place, command, run_on, run_on_stdin, skipped};
use crate::known_run::{NASTY, PRINT, SUCCESS, call, known_run, record};

const SUBCOMMANDS: [&str; 6] = ["summary", "timeline", "grants", "redact", "cat", "check"];

#[test]
fn a_file_that_is_not_there() {
    let place = Place::new();
    for subcommand in SUBCOMMANDS {
        let run = place.run([subcommand, "missing.jsonl"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{subcommand}");
        assert!(run.stderr.starts_with("missing.jsonl: error: "), "{subcommand}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{subcommand}: {}", run.stderr);
    }
}

#[test]
fn a_directory() {
    let place = Place::new();
    for subcommand in SUBCOMMANDS {
        let run = place.run([subcommand, "."]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{subcommand}");
        assert!(run.stderr.starts_with(".: error: "), "{subcommand}: {}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_unicode() {
    use std::os::unix::ffi::OsStrExt as _;

    let name = std::ffi::OsStr::from_bytes(b"tr\xffce.jsonl");
    let place = Place::new();
    if let Err(error) = std::fs::write(place.path(name), known_run(ValueCapture::Full)) {
        skipped(&format!("this file system takes no such name: {error}"));
        return;
    }
    for subcommand in SUBCOMMANDS {
        place.run([subcommand.as_ref(), name]).assert_clean();
        let missing = std::ffi::OsStr::from_bytes(b"m\xffssing.jsonl");
        let run = place.run([subcommand.as_ref(), missing]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.starts_with("m\u{fffd}ssing.jsonl: error: "), "{}", run.stderr);
    }
    let run = place.run(["summary".as_ref(), "--json".as_ref(), name]);
    let figures: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(figures["file"], "tr\u{fffd}ce.jsonl");
}

#[test]
fn a_file_named_like_standard_input_or_an_option() {
    let place = Place::new();
    place.write("-", known_run(ValueCapture::Full));
    place.write("--json", known_run(ValueCapture::Full));
    place.run(["check", "./-"]).assert_clean();
    place.run(["check", "--", "--json"]).assert_clean();
    assert_eq!(place.run(["check", "-"]).code, Some(2), "standard input is empty");
}

/// What is no trace is one sentence that says what it looks like, however long it is.
#[test]
fn a_file_that_is_no_trace() {
    let foreign = "{\"level\":\"info\",\"message\":\"started\"}\n".repeat(20_000);
    let utf16: Vec<u8> = "{\"event\":1}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&[u8], &str); 12] = [
        (b"", "not a trace: it is empty; a trace begins with a trace_header"),
        (b"\n\n", "not a trace: it is empty; a trace begins with a trace_header"),
        (b"hello\n", "not a trace: it is text of another kind; a trace begins with a trace_header"),
        (foreign.as_bytes(), "not a trace: it is JSON of another kind; a trace begins with a trace_header"),
        (&[b"\xff\xfe", &utf16[..]].concat(), "not a trace: it is UTF-16 text; convert it to UTF-8"),
        (&utf16, "not a trace: it is UTF-16 text or binary data"),
        (b"\xfd7zXZ\0\0\x04\xe6", "not a trace: it is xz data; decompress it with xz -dc"),
        (b"BZh91AY&SY\n", "not a trace: it is bzip2 data; decompress it with bzip2 -dc"),
        (b"PK\x03\x04\n", "not a trace: it is a ZIP archive; extract the trace first"),
        (b"\x7fELF\x02\n", "not a trace: it is a program"),
        (b"\x01\x02\0\n", "not a trace: it is binary data"),
        (
            b"{\"event\":\"trace_header\",\"version\":3}\n",
            "a trace of version 3; this program reads version 4 and no other",
        ),
    ];
    let place = Place::new();
    for (content, sentence) in cases {
        place.write("other.jsonl", content);
        for subcommand in SUBCOMMANDS {
            let run = place.run([subcommand, "other.jsonl"]);
            run.assert_said(2, &[&format!("other.jsonl: error: {sentence}")]);
            assert_eq!(run.stdout, "", "{subcommand}");
        }
    }
    // The same by a pipe, where the beginning cannot be read twice.
    for (content, sentence) in cases {
        run_on_stdin(content, &["summary"]).assert_said(2, &[&format!("-: error: {sentence}")]);
    }
}

/// Events make a trace, even if the header is damaged or missing.
#[test]
fn a_trace_without_its_header_is_a_trace_with_an_error() {
    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let events = known.split_once('\n').unwrap().1;
    let place = Place::new();
    for content in [events.to_owned(), format!("{{\"event\":\"trace_hea\n{events}"), "x\n".repeat(900) + events] {
        place.write("run.jsonl", content);
        assert_eq!(place.run(["check", "run.jsonl"]).code, Some(1));
    }
    place.write("run.jsonl", "x\n".repeat(1_000) + events);
    assert_eq!(place.run(["check", "run.jsonl"]).code, Some(2));
    // An event of which only the beginning is looked at.
    let text = "x".repeat(5 << 20);
    let ended = TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Error, message: Some(&text) };
    let mut long = b"no header\n".to_vec();
    assert!(cove_trace::encode_event(&ended, ValueCapture::Full, &mut long));
    place.write("run.jsonl", long);
    assert_eq!(place.run(["check", "run.jsonl"]).code, Some(1));
    // A writer that was killed in its header.
    place.write("run.jsonl", &known[..20]);
    assert_eq!(place.run(["check", "run.jsonl"]).code, Some(1));
}

/// Errors beyond the first hundred are counted, so that a broken file does not flood a terminal.
#[test]
fn many_errors_are_counted() {
    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let place = Place::new();
    place.write("run.jsonl", known.clone() + &"x\n".repeat(2_000));
    for subcommand in SUBCOMMANDS {
        let run = place.run([subcommand, "run.jsonl"]);
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!((run.code, lines.len()), (Some(1), 101), "{subcommand}: {}", run.stderr);
        assert_eq!(lines[100], "1900 more errors not shown; --max-errors 0 shows all");
        let all = place.run([subcommand, "run.jsonl", "--max-errors", "0"]);
        assert_eq!((all.code, all.stderr.lines().count()), (Some(1), 2_000));
        assert_eq!((all.stdout, run.stdout.len()), (run.stdout.clone(), run.stdout.len()));
        let few = place.run([subcommand, "run.jsonl", "--max-errors=1"]);
        assert_eq!(few.stderr.lines().count(), 2);
    }
}

#[test]
fn standard_input_is_read_once() {
    let run = Place::new().run(["diff", "-", "-"]);
    run.assert_said(2, &["error: standard input can be only one of the two traces"]);
}

/// Text that acts on no terminal, its line ends left aside.
#[track_caller]
fn assert_harmless(text: &str) {
    let harmful = text.chars().find(|c| (*c != '\n' && c.is_control()) || matches!(c, '\u{202e}' | '\u{2066}'));
    assert_eq!(harmful, None, "in {text:?}");
}

#[cfg(unix)]
#[test]
fn a_file_name_that_acts_on_terminals() {
    let name = "\u{1b}[31m\u{9b}\u{7}\u{202e}\nforged: error";
    let place = Place::new();
    for content in [&b"nonsense"[..], &record(ValueCapture::Full, &[TraceEvent::TaskCancelled { id: 3 }, SUCCESS])] {
        place.write(name, content);
        for args in
            [&["summary"][..], &["summary", "--json"], &["timeline"], &["grants"], &["redact"], &["cat"], &["check"]]
        {
            let run = place.run(args.iter().chain(&[name]));
            // What `cat` gives is the trace itself.
            assert_harmless(if args == ["cat"] { "" } else { &run.stdout });
            assert_harmless(&run.stderr);
            let shown = "\\u{1b}[31m\\u{9b}\\u{7}\\u{202e}\\nforged: error:";
            assert!(run.stderr.lines().all(|line| line.starts_with(shown)), "{}", run.stderr);
        }
    }
    for subcommand in SUBCOMMANDS {
        assert_harmless(&place.run([subcommand, "\u{1b}]0;missing\u{7}"]).stderr);
    }
}

#[test]
fn names_and_lines_that_act_on_terminals() {
    let site = cove_trace::CallSite::new(NASTY, "op\u{2066}\nrow", NASTY);
    let task_calls = call(site, 5, &[RecordedValue::String(NASTY)], None);
    let ended = TraceEvent::RunEnded { outcome: cove_trace::RunOutcome::Error, message: Some(NASTY) };
    let mut trace = record(ValueCapture::Full, &[task_calls, ended]);
    trace.extend_from_slice("\"\u{1b}[31m\u{202e}\u{9b}\n\u{1b}[31m\n{\"\u{9b}\":1}\n".as_bytes());
    trace.extend_from_slice(b"{\"event\":\"\\u001b[31m\\u202e\"}\n{\"event\":\"task_cancelled\",\"id\":\"\\u009b\"}\n");
    let run = run_on(&trace, &["check"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.stderr.lines().count(), 6, "{}", run.stderr);
    let place = Place::new();
    place.write("run.jsonl", &trace);
    place.write("other.jsonl", record(ValueCapture::Full, &[SUCCESS]));
    for args in [
        &["summary", "run.jsonl"][..],
        &["summary", "--json", "run.jsonl"],
        &["timeline", "run.jsonl"],
        &["timeline", "--full", "run.jsonl"],
        &["follow", "--limit", "2", "run.jsonl"],
        &["show", "run.jsonl:2"],
        &["show", "run.jsonl:6"],
        &["grants", "run.jsonl"],
        &["grants", "--toml", "run.jsonl"],
        &["grants", "--json", "run.jsonl"],
        &["check", "run.jsonl"],
        &["check", "--repair", "run.jsonl", "-o", "saved.jsonl"],
        &["redact", "run.jsonl"],
        &["diff", "run.jsonl", "other.jsonl"],
        &["diff", "--json", "run.jsonl", "other.jsonl"],
    ] {
        let run = place.run(args);
        assert!(run.stderr.lines().all(|line| line.starts_with("run.jsonl:")), "{args:?}: {}", run.stderr);
        assert_harmless(&run.stderr);
        assert_harmless(&run.stdout);
        let is_forged = |line: &str| line.starts_with("[31m") || line.starts_with("row");
        assert!(!run.stdout.lines().chain(run.stderr.lines()).any(is_forged), "{args:?}: {}", run.stdout);
    }
}

#[test]
fn the_trace_itself_keeps_the_truth() {
    let trace = record(ValueCapture::Full, &[call(PRINT, 1, &[RecordedValue::String(NASTY)], None), SUCCESS]);
    let run = run_on(&trace, &["cat"]);
    assert!(run.stdout.contains('\u{202e}') && run.stdout.as_bytes() == trace);
}

#[test]
fn a_command_line_that_is_wrong() {
    for args in [&[][..], &["frobnicate"], &["summary"], &["check"], &["cat", "a", "b"], &["summary", "--yaml", "a"]] {
        let run = crate::harness::Run::from(command(args).output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.stderr.contains("Usage: cove-trace"), "{args:?}: {}", run.stderr);
    }
    let run = crate::harness::Run::from(command(["run.jsonl"]).output().unwrap());
    assert!(run.stderr.ends_with("begin with cove-trace summary FILE.\n"), "{}", run.stderr);
    let run = crate::harness::Run::from(command(["summary", "--\u{9b}31m\u{202e}"]).output().unwrap());
    assert_eq!(run.code, Some(2));
    assert_harmless(&run.stderr);
}

#[test]
fn help_has_an_example_for_each_subcommand() {
    let run = crate::harness::Run::from(command(["--help"]).output().unwrap());
    run.assert_clean();
    let listed = run.stdout.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let subcommands = names.iter().filter(|name| !name.is_empty() && **name != "help");
    assert_eq!(subcommands.clone().count(), 11, "{}", run.stdout);
    for subcommand in subcommands {
        let run = crate::harness::Run::from(command([subcommand, "--help"]).output().unwrap());
        run.assert_clean();
        assert!(run.stdout.contains(&format!("\n  cove-trace {subcommand}")), "{}", run.stdout);
    }
    let run = crate::harness::Run::from(command(["--version"]).output().unwrap());
    run.assert_clean();
    assert_eq!(run.stdout, concat!("cove-trace ", env!("CARGO_PKG_VERSION"), "\n"));
}
