//! A disk that has no room for what is written.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use cove_trace::ValueCapture;

use crate::harness::{Place, Run, skipped};
use crate::known_run::{PRINT, SUCCESS, call, known_run, record};

/// Has the rest of the command line run in a mount namespace of its own, with a small disk mounted on `small`; what is on it
/// at the end, with its content, is listed in `left`.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=64k cove-trace-test small || exit 99
printf kept > small/old.jsonl
"$@"
code=$?
(cd small && for file in .* *; do [ -f "$file" ] && echo "$file: $(cat "$file")"; done) > left
exit $code
"#;

#[test]
fn nothing_that_looks_whole_is_left() {
    let place = Place::new();
    let mut events = vec![call(PRINT, 1, &[], None); 2_000];
    events[0] = cove_trace::TraceEvent::TaskSpawned { id: 1, parent: None, scope: "main" };
    events.push(SUCCESS);
    place.write("long.jsonl", record(ValueCapture::Full, &events));
    place.write("short.jsonl", record(ValueCapture::Full, &[SUCCESS]));
    fs::create_dir(place.path("small")).unwrap();
    let on_small_disk = |args: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", env!("CARGO_BIN_EXE_cove-trace")]);
        let output = unshare.args(args).current_dir(place.path("")).output().ok()?;
        (output.status.code() != Some(99) && place.path("left").exists()).then(|| Run::from(output))
    };
    let Some(run) = on_small_disk(&["redact", "short.jsonl", "-o", "small/old.jsonl"]) else {
        skipped("no mount namespace to be had");
        return;
    };
    run.assert_clean();
    assert!(fs::read_to_string(place.path("left")).unwrap().contains("old.jsonl: {\"event\":\"trace_header\""));
    for (args, target) in [
        (["redact", "long.jsonl", "-o", "small/new.jsonl"].to_vec(), "small/new.jsonl"),
        (["redact", "long.jsonl", "-o", "small/old.jsonl"].to_vec(), "small/old.jsonl"),
        (["check", "--repair", "long.jsonl", "-o", "small/new.jsonl"].to_vec(), "small/new.jsonl"),
    ] {
        let run = on_small_disk(&args).unwrap();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.stderr.starts_with(&format!("{target}: error: can't be written: No space left")), "{}", run.stderr);
        assert_eq!(fs::read_to_string(place.path("left")).unwrap(), "old.jsonl: kept\n", "{args:?}");
    }
}

/// Where no small disk can be had, a limit on the size of files does the same.
#[test]
fn a_file_that_may_not_grow_is_not_left_either() {
    let place = Place::new();
    let trace = known_run(ValueCapture::Full);
    place.write("run.jsonl", &trace);
    place.write("run-redacted.jsonl", "kept");
    // Blocks of 512 bytes; SIGXFSZ is ignored, so that the write gives an error.
    let script = r#"trap '' XFSZ; ulimit -f 8; exec "$@""#;
    for args in [&["redact", "run.jsonl"][..], &["check", "--repair", "run.jsonl", "-o", "saved.jsonl"]] {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_cove-trace")]).args(args).current_dir(place.path(""));
        let run = Run::from(shell.output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.stderr.contains("can't be written: File too large"), "{}", run.stderr);
        assert_eq!(fs::read(place.path("run-redacted.jsonl")).unwrap(), b"kept");
        assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 2, "{args:?}");
    }
}
