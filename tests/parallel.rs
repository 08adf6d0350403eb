//! A trace read by several threads gives the same figures, findings and faults as one reader, wherever it is divided.
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

mod reading;

use std::fmt::Write as _;
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use allocation_counter::measure;
use cove_trace::check::{CheckEvent, CheckStats, Checker};
use cove_trace::parallel::{Extent, ParallelReader, ReadAt};
use cove_trace::summary::Summary;
use cove_trace::{CallSite, HostCall, ReadError, TraceEvent, TraceReader};
use reading::corpus::{CANCELLED, HEADER};
use reading::rng::Rng;
use reading::traces;

/// A limit that some lines of the generated traces are longer than.
const LIMIT: usize = 400;

const SEEDS: u64 = if cfg!(miri) { 2 } else { 150 };

fn said(error: &ReadError) -> String {
    let position = error.position();
    format!("{}:{}:{} {error}", position.line, position.column, position.offset)
}

fn remarked(remark: CheckEvent) -> String {
    match remark {
        CheckEvent::Fault(error) => said(&error),
        CheckEvent::Finding(finding) => format!("{}: {} {}", finding.line, finding.severity, finding.message),
        other => panic!("{other:?}"),
    }
}

/// All that there is to know of a summary, and of the faults met on the way.
fn summary_by(read: impl FnOnce(&mut dyn FnMut(&ReadError)) -> Summary) -> (String, Vec<String>) {
    let mut faults = Vec::new();
    let summary = read(&mut |error| faults.push(said(error)));
    (serde_json::to_string(&summary).unwrap(), faults)
}

fn check_by(read: impl FnOnce(&mut dyn FnMut(CheckEvent)) -> CheckStats) -> (CheckStats, Vec<String>) {
    let mut remarks = Vec::new();
    let checked = read(&mut |remark| remarks.push(remarked(remark)));
    (checked, remarks)
}

fn parts(trace: &[u8], threads: usize, part_bytes: u64) -> ParallelReader<'_, [u8]> {
    ParallelReader::new(trace, trace.len() as u64)
        .threads(NonZero::new(threads).unwrap())
        .part_bytes(NonZero::new(part_bytes).unwrap())
        .line_limit(LIMIT)
}

/// Asserts that reading by parts, for each number of threads and length of parts, gives what a single reader gives.
#[track_caller]
fn assert_same(trace: &[u8], ways: impl IntoIterator<Item = (usize, u64)>, what: &str) {
    let ways = ways.into_iter().map(|(threads, part_bytes)| parts(trace, threads, part_bytes));
    assert_same_parts(trace, ways, what);
}

#[track_caller]
fn assert_same_parts<'t>(trace: &'t [u8], ways: impl IntoIterator<Item = ParallelReader<'t, [u8]>>, what: &str) {
    let stream = || TraceReader::new(trace).with_line_limit(LIMIT);
    let summary = summary_by(|on_error| Summary::read(&mut stream(), on_error));
    let checked =
        [false, true].map(|partial| check_by(|report| Checker::new().partial(partial).read(&mut stream(), report)));
    for parts in ways {
        let what = || format!("{what}, {parts:?}: {}", String::from_utf8_lossy(trace));
        assert_eq!(summary_by(|on_error| Summary::read_parallel(&parts, on_error)), summary, "{}", what());
        for (partial, expected) in [false, true].into_iter().zip(&checked) {
            let checker = Checker::new().partial(partial);
            assert_eq!(&check_by(|report| checker.read_parallel(&parts, report)), expected, "{}", what());
        }
    }
}

#[test]
fn any_trace_in_one_to_seven_parts() {
    for seed in 0..SEEDS {
        let trace = traces::trace(seed);
        let ways =
            (1..=7).map(|count| (1 + (seed as usize + count) % 4, (trace.len() as u64).div_ceil(count as u64).max(1)));
        assert_same(&trace, ways, &format!("seed {seed}"));
    }
}

#[test]
fn any_cut() {
    for seed in 0..if cfg!(miri) { 1 } else { 4 } {
        let trace = traces::trace(seed);
        assert_same(
            &trace,
            (1..=trace.len() as u64 + 1).step_by(7).map(|part_bytes| (2, part_bytes)),
            &format!("seed {seed}"),
        );
    }
}

/// More faults and findings than a part keeps for its turn.
#[test]
fn many_faults() {
    let redacted = HEADER.replace("full", "redacted");
    let leak = r#"{"event":"host_call","task":9,"module":"m","op":"o","capability":"c","wait_ns":1,"granted":true,"args":[{"type":"unit"}],"outcome":null}"#;
    for header in [HEADER, &redacted] {
        let trace = format!("{header}\n{}", format!("hello\n{CANCELLED}\n\n{leak}\n").repeat(3_000));
        let len = trace.len() as u64;
        assert_same(trace.as_bytes(), [(2, len), (2, len / 2), (3, len / 5), (1, len)], "many faults");
    }
}

