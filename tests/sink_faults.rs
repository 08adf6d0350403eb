//! `JsonlSink` over writers that fail in every way a writer can: every line in the file is whole or a fragment alone on
//! its line, what was lost is counted exactly, and nothing but the header's failure ever reaches the caller.

mod common;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use common::print_call;
use cove_trace::{
    Finished, JsonlSink, RecordedValue, RecordingBackend, RunOutcome, TraceEvent, TraceHeader, TraceSink, TraceValue,
    ValueCapture, ValueWriter,
};

/// What a scripted writer does in one call of `write`.
#[derive(Debug, Clone, Copy)]
enum OnWrite {
    /// Takes at most this many bytes.
    Take(usize),
    Fail(ErrorKind),
    /// Takes at most `.0` bytes, and claims to have taken `.1` more than it was given.
    Overclaim(usize, usize),
    /// Takes at most this many bytes and panics.
    Panic(usize),
}

/// What a scripted writer does in one call of `flush`.
#[derive(Debug, Clone, Copy)]
enum OnFlush {
    Done,
    Fail(ErrorKind),
    Panic,
}

const ALL: OnWrite = OnWrite::Take(usize::MAX);

/// A writer that follows a script, and succeeds after its end.
#[derive(Debug, Default)]
struct Scripted {
    writes: VecDeque<OnWrite>,
    flushes: VecDeque<OnFlush>,
    file: Vec<u8>,
}

impl Scripted {
    /// A script that starts with the header.
    fn new(writes: &[OnWrite], flushes: &[OnFlush]) -> Self {
        Self { writes: writes.iter().copied().collect(), flushes: flushes.iter().copied().collect(), file: vec![] }
    }

    /// A script that starts after the header, which is written.
    fn after_header(writes: &[OnWrite], flushes: &[OnFlush]) -> Self {
        let mut scripted = Self::new(writes, flushes);
        scripted.writes.push_front(ALL);
        scripted.flushes.push_front(OnFlush::Done);
        scripted
    }

    fn take(&mut self, bytes: &[u8], most: usize) -> usize {
        let taken = bytes.len().min(most);
        self.file.extend_from_slice(&bytes[..taken]);
        taken
    }
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.writes.pop_front().unwrap_or(ALL) {
            OnWrite::Take(most) => Ok(self.take(bytes, most)),
            OnWrite::Fail(kind) => Err(kind.into()),
            OnWrite::Overclaim(most, more) => {
                self.take(bytes, most);
                Ok(bytes.len().saturating_add(more))
            }
            OnWrite::Panic(most) => {
                self.take(bytes, most);
                unwind()
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.flushes.pop_front().unwrap_or(OnFlush::Done) {
            OnFlush::Done => Ok(()),
            OnFlush::Fail(kind) => Err(kind.into()),
            OnFlush::Panic => unwind(),
        }
    }
}

/// Panics without calling the panic hook, which would print thousands of messages.
fn unwind() -> ! {
    panic::resume_unwind(Box::new("the writer's own"))
}

const HEADER: &str =
    r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main.cove","args":[]}"#;

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
}

fn line(id: u64) -> String {
    format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n")
}

/// Records `events` events, numbered from 0.
fn record<W: Write + Send>(writer: W, events: u64) -> Finished<W> {
    let sink = JsonlSink::new(writer, &header()).expect("the header gets out");
    for id in 0..events {
        sink.record(&TraceEvent::TaskCancelled { id });
    }
    let (dropped, last_error) = (sink.dropped(), sink.last_error());
    let finished = sink.finish();
    assert_eq!(dropped, finished.dropped);
    assert_eq!(last_error.map(|error| error.kind()), finished.last_error.as_ref().map(|error| error.kind()));
    finished
}

