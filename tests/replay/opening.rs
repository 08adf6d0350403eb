//! What can be replayed, and what is refused before the first call.

use cove_trace::replay::{Completeness, OpenError};
use cove_trace::{ReadErrorKind, Replay, RunOutcome, TraceReader};

use crate::recorded::{Recorded, Text, Unit, opened};

fn trace() -> Vec<u8> {
    Recorded::full().gave(0, "console.log", &[Text("a")], Unit).ended_as(RunOutcome::Error, Some("no"))
}

#[test]
fn a_replay_carries_what_starts_the_same_run() {
    let replay = opened(&trace());
    assert_eq!(replay.header().entry, "main.cove");
    assert_eq!(replay.header().args, ["-v"]);
    assert_eq!(replay.calls_recorded(), 1);
    assert_eq!(replay.completeness(), Completeness::Complete);
    assert_eq!(replay.recorded_end(), Some((RunOutcome::Error, Some("no"))));
}

#[test]
fn a_trace_is_opened_from_a_file_and_from_a_reader() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-opening.jsonl");
    std::fs::write(&path, trace()).unwrap();
    assert_eq!(Replay::open_file(&path).unwrap().calls_recorded(), 1);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(Replay::open_file(&path), Err(OpenError::Io(_))));

    let bytes = trace();
    let mut reader = TraceReader::new(&bytes[..]).with_line_limit(1_000);
    assert_eq!(Replay::from_reader(&mut reader).unwrap().calls_recorded(), 1);
    let mut reader = TraceReader::new(&bytes[..]).with_line_limit(100);
    assert!(matches!(Replay::from_reader(&mut reader), Err(OpenError::Read(_))));
}

#[test]
fn a_redacted_trace_is_refused_before_anything_else_of_it_is_read() {
    let mut trace = Recorded::redacted().gave(0, "console.log", &[Text("a")], Unit).ended();
    trace.extend_from_slice(b"nonsense\n");
    let error = Replay::open(&trace[..]).unwrap_err();
    assert!(matches!(error, OpenError::Redacted), "{error}");
    assert!(error.to_string().contains("check_only"), "{error}");
}

#[test]
fn another_entry_is_refused() {
    let replay = opened(&trace()).of_entry("main.cove").unwrap();
    let error = replay.of_entry("other\u{1b}.cove").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a trace of the entry \"other\\u{1b}.cove\", found one of \"main.cove\": replay that entry, or record \
         this one"
    );
}

#[test]
fn what_is_no_trace_or_damaged_in_its_middle_is_refused_with_its_place() {
    for (trace, line) in [(b"".to_vec(), 1), (b"{}\n".to_vec(), 1)] {
        match Replay::open(&trace[..]) {
            Err(OpenError::Read(error)) => assert_eq!(error.position().line, line),
            other => panic!("{other:?}"),
        }
    }
    let mut lines: Vec<_> = trace().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.insert(1, b"a line of somebody else\n".to_vec());
    let error = Replay::open(&lines.concat()[..]).unwrap_err();
    assert!(error.to_string().starts_with("line 2, column 1: "), "{error}");
}

#[test]
fn a_torn_end_is_no_reason_to_refuse() {
    let trace = trace();
    let torn = &trace[..trace.len() - 10];
    let replay = opened(torn);
    assert_eq!(replay.completeness(), Completeness::Torn);
    assert_eq!(replay.calls_recorded(), 1);
    assert_eq!(replay.recorded_end(), None);
    // The reader's own view of it.
    let mut reader = TraceReader::new(torn);
    let error =
        std::iter::from_fn(|| reader.next_event().map(|event| event.map(drop)).transpose()).find_map(Result::err);
    assert!(error.is_some_and(|error| matches!(error.kind(), ReadErrorKind::Torn { .. })));
}

#[test]
fn a_limit_that_stopped_the_run_is_known() {
    let trace = Recorded::full().ended_as(RunOutcome::Fuel, Some("too much"));
    assert_eq!(opened(&trace).completeness(), Completeness::Stopped(RunOutcome::Fuel));
    assert_eq!(opened(&Recorded::full().cut()).completeness(), Completeness::Cut);
}
