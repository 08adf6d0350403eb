//! `cove-trace check --repair`.

use std::fs;

use cove_trace::ValueCapture;

use crate::harness::{Place, Run, run_on_stdin, skipped};
use crate::known_run::{SUCCESS, known_run, record};
use crate::traces;

const REPAIR: [&str; 5] = ["check", "--repair", "run.jsonl", "-o", "saved.jsonl"];

/// What `--repair` makes of the trace: how it ran, and the file if there is one.
fn repair(trace: impl AsRef<[u8]>) -> (Run, Option<Vec<u8>>) {
    let place = Place::new();
    place.write("run.jsonl", &trace);
    let run = place.run(REPAIR);
    assert!(fs::read(place.path("run.jsonl")).unwrap() == trace.as_ref(), "the trace stays as it is");
    let files = fs::read_dir(place.path("")).unwrap().count();
    let saved = fs::read(place.path("saved.jsonl")).ok();
    assert_eq!(files, 1 + usize::from(saved.is_some()), "nothing else is left");
    (run, saved)
}

/// The remarks about what was lost.
fn losses(run: &Run) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("run.jsonl: lost ")).collect()
}

#[test]
fn a_good_trace_is_copied_to_the_byte() {
    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let odd = format!("\r\n \t\n{}", known.replace('\n', " \r\n\n\t\n"));
    for trace in [
        known.as_bytes(),
        &known_run(ValueCapture::Redacted),
        known.trim_end().as_bytes(),
        odd.as_bytes(),
        odd.trim_end().as_bytes(),
        format!("{odd} \t \r").as_bytes(),
        include_bytes!("traces/access_log.jsonl"),
        include_bytes!("traces/backup.jsonl"),
    ] {
        let (run, saved) = repair(trace);
        run.assert_clean();
        assert!(saved.unwrap() == trace);
        let lines = trace.split_inclusive(|byte| *byte == b'\n').count();
        let said = format!("saved.jsonl: saved {lines} lines, {} bytes\n", trace.len());
        assert!(run.stdout.starts_with("run.jsonl: ") && run.stdout.ends_with(&said), "{}", run.stdout);
    }
}

#[test]
fn each_kind_of_damage_is_left_out_and_said() {
    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let lines: Vec<&str> = known.split_inclusive('\n').collect();
    let nul = "\0".repeat(70_000);
    let (head, rest) = (lines[..3].concat(), lines[3..].concat());
    let at = head.len();
    let fragment = &lines[3][..40];
    for (trace, saved, lost) in [
        (
            format!("{head}{fragment}\n{rest}"),
            &known,
            vec![format!("line 4, 41 bytes from byte {at} on: can't be read"), "in all: 1 line, 41 bytes".to_owned()],
        ),
        (
            format!("{head}noise\n[]\n\n3\n{rest}"),
            &format!("{head}\n{rest}"),
            vec![
                format!("lines 4 to 5, 9 bytes from byte {at} on: can't be read"),
                format!("line 7, 2 bytes from byte {} on: can't be read", at + 10),
                "in all: 3 lines, 11 bytes".to_owned(),
            ],
        ),
        (
            format!("{head}{nul}\n{rest}"),
            &known,
            vec![
                format!("line 4, 70001 bytes from byte {at} on: can't be read"),
                "in all: 1 line, 70001 bytes".to_owned(),
            ],
        ),
        (
            format!("{head}{fragment}{nul}{}", lines[3..].concat()),
            &format!("{head}{}", lines[4..].concat()),
            vec![
                format!("line 4, {} bytes from byte {at} on: can't be read", 70_040 + lines[3].len()),
                format!("in all: 1 line, {} bytes", 70_040 + lines[3].len()),
            ],
        ),
        (
            format!("{head}{fragment}"),
            &head,
            vec![format!("line 4, 40 bytes from byte {at} on: can't be read"), "in all: 1 line, 40 bytes".to_owned()],
        ),
        (
            format!("{head}{nul}"),
            &head,
            vec![
                format!("line 4, 70000 bytes from byte {at} on: can't be read"),
                "in all: 1 line, 70000 bytes".to_owned(),
            ],
        ),
        (
            format!("hello\n{}{head}", lines[1]),
            &head,
            vec![
                format!("lines 1 to 2, {} bytes from byte 0 on: before the header", 6 + lines[1].len()),
                format!("in all: 2 lines, {} bytes", 6 + lines[1].len()),
            ],
        ),
        (
            format!("{}{head}", lines[1]),
            &head,
            vec![
                format!("line 1, {} bytes from byte 0 on: before the header", lines[1].len()),
                format!("in all: 1 line, {} bytes", lines[1].len()),
            ],
        ),
        (
            format!("{head}noise\n{known}\n\n{}", lines[1]),
            &head,
            vec![
                format!("line 4, 6 bytes from byte {at} on: can't be read"),
                format!(
                    "lines 5 to 122, {} bytes from byte {} on: of another trace",
                    known.len() + 2 + lines[1].len(),
                    at + 6
                ),
                format!("in all: 119 lines, {} bytes", 6 + known.len() + 2 + lines[1].len()),
            ],
        ),
    ] {
        let (run, found) = repair(&trace);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(String::from_utf8(found.unwrap()).unwrap() == *saved, "{lost:?}");
        assert_eq!(losses(&run), lost, "{}", run.stderr);
    }
}