/// Asserts the text of the file after the header, the number of dropped events, and the last error.
#[track_caller]
fn assert_outcome(writer: Scripted, events: u64, file: &str, dropped: u64, last_error: Option<ErrorKind>) {
    let finished = record(writer, events);
    assert_eq!(String::from_utf8_lossy(&finished.writer.file), format!("{HEADER}\n{file}"));
    assert_eq!(finished.dropped, dropped);
    assert_eq!(finished.last_error.map(|error| error.kind()), last_error);
}

fn lines(ids: impl IntoIterator<Item = u64>) -> String {
    ids.into_iter().map(line).collect()
}

#[test]
fn short_writes_are_continued() {
    assert_outcome(Scripted::after_header(&[OnWrite::Take(10); 50], &[]), 10, &lines(0..10), 0, None);
    assert_outcome(Scripted::after_header(&[OnWrite::Take(1); 500], &[]), 10, &lines(0..10), 0, None);
}

#[test]
fn one_event_is_one_write_and_one_flush() {
    #[derive(Default)]
    struct Counted {
        writes: u64,
        flushes: u64,
    }
    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            assert_eq!(bytes.last(), Some(&b'\n'));
            self.writes += 1;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.flushes += 1;
            Ok(())
        }
    }
    let finished = record(Counted::default(), 5);
    assert!(finished.last_error.is_none());
    assert_eq!((finished.writer.writes, finished.writer.flushes), (6, 6));
}

#[test]
fn interrupted_is_tried_again_and_not_remembered() {
    let interrupted = OnWrite::Fail(ErrorKind::Interrupted);
    let writes = [interrupted, interrupted, OnWrite::Take(5), interrupted, OnWrite::Take(3), interrupted, ALL];
    let flushes = [OnFlush::Fail(ErrorKind::Interrupted); 3];
    assert_outcome(Scripted::after_header(&writes, &flushes), 3, &lines(0..3), 0, None);
}

#[test]
fn would_block_is_a_failure() {
    let writes = [OnWrite::Fail(ErrorKind::WouldBlock)];
    assert_outcome(Scripted::after_header(&writes, &[]), 3, &lines(1..3), 1, Some(ErrorKind::WouldBlock));
}

#[test]
fn a_writer_that_takes_nothing_is_a_failure() {
    let writes = [OnWrite::Take(0)];
    assert_outcome(Scripted::after_header(&writes, &[]), 3, &lines(1..3), 1, Some(ErrorKind::WriteZero));
}

#[test]
fn a_disk_that_is_full_for_a_while() {
    // The header is the first call: calls 5 to 9 fail. After each failure twice as many events are lost without a call,
    // so these calls are the events 3, 5, 8, 13 and 22, and the next one is event 39.
    let full = OnWrite::Fail(ErrorKind::StorageFull);
    let writes = [ALL, ALL, ALL, ALL, full, full, full, full, full];
    let expected = lines((0..3).chain(39..45));
    assert_outcome(Scripted::new(&writes, &[]), 45, &expected, 36, Some(ErrorKind::StorageFull));
}

#[test]
fn a_success_ends_the_backoff() {
    let full = OnWrite::Fail(ErrorKind::QuotaExceeded);
    // Calls are the events 0, 2, 5, 6 and 8. A fragment is no success.
    let writes = [full, full, ALL, full, ALL];
    assert_outcome(Scripted::after_header(&writes, &[]), 9, &lines([5, 8]), 7, Some(ErrorKind::QuotaExceeded));
    let fragment = OnWrite::Take(4);
    let writes = [fragment, full, fragment, full, ALL];
    let expected = format!("{}\n{}\n{}", &line(0)[..4], &line(2)[..3], line(5));
    assert_outcome(Scripted::after_header(&writes, &[]), 6, &expected, 5, Some(ErrorKind::QuotaExceeded));
    // Neither is another error, but that is tried again at once.
    let writes = [full, OnWrite::Fail(ErrorKind::BrokenPipe), ALL];
    assert_outcome(Scripted::after_header(&writes, &[]), 4, &lines([3]), 3, Some(ErrorKind::BrokenPipe));
}

