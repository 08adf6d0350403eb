//! The buffer and the byte limit of `JsonlSink`. The number of dropped events stays exact for every length of a partial
//! write.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cove_trace::{
    HeapSummary, JsonlSink, RecordingBackend, RunOutcome, TraceEvent, TraceHeader, TraceSink, ValueCapture,
};

const HEADER: &str = concat!(
    r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main.cove","args":[]}"#,
    "\n"
);

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
}

fn line(id: u64) -> String {
    format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n")
}

fn lines(ids: impl IntoIterator<Item = u64>) -> String {
    ids.into_iter().map(line).collect()
}

/// What a [`Shared`] writer received, and when it fails.
#[derive(Debug, Default)]
struct State {
    file: String,
    writes: usize,
    flushes: usize,
    /// How many more bytes the writer takes before it fails. No limit if it is `None`.
    room: Option<usize>,
}

/// A writer whose state can be read and changed while a sink owns it.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().expect("nobody panics")
    }

    /// The text after the header.
    fn events(&self) -> String {
        self.state().file.strip_prefix(HEADER).expect("the header is there").to_owned()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        state.writes += 1;
        let taken = bytes.len().min(state.room.unwrap_or(usize::MAX));
        if taken == 0 {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if let Some(room) = &mut state.room {
            *room -= taken;
        }
        state.file.push_str(std::str::from_utf8(&bytes[..taken]).expect("lines are UTF-8"));
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.state().flushes += 1;
        Ok(())
    }
}

fn buffered(size: usize) -> (Shared, JsonlSink<Shared>) {
    let writer = Shared::default();
    let sink = JsonlSink::builder(&header()).buffer(size).open(writer.clone()).expect("the header gets out");
    (writer, sink)
}

fn record(sink: &impl TraceSink, ids: impl IntoIterator<Item = u64>) {
    ids.into_iter().for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
}

const RUN_ENDED: &str = "{\"event\":\"run_ended\",\"outcome\":\"success\",\"message\":null}\n";

fn end_run(sink: &impl TraceSink) {
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
}

#[test]
fn lines_wait_until_the_next_does_not_fit() {
    let (writer, sink) = buffered(3 * line(0).len());
    record(&sink, 0..3);
    assert_eq!((writer.events().as_str(), writer.state().writes), ("", 1));
    record(&sink, [3]);
    assert_eq!((writer.events(), writer.state().writes), (lines(0..3), 2));
    record(&sink, 4..6);
    assert_eq!((writer.events(), writer.state().writes), (lines(0..3), 2));
    assert_eq!(sink.finish().dropped, 0);
    let state = writer.state();
    assert_eq!((state.file.as_str(), state.writes, state.flushes), ((HEADER.to_owned() + &lines(0..6)).as_str(), 3, 3));
}

#[test]
fn what_waits_goes_out_when_it_is_asked_for_or_the_sink_or_the_run_is_over() {
    let (writer, sink) = buffered(1000);
    record(&sink, 0..2);
    sink.flush();
    assert_eq!(writer.events(), lines(0..2));
    sink.flush();
    assert_eq!(writer.state().writes, 2, "nothing waits");
    record(&sink, 2..4);
    end_run(&sink);
    assert_eq!(writer.events(), lines(0..4) + RUN_ENDED);
    record(&sink, 4..6);
    drop(sink);
    assert_eq!(writer.events(), lines(0..4) + RUN_ENDED + &lines(4..6));
}

#[test]
fn a_line_that_no_buffer_holds_goes_out_by_itself_and_in_its_place() {
    let (writer, sink) = buffered(line(0).len());
    let long = 10_u64.pow(9);
    record(&sink, [0, long, 1]);
    assert_eq!(writer.events(), line(0) + &line(long));
    assert_eq!(sink.finish().dropped, 0);
    assert_eq!(writer.events(), lines([0, long, 1]));
}

#[test]
fn of_a_buffer_that_gets_out_in_part_exactly_the_events_behind_are_lost() {
    const EVENTS: u64 = 4;
    let all = lines(0..EVENTS);
    for room in 0..all.len() {
        let (writer, sink) = buffered(1000);
        record(&sink, 0..EVENTS);
        writer.state().room = Some(room);
        sink.flush();
        let (out, rest) = all.split_at(room);
        // An event is lost if some of its text is missing, but not if only its newline is.
        let lost = rest.trim_start_matches('\n').lines().count() as u64;
        assert_eq!(sink.dropped(), lost, "after {room} bytes");
        assert_eq!(sink.last_error().unwrap().kind(), ErrorKind::BrokenPipe);

        // The next event starts on a line of its own, in one write, and fails alone.
        record(&sink, [7]);
        sink.flush();
        assert_eq!(sink.dropped(), lost + 1);
        writer.state().room = None;
        record(&sink, [8, 9]);
        let finished = sink.finish();
        assert_eq!(finished.dropped, lost + 1);
        let separator = if out.is_empty() || out.ends_with('\n') { "" } else { "\n" };
        assert_eq!(writer.events(), format!("{out}{separator}{}", lines([8, 9])));
    }
}

#[test]
fn a_limit_ends_the_trace_where_the_first_event_is_missing() {
    for buffer in [0, 70, 1000] {
        for extra in 0..line(0).len() {
            let limit = HEADER.len() + lines(0..3).len() + extra;
            let writer = Shared::default();
            let header = header();
            let builder = JsonlSink::builder(&header).buffer(buffer).byte_limit(limit as u64);
            let sink = builder.open(writer.clone()).unwrap();
            record(&sink, 0..3);
            assert_eq!(sink.dropped(), 0);
            // The first of these is too long. The others would fit, but would leave a gap.
            record(&sink, [u64::MAX, 4, 5]);
            assert_eq!(sink.dropped(), 3);
            assert_eq!(sink.last_error().unwrap().kind(), ErrorKind::FileTooLarge);
            assert!(sink.is_recording(), "or the run's closing events would not be recorded");

            let wait = Duration::ZERO;
            sink.record(&TraceEvent::EntryExit { module: "a", function: "b", cpu: wait, wait });
            sink.record(&TraceEvent::HeapSummary(HeapSummary::default()));
            end_run(&sink);
            record(&sink, [6]);
            let finished = sink.finish();
            assert_eq!(finished.dropped, 4);
            let events = writer.events();
            let closing: Vec<_> = events.strip_prefix(&lines(0..3)).expect("what fits is there").lines().collect();
            let kinds = ["entry_exit", "heap_summary", "run_ended"];
            assert_eq!(closing.len(), kinds.len(), "{closing:?}");
            for (line, kind) in closing.iter().zip(kinds) {
                assert!(line.starts_with(&format!("{{\"event\":\"{kind}\",")), "{line}");
            }
        }
    }
}

#[test]
fn only_what_got_out_counts_for_the_limit() {
    let writer = Shared::default();
    let limit = HEADER.len() + lines(0..3).len();
    let sink = JsonlSink::builder(&header()).byte_limit(limit as u64).open(writer.clone()).unwrap();
    writer.state().room = Some(0);
    record(&sink, 100..150);
    assert_eq!(sink.dropped(), 50);
    writer.state().room = None;
    record(&sink, 0..3);
    assert_eq!((sink.dropped(), writer.events()), (50, lines(0..3)));
    record(&sink, [3]);
    assert_eq!((sink.finish().dropped, writer.events()), (51, lines(0..3)));
}
