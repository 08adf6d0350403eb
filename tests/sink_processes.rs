//! Sinks in processes that are killed, that fork, or whose file system is full or limited.
#![cfg(unix)]
#![allow(unsafe_code, reason = "limits")]

mod common;

use std::borrow::Cow;
use std::cell::RefCell;
use std::env;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::print_call;
use common::process::{self, Fork, fork, this_test};
use common::scratch_dir::ScratchDir;
use cove_trace::{
    JsonlSink, RecordedValue, RecordingBackend, Replay, RingSink, RunOutcome, TraceEvent, TraceHeader, TraceReader,
    TraceSink, TraceValue, ValueCapture, ValueWriter, create_trace_file,
};

/// The environment variable with the kind of sink that a child process uses.
const SINK: &str = "COVE_TRACE_TEST_SINK";
/// The environment variable with the directory that a child process works in.
const DIRECTORY: &str = "COVE_TRACE_TEST_DIRECTORY";

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
}

/// The sinks that lose no event whose `record` returned.
const SINKS: &[&str] = &["file"];

fn open(sink: &str, path: &Path) -> Box<dyn TraceSink> {
    match sink {
        "file" => {
            let file = create_trace_file(path).expect("a new file");
            Box::new(JsonlSink::new(file, &header()).expect("the header gets out"))
        }
        _ => panic!("no sink is called {sink}"),
    }
}

/// Returns the ids of the `task_cancelled` events in a trace whose end may be torn.
fn ids(path: &Path) -> Vec<u64> {
    let mut trace = TraceReader::new(File::open(path).expect("it is there"));
    let mut ids = Vec::new();
    loop {
        match trace.next_event() {
            Ok(Some(TraceEvent::TaskCancelled { id })) => ids.push(id),
            Ok(Some(other)) => panic!("nobody recorded {other:?}"),
            Ok(None) => return ids,
            Err(error) => {
                let text = fs::read(path).expect("it is there");
                let whole_lines = text.iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(ids.len() + 1, whole_lines, "more than the end is torn: {error}");
                return ids;
            }
        }
    }
}

// Killed.

#[test]
#[ignore = "runs in processes of its own, started by the other tests"]
fn record_until_killed() {
    let (Ok(sink), Some(directory)) = (env::var(SINK), env::var_os(DIRECTORY)) else { return };
    let directory = Path::new(&directory);
    let sink = open(&sink, &directory.join("trace.jsonl"));
    let mut returned = File::create(directory.join("returned")).unwrap();
    // The deadline ends it if the test that would kill it is killed itself.
    let deadline = Instant::now() + Duration::from_secs(20);
    for id in 0.. {
        sink.record(&TraceEvent::TaskCancelled { id });
        returned.write_all(b".").unwrap();
        if Instant::now() > deadline {
            break;
        }
    }
}

#[test]
fn killed_at_random_points() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for sink in SINKS {
        let mut recorded = 0;
        for _ in 0..200 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let directory = ScratchDir::new("killed");
            let mut child = this_test("record_until_killed")
                .env(SINK, sink)
                .env(DIRECTORY, directory.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let returned = directory.path().join("returned");
            while fs::metadata(&returned).map_or(0, |file| file.len()) == 0 {
                assert!(child.try_wait().unwrap().is_none(), "it ended before it recorded");
                thread::sleep(Duration::from_micros(200));
            }
            thread::sleep(Duration::from_micros(random >> 52));
            child.kill().unwrap();
            child.wait().unwrap();

            let returned = fs::metadata(&returned).unwrap().len();
            let found = ids(&directory.path().join("trace.jsonl"));
            assert!(found.iter().copied().eq(0..found.len() as u64), "{sink}: {found:?}");
            let found = found.len() as u64;
            assert!((returned..=returned + 1).contains(&found), "{sink}: {found} of {returned} events are there");
            recorded += returned;
        }
        assert!(recorded > 1000, "{sink}: killed too soon, after {recorded} events in all");
    }
}