/// Takes the header, and fails at every later call.
struct Failing {
    kind: ErrorKind,
    calls: Arc<AtomicU64>,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 0 { Ok(bytes.len()) } else { Err(self.kind.into()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failing(kind: ErrorKind, buffer: usize) -> (JsonlSink<Failing>, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let writer = Failing { kind, calls: Arc::clone(&calls) };
    (JsonlSink::builder(&header()).buffer(buffer).open(writer).expect("the header is written"), calls)
}

#[test]
fn attempts_to_write_back_off_while_there_is_no_room() {
    const EVENTS: u64 = 100_000;
    for buffer in [0, 100] {
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge] {
            let start = Instant::now();
            let (sink, calls) = failing(kind, buffer);
            (0..EVENTS).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
            sink.flush();
            let (calls, seconds) = (calls.load(Ordering::Relaxed), start.elapsed().as_secs());
            // The header, 17 attempts with 1 + 2 + 4 + ... events between them, the flush, and one attempt per second.
            assert!(calls <= 1 + 17 + 1 + seconds, "{calls} calls in {seconds} s");
            assert!(calls > 12, "only {calls} calls");
            assert_eq!(sink.dropped(), EVENTS);
            assert_eq!(sink.last_error().unwrap().kind(), kind);
        }
    }
    let (sink, calls) = failing(ErrorKind::BrokenPipe, 0);
    (0..EVENTS).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    assert_eq!(calls.load(Ordering::Relaxed), 1 + EVENTS, "other errors can be over at the next event");
    assert_eq!(sink.dropped(), EVENTS);
}

#[test]
fn threads_share_one_backoff() {
    const EVENTS: u64 = 20_000;
    const THREADS: u64 = 8;
    let start = Instant::now();
    let (sink, calls) = failing(ErrorKind::StorageFull, 0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..EVENTS).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id })));
        }
    });
    let (calls, seconds) = (calls.load(Ordering::Relaxed), start.elapsed().as_secs());
    assert!(calls <= 1 + 18 + seconds, "{calls} calls in {seconds} s");
    assert_eq!(sink.dropped(), EVENTS * THREADS);
}

#[test]
fn what_is_lost_without_an_attempt_is_not_encoded() {
    struct Counted(Cell<u64>);
    impl TraceValue for Counted {
        fn type_name(&self) -> Cow<'_, str> {
            "Counted".into()
        }
        fn write(&self, out: ValueWriter<'_>) {
            self.0.set(self.0.get() + 1);
            out.unit();
        }
    }
    let start = Instant::now();
    let (sink, calls) = failing(ErrorKind::StorageFull, 0);
    let value = Counted(Cell::new(0));
    (0..1_000).for_each(|_| sink.record(&print_call(&[RecordedValue::Live(&value)], None)));
    assert_eq!(sink.dropped(), 1_000);
    // All but the header, with one for each second.
    assert_eq!(value.0.get() + 1, calls.load(Ordering::Relaxed));
    assert!(value.0.get() <= 10 + start.elapsed().as_secs());
}

#[test]
fn the_events_that_close_a_run_are_attempted_in_any_case() {
    let (sink, calls) = failing(ErrorKind::StorageFull, 0);
    (0..100).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    let before = calls.load(Ordering::Relaxed);
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
    assert_eq!(calls.load(Ordering::Relaxed), before + 1);
    assert_eq!(sink.dropped(), 101);
}

#[test]
fn a_second_after_a_failure_the_next_event_is_an_attempt() {
    let writes = [OnWrite::Fail(ErrorKind::StorageFull); 9];
    let sink = JsonlSink::new(Scripted::after_header(&writes, &[]), &header()).unwrap();
    // The last failure is event 263, and event 520 would be the next attempt.
    (0..300).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    assert_eq!(sink.dropped(), 300);
    thread::sleep(Duration::from_millis(1_010));
    (300..310).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    let finished = sink.finish();
    assert_eq!(finished.dropped, 300);
    assert_eq!(String::from_utf8(finished.writer.file).unwrap(), format!("{HEADER}\n{}", lines(300..310)));
}

