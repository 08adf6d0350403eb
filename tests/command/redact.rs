//! `cove-trace redact`.

use std::fs;

use cove_trace::ValueCapture;

use crate::harness::{Place, Run, run_on_stdin};
use crate::known_run::{KNOWN_EVENTS, NASTY, known_run};
use crate::traces;

/// A place with a trace named `run.jsonl`.
fn place_with(trace: impl AsRef<[u8]>) -> Place {
    let place = Place::new();
    place.write("run.jsonl", trace);
    place
}

fn read(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path(name)).unwrap()
}

#[test]
fn the_same_bytes_as_a_redacted_recording() {
    let (full, redacted) = (known_run(ValueCapture::Full), known_run(ValueCapture::Redacted));
    for name in ["redact", "scrub"] {
        let place = place_with(&full);
        let run = place.run([name, "run.jsonl"]);
        run.assert_clean();
        assert_eq!(run.stdout, format!("run-redacted.jsonl: events {KNOWN_EVENTS}, redacted\n"));
        assert!(read(&place, "run-redacted.jsonl") == redacted);
        assert!(read(&place, "run.jsonl") == full, "the trace stays as it is");
        // Once more changes nothing.
        place.run([name, "run-redacted.jsonl", "-o", "again.jsonl"]).assert_clean();
        assert!(read(&place, "again.jsonl") == redacted);
    }
    for run in [run_on_stdin(&full, &["redact"]), place_with(&full).run(["redact", "run.jsonl", "-o", "-"])] {
        run.assert_clean();
        assert!(run.stdout.as_bytes() == redacted);
    }
}

#[test]
fn messages_go_when_asked() {
    for trace in [traces::run_that_failed(), traces::run_that_was_refused(), known_run(ValueCapture::Full)] {
        let place = place_with(&trace);
        place.run(["redact", "--messages", "run.jsonl"]).assert_clean();
        let redacted = String::from_utf8(read(&place, "run-redacted.jsonl")).unwrap();
        for secret in ["no such file", "not granted", "notes.txt", "/etc/passwd", "first", "out of fuel"] {
            assert!(!redacted.contains(secret), "{secret} in {redacted}");
        }
        place.run(["check", "run-redacted.jsonl"]).assert_clean();
        let lines = redacted.lines().count();
        assert_eq!(lines, String::from_utf8(trace).unwrap().lines().count());
    }
    let place = place_with(traces::run_that_failed());
    place.run(["redact", "run.jsonl"]).assert_clean();
    let kept = String::from_utf8(read(&place, "run-redacted.jsonl")).unwrap();
    assert!(kept.contains("no such file") && !kept.contains("could not read"), "{kept}");
}

#[test]
fn lines_that_can_not_be_read_are_left_out() {
    let secret = format!("{{\"event\":\"secret {NASTY}\n");
    let mut damaged = known_run(ValueCapture::Full);
    damaged.extend_from_slice(secret.as_bytes());
    let place = place_with(&damaged);
    let run = place.run(["redact", "run.jsonl"]);
    assert_eq!(run.code, Some(1));
    assert!(read(&place, "run-redacted.jsonl") == known_run(ValueCapture::Redacted));
    let place = place_with(traces::torn());
    assert_eq!(place.run(["redact", "run.jsonl"]).code, Some(1));
    assert_eq!(place.run(["check", "run-redacted.jsonl"]).stderr.lines().count(), 1, "only that its end is missing");
}

#[test]
fn what_is_no_trace_leaves_no_file() {
    for content in ["", "nonsense\n", "{\"event\":\"trace_header\",\"version\":5}\n"] {
        let place = place_with(content);
        assert_eq!(place.run(["redact", "run.jsonl"]).code, Some(2), "{content:?}");
        assert!(!place.path("run-redacted.jsonl").exists(), "{content:?}");
    }
}

#[test]
fn never_in_place() {
    let full = known_run(ValueCapture::Full);
    let place = place_with(&full);
    for target in ["run.jsonl", "./run.jsonl"] {
        let run = place.run(["redact", "run.jsonl", "-o", target]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
        assert!(run.stderr.contains("the trace itself"), "{}", run.stderr);
    }
    assert!(read(&place, "run.jsonl") == full);
}

#[cfg(unix)]
#[test]
fn never_through_a_link() {
    let full = known_run(ValueCapture::Full);
    let place = place_with(&full);
    place.write("victim", "kept");
    std::os::unix::fs::symlink("victim", place.path("run-redacted.jsonl")).unwrap();
    std::os::unix::fs::symlink("run.jsonl", place.path("link.jsonl")).unwrap();
    fs::create_dir(place.path("directory")).unwrap();
    for args in [
        &["run.jsonl"][..],
        &["run.jsonl", "-o", "link.jsonl"],
        &["run.jsonl", "-o", "directory"],
        &["run.jsonl", "-o", "none/x"],
    ] {
        let run = place.run([&["redact"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
    }
    // Another hard link is replaced, and what it was a link to is not.
    fs::hard_link(place.path("run.jsonl"), place.path("hard.jsonl")).unwrap();
    place.run(["redact", "run.jsonl", "-o", "hard.jsonl"]).assert_clean();
    assert_eq!(read(&place, "victim"), b"kept");
    assert!(read(&place, "run.jsonl") == full && read(&place, "hard.jsonl") == known_run(ValueCapture::Redacted));
}

#[cfg(unix)]
#[test]
fn for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place_with(known_run(ValueCapture::Full));
    place.write("run-redacted.jsonl", "an old one");
    fs::set_permissions(place.path("run-redacted.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
    place.run(["redact", "run.jsonl"]).assert_clean();
    let mode = fs::metadata(place.path("run-redacted.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_missing_trace_leaves_no_file() {
    let place = Place::new();
    let run = place.run(["redact", "run.jsonl"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
    let run: Run = place.run(["redact", "-", "-o", "x.jsonl"]);
    assert_eq!(run.code, Some(2), "standard input is empty");
}
