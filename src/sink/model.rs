//! Loom models: the shared state of sinks in every order in which two or three threads can reach it.

use std::io::{self, Write};
use std::sync::{Arc, Weak};

use loom::thread;

use super::losses::Losses;
use super::mutex::ForeignCodeMutex;
use super::{JsonlSink, RingSink, TraceSink};
use crate::encode::{encode_event, encode_header};
use crate::event::{TraceEvent, TraceHeader};
use crate::names::{RecordingBackend, RunOutcome, ValueCapture};

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "model")
}

fn cancelled(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCancelled { id }
}

fn line(id: u64) -> String {
    format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n")
}

/// The text behind the header.
fn events(trace: Vec<u8>) -> String {
    let trace = String::from_utf8(trace).unwrap();
    trace.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn one_thread_at_a_time_holds_the_lock_and_none_waits_for_itself() {
    loom::model(|| {
        // Loom reports two threads that use the cell at once.
        let mutex = Arc::new(ForeignCodeMutex::new(loom::cell::Cell::new(0)));
        let work = |mutex: &ForeignCodeMutex<loom::cell::Cell<u32>>| {
            let inner = mutex.try_with(|value| {
                value.set(value.get() + 1);
                mutex.try_with(|_| ())
            });
            assert_eq!(inner, Some(None));
        };
        let other = Arc::clone(&mutex);
        let other = thread::spawn(move || work(&other));
        work(&mutex);
        other.join().unwrap();
        assert_eq!(mutex.try_with(|value| value.get()), Some(2));
    });
}

#[test]
fn three_threads_take_turns() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let mutex = Arc::new(ForeignCodeMutex::new(0));
        let add = |mutex: &ForeignCodeMutex<u32>| assert_eq!(mutex.try_with(|value| *value += 1), Some(()));
        let others = [(); 2].map(|()| {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || add(&mutex))
        });
        add(&mutex);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(mutex.try_with(|value| *value), Some(3));
    });
}

#[test]
fn each_loss_is_counted_once() {
    loom::model(|| {
        let losses = Arc::new(Losses::default());
        let other = Arc::clone(&losses);
        let other = thread::spawn(move || {
            other.add_dropped(1);
            other.set_last_error(io::Error::other("theirs"));
        });
        losses.add_dropped(2);
        losses.set_last_error(io::Error::other("ours"));
        let seen = losses.dropped();
        assert!((2..=3).contains(&seen));
        other.join().unwrap();
        assert_eq!(losses.dropped(), 3);
        assert!(losses.last_error().is_some());
    });
}

/// The trace is the beginning and the end of the run, whichever thread reaches the limit first, and every loss is
/// counted.
#[test]
fn events_over_the_limit_are_counted_and_leave_no_gap() {
    let mut room = Vec::new();
    encode_header(&header(), &mut room);
    encode_event(&cancelled(1), ValueCapture::Full, &mut room);
    let limit = room.len() as u64;
    loom::model(move || {
        let sink = JsonlSink::builder(&header()).byte_limit(limit).open(Vec::new()).unwrap();
        let sink = Arc::new(sink);
        let other = Arc::clone(&sink);
        let other = thread::spawn(move || [2, 3].map(|id| other.record(&cancelled(id))));
        sink.record(&cancelled(1));
        sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
        other.join().unwrap();

        let finished = Arc::into_inner(sink).unwrap().finish();
        assert_eq!(finished.dropped, 2);
        let text = events(finished.writer);
        let kept: Vec<&str> = text.split_inclusive('\n').filter(|line| !line.contains("run_ended")).collect();
        assert!(kept == [line(1)] || kept == [line(2)], "{text}");
        assert_eq!(text.matches("run_ended").count(), 1, "{text}");
    });
}

/// An event that the writer records into its own sink does not deadlock and is counted, whatever other threads do.
#[test]
fn a_writer_that_records_is_told_from_other_threads() {
    struct Records(Weak<JsonlSink<Records>>, Vec<u8>);
    impl Write for Records {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(sink) = self.0.upgrade() {
                sink.record(&cancelled(9));
            }
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    loom::model(|| {
        let sink = Arc::new_cyclic(|sink| JsonlSink::new(Records(sink.clone(), Vec::new()), &header()).unwrap());
        let other = Arc::clone(&sink);
        let other = thread::spawn(move || other.record(&cancelled(1)));
        sink.record(&cancelled(2));
        other.join().unwrap();
        let finished = Arc::into_inner(sink).unwrap().finish();
        assert_eq!(finished.dropped, 2);
        let text = events(finished.writer.1);
        assert!(text == line(1) + &line(2) || text == line(2) + &line(1), "{text}");
    });
}

#[test]
fn a_dump_holds_the_last_lines_of_one_moment() {
    loom::model(|| {
        let ring = Arc::new(RingSink::new(2 * line(1).len(), &header()));
        let recording = Arc::clone(&ring);
        let recording = thread::spawn(move || (1..=3).for_each(|id| recording.record(&cancelled(id))));
        let mut dump = Vec::new();
        ring.dump(&mut dump).unwrap();
        let moments = [String::new(), line(1), line(1) + &line(2), line(2) + &line(3)];
        let text = events(dump);
        assert!(moments.contains(&text), "{text}");
        recording.join().unwrap();
        assert_eq!((ring.overwritten(), ring.dropped()), (1, 0));
    });
}