#[test]
fn a_writer_that_panics_when_it_is_dropped() {
    struct Bomb(Arc<AtomicU64>);
    impl Write for Bomb {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            unwind();
        }
    }
    let dropped = Arc::new(AtomicU64::new(0));
    let sink = || JsonlSink::new(Bomb(Arc::clone(&dropped)), &header()).unwrap();
    drop(sink());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    // A second panic while a thread unwinds would abort the process.
    let outer = panic::catch_unwind(|| {
        let _sink = sink();
        unwind();
    });
    assert!(outer.is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
    // A finished sink hands the writer back, so its drop is the caller's.
    let Finished { writer, .. } = sink().finish();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
    std::mem::forget(writer);
}

#[test]
fn a_writer_that_panics_when_it_is_dropped_by_a_sink_that_cannot_be_opened() {
    struct Bomb;

    impl Write for Bomb {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::Other.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            unwind();
        }
    }

    assert!(JsonlSink::new(Bomb, &header()).is_err());
    let error = JsonlSink::builder(&header()).buffer(usize::MAX).open(Bomb).expect_err("no such buffer");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(JsonlSink::builder(&header()).line_limit(1).open(Bomb).is_err());
}

#[test]
fn a_failure_after_each_byte_of_a_line() {
    let broken = OnWrite::Fail(ErrorKind::BrokenPipe);
    let whole = line(0);
    for out in 0..whole.len() {
        let (fragment, rest) = whole.split_at(out);
        let separator = if out == 0 { "" } else { "\n" };
        let expected = format!("{fragment}{separator}{}", lines(1..3));
        // An event that lacks only its newline is not lost.
        let dropped = u64::from(rest != "\n");
        let mut writes = vec![OnWrite::Take(out), broken];
        if out == 0 {
            writes.remove(0);
        }
        assert_outcome(Scripted::after_header(&writes, &[]), 3, &expected, dropped, Some(ErrorKind::BrokenPipe));
    }
}

#[test]
fn a_failure_after_each_byte_of_the_line_after_a_fragment() {
    let broken = OnWrite::Fail(ErrorKind::BrokenPipe);
    let fragment = &line(0)[..3];
    let second = format!("\n{}", line(1));
    for out in 1..second.len() {
        let (second_fragment, rest) = second.split_at(out);
        let separator = if out == 1 { "" } else { "\n" };
        let expected = format!("{fragment}{second_fragment}{separator}{}", lines(2..4));
        let dropped = 1 + u64::from(rest != "\n");
        let writes = [OnWrite::Take(fragment.len()), broken, OnWrite::Take(out), broken];
        assert_outcome(Scripted::after_header(&writes, &[]), 4, &expected, dropped, Some(ErrorKind::BrokenPipe));
    }
    // None of its bytes were written, so the next line has to end the fragment.
    let expected = format!("{fragment}\n{}", lines(2..4));
    let writes = [OnWrite::Take(fragment.len()), broken, broken];
    assert_outcome(Scripted::after_header(&writes, &[]), 4, &expected, 2, Some(ErrorKind::BrokenPipe));
}

#[test]
fn only_the_newline_is_missing_at_the_end() {
    let text = line(0).len() - 1;
    let writes = [OnWrite::Take(text), OnWrite::Fail(ErrorKind::Other)];
    assert_outcome(Scripted::after_header(&writes, &[]), 1, &line(0)[..text], 0, Some(ErrorKind::Other));
}

#[test]
fn a_flush_that_fails_loses_nothing_and_is_remembered() {
    let flushes = [OnFlush::Fail(ErrorKind::TimedOut)];
    assert_outcome(Scripted::after_header(&[], &flushes), 3, &lines(0..3), 0, Some(ErrorKind::TimedOut));
}

