//! Events to a file: `JsonlSink` against the bare system call, and against tracing-subscriber's JSON layer, on the same host
//! calls, from one thread and from two.
//!
//! `cargo bench --bench sink` takes the contenders in turn, prints a table of medians and what one `record` takes at its
//! slowest, and writes the ratios to `target/sink-ratios.json`. `-- --test` makes one short pass and measures nothing.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

mod support;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use cove_trace::{
    CallSite, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, TraceEvent, TraceHeader, TraceSink,
    ValueCapture, encode_event,
};
use support::timing::{Contender, Group, medians, table, write_ratios};
use tracing_subscriber::layer::SubscriberExt;

/// Host calls in one pass, over all threads.
const CALLS: u64 = 10_000;
/// Rounds, in each of which every contender has its turn.
const ROUNDS: usize = 9;
/// Files start again from their beginning when they are this long, so that no disk is filled.
const WRAPPED_AT: u64 = 64 << 20;
/// Records that are timed one by one.
const TIMED: usize = 100_000;

const PATH: &str = "/srv/documents/2026/reports/quarterly-summary-of-all-regions.md";
const TEXT: &str =
    "The third quarter closed with \"steady\" growth in all regions but one,\nsee the table that follows.";

fn main() -> io::Result<()> {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (calls, rounds, at_least) =
        if is_test { (10, 1, Duration::ZERO) } else { (CALLS, ROUNDS, Duration::from_millis(100)) };
    let mut groups = Vec::new();
    for (name, threads) in [("one thread", 1), ("two threads", 2)] {
        let writers = Writers::open()?;
        let mut contenders = writers.contenders(threads, calls);
        let times = medians(&mut contenders, rounds, at_least);
        let nanoseconds = times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / calls as f64)).collect();
        groups.push(Group { name, bytes_per_event: line().len() as f64, nanoseconds });
    }
    println!("{}", table(&groups));
    if !is_test {
        let [mut each, mut buffered] = [Vec::new(), Vec::new()];
        let writers = Writers::open()?;
        time_each(&writers.each_event, &mut each);
        time_each(&writers.buffered, &mut buffered);
        for (name, times) in [("cove_trace", each), ("cove_trace_buffered", buffered)] {
            println!(
                "  {name:<22} p50 {:>6} ns  p99 {:>6} ns  p99.9 {:>6} ns",
                at(&times, 0.5),
                at(&times, 0.99),
                at(&times, 0.999)
            );
        }
        println!("ratios in {}", write_ratios("sink-ratios.json", &groups)?.display());
    }
    Ok(())
}

/// The call that is recorded. It is put together at each record, as an interpreter does.
fn with_call(record: impl FnOnce(&TraceEvent<'_>)) {
    record(&TraceEvent::HostCall(HostCall {
        task: 3,
        site: CallSite::new("documents", "write", "documents.write"),
        wait: Duration::from_nanos(18_250),
        granted: true,
        args: &[RecordedValue::String(PATH), RecordedValue::String(TEXT)],
        outcome: Some(HostOutcome::Value(RecordedValue::Int(96))),
    }));
}

/// The line of that call.
fn line() -> Vec<u8> {
    let mut line = Vec::new();
    with_call(|event| encode_event(event, ValueCapture::Full, &mut line));
    line
}

/// One file for each contender, written to in turn.
struct Writers {
    each_event: JsonlSink<Wrapping>,
    buffered: JsonlSink<Wrapping>,
    bare: Mutex<Wrapping>,
    tracing: tracing::Dispatch,
    line: Vec<u8>,
    _directory: Directory,
}

impl Writers {
    fn open() -> io::Result<Self> {
        let directory = Directory::new()?;
        let file = |name: &str| Wrapping::create(directory.0.join(name));
        let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench");
        let layer = tracing_subscriber::fmt::layer().json().with_writer(Mutex::new(file("tracing")?));
        Ok(Self {
            each_event: JsonlSink::new(file("each_event")?, &header)?,
            buffered: JsonlSink::new(file("buffered")?, &header)?.with_buffer(64 * 1024),
            bare: Mutex::new(file("bare")?),
            tracing: tracing_subscriber::registry().with(layer).into(),
            line: line(),
            _directory: directory,
        })
    }

    /// The contenders, ours first, each a pass of so many calls over so many threads.
    fn contenders(&self, threads: u64, calls: u64) -> Vec<Contender<'_>> {
        let each = calls / threads;
        vec![
            contender("cove_trace", threads, each, || with_call(|event| self.each_event.record(event))),
            contender("cove_trace_buffered", threads, each, || with_call(|event| self.buffered.record(event))),
            contender("bare_write", threads, each, || {
                self.bare.lock().expect("nobody panics").write_all(&self.line).expect("the disk has room");
            }),
            Contender {
                name: "tracing_json",
                pass: Box::new(move || {
                    on_threads(threads, || {
                        tracing::dispatcher::with_default(&self.tracing, || (0..each).for_each(|_| tracing_call()));
                    });
                }),
            },
        ]
    }
}

fn contender<'a>(name: &'static str, threads: u64, calls: u64, record: impl Fn() + Sync + 'a) -> Contender<'a> {
    Contender { name, pass: Box::new(move || on_threads(threads, || (0..calls).for_each(|_| record()))) }
}

/// Runs `work` on so many threads at once, this one being one of them.
fn on_threads(threads: u64, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

/// The same fields as an event of `tracing`, its values flat.
fn tracing_call() {
    tracing::info!(
        event = "host_call",
        task = 3_u64,
        module = "documents",
        op = "write",
        capability = "documents.write",
        wait_ns = 18_250_u64,
        granted = true,
        path = PATH,
        text = TEXT,
        outcome = 96_i64,
    );
}

/// A file that starts again from its beginning now and then.
struct Wrapping {
    file: File,
    written: u64,
}

impl Wrapping {
    fn create(path: PathBuf) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, written: 0 })
    }
}

impl Write for Wrapping {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written > WRAPPED_AT {
            self.written = 0;
            self.file.seek(SeekFrom::Start(0))?;
        }
        let taken = self.file.write(bytes)?;
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A directory beside the program's own, so on a disk; gone when this is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> io::Result<Self> {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-sink-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory left behind takes nothing away from what was measured.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What each of many records takes, sorted; the clock's own time is in it.
fn time_each(sink: &impl TraceSink, times: &mut Vec<u64>) {
    times.extend((0..TIMED).map(|_| {
        let start = Instant::now();
        with_call(|event| sink.record(event));
        start.elapsed().as_nanos() as u64
    }));
    times.sort_unstable();
}

fn at(sorted: &[u64], share: f64) -> u64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}
