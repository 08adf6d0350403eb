//! `RingSink` holds the newest whole lines, and any thread can dump them at any time, also when it panics.

mod common;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use allocation_counter::measure;
use common::print_call;
use common::scratch_dir::ScratchDir;
use cove_trace::check::{CheckEvent, Checker, Severity};
use cove_trace::{
    HeapSummary, RecordedValue, RecordingBackend, RingSink, RunOutcome, TraceEvent, TraceHeader, TraceReader,
    TraceSink, TraceValue, ValueCapture, ValueWriter, create_trace_file, encode_event,
};

const HEADER: &str = concat!(
    r#"{"event":"trace_header","version":4,"backend":"ast","values":"full","entry":"main.cove","args":[]}"#,
    "\n"
);

fn ring(capacity: usize) -> RingSink {
    RingSink::new(capacity, &TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove"))
}

fn cancelled(id: u64) -> TraceEvent<'static> {
    TraceEvent::TaskCancelled { id }
}

fn line(event: &TraceEvent<'_>) -> String {
    let mut line = Vec::new();
    encode_event(event, ValueCapture::Full, &mut line);
    String::from_utf8(line).expect("lines are UTF-8")
}

/// Dumps the ring and returns the text after the header.
#[track_caller]
fn held(ring: &RingSink) -> String {
    let mut dump = Vec::new();
    ring.dump(&mut dump).expect("memory takes it");
    let dump = String::from_utf8(dump).expect("lines are UTF-8");
    dump.strip_prefix(HEADER).expect("a dump begins with the header").to_owned()
}

/// Asserts that a dump is a valid trace without its beginning, and returns the number of its events.
#[track_caller]
fn assert_sound(dump: &[u8]) -> usize {
    let mut events = 0;
    let mut findings = Vec::new();
    let mut reader = TraceReader::new(dump);
    while reader.next_event().expect("every line is sound").is_some() {
        events += 1;
    }
    Checker::new().partial(true).read(&mut TraceReader::new(dump), |remark| match remark {
        CheckEvent::Finding(finding) => findings.push(finding),
        other => panic!("{other:?}"),
    });
    findings.retain(|finding| finding.severity == Severity::Error);
    assert_eq!(findings, []);
    events
}

#[test]
fn holds_the_newest_lines_that_fit() {
    for capacity in [0, 1, 33, 34, 35, 100, 1_000, 4_096, 65_536] {
        let ring = ring(capacity);
        let mut naive: VecDeque<String> = VecDeque::new();
        let (mut dropped, mut overwritten) = (0, 0);
        let text = "x".repeat(5_000);
        for id in 0..2_000_usize {
            let len = if id % 97 == 0 { id * 31 % 5_000 } else { id * 7_919 % 60 };
            let event = TraceEvent::TaskSpawned { id: id as u64, parent: None, scope: &text[..len] };
            ring.record(&event);
            let line = line(&event);
            if line.len() > capacity {
                dropped += 1;
            } else {
                naive.push_back(line);
                while naive.iter().map(String::len).sum::<usize>() > capacity {
                    naive.pop_front();
                    overwritten += 1;
                }
            }
            if id % 50 == 0 {
                assert_eq!(held(&ring), String::from_iter(naive.iter().map(String::as_str)), "{capacity}, {id}");
            }
        }
        assert_eq!((ring.dropped(), ring.overwritten()), (dropped, overwritten), "{capacity}");
    }
}

#[test]
fn an_event_larger_than_the_ring_is_counted_and_leaves_what_is_held() {
    let ring = ring(200);
    ring.record(&cancelled(1));
    ring.record(&TraceEvent::TaskSpawned { id: 2, parent: None, scope: &"x".repeat(200) });
    assert_eq!(held(&ring), line(&cancelled(1)));
    assert_eq!((ring.dropped(), ring.overwritten()), (1, 0));
    assert_eq!(ring.last_error().expect("an error").kind(), ErrorKind::StorageFull);
    ring.record(&cancelled(3));
    assert_eq!(held(&ring), line(&cancelled(1)) + &line(&cancelled(3)));
}