#[test]
fn the_last_error_is_the_one_told() {
    let writes = [OnWrite::Fail(ErrorKind::BrokenPipe), OnWrite::Fail(ErrorKind::WouldBlock)];
    assert_outcome(Scripted::after_header(&writes, &[]), 3, &lines(2..3), 2, Some(ErrorKind::WouldBlock));
    // The flush fails after the write.
    let flushes = [OnFlush::Fail(ErrorKind::TimedOut)];
    assert_outcome(Scripted::after_header(&writes[..1], &flushes), 2, &lines(1..2), 1, Some(ErrorKind::TimedOut));
}

#[test]
fn a_writer_that_panics_in_a_write() {
    // The third call is the second event.
    let expected = format!("{}\n{}", line(0), lines(2..5));
    assert_outcome(Scripted::new(&[ALL, ALL, OnWrite::Panic(0)], &[]), 5, &expected, 1, Some(ErrorKind::Other));
    let expected = format!("{}{}\n{}", line(0), &line(1)[..7], lines(2..5));
    assert_outcome(Scripted::new(&[ALL, ALL, OnWrite::Panic(7)], &[]), 5, &expected, 1, Some(ErrorKind::Other));
    let writes = [ALL, ALL, OnWrite::Take(5), OnWrite::Panic(2)];
    assert_outcome(Scripted::new(&writes, &[]), 5, &expected, 1, Some(ErrorKind::Other));
}

#[test]
fn a_writer_that_panics_in_a_flush() {
    let flushes = [OnFlush::Done, OnFlush::Done, OnFlush::Panic];
    assert_outcome(Scripted::new(&[], &flushes), 5, &lines(0..5), 0, Some(ErrorKind::Other));
}

#[test]
fn a_panic_of_the_writer_poisons_nothing_on_other_threads() {
    let writer = Scripted::after_header(&[OnWrite::Panic(0), OnWrite::Panic(0)], &[OnFlush::Panic]);
    let sink = JsonlSink::new(writer, &header()).unwrap();
    for id in 0..4 {
        thread::scope(|scope| {
            scope.spawn(|| sink.record(&TraceEvent::TaskCancelled { id }));
        });
    }
    assert_eq!(sink.dropped(), 2);
    assert_eq!(sink.last_error().unwrap().to_string(), "the trace's writer panicked");
    let file = String::from_utf8(sink.finish().writer.file).unwrap();
    assert_eq!(file, format!("{HEADER}\n\n{}", lines(2..4)));
}