// Forked.

#[test]
fn children_forked_while_threads_record_leave_the_trace_alone() {
    const THREADS: u64 = 4;
    let directory = ScratchDir::new("forked");
    let path = directory.path().join("trace.jsonl");
    let sink = JsonlSink::new(create_trace_file(&path).unwrap(), &header()).unwrap();
    let is_over = AtomicBool::new(false);
    let counts: Vec<u64> = thread::scope(|scope| {
        let (sink, is_over) = (&sink, &is_over);
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    (0..)
                        .take_while(|event| {
                            sink.record(&TraceEvent::TaskCancelled { id: event * THREADS + thread });
                            !is_over.load(Ordering::Relaxed)
                        })
                        .count() as u64
                        + 1
                })
            })
            .collect();
        for _ in 0..100 {
            fork(|| {
                sink.record(&TraceEvent::TaskCancelled { id: u64::MAX });
                sink.flush();
                // The child's own sink works.
                let own = JsonlSink::new(Vec::new(), &header()).unwrap();
                own.record(&TraceEvent::TaskCancelled { id: 1 });
                // The event that the child recorded into its parent's sink.
                sink.dropped() == 1 && sink.last_error().is_none() && own.finish().writer.len() > 100
            })
            .assert_ends_well();
        }
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(sink.is_recording());
    assert_eq!(sink.finish().dropped, 0);
    let found = ids(&path);
    for (thread, count) in (0..THREADS).zip(counts) {
        let of_thread = found.iter().copied().filter(|id| id % THREADS == thread).map(|id| id / THREADS);
        assert!(of_thread.eq(0..count), "an event of thread {thread} is missing, out of order or twice there");
    }
}

/// Some of the children are forked while a thread holds the lock of the ring.
#[test]
fn children_forked_while_threads_record_into_a_ring_leave_it_alone() {
    const FORKS: u64 = 200;
    let ring = RingSink::new(64 * 1024, &header());
    let is_over = AtomicBool::new(false);
    let scope = "x".repeat(8 * 1024);
    thread::scope(|threads| {
        for id in 0..4 {
            let (ring, is_over, scope) = (&ring, &is_over, &scope);
            threads.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    ring.record(&TraceEvent::TaskSpawned { id, parent: None, scope });
                }
            });
        }
        for _ in 0..FORKS {
            fork(|| {
                ring.record(&TraceEvent::TaskCancelled { id: u64::MAX });
                let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let _dump = ring.dump_on_panic(|| Ok(std::io::sink()));
                    std::panic::resume_unwind(Box::new("the child's own"));
                }));
                let is_refused = ring.dump(&mut std::io::sink()).is_err();
                let counts_its_own = ring.overwritten() == 0 && ring.dropped() == 1 && ring.last_error().is_none();
                // The child's own ring works.
                let own = RingSink::new(1024, &header());
                own.record(&TraceEvent::TaskCancelled { id: 1 });
                let own = own.dump(&mut Vec::new()).is_ok();
                panicked.is_err() && is_refused && counts_its_own && own
            })
            .assert_ends_well();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(ring.is_recording());
    let mut dump = Vec::new();
    ring.dump(&mut dump).unwrap();
    assert!(!String::from_utf8(dump).unwrap().contains("task_cancelled"));
}

/// Only the parent writes the events in a buffer that the child inherits.
#[test]
fn a_sink_dropped_or_finished_in_a_forked_child_writes_nothing() {
    let directory = ScratchDir::new("dropped-in-child");
    let path = directory.path().join("trace.jsonl");
    for is_finished in [false, true] {
        let sink = JsonlSink::builder(&header()).buffer(64 * 1024).create(&path).unwrap();
        sink.record(&TraceEvent::TaskCancelled { id: 0 });
        let mut sink = Some(sink);
        fork(|| {
            let sink = sink.take().unwrap();
            if is_finished {
                assert_eq!(sink.finish().dropped, 0);
            } else {
                drop(sink);
            }
            true
        })
        .assert_ends_well();
        assert!(ids(&path).is_empty());
        sink.unwrap().record(&TraceEvent::TaskCancelled { id: 1 });
        assert_eq!(ids(&path), [0, 1]);
    }
}

