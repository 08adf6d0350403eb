//! `MappedFile` keeps all written bytes, whatever happens to the process and the disk, and has its exact length once it
//! is closed.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "forks, mounts, limits and signals")]

mod common;

use std::collections::BTreeSet;
use std::env;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use common::scratch_dir::ScratchDir;
use cove_trace::{
    HeapSummary, JsonlSink, MappedFile, ReadError, ReadErrorKind, RecordingBackend, RunOutcome, TraceEvent,
    TraceHeader, TracePart, TraceReader, TraceSink, ValueCapture, create_trace_file,
};

const MEGABYTE: usize = 1024 * 1024;

/// The environment variable with the task of a child process.
const ROLE: &str = "COVE_TRACE_TEST_ROLE";
/// The environment variable with the path that a child process works on.
const PLACE: &str = "COVE_TRACE_TEST_PLACE";
/// Printed by a child process that did its task.
const DONE: &str = "done";
/// Printed by a child process that this machine did not let do its task.
const NOT_ALLOWED: &str = "not allowed";

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove")
}

fn mapped(path: &Path) -> JsonlSink<MappedFile> {
    let file = MappedFile::create(path).expect("a file");
    assert!(file.is_mapped(), "the directory for tests is on a file system that can set blocks aside");
    JsonlSink::new(file, &header()).expect("a sink")
}

/// Reads a trace and returns the ids of its events, and its faults.
fn read(path: &Path) -> (Vec<u64>, Vec<ReadError>) {
    let (mut ids, mut faults) = (Vec::new(), Vec::new());
    let file = File::open(path).expect("the trace can be opened");
    let Ok(()) = TraceReader::new(file).walk(|part| {
        match part {
            TracePart::Header { .. } => {}
            TracePart::Event { event: TraceEvent::TaskSpawned { id, .. }, .. } => ids.push(id),
            TracePart::Event {
                event: TraceEvent::EntryExit { .. } | TraceEvent::HeapSummary(_) | TraceEvent::RunEnded { .. },
                ..
            } => {}
            TracePart::Event { event, .. } => panic!("nobody recorded {event:?}"),
            TracePart::Fault(error) => faults.push(error),
        }
        Ok::<_, std::convert::Infallible>(())
    });
    (ids, faults)
}

/// An event whose length depends on its id: mostly short, and tens of kilobytes for every 64th id.
fn event(id: u64) -> TraceEvent<'static> {
    static TEXT: [u8; 64 * 1024] = [b'x'; 64 * 1024];
    let len = if id % 64 == 63 { id * 7_919 % (64 * 1024) } else { id * 31 % 600 };
    let text = std::str::from_utf8(&TEXT[..usize::try_from(len).expect("it is small")]).expect("ASCII");
    TraceEvent::TaskSpawned { id, parent: None, scope: text }
}

#[test]
fn every_byte_is_in_the_file_at_once_and_nothing_else_once_it_is_closed() {
    let directory = ScratchDir::new("mapped-bytes");
    let path = directory.path().join("trace.jsonl");
    let mut file = MappedFile::create(&path).unwrap();
    let mut expected = Vec::new();
    let around_a_window = [MEGABYTE - 1, MEGABYTE, MEGABYTE + 1];
    for (number, len) in [0, 1, 2, 300, 70_000, 3 * MEGABYTE].into_iter().chain(around_a_window).enumerate() {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 31 + number + 1) as u8).collect();
        file.write_all(&bytes).unwrap();
        file.flush().unwrap();
        expected.extend_from_slice(&bytes);
        let seen = fs::read(&path).unwrap();
        assert!(seen[..expected.len()] == expected[..], "after {len} bytes");
        assert!(seen[expected.len()..].iter().all(|byte| *byte == 0), "after {len} bytes");
        assert!(seen.len() - expected.len() <= 4 * MEGABYTE);
    }
    file.close().unwrap();
    assert!(fs::read(&path).unwrap() == expected);
}

#[test]
fn it_says_whether_it_is_mapped() {
    let directory = ScratchDir::new("mapped-debug");
    let file = MappedFile::create(directory.path().join("trace.jsonl")).unwrap();
    let debug = format!("{file:?}");
    assert!(debug.starts_with("MappedFile { file: ") && debug.ends_with("is_mapped: true }"), "{debug}");
}