#[test]
fn a_writer_that_claims_more_than_it_was_given_is_not_believed() {
    for more in [1, 1 << 40, usize::MAX] {
        let writes = [OnWrite::Overclaim(usize::MAX, more), OnWrite::Take(5), OnWrite::Overclaim(usize::MAX, more)];
        assert_outcome(Scripted::after_header(&writes, &[]), 4, &lines(0..4), 0, None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device() {
    use std::fs::{File, OpenOptions};

    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(JsonlSink::new(full(), &header()).unwrap_err().kind(), ErrorKind::StorageFull);

    /// Keeps the header, and passes everything else to a full device.
    struct RoomForAHeader(Option<Vec<u8>>, File);
    impl Write for RoomForAHeader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.is_some() {
                return self.1.write(bytes);
            }
            self.0 = Some(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.1.flush()
        }
    }
    let finished = record(RoomForAHeader(None, full()), 3);
    assert_eq!(finished.dropped, 3);
    assert_eq!(finished.last_error.unwrap().kind(), ErrorKind::StorageFull);
}

#[test]
fn a_header_that_does_not_get_out_is_an_error() {
    let broken = OnWrite::Fail(ErrorKind::BrokenPipe);
    for (writes, flushes, kind) in [
        (&[broken][..], &[][..], ErrorKind::BrokenPipe),
        (&[OnWrite::Take(10), broken], &[], ErrorKind::BrokenPipe),
        (&[OnWrite::Take(HEADER.len()), broken], &[], ErrorKind::BrokenPipe),
        (&[OnWrite::Fail(ErrorKind::WouldBlock)], &[], ErrorKind::WouldBlock),
        (&[OnWrite::Take(0)], &[], ErrorKind::WriteZero),
        (&[OnWrite::Panic(3)], &[], ErrorKind::Other),
        (&[], &[OnFlush::Fail(ErrorKind::TimedOut)], ErrorKind::TimedOut),
        (&[], &[OnFlush::Panic], ErrorKind::Other),
    ] {
        let failed = JsonlSink::new(Scripted::new(writes, flushes), &header());
        assert_eq!(failed.unwrap_err().kind(), kind, "{writes:?} {flushes:?}");
    }
}

#[test]
fn a_header_that_gets_out_with_some_trouble_is_no_error() {
    let interrupted = OnWrite::Fail(ErrorKind::Interrupted);
    for (writes, flushes) in [
        (&[OnWrite::Take(10), interrupted, OnWrite::Take(1), interrupted][..], &[][..]),
        (&[interrupted], &[OnFlush::Fail(ErrorKind::Interrupted), OnFlush::Fail(ErrorKind::Interrupted)]),
        (&[OnWrite::Overclaim(usize::MAX, 1)], &[]),
        (&[OnWrite::Take(10), OnWrite::Overclaim(usize::MAX, usize::MAX)], &[]),
    ] {
        assert_outcome(Scripted::new(writes, flushes), 2, &lines(0..2), 0, None);
    }
}

#[test]
fn errors_that_panic_when_they_are_dropped() {
    #[derive(Debug)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            unwind();
        }
    }
    impl std::fmt::Display for Bomb {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("bomb")
        }
    }
    impl std::error::Error for Bomb {}

    /// Fails three times with such an error.
    #[derive(Default)]
    struct Bomber(Vec<u8>, u32);
    impl Write for Bomber {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.0.is_empty() && self.1 < 3 {
                self.1 += 1;
                let kind = if self.1 == 1 { ErrorKind::Interrupted } else { ErrorKind::Other };
                return Err(io::Error::new(kind, Bomb));
            }
            Write::write(&mut self.0, bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sink = JsonlSink::new(Bomber::default(), &header()).unwrap();
    for id in 0..4 {
        sink.record(&TraceEvent::TaskCancelled { id });
    }
    assert!((2..=3).contains(&sink.dropped()), "{} dropped", sink.dropped());
    let Finished { writer, last_error, .. } = sink.finish();
    assert!(String::from_utf8(writer.0).unwrap().ends_with(&line(3)));
    // Its drop would panic here.
    std::mem::forget(last_error);
}

/// Two sinks whose writers record into each other, from two threads that are inside of both at once.
#[test]
fn writers_that_record_into_each_other_do_not_wait_for_each_other() {
    /// Once told to, waits until both writers are in a write, and records into the other sink.
    struct Crossing {
        other: Arc<OnceLock<Weak<dyn TraceSink>>>,
        both_write: Arc<std::sync::Barrier>,
        crosses: Arc<std::sync::atomic::AtomicBool>,
    }

    impl Write for Crossing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.crosses.swap(false, Ordering::Relaxed) {
                self.both_write.wait();
                let other = self.other.get().and_then(Weak::upgrade).expect("both sinks are there");
                other.record(&TraceEvent::TaskCancelled { id: 100 });
                // The other writer may still be about to record into this sink.
                self.both_write.wait();
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let both_write = Arc::new(std::sync::Barrier::new(2));
    let sinks = [(), ()].map(|()| {
        let (other, crosses) = (Arc::default(), Arc::default());
        let writer =
            Crossing { other: Arc::clone(&other), both_write: Arc::clone(&both_write), crosses: Arc::clone(&crosses) };
        (Arc::new(JsonlSink::new(writer, &header()).expect("the header is written")), other, crosses)
    });
    for (own, other) in [(0, 1), (1, 0)] {
        let other: Arc<dyn TraceSink> = sinks[other].0.clone();
        assert!(sinks[own].1.set(Arc::downgrade(&other)).is_ok());
        sinks[own].2.store(true, Ordering::Relaxed);
    }
    let (done, wait) = mpsc::channel();
    for (sink, ..) in &sinks {
        let (sink, done) = (Arc::clone(sink), done.clone());
        thread::spawn(move || {
            sink.record(&TraceEvent::TaskCancelled { id: 1 });
            done.send(sink.dropped()).expect("the test waits");
        });
    }
    for _ in &sinks {
        wait.recv_timeout(Duration::from_secs(20)).expect("neither waits for the other");
    }
    assert!(sinks.iter().all(|(sink, ..)| sink.dropped() == 1), "the events of the writers are counted");
}

/// As a writer does that traces its own work, or a panic hook that records the writer's panic.
#[test]
fn a_writer_that_records_into_its_own_sink_does_not_wait_for_itself() {
    type Shared = Arc<OnceLock<Weak<JsonlSink<Recursive>>>>;
    struct Recursive(Vec<u8>, Shared);
    impl Recursive {
        fn trace(&self, id: u64) {
            if let Some(sink) = self.1.get().and_then(Weak::upgrade) {
                sink.record(&TraceEvent::TaskCancelled { id });
                assert!(sink.dropped() > 0);
                assert!(sink.last_error().is_some());
            }
        }
    }
    impl Write for Recursive {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.trace(100);
            Write::write(&mut self.0, bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.trace(101);
            Ok(())
        }
    }

    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        let shared = Shared::default();
        let writer = Recursive(Vec::new(), Arc::clone(&shared));
        let sink = Arc::new(JsonlSink::new(writer, &header()).unwrap());
        assert!(shared.set(Arc::downgrade(&sink)).is_ok());
        sink.record(&TraceEvent::TaskCancelled { id: 0 });
        sink.record(&TraceEvent::TaskCancelled { id: 1 });
        done.send(sink).unwrap();
    });
    let sink = wait.recv_timeout(Duration::from_secs(20)).expect("recording comes to an end");
    // The writer's own events are dropped.
    assert_eq!(sink.dropped(), 4);
}

