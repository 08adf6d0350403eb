//! Events to a file: `JsonlSink` over a `File`, over a `MappedFile` and with a buffer, against a bare `write` of the
//! finished line and against tracing-subscriber's JSON layer; from one thread and from two.
//!
//! `cargo bench --bench sink` times the contenders in turn, each into a fresh file, without opening and closing it. It
//! prints medians and the quantiles of single `record` calls, and writes the ratios to `target/sink-ratios.json`. `--
//! --test` makes one short pass without the quantiles.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

#[cfg(unix)]
mod support;

/// `MappedFile` needs Unix.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    files::run()
}

#[cfg(unix)]
mod files {
    use std::fs::{self, File};
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};
    use std::sync::{Barrier, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    use cove_trace::owned::OwnedEvent;
    use cove_trace::{
        Arena, CallSite, HostCall, HostOutcome, JsonlSink, MappedFile, RecordedValue, RecordingBackend, TraceEvent,
        TraceHeader, TraceSink, ValueCapture, create_trace_file, encode_event,
    };
    use tracing_subscriber::layer::SubscriberExt;

    use super::support::corpora;
    use super::support::timing::{Group, table, write_ratios};

    /// Events in one pass over all threads: enough for several dozen windows of a mapped file.
    const EVENTS: usize = 100_000;
    /// Rounds, in each of which every contender has its turn.
    const ROUNDS: usize = 11;

    const PATH: &str = "/srv/documents/2026/reports/quarterly-summary-of-all-regions.md";
    const TEXT: &str =
        "The third quarter closed with \"steady\" growth in all regions but one,\nsee the table that follows.";

    pub(super) fn run() -> io::Result<()> {
        let is_test = std::env::args().any(|argument| argument == "--test");
        let (events, rounds) = if is_test { (2_000, 1) } else { (EVENTS, ROUNDS) };
        let directory = Directory::new()?;
        let path = directory.0.join("trace.jsonl");
        let mut groups = calls(&path, events, rounds);
        groups.extend(mixed(&path, events, rounds));
        println!("{}", table(&groups));
        if !is_test {
            for (name, times) in [("cove_trace", each(&file(&path))), ("mapped", each(&mapped(&path)))] {
                let at = |share| times[((times.len() - 1) as f64 * share) as usize];
                println!(
                    "one record, {name:<10}  median {:?}, p99 {:?}, p99.9 {:?}, longest {:?}",
                    at(0.5),
                    at(0.99),
                    at(0.999),
                    at(1.0)
                );
            }
            println!("ratios in {}", write_ratios("sink-ratios.json", &groups)?.display());
        }
        Ok(())
    }

    /// Repeats one host call, whose fields `tracing` can record, too.
    fn calls(path: &Path, events: usize, rounds: usize) -> Vec<Group> {
        let mut line = Vec::new();
        with_call(|event| _ = encode_event(event, ValueCapture::Full, &mut line));
        let line = &line;
        let record = |sink: &dyn TraceSink, events: usize| {
            (0..events).for_each(|_| with_call(|event| sink.record(event)));
        };
        let mut contenders = Vec::new();
        for threads in [1, 2] {
            let each = events / threads;
            contenders.extend(sinks(path, threads, move |sink| record(sink, each)));
            contenders.push(bare(path, threads, move |write| (0..each).for_each(|_| write(line))));
            contenders.push(contender("tracing_json", move || {
                let writer = Mutex::new(create_trace_file(path).expect("a file"));
                let layer = tracing_subscriber::fmt::layer().json().with_writer(writer);
                let dispatch: tracing::Dispatch = tracing_subscriber::registry().with(layer).into();
                timed(threads, || {
                    tracing::dispatcher::with_default(&dispatch, || (0..each).for_each(|_| tracing_call()));
                })
            }));
        }
        grouped("host call", line.len() as f64, medians(&contenders, rounds, events))
    }

    /// Events of all kinds.
    fn mixed(path: &Path, events: usize, rounds: usize) -> Vec<Group> {
        const CORPUS: usize = 1_000;
        let owned = &corpora::mixed(1, CORPUS);
        let lines: &Vec<Vec<u8>> = &with_views(owned, |events| {
            let line = |event| {
                let mut line = Vec::new();
                encode_event(event, ValueCapture::Full, &mut line);
                line
            };
            events.iter().map(line).collect()
        });
        let mut contenders = Vec::new();
        for threads in [1, 2] {
            let laps = events / threads / CORPUS;
            contenders.extend(sinks(path, threads, move |sink| {
                with_views(owned, |events| (0..laps).for_each(|_| events.iter().for_each(|event| sink.record(event))));
            }));
            contenders.push(bare(path, threads, move |write| {
                (0..laps).for_each(|_| lines.iter().for_each(|line| write(line)));
            }));
        }
        let bytes = lines.iter().map(Vec::len).sum::<usize>() as f64 / CORPUS as f64;
        grouped("mixed", bytes, medians(&contenders, rounds, events / CORPUS * CORPUS))
    }

    fn with_views<R>(owned: &[OwnedEvent], work: impl FnOnce(&[TraceEvent<'_>]) -> R) -> R {
        let arena = Arena::new();
        work(&owned.iter().map(|event| event.view(&arena)).collect::<Vec<_>>())
    }

    /// A name, and a pass that returns how long it took.
    struct Contender<'a> {
        name: &'static str,
        pass: Box<dyn Fn() -> Duration + 'a>,
    }

    fn contender<'a>(name: &'static str, pass: impl Fn() -> Duration + 'a) -> Contender<'a> {
        Contender { name, pass: Box::new(pass) }
    }

    /// Our sinks, with this many threads that record at once.
    fn sinks<'a>(
        path: &'a Path,
        threads: usize,
        record: impl Fn(&dyn TraceSink) + Sync + Copy + 'a,
    ) -> [Contender<'a>; 3] {
        let recorded = move |sink: &dyn TraceSink| timed(threads, || record(sink));
        [
            contender("cove_trace", move || finished(file(path), recorded)),
            contender("cove_trace_mapped", move || finished(mapped(path), recorded)),
            contender("cove_trace_buffered", move || finished(buffered(path), recorded)),
        ]
    }

    /// The bare system call, a lock around it.
    fn bare<'a>(path: &'a Path, threads: usize, pass: impl Fn(&dyn Fn(&[u8])) + Sync + 'a) -> Contender<'a> {
        contender("bare_write", move || {
            let file = Mutex::new(create_trace_file(path).expect("a file"));
            let write = |line: &[u8]| file.lock().expect("nobody panics").write_all(line).expect("room");
            timed(threads, || pass(&write))
        })
    }

    fn header() -> TraceHeader {
        TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench")
    }

    fn file(path: &Path) -> JsonlSink<File> {
        JsonlSink::builder(&header()).create(path).expect("a sink")
    }

    fn buffered(path: &Path) -> JsonlSink<File> {
        JsonlSink::builder(&header()).buffer(64 * 1024).create(path).expect("a sink")
    }

    fn mapped(path: &Path) -> JsonlSink<MappedFile> {
        let file = MappedFile::create(path).expect("a file");
        assert!(file.is_mapped());
        JsonlSink::new(file, &header()).expect("a sink")
    }

    /// Returns the time that `recorded` took. Panics if the sink lost an event.
    fn finished<W: Write + Send>(sink: JsonlSink<W>, recorded: impl Fn(&dyn TraceSink) -> Duration) -> Duration {
        let time = recorded(&sink);
        assert_eq!(sink.finish().dropped, 0);
        time
    }

    /// Times `work` on this many threads, without starting them.
    fn timed(threads: usize, work: impl Fn() + Sync) -> Duration {
        if threads == 1 {
            let start = Instant::now();
            work();
            return start.elapsed();
        }
        let are_ready = Barrier::new(threads + 1);
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        are_ready.wait();
                        work();
                    })
                })
                .collect();
            are_ready.wait();
            let start = Instant::now();
            running.into_iter().for_each(|thread| thread.join().expect("nobody panics"));
            start.elapsed()
        })
    }

    /// Median nanoseconds an event. Every contender has its turn in each round, and another contender starts each
    /// round.
    fn medians(contenders: &[Contender<'_>], rounds: usize, events: usize) -> Vec<(&'static str, f64)> {
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..rounds {
            for turn in 0..contenders.len() {
                let index = (turn + round) % contenders.len();
                times[index].push((contenders[index].pass)());
            }
        }
        let median = |mut times: Vec<Duration>| {
            times.sort();
            times[times.len() / 2].as_nanos() as f64 / events as f64
        };
        contenders.iter().zip(times).map(|(contender, times)| (contender.name, median(times))).collect()
    }

    /// Groups the times by thread count, and compares one thread with two for the mapped file.
    fn grouped(of: &str, bytes_per_event: f64, times: Vec<(&'static str, f64)>) -> Vec<Group> {
        let (one, two) = times.split_at(times.len() / 2);
        let mapped = |times: &[(&str, f64)]| times[1].1;
        let by_threads = vec![("two threads", mapped(two)), ("one thread", mapped(one))];
        [("one thread", one.to_vec()), ("two threads", two.to_vec()), ("mapped by threads", by_threads)]
            .into_iter()
            .map(|(name, nanoseconds)| Group { name: format!("{of}, {name}").leak(), bytes_per_event, nanoseconds })
            .collect()
    }

    /// The sorted times of single `record` calls, the time to read the clock included.
    fn each(sink: &dyn TraceSink) -> Vec<Duration> {
        let mut times: Vec<_> = (0..EVENTS)
            .map(|_| {
                let start = Instant::now();
                with_call(|event| sink.record(event));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        times
    }

    /// Builds the call anew for each record, like an interpreter.
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

    /// Records the same fields as a `tracing` event with flat values.
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

    /// A directory in the target directory, which is on a disk. Removed on drop.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> io::Result<Self> {
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-sink-{}", std::process::id()));
            fs::create_dir_all(&path)?;
            Ok(Self(path))
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            // A directory left behind does not affect the results.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