#[test]
fn nothing_written_is_an_empty_file() {
    let directory = ScratchDir::new("mapped-empty");
    let path = directory.path().join("trace.jsonl");
    MappedFile::create(&path).unwrap().close().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_dropped_sink_leaves_the_same_file_as_one_over_a_plain_file() {
    let directory = ScratchDir::new("mapped-same");
    let (mapped_path, plain_path) = (directory.path().join("mapped.jsonl"), directory.path().join("plain.jsonl"));
    let both = (mapped(&mapped_path), JsonlSink::new(create_trace_file(&plain_path).unwrap(), &header()).unwrap());
    for id in 0..5_000 {
        both.0.record(&event(id));
        both.1.record(&event(id));
    }
    assert_eq!((both.0.dropped(), both.1.dropped()), (0, 0));
    drop(both);
    assert!(fs::read(&mapped_path).unwrap() == fs::read(&plain_path).unwrap());
}

#[test]
fn threads_write_whole_lines() {
    let directory = ScratchDir::new("mapped-threads");
    let path = directory.path().join("trace.jsonl");
    let sink = mapped(&path);
    thread::scope(|scope| {
        for thread in 0..8 {
            let sink = &sink;
            scope.spawn(move || (0..1_000).for_each(|number| sink.record(&event(number * 8 + thread))));
        }
    });
    assert_eq!(sink.finish().dropped, 0);
    let (ids, faults) = read(&path);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(ids.len(), 8_000);
    assert_eq!(BTreeSet::from_iter(ids), BTreeSet::from_iter(0..8_000));
}

#[test]
fn recording_allocates_nothing() {
    let directory = ScratchDir::new("mapped-allocations");
    let sink = mapped(&directory.path().join("trace.jsonl"));
    let record = || (0..1_000).for_each(|id| sink.record(&TraceEvent::TaskCancelled { id }));
    record();
    assert_eq!(measure(record).count_total, 0);
}

#[test]
fn it_is_created_by_the_rules_of_trace_files() {
    let directory = ScratchDir::new("mapped-rules");
    let path = directory.path().join("trace.jsonl");
    fs::write(&path, "an old trace").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let mut old = File::open(&path).unwrap();
    let file = MappedFile::create(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    drop(file);
    let mut text = String::new();
    old.read_to_string(&mut text).unwrap();
    assert_eq!(text, "an old trace");

    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(MappedFile::create(&link).unwrap_err().kind(), ErrorKind::InvalidInput);
    let missing = directory.path().join("missing/trace.jsonl");
    assert_eq!(MappedFile::create(missing).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_second_run_on_the_same_path_leaves_the_first_one_its_file() {
    let directory = ScratchDir::new("mapped-two-runs");
    let path = directory.path().join("trace.jsonl");
    let kept = directory.path().join("kept.jsonl");
    let first = mapped(&path);
    fs::hard_link(&path, &kept).unwrap();
    (0..3_000).for_each(|id| first.record(&event(id)));
    let second = mapped(&path);
    for id in 3_000..6_000 {
        second.record(&event(id));
        first.record(&event(id));
    }
    assert_eq!(second.finish().dropped, 0);
    (6_000..9_000).for_each(|id| first.record(&event(id)));
    assert_eq!(first.finish().dropped, 0);
    for (path, expected) in [(kept, 0..9_000), (path, 3_000..6_000)] {
        let (ids, faults) = read(&path);
        assert!(faults.is_empty(), "{faults:?}");
        assert!(ids == Vec::from_iter(expected));
    }
}

#[test]
#[ignore = "runs in processes of its own, started by the other tests"]
fn in_a_process_of_its_own() {
    let (Ok(role), Some(place)) = (env::var(ROLE), env::var_os(PLACE)) else { return };
    let place = Path::new(&place);
    let allowed = match role.as_str() {
        "record into a map" => record_until_killed(&mapped(place)),
        "record into a file" => {
            record_until_killed(&JsonlSink::new(create_trace_file(place).unwrap(), &header()).unwrap())
        }
        "small disk" => on_a_small_disk(place),
        "small limit" => under_a_small_limit(place),
        "signal" => {
            wait_for_a_signal(place);
            true
        }
        "fork" => {
            fork_while_threads_write(place);
            true
        }
        "overlay on ext4" => {
            on_an_overlay(place, true);
            true
        }
        "other overlay" => {
            on_an_overlay(place, false);
            true
        }
        "copy on write" => {
            on_a_disk_that_copies_on_write(place);
            true
        }
        role => panic!("no such role: {role}"),
    };
    say(if allowed { DONE } else { NOT_ALLOWED });
}

/// Writes a line to standard output with one system call.
fn say(line: impl std::fmt::Display) {
    io::stdout().lock().write_all(format!("@{line}\n").as_bytes()).expect("somebody listens");
}

fn start(role: &str, place: &Path) -> Child {
    start_by(Command::new(env::current_exe().expect("this test has a path")), role, place)
}

/// `command` is this test, or runs the command that its arguments are.
fn start_by(mut command: Command, role: &str, place: &Path) -> Child {
    command
        .args(["--exact", "in_a_process_of_its_own", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test can be run")
}

/// Asserts that a child process does its task, or that this machine does not let it.
#[track_caller]
fn assert_done(role: &str, place: &Path) {
    assert_ended(role, start(role, place));
}

#[track_caller]
fn assert_ended(role: &str, process: Child) {
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}", output.status);
    let said = |end: &str| said.contains(&format!("@{end}\n"));
    if said(NOT_ALLOWED) {
        skipped(&format!("{role}: this machine does not let it"));
    } else {
        assert!(said(DONE), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

fn skipped(why: &str) {
    io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).expect("standard error is there");
}

/// Records events, and prints a line after each.
fn record_until_killed(sink: &dyn TraceSink) -> ! {
    for id in 0.. {
        sink.record(&event(id));
        say(id);
    }
    unreachable!("it is killed before")
}

/// Kills recording processes at two hundred points, and asserts that every event whose `record` returned can be read.
fn assert_killed_processes_lose_nothing(role: &str) {
    let directory = ScratchDir::new(role);
    let path = directory.path().join("trace.jsonl");
    let mut torn = 0;
    for round in 0..200_usize {
        let mut child = start(role, &path);
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        // Up to three thousand events, a few megabytes.
        let listen_to = round * 7_919 % 3_000 + 1;
        let mut said = String::new();
        for _ in 0..listen_to {
            assert!(output.read_line(&mut said).expect("text") > 0, "it ended before it was killed: {said}");
        }
        child.kill().expect("it is killed");
        output.read_to_string(&mut said).expect("text");
        child.wait().expect("it is gone");

        let returned = said.lines().filter_map(|line| line.strip_prefix('@')).count();
        let (ids, faults) = read_killed(&path);
        assert!(ids.iter().copied().eq(0..ids.len() as u64), "round {round}: a gap");
        assert!(
            (returned..=returned + 1).contains(&ids.len()),
            "round {round}: {returned} returned, {} there",
            ids.len()
        );
        match &faults[..] {
            [] => {}
            [fault] if matches!(fault.kind(), ReadErrorKind::Truncated { .. }) => torn += 1,
            faults => panic!("round {round}: {faults:?}"),
        }
    }
    if role == "record into a map" {
        assert!(torn > 150, "zeros follow the last line of a process that was killed");
    }
}

/// As [`read`], but the file may not exist yet.
fn read_killed(path: &Path) -> (Vec<u64>, Vec<ReadError>) {
    if path.exists() { read(path) } else { (Vec::new(), Vec::new()) }
}

#[test]
fn killed_while_recording_into_a_map() {
    assert_killed_processes_lose_nothing("record into a map");
}

#[test]
fn killed_while_recording_into_a_file() {
    assert_killed_processes_lose_nothing("record into a file");
}

#[test]
fn a_full_disk_costs_the_events_that_it_has_no_room_for_and_nothing_else() {
    assert_done("small disk", ScratchDir::new("mapped-small-disk").path());
}

#[test]
fn a_limit_on_the_size_of_files_costs_events_and_is_no_signal() {
    assert_done("small limit", ScratchDir::new("mapped-small-limit").path());
}

/// Fills a disk of four megabytes, half of which another file uses until it is removed.
fn on_a_small_disk(place: &Path) -> bool {
    let place = CString::new(place.to_str().expect("a Unicode path")).expect("no zero");
    // SAFETY: system calls with strings that end in zeros and live long enough. Only this thread and those that it
    // starts see the mounts.
    let mounted = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                c"none".as_ptr(),
                c"/".as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0
            && libc::mount(c"none".as_ptr(), place.as_ptr(), c"tmpfs".as_ptr(), 0, c"size=4m".as_ptr().cast()) == 0
    };
    if !mounted {
        return false;
    }
    let place = Path::new(place.to_str().expect("a Unicode path"));
    let ballast = place.join("ballast");
    assert!(fs::write(&ballast, vec![1; 5 * MEGABYTE]).is_err());
    let path = place.join("trace.jsonl");
    fs::write(&path, "").expect("an empty file needs no room");
    for error in [
        MappedFile::create(&path).expect_err("not even the first window has room"),
        JsonlSink::builder(&header()).create_mapped(&path).expect_err("not even the first window has room"),
    ] {
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(error.to_string().contains(path.to_str().expect("a Unicode path")), "{error}");
        assert_eq!(fs::read_dir(place).expect("it is there").count(), 2, "the old file and the ballast");
    }
    fs::write(&ballast, vec![1; 2 * MEGABYTE]).expect("there is room");
    let error =
        fill_and_go_on(&place.join("trace.jsonl"), 2 * MEGABYTE, || fs::remove_file(&ballast).expect("it is there"));
    assert_eq!(error, ErrorKind::StorageFull);
    true
}

/// A page that was written back needs another block there when it is stored to again, and a full disk would raise a
/// signal.
#[test]
fn a_file_system_that_copies_on_write_is_not_mapped() {
    const ROLE: &str = "copy on write";
    // Mounts such a disk in a mount namespace of its own, and runs the rest of its arguments there.
    const SCRIPT: &str = r#"
        mkfs.btrfs -q "$1/disk" && mkdir "$1/mounted" && mount -o loop "$1/disk" "$1/mounted" || { echo "@$2"; exit; }
        shift 2
        "$@"
    "#;
    if !Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
        return skipped("copy on write: no mount namespace to be had");
    }
    let directory = ScratchDir::new("mapped-copy-on-write");
    let place = directory.path();
    File::create(place.join("disk")).unwrap().set_len(128 * MEGABYTE as u64).unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(place).arg(NOT_ALLOWED).arg(env::current_exe().unwrap());
    assert_ended(ROLE, start_by(unshare, ROLE, &place.join("mounted")));
}

/// Most containers have an overlay. It says nothing of what is below it, so only a flag of ext4 proves that reserved
/// blocks stay reserved.
#[test]
fn an_overlay_is_mapped_only_over_ext4() {
    const SCRIPT: &str = r#"
        mkdir -p "$1" && cd "$1" && { [ "$2" = disk ] || mount -t tmpfs below "$1" && cd "$1" ; } &&
            mkdir lower upper work mounted &&
            mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work mounted || { echo "@$3"; exit; }
        export "$4=$PWD/mounted"
        shift 4
        "$@"
    "#;
    if !Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
        return skipped("overlay: no mount namespace to be had");
    }
    let directory = ScratchDir::new("mapped-overlay");
    let kind = Command::new("stat").args(["-f", "-c", "%t"]).arg(directory.path()).output().expect("stat runs");
    let is_ext4 = kind.stdout.starts_with(b"ef53");
    for (below, role) in
        [("disk", if is_ext4 { "overlay on ext4" } else { "other overlay" }), ("tmpfs", "other overlay")]
    {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(directory.path().join(below)).args([
            below,
            NOT_ALLOWED,
            PLACE,
        ]);
        unshare.arg(env::current_exe().unwrap());
        assert_ended(role, start_by(unshare, role, directory.path()));
    }
}

fn on_an_overlay(place: &Path, is_mapped: bool) {
    let path = place.join("trace.jsonl");
    let file = MappedFile::create(&path).expect("a file");
    assert_eq!(file.is_mapped(), is_mapped);
    let sink = JsonlSink::new(file, &header()).expect("a sink");
    (0..1_000).for_each(|id| sink.record(&event(id)));
    sink.finish().writer.close().expect("it can be cut");
    let (ids, faults) = read(&path);
    assert!(faults.is_empty(), "{faults:?}");
    assert!(ids.into_iter().eq(0..1_000));
}

fn on_a_disk_that_copies_on_write(place: &Path) {
    let path = place.join("trace.jsonl");
    let file = MappedFile::create(&path).expect("a file");
    assert!(!file.is_mapped());
    let sink = JsonlSink::new(file, &header()).expect("a sink");
    (0..1_000).for_each(|id| sink.record(&event(id)));
    // A plain file has no zeros after its last line at any time.
    let (ids, faults) = read(&path);
    assert!(faults.is_empty(), "{faults:?}");
    assert!(ids.into_iter().eq(0..1_000));
    sink.finish().writer.close().expect("nothing is cut");
}

fn under_a_small_limit(place: &Path) -> bool {
    const LIMIT: usize = 2 * MEGABYTE + 400_000;
    let set = |bytes: usize| {
        let limit = libc::rlimit { rlim_cur: bytes as libc::rlim_t, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the pointer is to a whole `rlimit`.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) == 0 }
    };
    if !set(LIMIT) {
        return false;
    }
    let error = fill_and_go_on(&place.join("trace.jsonl"), LIMIT, || assert!(set(64 * MEGABYTE)));
    assert_eq!(error, ErrorKind::FileTooLarge);
    true
}

/// Records more than there is room for, from four threads, calls `make_room` and records on. Returns the error of the
/// full disk. Asserts that `room` bytes are used but for less than the smallest window and the next line.
fn fill_and_go_on(path: &Path, room: usize, make_room: impl FnOnce()) -> ErrorKind {
    const LEFT_OVER: usize = 3 * 64 * 1024;
    const MANY: u64 = 1_500;
    const FEW: u64 = 50;
    let sink = mapped(path);
    let record = |from: u64, each: u64| {
        thread::scope(|scope| {
            for thread in 0..4 {
                let sink = &sink;
                scope.spawn(move || (0..each).for_each(|number| sink.record(&event(from + number * 4 + thread))));
            }
        });
    };
    record(0, MANY);
    let dropped = sink.dropped();
    assert!(dropped > 0 && dropped < 4 * MANY, "{dropped} dropped");
    let error = sink.last_error().expect("an error").kind();
    let bytes = fs::read(path).expect("it is there");
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    assert!(used + LEFT_OVER > room, "{used} bytes of {room} used");
    assert_attempts_are_few(&sink);
    let dropped = sink.dropped();
    // Room is set aside for the events that close a run.
    let (module, function, cpu, wait) = ("main", "main", Duration::ZERO, Duration::ZERO);
    sink.record(&TraceEvent::EntryExit { module, function, cpu, wait });
    sink.record(&TraceEvent::HeapSummary(HeapSummary::default()));
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: Some("on a full disk") });
    assert_eq!(sink.dropped(), dropped);
    let bytes = fs::read(path).expect("it is there");
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    assert!(bytes[..end].ends_with(b"\"run_ended\",\"outcome\":\"success\",\"message\":\"on a full disk\"}\n"));
    make_room();
    // After a second the next event is an attempt.
    thread::sleep(Duration::from_millis(1_010));
    record(4 * MANY, FEW);
    assert_eq!(sink.dropped(), dropped, "there was room: {:?}", sink.last_error());
    sink.finish().writer.close().expect("it can be cut");

    let (ids, faults) = read(path);
    // Lines that did not fit leave no fragments.
    assert!(faults.is_empty(), "{faults:?}");
    let (early, late): (Vec<u64>, Vec<u64>) = ids.iter().partition(|id| **id < 4 * MANY);
    assert_eq!(early.len() as u64 + dropped, 4 * MANY + TOO_LONG);
    assert_eq!(BTreeSet::from_iter(early).len() as u64 + dropped, 4 * MANY + TOO_LONG);
    assert_eq!(BTreeSet::from_iter(late), BTreeSet::from_iter(4 * MANY..4 * (MANY + FEW)));
    error
}

/// How many events [`assert_attempts_are_few`] loses.
const TOO_LONG: u64 = 100_000;

/// Each attempt to get more room wakes the thread of the mapped file.
fn assert_attempts_are_few(sink: &dyn TraceSink) {
    let text = "x".repeat(4 * MEGABYTE);
    let start = Instant::now();
    let before = times_woken("cove-trace-map");
    (0..TOO_LONG).for_each(|_| sink.record(&TraceEvent::TaskSpawned { id: 0, parent: None, scope: &text }));
    let woken = times_woken("cove-trace-map") - before;
    // One for each power of two, and one per second. Some wake it twice.
    assert!(woken <= 2 * (18 + start.elapsed().as_secs()), "woken {woken} times");
}

/// How often a thread of this process has waited.
fn times_woken(name: &str) -> u64 {
    let tasks = fs::read_dir("/proc/self/task").expect("it is there").map(|task| task.expect("an entry").path());
    let is_it = |task: &PathBuf| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name);
    let task = tasks.into_iter().find(is_it).expect("the thread runs");
    let status = fs::read_to_string(task.join("status")).expect("it is there");
    let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    waits.expect("Linux counts them").trim().parse().expect("a number")
}

