//! Output on a terminal: one that `script` makes.
#![cfg(target_os = "linux")]

use std::process::Command;

use unicode_width::UnicodeWidthStr as _;

use crate::harness::{Place, skipped};
use crate::traces;

/// What the terminal shows of this shell command, in which `cove-trace` is the command; none where there is no `script`.
fn shown_by_terminal(command: &str, variables: &[(&str, &str)]) -> Option<String> {
    let place = Place::new();
    place.write("run.jsonl", traces::run_that_failed());
    place.write("wide.jsonl", traces::twelve_tasks());
    let command = command.replace("cove-trace", env!("CARGO_BIN_EXE_cove-trace"));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]).current_dir(place.path(""));
    script.env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm").envs(variables.iter().copied());
    let output = script.stdin(std::process::Stdio::null()).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
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