// A naive model of the contract, and pseudo-random scripts.

struct Predicted {
    file: String,
    dropped: u64,
    last_error: Option<ErrorKind>,
    failures: usize,
    /// Whether the writer claimed more than it took. The file's lines are then unpredictable.
    lied: bool,
}

/// Returns what the contract says about events 0 to `events` under a script, byte for byte.
fn predict(events: u64, writes: &[OnWrite], flushes: &[OnFlush]) -> Predicted {
    let mut writes = writes.iter();
    let mut flushes = flushes.iter();
    let mut file = String::new();
    let mut dropped = 0;
    let mut last_error = None;
    let mut failures = 0;
    let mut lied = false;
    let mut needs_newline = false;
    for id in 0..events {
        let mut rest = line(id);
        if needs_newline {
            rest.insert(0, '\n');
        }
        // The last byte written, as far as the sink knows; `?` if it does not.
        let mut last_out = if needs_newline { '?' } else { '\n' };
        let mut failure = None;
        while failure.is_none() && !rest.is_empty() {
            match *writes.next().unwrap_or(&ALL) {
                OnWrite::Take(0) => failure = Some(ErrorKind::WriteZero),
                OnWrite::Take(most) => {
                    for byte in rest.drain(..rest.len().min(most)) {
                        file.push(byte);
                        last_out = byte;
                    }
                }
                OnWrite::Fail(ErrorKind::Interrupted) => {}
                OnWrite::Fail(kind) => failure = Some(kind),
                OnWrite::Overclaim(most, _) => {
                    lied |= most < rest.len();
                    file.push_str(&rest[..rest.len().min(most)]);
                    rest.clear();
                    last_out = '\n';
                }
                OnWrite::Panic(most) => {
                    file.push_str(&rest[..rest.len().min(most)]);
                    last_out = '?';
                    failure = Some(ErrorKind::Other);
                }
            }
        }
        if failure.is_some() {
            failures += 1;
            last_error = failure;
            dropped += u64::from(rest != "\n");
        }
        needs_newline = last_out != '\n';
        loop {
            match *flushes.next().unwrap_or(&OnFlush::Done) {
                OnFlush::Done => {}
                OnFlush::Fail(ErrorKind::Interrupted) => continue,
                OnFlush::Fail(kind) => last_error = Some(kind),
                OnFlush::Panic => last_error = Some(ErrorKind::Other),
            }
            break;
        }
    }
    Predicted { file, dropped, last_error, failures, lied }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below a usize")
    }

    fn error(&mut self) -> ErrorKind {
        // None of these makes the sink back off, which the model does not cover.
        [ErrorKind::Interrupted, ErrorKind::WouldBlock, ErrorKind::BrokenPipe, ErrorKind::TimedOut][self.below(4)]
    }

    fn on_write(&mut self) -> OnWrite {
        match self.below(12) {
            0..4 => ALL,
            4..8 => OnWrite::Take(self.below(40)),
            8..10 => OnWrite::Fail(self.error()),
            10 => OnWrite::Overclaim([usize::MAX, self.below(40)][self.below(2)], self.below(3) + 1),
            _ => OnWrite::Panic(self.below(40)),
        }
    }

    fn on_flush(&mut self) -> OnFlush {
        match self.below(6) {
            0 => OnFlush::Fail(self.error()),
            1 => OnFlush::Panic,
            _ => OnFlush::Done,
        }
    }
}