/// A program that waits for a signal blocks it on its threads, so the thread of the sink must not take it.
#[test]
fn a_signal_that_the_program_waits_for_is_not_taken_by_the_thread() {
    let directory = ScratchDir::new("mapped-signal");
    let mut command = Command::new(env::current_exe().expect("this test has a path"));
    // The main thread of the tests starts with the signal blocked.
    // SAFETY: the call is async-signal-safe.
    unsafe { command.pre_exec(|| change_mask(libc::SIG_BLOCK)) };
    assert_ended("signal", start_by(command, "signal", &directory.path().join("trace.jsonl")));
}

/// A set that holds SIGTERM alone.
fn only_sigterm() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills the set in, and the second changes it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        set.assume_init()
    }
}

/// Blocks SIGTERM on this thread, or unblocks it.
fn change_mask(how: libc::c_int) -> io::Result<()> {
    // SAFETY: the pointer is to a whole set, and the old one is not asked for.
    match unsafe { libc::pthread_sigmask(how, &only_sigterm(), std::ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn wait_for_a_signal(place: &Path) {
    change_mask(libc::SIG_UNBLOCK).expect("it is unblocked");
    let sink = mapped(place);
    change_mask(libc::SIG_BLOCK).expect("it is blocked");
    (0..3_000).for_each(|id| sink.record(&event(id)));
    let limit = libc::timespec { tv_sec: 20, tv_nsec: 0 };
    // SAFETY: the pointers are to a whole set and a whole time; what the signal says is not asked for.
    let signal = unsafe {
        assert_eq!(libc::kill(libc::getpid(), libc::SIGTERM), 0);
        libc::sigtimedwait(&only_sigterm(), std::ptr::null_mut(), &raw const limit)
    };
    assert_eq!(signal, libc::SIGTERM);
    assert_eq!(sink.finish().dropped, 0);
    // Creating the sink changed nothing about this thread.
    let mut mask = MaybeUninit::uninit();
    // SAFETY: the call fills the set in, which is read then.
    let blocks = unsafe {
        assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr()), 0);
        [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1].map(|signal| libc::sigismember(mask.as_ptr(), signal))
    };
    assert_eq!(blocks, [1, 0, 0]);
}

#[test]
fn a_sink_creates_a_mapped_file_with_the_header_in_it() {
    let directory = ScratchDir::new("mapped-sink");
    let path = directory.path().join("trace.jsonl");
    fs::write(&path, "the old trace").unwrap();
    let sink = JsonlSink::builder(&header()).create_mapped(&path).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("{\"event\":\"trace_header\","));
    (0..10).for_each(|id| sink.record(&event(id)));
    let finished = sink.finish();
    assert!(finished.writer.is_mapped());
    finished.writer.close().unwrap();
    assert_eq!(read(&path).0, Vec::from_iter(0..10));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_forked_child_writes_nothing_and_cuts_nothing() {
    assert_done("fork", ScratchDir::new("mapped-fork").path());
}

fn fork_while_threads_write(place: &Path) {
    const THREADS: usize = 2;
    const LINES: usize = 3_000;
    let path = place.join("lines");
    let file = Mutex::new(Some(MappedFile::create(&path).expect("a file")));
    let line = |thread: usize, number: usize| format!("{thread} {number} {}\n", "x".repeat(number % 500));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let file = &file;
            scope.spawn(move || {
                for number in 0..LINES {
                    let mut file = file.lock().expect("nobody panics");
                    file.as_mut().expect("it is there").write_all(line(thread, number).as_bytes()).expect("room");
                }
            });
        }
        for _ in 0..50 {
            let mut file = file.lock().expect("nobody panics");
            // SAFETY: the child only calls the code under test and exits.
            let child = unsafe { libc::fork() };
            assert!(child >= 0);
            if child == 0 {
                let mut inherited = file.take().expect("it is there");
                let refused = inherited.write(b"not the child's").is_err();
                drop(inherited);
                // SAFETY: ends the process without running destructors of the parent.
                unsafe { libc::_exit(i32::from(!refused)) };
            }
            drop(file);
            let mut status = -1;
            // SAFETY: the pointer is to an integer that this function owns.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the child could write, or died");
        }
    });
    file.into_inner().expect("nobody panics").expect("it is there").close().expect("it can be cut");
    let text = fs::read_to_string(&path).expect("nothing but text");
    let lines: BTreeSet<&str> = text.split_inclusive('\n').collect();
    let expected: Vec<String> =
        (0..THREADS).flat_map(|t| (0..LINES).map(move |n| (t, n))).map(|(t, n)| line(t, n)).collect();
    assert_eq!(text.len(), expected.iter().map(String::len).sum::<usize>());
    assert!(lines == expected.iter().map(String::as_str).collect());
}
