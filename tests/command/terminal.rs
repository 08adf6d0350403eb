//! Output on a terminal: one that `script` makes.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr as _;

use crate::harness::{Place, skipped};
use crate::traces;

/// What the terminal shows of this shell command, in which `cove-trace` is the command; none where there is no `script`.
fn shown_by_terminal(command: &str, variables: &[(&str, &str)]) -> Option<String> {
    let place = Place::new();
    place.write("run.jsonl", traces::run_that_failed());
    place.write("wide.jsonl", traces::twelve_tasks());
    shown_in(&place, command, variables).map(|(shown, _)| shown)
}

/// The same in this place, and how long it took.
fn shown_in(place: &Place, command: &str, variables: &[(&str, &str)]) -> Option<(String, Duration)> {
    let command = command.replace("cove-trace", env!("CARGO_BIN_EXE_cove-trace"));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]).current_dir(place.path(""));
    // Each of these decides about colours too (`CI` asks for them even of a dumb terminal): only the test may set one.
    for variable in ["CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "NO_COLOR", "COLUMNS"] {
        script.env_remove(variable);
    }
    script.env("TERM", "xterm").envs(variables.iter().copied());
    let start = Instant::now();
    let output = script.stdin(std::process::Stdio::null()).output().ok()?;
    Some((String::from_utf8(output.stdout).unwrap(), start.elapsed()))
}

#[test]
fn colours_are_decided_by_stream_and_by_environment() {
    let Some(shown) = shown_by_terminal("cove-trace timeline run.jsonl", &[]) else {
        skipped("there is no `script` here, and so no terminal");
        return;
    };
    assert!(shown.contains("\u{1b}[31m"), "{shown:?}");
    let is_colored = |command: &str, variables: &[(&str, &str)]| {
        let shown = shown_by_terminal(command, variables).unwrap();
        assert!(shown.contains("notes.txt"), "{shown:?}");
        shown.contains('\u{1b}')
    };
    assert!(!is_colored("cove-trace timeline run.jsonl", &[("NO_COLOR", "1")]));
    assert!(!is_colored("cove-trace timeline --color never run.jsonl", &[]));
    assert!(!is_colored("cove-trace timeline run.jsonl", &[("TERM", "dumb")]));
    assert!(is_colored("cove-trace show run.jsonl:4", &[]));
    // Standard error is a terminal, standard output is none; and the other way round.
    assert!(!is_colored("cove-trace timeline run.jsonl | cat", &[]));
    assert!(is_colored("cove-trace timeline run.jsonl 2>/dev/null", &[]));
    assert!(!is_colored("cove-trace timeline --json run.jsonl", &[]), "the lines of the file");
}

#[test]
fn a_person_is_told_that_there_is_nothing() {
    let Some(shown) = shown_by_terminal("cove-trace timeline --op documents run.jsonl", &[]) else {
        skipped("there is no `script` here, and so no terminal");
        return;
    };
    assert!(shown.contains("run.jsonl: none of its events is what was asked for"), "{shown}");
    for command in ["cove-trace timeline --op read run.jsonl", "cove-trace timeline --op documents run.jsonl | cat"] {
        assert!(!shown_by_terminal(command, &[]).unwrap().contains("none of its events"), "{command}");
    }
}

/// What a progress bar shows and nothing else does.
const BAR: &str = "% of ";

#[test]
fn whoever_waits_longer_than_a_second_sees_how_far_it_is() {
    let place = Place::new();
    let trace = traces::twelve_tasks();
    let header_len = trace.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // However fast this machine is.
    let mut copies = 2_000;
    for command in ["summary run.jsonl", "redact run.jsonl", "diff run.jsonl run.jsonl", "timeline run.jsonl > rows"] {
        loop {
            place.write("run.jsonl", [&trace[..header_len], &trace[header_len..].repeat(copies)].concat());
            let Some((shown, time)) = shown_in(&place, &format!("cove-trace {command}"), &[]) else {
                skipped("there is no `script` here, and so no terminal");
                return;
            };
            if time > Duration::from_millis(1_500) {
                assert!(shown.contains(BAR), "{command}: {time:?} {shown:?}");
                break;
            }
            copies *= 2;
        }
    }
    place.write("run.jsonl", trace);
    for command in ["summary", "grants", "timeline --limit 1"] {
        let (shown, _) = shown_in(&place, &format!("cove-trace {command} run.jsonl"), &[]).unwrap();
        assert!(!shown.contains(BAR), "{command} took no second: {shown:?}");
    }
}

#[test]
fn rows_are_cut_to_the_terminal() {
    for columns in [1, 40, 80, 133] {
        let command = format!("stty rows 24 cols {columns}; cove-trace timeline --color never wide.jsonl");
        let Some(shown) = shown_by_terminal(&command, &[]) else {
            skipped("there is no `script` here, and so no terminal");
            return;
        };
        let rows: Vec<&str> = shown.lines().collect();
        assert_eq!(rows.len(), 1 + 49, "{shown}");
        let widest = rows.iter().map(|row| row.width()).max().unwrap();
        assert!(widest <= columns.max(40), "{columns}: {shown}");
        assert!(rows.iter().all(|row| !row.contains('\u{1b}')), "{shown}");
    }
}
