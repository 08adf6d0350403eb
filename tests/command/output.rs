//! Standard output that nobody reads, or that takes nothing.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use cove_trace::ValueCapture;

use crate::harness::{Place, Run, command, skipped};
use crate::known_run::{PRINT, SUCCESS, call, known_run, record};

/// The arguments of each subcommand on one small trace.
const EACH: [&[&str]; 16] = [
    &["summary", "run.jsonl"],
    &["summary", "--json", "run.jsonl"],
    &["timeline", "run.jsonl"],
    &["timeline", "--tail", "3", "--json", "run.jsonl"],
    &["show", "run.jsonl:5"],
    &["grants", "run.jsonl"],
    &["redact", "run.jsonl", "-o", "-"],
    &["cat", "run.jsonl"],
    &["check", "run.jsonl"],
    &["check", "--repair", "run.jsonl", "-o", "-"],
    &["diff", "run.jsonl", "run.jsonl"],
    &["diff", "--json", "run.jsonl", "run.jsonl"],
    &["follow", "--limit", "114", "run.jsonl"],
    &["completions", "bash"],
    &["man"],
    &["--help"],
];

/// A place with a small trace.
fn place() -> Place {
    let place = Place::new();
    place.write("run.jsonl", known_run(ValueCapture::Full));
    place
}

/// That the command, whose reader goes away after one line, ends quietly, as it would have with a reader.
#[track_caller]
fn assert_ends_quietly_after_one_line(place: &Place, args: &[&str]) {
    let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::with_capacity(1, child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.ends_with('\n'));
    drop(stdout);
    // That two traces differ is known before all of it is told.
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.stderr, "", "{args:?}");
    assert!(run.code == Some(0) || args[0] == "diff" && run.code == Some(1), "{args:?}: {:?}", run.code);
}

#[test]
fn a_reader_that_goes_away_early() {
    let place = place();
    let mut events = vec![call(PRINT, 1, &[], None); 10_000];
    events[0] = cove_trace::TraceEvent::TaskSpawned { id: 1, parent: None, scope: "main" };
    events.push(SUCCESS);
    place.write("long.jsonl", record(ValueCapture::Full, &events));
    for args in [
        &["cat", "long.jsonl"][..],
        &["timeline", "long.jsonl"],
        &["timeline", "--json", "long.jsonl"],
        &["timeline", "--tail", "9999", "long.jsonl"],
        &["follow", "--limit", "9999", "long.jsonl"],
        &["redact", "long.jsonl", "-o", "-"],
        &["check", "--repair", "long.jsonl", "-o", "-"],
        &["completions", "zsh"],
        &["man", "timeline"],
        &["timeline", "--help"],
    ] {
        assert_ends_quietly_after_one_line(&place, args);
    }
    // More lines than a pipe holds.
    place.write("short.jsonl", record(ValueCapture::Full, &[SUCCESS]));
    assert_ends_quietly_after_one_line(&place, &[&["check"][..], &["short.jsonl"; 2_000]].concat());

    let names: Vec<String> = (0..5_000).map(|number| format!("operation_{number}")).collect();
    let sites = names.iter().map(|name| cove_trace::CallSite::new("module", name, "capability"));
    let calls: Vec<_> = sites.map(|site| call(site, 1, &[], None)).collect();
    place.write("wide.jsonl", record(ValueCapture::Full, &calls));
    assert_ends_quietly_after_one_line(&place, &["summary", "wide.jsonl"]);
    assert_ends_quietly_after_one_line(&place, &["grants", "wide.jsonl"]);
    assert_ends_quietly_after_one_line(&place, &["diff", "wide.jsonl", "short.jsonl"]);

    let numbers = vec![cove_trace::RecordedValue::Int(1); 10_000];
    let args = [cove_trace::RecordedValue::Array(&numbers)];
    place.write("deep.jsonl", record(ValueCapture::Full, &[call(PRINT, 1, &args, None)]));
    assert_ends_quietly_after_one_line(&place, &["show", "deep.jsonl:2"]);
}

#[test]
fn a_reader_that_was_never_there() {
    let place = place();
    for args in EACH {
        let mut child = place.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn closed_streams() {
    let place = place();
    let shell = |redirection: &str, args: &[&str]| {
        let mut shell = std::process::Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("exec \"$0\" \"$@\" {redirection}"))
            .arg(env!("CARGO_BIN_EXE_cove-trace"))
            .args(args);
        shell.current_dir(place.path("")).output().unwrap()
    };
    for args in EACH {
        Run::from(shell(">&-", args)).assert_clean();
        assert_eq!(shell("2>&-", args).status.code(), Some(0), "{args:?}");
    }
    assert_eq!(shell("2>&-", &["check", "missing.jsonl"]).status.code(), Some(2), "said by the exit code alone");
    assert_eq!(shell("<&-", &["check", "-"]).status.code(), Some(2), "an empty trace");
}

#[test]
fn a_full_disk_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        skipped("there is no /dev/full here");
        return;
    };
    let place = place();
    for args in EACH {
        let run = Run::from(place.command(args).stdout(full.try_clone().unwrap()).output().unwrap());
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.stderr.starts_with("standard output: error: "), "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{args:?}: {}", run.stderr);
    }
    let run = place.command(["check", "missing.jsonl"]).stderr(full).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "a full standard error harms nothing");
}

#[test]
fn a_pipe_as_standard_input() {
    let trace = known_run(ValueCapture::Full);
    let mut child = command(["cat", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let whole = trace.clone();
    let writer = std::thread::spawn(move || {
        // One byte at a time at first: the command must not take a short read for the end.
        for byte in &whole[..300] {
            std::io::Write::write_all(&mut stdin, &[*byte]).unwrap();
        }
        std::io::Write::write_all(&mut stdin, &whole[300..]).unwrap();
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == trace);
}

#[test]
fn nothing_is_left_in_the_place_of_the_trace() {
    let place = place();
    let before = fs::read(place.path("run.jsonl")).unwrap();
    for args in EACH {
        place.run(args).assert_clean();
    }
    assert!(fs::read(place.path("run.jsonl")).unwrap() == before);
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1);
}