#[test]
fn why_a_line_is_lost_stands_with_its_position_above() {
    let (run, _) = repair(traces::torn());
    let place: Vec<&str> = run.stderr.lines().collect();
    assert!(place[0].starts_with("run.jsonl:5:301: error: the last line is torn: 300 bytes"), "{place:?}");
    assert!(place[1].starts_with("run.jsonl: lost line 5, 300 bytes from byte "), "{place:?}");
    assert!(run.stdout.contains("run.jsonl: 3 events on 5 lines, a torn end"), "{}", run.stdout);
}

/// Pieces of a sound trace cut out, overwritten, doubled: what is saved of it is a trace that may lack lines.
#[test]
fn what_is_saved_passes_a_partial_check() {
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let place = Place::new();
    for (name, trace) in traces::all().into_iter().chain([("known", known_run(ValueCapture::Full))]) {
        let header = trace.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for round in 0..8 {
            let mut damaged = trace.clone();
            for _ in 0..=random(3) {
                let from = header + random(damaged.len() - header);
                let to = (from + random(400)).min(damaged.len());
                match random(4) {
                    0 => drop(damaged.drain(from..to)),
                    1 => damaged[from..to].fill(0),
                    2 => drop(damaged.splice(from..from, *b"\nnoise \xff\n{\"event\":")),
                    _ => damaged.truncate(from),
                }
            }
            place.write("run.jsonl", &damaged);
            // A cut at a line's end shows no damage.
            let code = place.run(REPAIR).code;
            let check = place.run(["check", "--partial", "saved.jsonl"]);
            assert_eq!(check.code, Some(0), "{name} {round}: {}", check.stderr);
            assert!(check.stdout.contains("no findings"), "{name} {round}: {}", check.stdout);
            // It is what can be read of it, once and in order.
            let readable = place.run(["cat", "run.jsonl"]).stdout;
            assert!(place.run(["cat", "saved.jsonl"]).stdout == readable, "{name} {round}");
            fs::rename(place.path("saved.jsonl"), place.path("run.jsonl")).unwrap();
            place.run(REPAIR);
            let twice = fs::read(place.path("saved.jsonl")).unwrap();
            assert!(twice == fs::read(place.path("run.jsonl")).unwrap(), "{name} {round}");
            fs::remove_file(place.path("saved.jsonl")).unwrap();
            assert!(matches!(code, Some(0 | 1)));
        }
    }
}

#[test]
fn findings_are_said_and_saved() {
    let trace = record(ValueCapture::Full, &[SUCCESS, SUCCESS]);
    let (run, saved) = repair(&trace);
    run.assert_said(1, &["run.jsonl:3:1: error: run_ended after the run ended on line 2"]);
    assert!(saved.unwrap() == trace);
}

