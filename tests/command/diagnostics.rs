//! What goes wrong around the traces: files, names, command lines.

use cove_trace::{RecordedValue, TraceEvent, ValueCapture};

use crate::harness::{Place, command, run_on, skipped};
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
    assert_eq!(place.run(["check", "-"]).code, Some(1), "standard input is empty");
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
