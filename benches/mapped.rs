//! `MappedFile` under a `JsonlSink` against a plain `File`, encoding included, every event flushed; one thread and two.
//!
//! `cargo bench --bench mapped --features mmap` takes the sinks in turn, prints a table of medians and the slowest records,
//! and writes the ratios to `target/mapped-ratios.json`. What is timed is recording,
//! without opening and closing the files.
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
    use super::support::timing::{Group, table, write_ratios};

    /// How often a pass goes through the corpus of a thousand events: enough for a few dozen windows.
    const LAPS: usize = 100;

    const ROUNDS: usize = 15;

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
        let contenders: &mut [Contender<'_>] = &mut [
            ("mapped", &mut || recording(mapped(path), |sink| record_all(sink, events, LAPS))),
            ("file", &mut || recording(file(path), |sink| record_all(sink, events, LAPS))),
            ("bare write(2)", &mut || {
                let mut file = create_trace_file(path).expect("a file");
                let start = Instant::now();
                for _ in 0..LAPS {
                    lines.iter().for_each(|line| file.write_all(line).expect("room"));
                }
                start.elapsed()
            }),
            ("encoding alone", &mut || {
                let sink = JsonlSink::new(io::sink(), &header()).expect("a sink");
                recording(sink, |sink| record_all(sink, events, LAPS))
            }),
        ];
        let bytes = lines.iter().map(Vec::len).sum::<usize>() as f64 / lines.len() as f64;
        Group { name: "mapped", bytes_per_event: bytes, nanoseconds: medians(contenders, LAPS * events.len()) }
    }

    /// The same number of events in all, by two threads and by one.
    fn threads(owned: &[OwnedEvent], path: &Path) -> Group {
        let by = |threads: usize| {
            recording(mapped(path), |sink| {
                thread::scope(|scope| {
                    for _ in 0..threads {
                        scope.spawn(|| {
                            let arena = Arena::new();
                            let events: Vec<_> = owned.iter().map(|event| event.view(&arena)).collect();
                            record_all(sink, &events, LAPS / threads);
                        });
                    }
                });
            })
        };
        let contenders: &mut [Contender<'_>] = &mut [("two threads", &mut || by(2)), ("one thread", &mut || by(1))];
        let nanoseconds = medians(contenders, LAPS * owned.len());
        Group { name: "mapped_threads", bytes_per_event: 0.0, nanoseconds }
    }

    /// How long recording takes, without opening and closing.
    fn recording<W: Write + Send>(sink: JsonlSink<W>, record: impl FnOnce(&dyn TraceSink)) -> Duration {
        let start = Instant::now();
        record(&sink);
        let time = start.elapsed();
        finish(sink);
        time
    }

    /// A name, and a pass that says how long it took.
    type Contender<'a> = (&'static str, &'a mut dyn FnMut() -> Duration);

    /// Nanoseconds an event, medians of rounds in each of which every contender has its turn, another one first each time.
    fn medians(contenders: &mut [Contender<'_>], events: usize) -> Vec<(&'static str, f64)> {
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..ROUNDS {
            for turn in 0..contenders.len() {
                let index = (turn + round) % contenders.len();
                times[index].push((contenders[index].1)());
            }
        }
        let median = |mut times: Vec<Duration>| {
            times.sort();
            times[times.len() / 2].as_nanos() as f64 / events as f64
        };
        contenders.iter().zip(times).map(|((name, _), times)| (*name, median(times))).collect()
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
