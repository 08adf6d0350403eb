//! `MappedFile` under a `JsonlSink` against a plain `File`, encoding included, every event flushed; one thread and two.
//!
//! `cargo bench --bench mapped --features mmap` takes the sinks in turn, prints a table of medians and the slowest records,
//! and writes the ratios to `target/mapped-ratios.json`. Files are made, closed and deleted as part of a pass.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

#[cfg(unix)]
mod support;

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    // What `cargo test --benches` asks for.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    unix::run()
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io::{self, Write};
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};

    use cove_trace::owned::OwnedEvent;
    use cove_trace::{
        Arena, JsonlSink, MappedFile, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture,
        create_trace_file, encode_event,
    };

    use super::support::corpora;
    use super::support::timing::{Contender, Group, medians, table, write_ratios};

    /// How often a pass goes through the corpus of a thousand events: enough for a few dozen windows.
    const LAPS: usize = 100;

    pub(super) fn run() -> io::Result<()> {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mapped-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        let owned = corpora::mixed(1, 1_000);
        let arena = Arena::new();
        let events: Vec<_> = owned.iter().map(|event| event.view(&arena)).collect();
        let path = directory.join("trace.jsonl");
        let group = sinks(&events, &path);
        println!("{}", table(std::slice::from_ref(&group)));
        for (name, of) in [("mapped", slowest(mapped(&path), &events)), ("file", slowest(file(&path), &events))] {
            println!("one record, {name}: {of}");
        }
        let two = threads(&owned, &path);
        println!("{}", table(std::slice::from_ref(&two)));
        println!("ratios in {}", write_ratios("mapped-ratios.json", &[group, two])?.display());
        fs::remove_dir_all(directory)
    }

    fn header() -> TraceHeader {
        TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench.cove")
    }

    fn mapped(path: &Path) -> JsonlSink<MappedFile> {
        let file = MappedFile::create(path).expect("a file");
        assert!(file.is_mapped());
        JsonlSink::new(file, &header()).expect("a sink")
    }

    fn file(path: &Path) -> JsonlSink<File> {
        JsonlSink::new(create_trace_file(path).expect("a file"), &header()).expect("a sink")
    }

    fn record_all(sink: &dyn TraceSink, events: &[TraceEvent<'_>], laps: usize) {
        for _ in 0..laps {
            for event in events {
                sink.record(event);
            }
        }
    }

    fn finish<W: Write>(sink: JsonlSink<W>) {
        assert_eq!(sink.finish().dropped, 0);
    }

    /// One thread: both sinks, the bare system call with the finished line, and encoding alone.
    fn sinks(events: &[TraceEvent<'_>], path: &Path) -> Group {
        let lines: Vec<Vec<u8>> = events
            .iter()
            .map(|event| {
                let mut line = Vec::new();
                encode_event(event, ValueCapture::Full, &mut line);
                line
            })
            .collect();
        let contenders = &mut [
            contender("mapped", || {
                let sink = mapped(path);
                record_all(&sink, events, LAPS);
                finish(sink);
            }),
            contender("file", || {
                let sink = file(path);
                record_all(&sink, events, LAPS);
                finish(sink);
            }),
            contender("bare write(2)", || {
                let mut file = create_trace_file(path).expect("a file");
                for _ in 0..LAPS {
                    lines.iter().for_each(|line| file.write_all(line).expect("room"));
                }
            }),
            contender("encoding alone", || {
                let sink = JsonlSink::new(io::sink(), &header()).expect("a sink");
                record_all(&sink, events, LAPS);
                finish(sink);
            }),
        ];
        let bytes = lines.iter().map(Vec::len).sum::<usize>() as f64 / lines.len() as f64;
        group("mapped", bytes, LAPS * events.len(), contenders)
    }

    /// The same number of events in all, by two threads and by one.
    fn threads(owned: &[OwnedEvent], path: &Path) -> Group {
        let by = |threads: usize| {
            let sink = mapped(path);
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        let arena = Arena::new();
                        let events: Vec<_> = owned.iter().map(|event| event.view(&arena)).collect();
                        record_all(&sink, &events, LAPS / threads);
                    });
                }
            });
            finish(sink);
        };
        let contenders = &mut [contender("two threads", || by(2)), contender("one thread", || by(1))];
        group("mapped_threads", 0.0, LAPS * owned.len(), contenders)
    }

    fn contender<'a>(name: &'static str, pass: impl FnMut() + 'a) -> Contender<'a> {
        Contender { name, pass: Box::new(pass) }
    }

    fn group(name: &'static str, bytes_per_event: f64, events: usize, contenders: &mut [Contender<'_>]) -> Group {
        let nanoseconds = medians(contenders, 9, Duration::ZERO)
            .into_iter()
            .map(|(name, time)| (name, time.as_nanos() as f64 / events as f64))
            .collect();
        Group { name, bytes_per_event, nanoseconds }
    }

    /// Quantiles of the time of one record, the clock's own included.
    fn slowest<W: Write + Send>(sink: JsonlSink<W>, events: &[TraceEvent<'_>]) -> String {
        let mut times: Vec<Duration> = (0..LAPS)
            .flat_map(|_| events)
            .map(|event| {
                let start = Instant::now();
                sink.record(event);
                start.elapsed()
            })
            .collect();
        finish(sink);
        times.sort();
        let quantile = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
        format!(
            "median {:?}, p99 {:?}, p99.9 {:?}, longest {:?}",
            quantile(0.5),
            quantile(0.99),
            quantile(0.999),
            quantile(1.0)
        )
    }
}