/// Text of bytes that matter to the division into lines and parts, between whole events.
fn any_text(rng: &mut Rng) -> Vec<u8> {
    let mut text = format!("{HEADER}\n").into_bytes();
    for _ in 0..rng.below(60) {
        match rng.below(12) {
            0 | 1 => text.extend(CANCELLED.as_bytes()),
            2 => text.extend("y".repeat(rng.below(2 * LIMIT)).as_bytes()),
            _ => text.push(*rng.pick(b"\n\n\n\r \0x{}\"\xff")),
        }
    }
    text
}

/// The line at which a worker stops may begin in its part and end anywhere behind it.
#[test]
fn parts_of_a_few_bytes_whose_workers_stop_early() {
    for seed in 0..SEEDS {
        let rng = &mut Rng::new(seed);
        let trace = if rng.one_in(2) { traces::trace(seed) } else { any_text(rng) };
        let parts = parts(&trace, 2 + rng.below(2), 1 + rng.below(120) as u64).kept_problems(1 + rng.below(3));
        assert_same_parts(&trace, [parts], &format!("seed {seed}"));
    }
}

/// The same with the default limit for the remarks that a worker keeps.
#[test]
fn the_last_fault_that_a_worker_keeps_is_longer_than_all_that_is_left_of_the_part() {
    let long = "y".repeat(3 * 1024);
    let trace = format!("{HEADER}\n{}{long}\n{}", "x\n".repeat(999), format!("{CANCELLED}\n").repeat(500));
    assert_same(trace.as_bytes(), [(2, 2_500), (3, 2_048)], "a long last fault");
}

/// Lines longer than a part, and longer than the limit.
#[test]
fn long_lines() {
    let long = format!(r#"{{"event":"entry_enter","module":"{}","function":"f"}}"#, "x".repeat(300));
    let longer = "x".repeat(1_000);
    let trace = format!("{HEADER}\n{long}\n{longer}\n{CANCELLED}\n{longer}\n{long}");
    assert_same(trace.as_bytes(), [1, 2, 10, 64, 100, 999].map(|part_bytes| (3, part_bytes)), "long lines");
}

#[test]
fn a_file_that_grows_or_shrinks_meanwhile() {
    let trace = format!("{HEADER}\n{}", format!("{CANCELLED}\n").repeat(100));
    let expected = summary_by(|on_error| Summary::read(&mut TraceReader::new(trace.as_bytes()), on_error));
    for len in [0, 1, HEADER.len() as u64, 1_000, trace.len() as u64 * 2] {
        let parts = ParallelReader::new(trace.as_bytes(), len)
            .threads(NonZero::new(2).unwrap())
            .part_bytes(NonZero::new(500).unwrap());
        assert_eq!(summary_by(|on_error| Summary::read_parallel(&parts, on_error)), expected, "{len}");
    }
}

/// A file that can't be read from some byte on.
struct Broken<'t> {
    trace: &'t [u8],
    from: u64,
}

impl ReadAt for Broken<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.from {
            return Err(io::Error::other("broken"));
        }
        self.trace[..self.from as usize].read_at(buffer, offset)
    }
}

#[test]
fn an_error_of_the_file_ends_it() {
    let trace = format!("{HEADER}\n{}", format!("{CANCELLED}\n").repeat(100));
    for from in (0..trace.len() as u64).step_by(7) {
        let broken = Broken { trace: trace.as_bytes(), from };
        for (part_bytes, kept) in [(50, 1), (500, 1), (500, 2), (5_000, 1)] {
            let parts = ParallelReader::new(&broken, trace.len() as u64)
                .threads(NonZero::new(2).unwrap())
                .part_bytes(NonZero::new(part_bytes).unwrap())
                .kept_problems(kept);
            let mut faults = Vec::new();
            let summary = Summary::read_parallel(&parts, |error| faults.push(error.message().to_string()));
            assert_eq!(faults, ["broken"], "{from}, {part_bytes}");
            let whole = (from as usize).saturating_sub(HEADER.len() + 1) / (CANCELLED.len() + 1);
            assert!(summary.events as usize <= whole, "{from}, {part_bytes}");
        }
    }
}