/// A program that goes into the background by a fork, with a sink that it opened before: nothing is recorded, and the
/// program can tell.
#[test]
fn a_program_that_forks_after_opening_its_sink_is_told_what_it_lost() {
    let directory = ScratchDir::new("daemon");
    let path = directory.path().join("trace.jsonl");
    for buffer in [0, 64 * 1024] {
        let sink = JsonlSink::builder(&header()).buffer(buffer).create(&path).unwrap();
        fork(|| {
            for id in 0..10 {
                // As an interpreter does for each event.
                if sink.is_recording() {
                    sink.record(&TraceEvent::TaskCancelled { id });
                }
            }
            sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
            sink.flush();
            sink.dropped() == 11
        })
        .assert_ends_well();
        assert_eq!(sink.dropped(), 0);
        drop(sink);
        assert!(ids(&path).is_empty());
    }
}

/// What a log rotator's `copytruncate` does: the lines so far are copied, and the file is truncated under the sink.
#[test]
fn a_file_that_is_truncated_goes_on_without_a_hole() {
    let directory = ScratchDir::new("copytruncate");
    let path = directory.path().join("trace.jsonl");
    let copied = directory.path().join("trace.jsonl.1");
    let truncate = || {
        fs::copy(&path, &copied).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    };
    for is_created_first in [true, false] {
        let sink = if is_created_first {
            JsonlSink::new(create_trace_file(&path).unwrap(), &header()).unwrap()
        } else {
            JsonlSink::builder(&header()).create(&path).unwrap()
        };
        (0..5).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
        truncate();
        (5..9).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
        assert_eq!(sink.finish().dropped, 0);
        assert_eq!(ids(&copied), [0, 1, 2, 3, 4]);
        let rest = fs::read_to_string(&path).unwrap();
        let expected: String = (5..9).map(|id| format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n")).collect();
        assert_eq!(rest, expected);
    }
}

/// A check of a live run has locks, too.
#[test]
fn a_live_check_ignores_what_a_forked_child_records() {
    let sink = JsonlSink::new(Vec::new(), &header()).unwrap();
    sink.record(&print_call(&[], None));
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
    let trace = sink.finish().writer;
    let check = Replay::check_only(&trace[..]).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                check.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
            }
        });
        for _ in 0..50 {
            fork(|| {
                check.record(&print_call(&[], None));
                check.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
                true
            })
            .assert_ends_well();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(check.finish().calls_used, 0);
}

#[test]
fn not_even_the_writers_own_buffer_is_written_by_a_forked_child() {
    /// Flushes only when it is dropped.
    struct Late(BufWriter<File>);
    impl Write for Late {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let directory = ScratchDir::new("late");
    let path = directory.path().join("trace.jsonl");
    let sink = JsonlSink::new(Late(BufWriter::new(create_trace_file(&path).unwrap())), &header()).unwrap();
    sink.record(&TraceEvent::TaskCancelled { id: 0 });
    let mut sink = Some(sink);
    fork(|| {
        drop(sink.take());
        true
    })
    .assert_ends_well();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    drop(sink);
    assert_eq!(ids(&path), [0]);
}

/// The value's own code forks, so the child returns into the middle of `record`.
#[test]
fn a_child_forked_by_a_value_does_not_write_the_line() {
    struct Forks(RefCell<Option<Fork>>);
    impl TraceValue for Forks {
        fn type_name(&self) -> Cow<'_, str> {
            "Forks".into()
        }
        fn write(&self, out: ValueWriter<'_>) {
            self.0.replace(process::split());
            out.unit();
        }
    }
    let directory = ScratchDir::new("forking-value");
    let path = directory.path().join("trace.jsonl");
    let sink = JsonlSink::new(create_trace_file(&path).unwrap(), &header()).unwrap();
    let value = Forks(RefCell::default());
    sink.record(&print_call(&[RecordedValue::Live(&value)], None));
    value.0.take().unwrap_or_else(|| process::end(sink.dropped() == 1)).assert_ends_well();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
}