#[test]
fn without_a_header_nothing_is_saved() {
    let known = String::from_utf8(known_run(ValueCapture::Full)).unwrap();
    let events = known.split_once('\n').unwrap().1;
    let (run, saved) = repair(events);
    assert_eq!((run.code, saved), (Some(1), None), "{}", run.stderr);
    assert!(run.stderr.contains("run.jsonl: nothing is saved: there is no header\n"), "{}", run.stderr);
    for trace in ["", "\n\n", "nonsense\n", &known.replacen("\"version\":4", "\"version\":5", 1)] {
        let (run, saved) = repair(trace);
        assert_eq!((run.code, saved), (Some(2), None), "{}", run.stderr);
    }
}

#[test]
fn nothing_that_is_there_is_written_over_or_through() {
    let place = Place::new();
    place.write("run.jsonl", traces::torn());
    place.write("saved.jsonl", "kept");
    fs::create_dir(place.path("directory")).unwrap();
    let mut targets = vec!["saved.jsonl", "run.jsonl", "directory", "nowhere/x"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("nothing", place.path("link")).unwrap();
        targets.push("link");
    }
    let before = fs::read_dir(place.path("")).unwrap().count();
    for target in targets {
        let run = place.run(["check", "--repair", "run.jsonl", "-o", target]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{target}");
        assert!(run.stderr.contains(&format!("{target}: error: can't be written: ")), "{}", run.stderr);
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), before);
    assert!(fs::read(place.path("run.jsonl")).unwrap() == traces::torn());
    assert_eq!(fs::read(place.path("saved.jsonl")).unwrap(), b"kept");
}

#[cfg(unix)]
#[test]
fn for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("run.jsonl", traces::torn());
    assert_eq!(place.run(REPAIR).code, Some(1));
    assert_eq!(fs::metadata(place.path("saved.jsonl")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn from_and_into_a_pipe() {
    let torn = traces::torn();
    let whole_lines = torn.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let run = run_on_stdin(&torn, &["check", "--repair", "-o", "-"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.as_bytes() == &torn[..whole_lines]);
    assert!(
        run.stderr.contains("-: lost line 5, 300 bytes") && run.stderr.contains("-: saved 4 lines"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_line_that_is_too_long_is_left_out_in_bounded_memory() {
    let place = Place::new();
    let known = known_run(ValueCapture::Full);
    let mut trace = known.clone();
    let long = 70 * 1024 * 1024;
    trace.resize(known.len() + long, b'x');
    trace.extend_from_slice(b"\n{\"event\":\"task_cancelled\",\"id\":1}\n");
    place.write("run.jsonl", &trace);
    let run = place.run(REPAIR);
    let lost = format!("line 116, {} bytes from byte {} on: can't be read", long + 1, known.len());
    assert_eq!(losses(&run)[0], lost, "{}", run.stderr);
    let saved = fs::read(place.path("saved.jsonl")).unwrap();
    assert!(saved == [&known[..], b"{\"event\":\"task_cancelled\",\"id\":1}\n"].concat());
}

#[test]
fn compressed_data_that_is_cut_off() {
    use std::io::Write as _;
    if !cfg!(feature = "compress") {
        skipped("this build reads no compressed traces");
        return;
    }
    let known = known_run(ValueCapture::Full);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&known).unwrap();
    let mut compressed = encoder.finish().unwrap();
    compressed.truncate(compressed.len() / 2);
    let (run, saved) = repair(&compressed);
    let saved = saved.unwrap();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("run.jsonl: error: the gzip data is cut off"), "{}", run.stderr);
    assert!(saved.len() > 1_000 && known.starts_with(&saved) && saved.ends_with(b"\n"));
}

#[test]
fn one_trace_and_one_place_for_it() {
    let place = Place::new();
    place.write("run.jsonl", known_run(ValueCapture::Full));
    for args in [
        &["check", "--repair", "run.jsonl"][..],
        &["check", "-o", "x.jsonl", "run.jsonl"],
        &["check", "--repair", "-o", "x.jsonl", "run.jsonl", "run.jsonl"],
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(!place.path("x.jsonl").exists());
    }
}