/// Ids that come one after the other, as runtimes give them, and ids at random.
#[test]
fn a_million_open_tasks_take_some_bytes_each() {
    const TASKS: u64 = if cfg!(miri) { 100 } else { 1_000_000 };
    for (spread, most_checked, most_summed_up) in [(1, 24, 150), (0x9e37_79b9_7f4a_7c15, 80, 150)] {
        let spawned = |line: u64| TraceEvent::TaskSpawned { id: line.wrapping_mul(spread), parent: None, scope: "s" };
        let used = measure(|| {
            let mut checker = Checker::new();
            for line in 1..=TASKS {
                checker.event(line, &spawned(line), &mut |finding| panic!("{finding:?}"));
            }
        });
        assert!(used.bytes_max < most_checked * TASKS.max(1_000), "{used:?}");
        let used = measure(|| {
            let mut summary = Summary::default();
            (1..=TASKS / 5).for_each(|line| summary.add(line, &spawned(line)));
        });
        assert!(used.bytes_max < most_summed_up * (TASKS / 5).max(1_000), "{used:?}");
    }
}

#[test]
fn what_was_read_is_said() {
    let trace = format!("{HEADER}\n\n{CANCELLED}\nhello");
    let (checked, _) = check_by(|report| Checker::new().read_parallel(&parts(trace.as_bytes(), 2, 10), report));
    let extent = Extent { lines: 4, bytes: trace.len() as u64 };
    assert_eq!((checked.events, checked.extent), (1, extent));
}

/// A file that notes the largest buffer that a worker thread offers it.
struct Watched<'t> {
    trace: &'t [u8],
    calling_thread: ThreadId,
    largest: AtomicUsize,
}

impl ReadAt for Watched<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if thread::current().id() != self.calling_thread {
            self.largest.fetch_max(buffer.len(), Ordering::Relaxed);
        }
        self.trace.read_at(buffer, offset)
    }
}

/// Allocations are counted for the calling thread alone, so a worker's memory is told by the buffers that it reads into.
#[test]
fn workers_do_not_hold_lines_that_are_longer_than_a_part() {
    const PART: u64 = 64 * 1024;
    let long = format!(r#"{{"event":"entry_enter","module":"{}","function":"f"}}"#, "x".repeat(40 * PART as usize));
    let some = format!("{CANCELLED}\n").repeat(3_000);
    let trace = format!("{HEADER}\n{some}{long}\n{some}{long}\nhello\n{some}").into_bytes();
    let calling_thread = thread::current().id();
    let watched = Watched { trace: &trace, calling_thread, largest: AtomicUsize::new(0) };
    let parts = ParallelReader::new(&watched, trace.len() as u64)
        .threads(NonZero::new(2).unwrap())
        .part_bytes(NonZero::new(PART).unwrap());
    let expected = summary_by(|on_error| Summary::read(&mut TraceReader::new(&trace[..]), on_error));
    assert_eq!(summary_by(|on_error| Summary::read_parallel(&parts, on_error)), expected);
    let largest = watched.largest.into_inner();
    assert!((1..=3 * PART as usize).contains(&largest), "{largest}");
}

#[test]
fn waits_of_all_lengths_take_what_is_stated_for_an_operation() {
    let mut summary = Summary::default();
    let used = measure(|| {
        for octave in 0..64 {
            for step in 0..256_u64 {
                let wait = Duration::from_nanos((1 << octave) | (step << octave >> 8));
                let site = CallSite::new("m", "o", "c");
                let call = HostCall { task: 0, site, wait, granted: true, args: &[], outcome: None };
                summary.add(1, &TraceEvent::HostCall(call));
            }
        }
    });
    assert!(used.bytes_max < 300 * 1024, "{used:?}");
}

/// An entry that was left takes nothing.
#[test]
fn entries_that_were_left_take_nothing() {
    const ENTRIES: u64 = if cfg!(miri) { 200 } else { 100_000 };
    let mut checker = Checker::new();
    let mut names = (String::new(), String::new());
    let mut both = |checker: &mut Checker, number: u64, enters: bool| {
        names.0.clear();
        names.1.clear();
        write!(names.0, "m{}", number % 7).unwrap();
        write!(names.1, "f{number}").unwrap();
        let (module, function) = (&*names.0, &*names.1);
        let (cpu, wait) = (Duration::ZERO, Duration::ZERO);
        let event = if enters {
            TraceEvent::EntryEnter { module, function }
        } else {
            TraceEvent::EntryExit { module, function, cpu, wait }
        };
        checker.event(1, &event, &mut |finding| panic!("{finding:?}"));
    };
    let one_by_one = measure(|| {
        for number in 0..ENTRIES {
            both(&mut checker, number, true);
            both(&mut checker, number, false);
        }
    });
    assert!(one_by_one.bytes_max < 10_000, "{one_by_one:?}");
    let all_at_once = measure(|| {
        (0..ENTRIES).for_each(|number| both(&mut checker, number, true));
        (0..ENTRIES).for_each(|number| both(&mut checker, number, false));
    });
    assert!(all_at_once.bytes_current < 10_000, "{all_at_once:?}");
}