#[test]
fn a_dump_at_any_point_of_a_run_is_sound() {
    let ring = ring(1_500);
    let mut dumps = 0;
    let mut record = |event: &TraceEvent<'_>| {
        ring.record(event);
        let mut dump = Vec::new();
        ring.dump(&mut dump).unwrap();
        assert!(assert_sound(&dump) > 0);
        dumps += 1;
    };
    record(&TraceEvent::EntryEnter { module: "main", function: "main" });
    for id in 1..=40 {
        record(&TraceEvent::TaskSpawned { id, parent: (id > 1).then(|| id - 1), scope: "s" });
        record(&print_call(&[RecordedValue::String("in the entry")], None));
        if id > 20 {
            record(&TraceEvent::TaskCompleted { id: id - 20, cpu: Duration::ZERO });
        }
    }
    record(&TraceEvent::EntryExit { module: "main", function: "main", cpu: Duration::ZERO, wait: Duration::ZERO });
    record(&TraceEvent::HeapSummary(HeapSummary::default()));
    record(&TraceEvent::RunEnded { outcome: RunOutcome::Invariant, message: Some("over") });
    assert_eq!(dumps, 104);
    assert!(ring.overwritten() > 0);
}

#[test]
fn dumps_while_threads_record_hold_each_threads_events_in_order_and_without_gaps() {
    const THREADS: u64 = 4;
    let ring = ring(16 * 1024);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let recorders: Vec<_> = (0..THREADS)
            .map(|thread| {
                let ring = &ring;
                scope.spawn(move || (0..20_000).for_each(|event| ring.record(&cancelled(event * THREADS + thread))))
            })
            .collect();
        let dumper = scope.spawn(|| {
            let mut dumps = 0;
            while !done.load(Ordering::Relaxed) {
                let mut dump = Vec::new();
                ring.dump(&mut dump).unwrap();
                assert!(dump.len() <= HEADER.len() + 16 * 1024);
                let mut last = [None; THREADS as usize];
                let mut reader = TraceReader::new(&dump[..]);
                while let Some(event) = reader.next_event().expect("whole lines") {
                    let TraceEvent::TaskCancelled { id } = event else { panic!("{event:?}") };
                    let last = &mut last[(id % THREADS) as usize];
                    assert!(last.is_none_or(|last| id == last + THREADS), "{id} after {last:?}");
                    *last = Some(id);
                }
                dumps += 1;
            }
            dumps
        });
        recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
        done.store(true, Ordering::Relaxed);
        assert!(dumper.join().unwrap() > 0);
    });
    let kept = held(&ring).lines().count() as u64;
    assert_eq!(kept + ring.overwritten(), THREADS * 20_000);
}

/// A writer that records into the ring in each call.
struct Recording<'r>(&'r RingSink, Vec<u8>);

impl Write for Recording<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.record(&cancelled(7));
        Write::write(&mut self.1, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.dump(&mut io::sink())
    }
}

#[test]
fn a_dumps_writer_may_record_and_dump() {
    let ring = ring(1_000);
    ring.record(&cancelled(1));
    let mut out = Recording(&ring, Vec::new());
    ring.dump(&mut out).unwrap();
    assert_eq!(String::from_utf8(out.1).unwrap(), HEADER.to_owned() + &line(&cancelled(1)));
    assert_eq!(held(&ring), line(&cancelled(1)) + &line(&cancelled(7)).repeat(2));
}

struct Recorder<'r>(&'r RingSink);

impl TraceValue for Recorder<'_> {
    fn type_name(&self) -> std::borrow::Cow<'_, str> {
        "Recorder".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        self.0.record(&cancelled(7));
        out.unit();
    }
}

#[test]
fn a_value_may_record_into_the_ring_that_it_is_written_to() {
    let ring = ring(1_000);
    ring.record(&print_call(&[RecordedValue::Live(&Recorder(&ring))], None));
    assert_eq!(held(&ring), line(&cancelled(7)) + &line(&print_call(&[RecordedValue::Unit], None)));
}

