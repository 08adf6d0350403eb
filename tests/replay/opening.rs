//! What can be replayed, and what is refused before the first call.

use cove_trace::replay::{Completeness, MissingBeginning, OpenError};
use cove_trace::{
    ReadErrorKind, RecordingBackend, Replay, RingSink, RunOutcome, TraceHeader, TraceReader, TraceSink, ValueCapture,
};

use crate::recorded::{Recorded, Text, Unit, ask, diverging, opened};

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
    let error = Replay::open_file(&path).unwrap_err();
    assert!(matches!(&error, OpenError::Io { path: named, .. } if *named == path));
    assert!(error.to_string().contains("replay-opening.jsonl\": "), "{error}");

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
    let replay = opened(&trace()).require_entry("main.cove").unwrap();
    let error = replay.require_entry("other\u{1b}.cove").unwrap_err();
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
    assert_eq!(replay.completeness(), Completeness::Truncated);
    assert_eq!(replay.calls_recorded(), 1);
    assert_eq!(replay.recorded_end(), None);
    // The reader's own view of it.
    let mut reader = TraceReader::new(torn);
    let error =
        std::iter::from_fn(|| reader.next_event().map(|event| event.map(drop)).transpose()).find_map(Result::err);
    assert!(error.is_some_and(|error| matches!(error.kind(), ReadErrorKind::Truncated { .. })));
}

#[test]
fn a_limit_that_stopped_the_run_is_known() {
    let trace = Recorded::full().ended_as(RunOutcome::Fuel, Some("too much"));
    assert_eq!(opened(&trace).completeness(), Completeness::Stopped(RunOutcome::Fuel));
    assert_eq!(opened(&Recorded::full().cut()).completeness(), Completeness::Cut);
}

/// The trace that a flight recorder holds at the end of a run: all of it, or the last bytes of it.
fn dumped(run: &[u8], capacity: usize) -> Vec<u8> {
    let ring = RingSink::new(capacity, &TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove"));
    let mut reader = TraceReader::new(run);
    while let Some(event) = reader.next_event().expect("a sound trace") {
        ring.record(&event);
    }
    let mut dump = Vec::new();
    ring.dump(&mut dump).expect("a vector takes it");
    dump
}

#[test]
fn a_flight_recorders_dump_is_refused_before_the_first_call() {
    let run = Recorded::full().entered().spawned(1, 0, "s").spawned(2, 0, "s");
    let run = (0..20).fold(run, |run, call| run.gave(call % 3, "console.log", &[Text("a")], Unit));
    let run = run.completed(1).completed(2).exited().ended();
    assert_eq!(opened(&dumped(&run, 1_000_000)).calls_recorded(), 20);

    let (entry, spawn) = (MissingBeginning::Entry, |task| MissingBeginning::Spawn { task });
    let cases = [(160, (2, entry)), (200, (2, spawn(2))), (280, (2, spawn(1))), (3_700, (3, spawn(1)))];
    for (capacity, expected) in cases {
        let dump = dumped(&run, capacity);
        for error in [Replay::open(&dump[..]).unwrap_err(), Replay::check_only(&dump[..]).unwrap_err()] {
            match error {
                OpenError::NoBeginning { line, sign } => assert_eq!((line, sign), expected, "{capacity}"),
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_missing_beginning_is_put_into_words() {
    let error = Replay::open(&Recorded::full().completed(3).ended()[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: expected a trace from the run's beginning, found task 3, which was never spawned. The beginning is missing, \
         as in a flight recorder's dump, and a replay needs every call from the first on: record the run with a sink that \
         keeps all of it"
    );
}

#[test]
fn a_trace_that_has_nothing_of_entries_and_tasks_may_be_whole() {
    let trace = Recorded::full().gave(0, "console.log", &[], Unit).gave(7, "console.log", &[], Unit).ended();
    assert_eq!(opened(&trace).calls_recorded(), 2);
    // Recorded a moment too late.
    let trace = Recorded::full().gave(7, "console.log", &[], Unit).spawned(7, 0, "s").completed(7).ended();
    assert_eq!(opened(&trace).calls_recorded(), 1);
}

#[test]
fn where_a_dump_can_not_be_told_from_a_whole_trace_its_first_divergence_says_so() {
    let trace = Recorded::full().gave(0, "console.log", &[Text("b")], Unit).gave(0, "console.log", &[Text("c")], Unit);
    let (trace, note) = (trace.ended(), "flight recorder's dump");
    let divergence = diverging(&opened(&trace), 0, "console.log", &[Text("a")]);
    assert!(divergence.to_string().contains(note), "{divergence}");
    // Not where calls before it were the recorded ones.
    let replay = opened(&trace);
    ask(&replay, 0, "console.log", &[Text("b")]).unwrap();
    let divergence = diverging(&replay, 0, "console.log", &[Text("a")]);
    assert!(!divergence.to_string().contains(note), "{divergence}");
    // Nor in a trace that says where it begins.
    let trace = Recorded::full().entered().gave(0, "console.log", &[Text("b")], Unit).ended();
    let divergence = diverging(&opened(&trace), 0, "console.log", &[Text("a")]);
    assert!(!divergence.to_string().contains(note), "{divergence}");
}