// A full file system.

/// The size in bytes of the small file system.
const ROOM: usize = 1 << 20;

/// Records more into `writer` than there is room for, from four threads, calls `make_room` and records on. Asserts that
/// the number of dropped events is exact and that each fragment is alone on its line. Returns the number of fragments.
fn record_until_full_and_on<W: Write + Send>(
    writer: W,
    make_room: impl FnOnce(),
    read: impl FnOnce() -> String,
) -> u64 {
    const THREADS: u64 = 4;
    const EVENTS: u64 = 5_000;
    let sink = JsonlSink::new(writer, &header()).expect("there is room for a header");
    let scope = "x".repeat(300);
    let record = |id| sink.record(&TraceEvent::TaskSpawned { id, parent: None, scope: &scope });
    let whole = |id: u64| format!(r#"{{"event":"task_spawned","id":{id},"parent":null,"scope":"{scope}"}}"#);
    thread::scope(|threads| {
        for thread in 0..THREADS {
            threads.spawn(move || (0..EVENTS).for_each(|event| record(thread * EVENTS + event)));
        }
    });
    let lost = sink.dropped();
    assert!(lost > THREADS * EVENTS / 2, "only {lost} lost");
    assert_eq!(sink.last_error().map(|error| error.kind()), Some(ErrorKind::StorageFull));
    make_room();
    // After a second the next event is an attempt.
    thread::sleep(Duration::from_millis(1_010));
    (THREADS * EVENTS..THREADS * EVENTS + 10).for_each(record);
    let finished = sink.finish();
    assert_eq!(finished.dropped, lost, "nothing is lost when there is room");

    let file = read();
    assert!(file.ends_with('\n'));
    let mut found = Vec::new();
    let mut fragments = 0;
    for line in file.lines().skip(1) {
        let id = line.split(['"', ':', ',']).find_map(|part| part.parse::<u64>().ok());
        match id.filter(|id| whole(*id) == line) {
            Some(id) => found.push(id),
            None => {
                assert!(!line[1..].contains(r#"{"event""#), "a fragment does not stand alone: {line}");
                fragments += 1;
            }
        }
    }
    assert!(fragments <= lost, "{fragments} fragments of {lost} events");
    assert!(found.ends_with(&(THREADS * EVENTS..THREADS * EVENTS + 10).collect::<Vec<_>>()));
    assert_eq!(found.len() as u64 + lost, THREADS * EVENTS + 10, "the count of what is lost is exact");
    for thread in 0..THREADS {
        let of_thread = found.iter().filter(|id| **id / EVENTS == thread);
        assert!(of_thread.is_sorted(), "events of thread {thread} out of order");
    }
    fragments
}

#[test]
#[ignore = "runs in a process of its own, in a file system of its own"]
fn record_into_a_full_file_system() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let path = Path::new(&directory).join("trace.jsonl");
    let ballast = Path::new(&directory).join("ballast");
    fs::write(&ballast, vec![0; ROOM / 2]).unwrap();
    let file = create_trace_file(&path).unwrap();
    record_until_full_and_on(file, || fs::remove_file(ballast).unwrap(), || fs::read_to_string(&path).unwrap());
    writeln!(std::io::stdout(), "{HELD}").unwrap();
}

/// A model of a full file system, for machines where none can be mounted: a write takes what there is room for, and the
/// next one fails. After each failure a few bytes become free, so that there is more than one fragment.
#[test]
fn a_writer_that_is_full_for_a_while_as_threads_record() {
    #[derive(Clone)]
    struct Full(Arc<Mutex<Disk>>);
    struct Disk {
        file: Vec<u8>,
        room: usize,
        refused: usize,
    }
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let disk = &mut *self.0.lock().unwrap();
            let taken = bytes.len().min(disk.room);
            if taken == 0 {
                disk.refused += 1;
                disk.room = disk.refused * 31 % 250;
                return Err(ErrorKind::StorageFull.into());
            }
            disk.room -= taken;
            disk.file.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let disk = Arc::new(Mutex::new(Disk { file: Vec::new(), room: ROOM / 2, refused: 0 }));
    let fragments = record_until_full_and_on(
        Full(Arc::clone(&disk)),
        || disk.lock().unwrap().room = usize::MAX,
        || String::from_utf8(disk.lock().unwrap().file.clone()).unwrap(),
    );
    assert!(fragments > 8, "only {fragments} fragments");
}

/// Printed by a child process that found everything correct.
const HELD: &str = "all as it should be";

/// Runs a command in a mount namespace with a small file system at `directory`.
fn in_a_small_file_system(directory: &Path, command: &Command) -> Command {
    let mut unshare = Command::new("unshare");
    let script = r#"mount -t tmpfs -o size="$0" cove-trace-test "$1" && shift && exec "$@""#;
    unshare.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(ROOM.to_string()).arg(directory);
    unshare.arg(command.get_program()).args(command.get_args()).env(DIRECTORY, directory);
    unshare
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_file_system_while_threads_record() {
    let directory = ScratchDir::new("full");
    let mut probe = in_a_small_file_system(directory.path(), &Command::new("true"));
    if !probe.output().is_ok_and(|output| output.status.success()) {
        writeln!(std::io::stderr(), "SKIPPED: no mount namespace to be had").unwrap();
        return;
    }
    let test = this_test("record_into_a_full_file_system");
    assert_held(&mut in_a_small_file_system(directory.path(), &test));
}

/// The names in a directory, in order.
#[cfg(target_os = "linux")]
fn names(directory: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(directory).expect("it is there");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    names
}

#[test]
#[ignore = "runs in a process of its own, in a file system of its own"]
#[cfg(target_os = "linux")]
fn create_where_it_cannot_be_done() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let (path, ballast) = (directory.join("trace.jsonl"), directory.join("ballast"));
    fs::write(&path, "old").unwrap();

    assert!(fs::write(&ballast, vec![0; 2 * ROOM]).is_err());
    let error = JsonlSink::builder(&header()).create(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert_eq!(names(directory), ["ballast", "trace.jsonl"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    fs::remove_file(&ballast).unwrap();

    // Containers mount a single file like this.
    let mounted = directory.join("mounted.jsonl");
    fs::write(&mounted, "").unwrap();
    assert!(Command::new("mount").arg("--bind").args([&path, &mounted]).status().unwrap().success());
    for error in [create_trace_file(&mounted).unwrap_err(), JsonlSink::builder(&header()).create(&mounted).unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        let text = error.to_string();
        assert!(text.contains(mounted.to_str().unwrap()) && text.contains("mount its directory instead"), "{text}");
        assert_eq!(names(directory), ["mounted.jsonl", "trace.jsonl"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
    writeln!(std::io::stdout(), "{HELD}").unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_creation_that_fails_costs_nothing() {
    let directory = ScratchDir::new("cannot-create");
    let mut probe = in_a_small_file_system(directory.path(), &Command::new("true"));
    if !probe.output().is_ok_and(|output| output.status.success()) {
        writeln!(std::io::stderr(), "SKIPPED: no mount namespace to be had").unwrap();
        return;
    }
    assert_held(&mut in_a_small_file_system(directory.path(), &this_test("create_where_it_cannot_be_done")));
}

#[track_caller]
fn assert_held(command: &mut Command) {
    let output = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(HELD), "{} {said}", output.status);
}

// A limit on the size of files.

const LIMIT: usize = 10_000;

/// A write beyond the limit would end this process by a signal.
fn limit_files_to(bytes: usize) {
    let limit = libc::rlimit { rlim_cur: bytes as libc::rlim_t, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a whole `rlimit`.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

#[test]
#[ignore = "runs in a process of its own, whose files are limited"]
fn record_up_to_the_limit_of_files() {
    const EVENTS: u64 = 1_000;
    const RUN_ENDED: TraceEvent<'_> = TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None };
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let path = directory.join("trace.jsonl");
    limit_files_to(LIMIT);
    let header = header();
    let builder = || JsonlSink::builder(&header);

    let check = |sink: JsonlSink<File>, before: usize| {
        (0..EVENTS).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
        let dropped = sink.dropped();
        // Longer than the rest of the limit.
        sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some(&"x".repeat(100)) });
        let finished = sink.finish();
        assert_eq!(finished.dropped, dropped + 1);
        let error = finished.last_error.unwrap();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("ulimit -f"), "{error}");
        let text = fs::read(&path).unwrap();
        assert!(text.len() > LIMIT - 50 && text.len() <= LIMIT, "{} bytes", text.len());
        let lines = text[before..].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines - 1 + dropped, EVENTS);
    };
    check(builder().create(&path).unwrap(), 0);
    check(builder().buffer(1_000).create(&path).unwrap(), 0);
    check(builder().byte_limit(LIMIT as u64 + 1).create(&path).unwrap(), 0);
    check(builder().open_file(File::create(&path).unwrap()).unwrap(), 0);
    // The bytes before the end or the position count.
    fs::write(&path, [b'.'; 5_000]).unwrap();
    check(builder().open_file(File::options().append(true).open(&path).unwrap()).unwrap(), 5_000);
    let mut file = File::create(&path).unwrap();
    file.seek(SeekFrom::Start(5_000)).unwrap();
    check(builder().open_file(file).unwrap(), 5_000);

    // A smaller limit of the sink's own leaves room for the events that close a run.
    let sink = builder().byte_limit(LIMIT as u64 - 100).create(&path).unwrap();
    (0..EVENTS).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    let dropped = sink.dropped();
    sink.record(&RUN_ENDED);
    assert_eq!(sink.finish().dropped, dropped);
    assert!(fs::read_to_string(&path).unwrap().ends_with("\"message\":null}\n"));

    // Other kinds of files have no such limit.
    builder().open_file(File::options().write(true).open("/dev/null").unwrap()).unwrap();

    fs::write(&path, "old").unwrap();
    limit_files_to(50);
    let error = builder().create(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
    writeln!(std::io::stdout(), "{HELD}").unwrap();
}

#[test]
fn the_limit_of_files_costs_events_and_is_no_signal() {
    let directory = ScratchDir::new("limited");
    assert_held(this_test("record_up_to_the_limit_of_files").env(DIRECTORY, directory.path()));
}

// Complaints.

#[test]
#[ignore = "runs in a process of its own, whose standard error is looked at"]
fn record_what_is_lost() {
    /// Takes the header and nothing more.
    struct Refuses(bool);
    impl Write for Refuses {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if std::mem::replace(&mut self.0, true) { Err(ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    if env::var_os(SINK).is_none() {
        return;
    }
    for buffer in [0, 64] {
        let sink = JsonlSink::builder(&header()).buffer(buffer).open(Refuses(false)).unwrap();
        (0..3).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
        assert_eq!(sink.finish().dropped, 3);
    }
    writeln!(std::io::stdout(), "{HELD}").unwrap();
}

#[test]
fn a_sink_that_fails_says_nothing_and_needs_nobody_to_say_it_to() {
    let test = this_test("record_what_is_lost");
    for standard_error in ["2>&2", "2>&-"] {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!(r#"exec "$0" "$@" {standard_error}"#)])
            .arg(test.get_program())
            .args(test.get_args());
        let output = shell.env(SINK, "refusing").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(HELD), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}