#[test]
fn an_error_of_the_writer_is_the_dumpers_and_the_ring_goes_on() {
    struct Failing;
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let ring = ring(1_000);
    ring.record(&cancelled(1));
    assert_eq!(ring.dump(&mut Failing).unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!(held(&ring), line(&cancelled(1)));
    assert_eq!(ring.dropped(), 0);
}

#[test]
fn recording_and_overwriting_allocate_nothing() {
    let ring = ring(10_000);
    let record = || (0..1_000).for_each(|id| ring.record(&cancelled(id)));
    record();
    assert_eq!(measure(record).count_total, 0);
    assert!(ring.overwritten() > 1_000);
}

#[test]
fn a_dump_takes_hardly_more_memory_than_what_is_held() {
    let ring = ring(100_000);
    (0..5_000).for_each(|id| ring.record(&cancelled(id)));
    let held = held(&ring).len() as u64;
    assert!(held > 90_000);
    let dumping = measure(|| ring.dump(&mut io::sink()).expect("it takes everything"));
    assert!(dumping.bytes_max <= held + held / 4, "{} bytes for {held}", dumping.bytes_max);
}

/// Records when it is dropped, as the thread ends.
struct AtTheEnd(Arc<RingSink>, u64);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.0.record(&cancelled(self.1));
    }
}

#[test]
fn events_of_destructors_at_the_end_of_a_thread_are_held() {
    thread_local! {
        static BEFORE: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
    }
    let ring = Arc::new(ring(1_000));
    let of_thread = Arc::clone(&ring);
    thread::spawn(move || {
        BEFORE.set(Some(AtTheEnd(Arc::clone(&of_thread), 1)));
        of_thread.record(&cancelled(0));
        AFTER.set(Some(AtTheEnd(of_thread, 2)));
    })
    .join()
    .unwrap();
    let held = held(&ring);
    assert!((0..3).all(|id| held.contains(&line(&cancelled(id)))), "{held}");
}

/// Panics without calling the panic hook.
fn quiet_panic() -> ! {
    panic_any(()) // caught by the one who asked for it
}

#[test]
fn a_thread_that_panics_dumps_to_the_file_that_its_guard_names() {
    let directory = ScratchDir::new("ring-panic");
    let path = directory.path().join("dump.jsonl");
    let ring = Arc::new(ring(1_000));
    let of_thread = Arc::clone(&ring);
    let of_guard = path.clone();
    let thread = thread::spawn(move || {
        let _dump = of_thread.dump_on_panic(|| create_trace_file(&of_guard));
        of_thread.record(&cancelled(1));
        quiet_panic();
    });
    assert!(thread.join().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), HEADER.to_owned() + &line(&cancelled(1)));
    assert!(ring.last_error().is_none());
}

#[test]
fn without_a_panic_of_its_own_a_guard_opens_nothing() {
    let ring = ring(1_000);
    drop(ring.dump_on_panic(|| -> io::Result<File> { unreachable!("no panic") }));

    // Made and dropped while the thread unwinds from another panic.
    struct Unwinding<'r>(&'r RingSink);
    impl Drop for Unwinding<'_> {
        fn drop(&mut self) {
            drop(self.0.dump_on_panic(|| -> io::Result<File> { unreachable!("not its panic") }));
        }
    }
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _unwinding = Unwinding(&ring);
        quiet_panic();
    }));
    assert!(unwound.is_err());
    assert!(ring.last_error().is_none());
}

#[test]
fn what_goes_wrong_with_a_guards_dump_can_be_asked_for() {
    struct Panicking;
    impl Write for Panicking {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            quiet_panic()
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let ring = ring(1_000);
    let missing = catch_unwind(AssertUnwindSafe(|| {
        let _dump = ring.dump_on_panic(|| create_trace_file("/no/such/directory/dump.jsonl"));
        quiet_panic();
    }));
    assert!(missing.is_err());
    assert_eq!(ring.last_error().expect("an error").kind(), ErrorKind::NotFound);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _dump = ring.dump_on_panic(|| Ok(Panicking));
        quiet_panic();
    }));
    assert!(panicked.is_err());
    assert_eq!(ring.last_error().expect("an error").to_string(), "the trace's writer panicked");
    assert_eq!(ring.dropped(), 0);
}