/// Asserts that every line of `file` is whole, a fragment or empty, and that the lines that were not lost are in order.
fn assert_whole_or_alone(file: &str, events: u64, predicted: &Predicted) {
    let mut next = 0;
    let mut whole = 0;
    let mut leftovers = 0;
    for found in file.split('\n') {
        // No line is the beginning of another.
        let id = (next..events).find(|&id| line(id).trim_end() == found);
        if let Some(id) = id {
            next = id + 1;
            whole += 1;
        } else {
            assert!((0..events).any(|id| line(id).starts_with(found)), "{found:?} in {file:?}");
            leftovers += 1;
        }
    }
    // The empty rest after the last newline counts as one.
    assert!(leftovers <= predicted.failures + 1, "{file:?}");
    assert!(whole >= events - predicted.dropped, "{file:?}");
}

#[test]
fn pseudo_random_faults_have_the_outcome_that_the_contract_says() {
    const EVENTS: u64 = 8;
    let mut honest = 0;
    for seed in 0..5_000 {
        let mut random = Random(seed);
        let writes: Vec<_> = (0..random.below(30)).map(|_| random.on_write()).collect();
        let flushes: Vec<_> = (0..random.below(12)).map(|_| random.on_flush()).collect();
        let predicted = predict(EVENTS, &writes, &flushes);

        let finished = record(Scripted::after_header(&writes, &flushes), EVENTS);
        let written = String::from_utf8(finished.writer.file).unwrap();
        let file = written.strip_prefix(HEADER).and_then(|rest| rest.strip_prefix('\n')).unwrap();
        let context = format!("seed {seed}: {writes:?} {flushes:?}");
        assert_eq!(file, predicted.file, "{context}");
        assert_eq!(finished.dropped, predicted.dropped, "{context}");
        assert_eq!(finished.last_error.map(|error| error.kind()), predicted.last_error, "{context}");
        if !predicted.lied {
            honest += 1;
            assert_whole_or_alone(file, EVENTS, &predicted);
        }
    }
    assert!(honest > 2_000, "only {honest} scripts say something about lines");
}
