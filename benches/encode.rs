//! Events to bytes: the encoder against the usual ways to write the same lines, on the same events, one thread.
//!
//! `cargo bench --bench encode` runs Criterion's groups, and then a loop of its own that takes the writers in turn, prints
//! a table of medians, and writes the ratios to `target/encode-ratios.json`. `-- --ratios` runs only that loop.
//! The events of `encode_example` are those that `cargo run --release --example interpreter` recorded.
//! `-- --instructions GROUP WRITER` runs one writer over one corpus a fixed number of times, for callgrind.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports to a person")]

mod support;

use std::hint::black_box;
use std::io;
use std::time::Duration;

use bumpalo::Bump;
use cove_trace::owned::OwnedEvent;
use cove_trace::{
    Arena, CallSite, HostCall, HostOutcome, JsonlSink, NullSink, RecordedValue, RecordingBackend, RenderedCallSite,
    TraceEvent, TraceHeader, TraceSink, ValueCapture, encode_event,
};
use criterion::{Criterion, Throughput};
use support::timing::{Contender, Group, count_passes, medians, table, write_ratios};
use support::{corpora, example, live, plain, recorded, serde_form};

/// A buffer is cleared once it has grown past this, as a sink with a buffer of its own would.
const CLEARED_AT: usize = 64 * 1024;

struct Corpus {
    name: &'static str,
    events: Vec<OwnedEvent>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let corpora = corpora();
    if let [_, group, writer] = &arguments[..]
        && arguments[0] == "--instructions"
    {
        return count_instructions(corpora, group, writer);
    }
    for corpus in &corpora {
        assert_same_bytes(corpus);
    }
    if !arguments.iter().any(|argument| argument == "--ratios") {
        let mut criterion = Criterion::default().configure_from_args();
        for corpus in &corpora {
            criterion_group(&mut criterion, corpus);
        }
        criterion.final_summary();
    }
    if !arguments.iter().any(|argument| argument == "--test") {
        let groups: Vec<Group> = corpora.iter().map(measure).collect();
        println!("{}", table(&groups));
        for (kind, events) in corpora::kinds(3, 1000) {
            println!("{}", table(&[measure_two(&Corpus { name: kind, events })]).trim());
        }
        println!("{}", table(&[measure_hot_call(), measure_not_recording()]));
        println!("ratios in {}", write_ratios("encode-ratios.json", &groups)?.display());
    }
    Ok(())
}

fn corpora() -> Vec<Corpus> {
    let mut corpora = vec![
        Corpus { name: "encode_mixed", events: corpora::mixed(1, 100_000) },
        Corpus { name: "encode_hot", events: corpora::mixed(1, 1_000) },
        Corpus { name: "encode_strings", events: corpora::texts(1, 200) },
        Corpus { name: "encode_numbers", events: corpora::numbers(1, 200) },
        Corpus { name: "encode_hot_second_seed", events: corpora::mixed(2, 1_000) },
    ];
    match example::events() {
        Ok(events) => corpora.push(Corpus { name: "encode_example", events }),
        Err(reason) => eprintln!("SKIPPED: encode_example: {reason}"),
    }
    corpora
}

/// Where the events of a corpus lie.
#[derive(Default)]
struct Memory(Bump, Arena);

/// What a corpus is for each writer, built beforehand.
struct Prepared<'a> {
    ours: Vec<TraceEvent<'a>>,
    live: Vec<live::Live<'a>>,
    serde: Vec<serde_form::Event<'a>>,
    owned: &'a [OwnedEvent],
    finished: Vec<Vec<u8>>,
}

impl<'a> Prepared<'a> {
    fn new(corpus: &'a Corpus, memory: &'a Memory) -> Self {
        let ours: Vec<_> = corpus.events.iter().map(|event| recorded::event(event, &memory.0, &memory.1)).collect();
        let finished = ours
            .iter()
            .map(|event| {
                let mut line = Vec::new();
                encode_event(event, ValueCapture::Full, &mut line);
                line
            })
            .collect();
        Self {
            ours,
            live: live::events(&corpus.events),
            serde: corpus.events.iter().map(serde_form::event).collect(),
            owned: &corpus.events,
            finished,
        }
    }

    fn bytes(&self) -> usize {
        self.finished.iter().map(Vec::len).sum()
    }

    /// The writers, each a pass over the whole corpus.
    fn writers(&self) -> Vec<Contender<'_>> {
        vec![
            writer("cove_trace", &self.ours, |event, out| encode_event(event, ValueCapture::Full, out)),
            writer("cove_trace_live", &self.live, |event, out| {
                event.with_event(false, |event| encode_event(event, ValueCapture::Full, out));
            }),
            writer("cove_trace_callsite", &self.live, |event, out| {
                event.with_event(true, |event| encode_event(event, ValueCapture::Full, out));
            }),
            writer("serde_json", &self.serde, write_serde_json),
            writer("sonic_rs", &self.serde, write_sonic_rs),
            writer("format", self.owned, write_format),
            writer("copy", &self.finished, |line, out| out.extend_from_slice(line)),
        ]
    }
}

fn writer<'a, E>(name: &'static str, events: &'a [E], write: fn(&E, &mut Vec<u8>)) -> Contender<'a> {
    let mut out = Vec::with_capacity(2 * CLEARED_AT);
    let pass = move || {
        for event in events {
            if out.len() > CLEARED_AT {
                out.clear();
            }
            write(event, &mut out);
        }
        black_box(&mut out);
    };
    Contender { name, pass: Box::new(pass) }
}

fn write_serde_json(event: &serde_form::Event<'_>, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, event).expect("a vector takes everything");
    out.push(b'\n');
}

fn write_sonic_rs(event: &serde_form::Event<'_>, out: &mut Vec<u8>) {
    sonic_rs::to_writer(&mut *out, event).expect("a vector takes everything");
    out.push(b'\n');
}

fn write_format(event: &OwnedEvent, out: &mut Vec<u8>) {
    out.extend_from_slice(plain::line(event).as_bytes());
    out.push(b'\n');
}

/// All writers write the same, but for how they spell a float.
fn assert_same_bytes(corpus: &Corpus) {
    let memory = Memory::default();
    let prepared = Prepared::new(corpus, &memory);
    for (index, ours) in prepared.finished.iter().enumerate() {
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out
        };
        for rendered in [false, true] {
            let live = written(&|out| {
                prepared.live[index].with_event(rendered, |event| encode_event(event, ValueCapture::Full, out));
            });
            assert_eq!(&live, ours, "live values, call site rendered: {rendered}");
        }
        let meaning = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).expect("valid JSON");
        for (name, theirs) in [
            ("serde_json", written(&|out| write_serde_json(&prepared.serde[index], out))),
            ("sonic_rs", written(&|out| write_sonic_rs(&prepared.serde[index], out))),
            ("format", written(&|out| write_format(&prepared.owned[index], out))),
        ] {
            if &theirs != ours {
                assert_eq!(meaning(&theirs), meaning(ours), "{name}");
                let floats = String::from_utf8_lossy(ours).contains(r#""type":"float""#);
                assert!(floats, "{name} wrote other bytes: {}", String::from_utf8_lossy(&theirs));
            }
        }
    }
}

fn criterion_group(criterion: &mut Criterion, corpus: &Corpus) {
    let memory = Memory::default();
    let prepared = Prepared::new(corpus, &memory);
    let mut group = criterion.benchmark_group(corpus.name);
    group.throughput(Throughput::Bytes(prepared.bytes() as u64));
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for mut writer in prepared.writers() {
        group.bench_function(writer.name, |bencher| bencher.iter(|| (writer.pass)()));
    }
    group.finish();
}

fn measure(corpus: &Corpus) -> Group {
    let memory = Memory::default();
    let prepared = Prepared::new(corpus, &memory);
    measure_writers(corpus, &prepared, &mut prepared.writers())
}

/// Only us and `serde_json`: for the figures by kind of event.
fn measure_two(corpus: &Corpus) -> Group {
    let memory = Memory::default();
    let prepared = Prepared::new(corpus, &memory);
    let mut writers = prepared.writers();
    writers.retain(|writer| matches!(writer.name, "cove_trace" | "serde_json"));
    measure_writers(corpus, &prepared, &mut writers)
}

fn measure_writers(corpus: &Corpus, prepared: &Prepared<'_>, writers: &mut [Contender<'_>]) -> Group {
    let count = corpus.events.len() as f64;
    let times = medians(writers, 9, Duration::from_millis(30));
    Group {
        name: corpus.name,
        bytes_per_event: prepared.bytes() as f64 / count,
        nanoseconds: times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / count)).collect(),
    }
}

/// A writer that only counts.
struct Counter(u64);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls in one pass of the measurements that follow.
const CALLS: u64 = 10_000;

/// A host call with two short arguments and an `Ok(())`, the interpreter's own values, through `&dyn TraceSink` into a
/// `JsonlSink`, its lock included.
struct HotCall {
    sink: JsonlSink<Counter>,
    arguments: [live::Value; 2],
    result: live::Value,
    site: RenderedCallSite,
}

impl HotCall {
    fn new() -> Self {
        let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench");
        Self {
            sink: JsonlSink::new(Counter(0), &header).expect("a counter takes everything"),
            arguments: [live::text("total"), live::Value::Int(42)],
            result: live::ok_unit(),
            site: RenderedCallSite::new("console", "println", "console.write"),
        }
    }

    fn record(&self, site: CallSite<'_>) {
        let sink: &dyn TraceSink = black_box(&self.sink);
        for _ in 0..CALLS {
            sink.record(black_box(&TraceEvent::HostCall(HostCall {
                task: 3,
                site,
                wait: Duration::from_nanos(1234),
                granted: true,
                args: &[RecordedValue::Live(&self.arguments[0]), RecordedValue::Live(&self.arguments[1])],
                outcome: Some(HostOutcome::Value(RecordedValue::Live(&self.result))),
            })));
        }
    }

    fn contenders(&self) -> [Contender<'_>; 2] {
        let named = || self.record(CallSite::new("console", "println", "console.write"));
        let rendered = || self.record(self.site.site());
        [Contender { name: "named", pass: Box::new(named) }, Contender { name: "rendered", pass: Box::new(rendered) }]
    }
}

fn measure_hot_call() -> Group {
    let call = HotCall::new();
    per_call("host call into JsonlSink", 309.0, &mut call.contenders())
}

/// What a trait object can't do in less: one call that comes back with a constant.
trait Asked: Sync {
    fn answer(&self) -> bool;
}

struct No;

impl Asked for No {
    fn answer(&self) -> bool {
        false
    }
}

fn measure_not_recording() -> Group {
    // Which sink it is stays unknown to the compiler, and where it is stays at hand, as in an interpreter's loop.
    let sink: &dyn TraceSink = black_box(&NullSink);
    let none: Option<&dyn TraceSink> = black_box(None);
    let asked: &dyn Asked = black_box(&No);
    let record = |sink: &dyn TraceSink| sink.record(&TraceEvent::TaskCancelled { id: 1 });
    let mut contenders = [
        Contender {
            name: "&dyn TraceSink",
            pass: Box::new(|| {
                for _ in 0..CALLS {
                    if sink.is_recording() {
                        record(sink);
                    }
                }
            }),
        },
        Contender {
            name: "Option<&dyn TraceSink>",
            pass: Box::new(|| {
                for _ in 0..CALLS {
                    let sink = black_box(&none);
                    if sink.is_recording() {
                        sink.record(&TraceEvent::TaskCancelled { id: 1 });
                    }
                }
            }),
        },
        Contender {
            name: "an empty call",
            pass: Box::new(|| {
                for _ in 0..CALLS {
                    if asked.answer() {
                        record(sink);
                    }
                }
            }),
        },
    ];
    per_call("not recording", 0.0, &mut contenders)
}

fn per_call(name: &'static str, bytes_per_event: f64, contenders: &mut [Contender<'_>]) -> Group {
    let times = medians(contenders, 9, Duration::from_millis(30));
    let nanoseconds = times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / CALLS as f64)).collect();
    Group { name, bytes_per_event, nanoseconds }
}

fn count_instructions(corpora: Vec<Corpus>, group: &str, writer: &str) -> io::Result<()> {
    if group == "host_call" {
        let call = HotCall::new();
        return count_passes(&mut call.contenders(), writer, CALLS as usize);
    }
    let by_kind = corpora::kinds(3, 1000).into_iter().map(|(name, events)| Corpus { name, events });
    let corpus = corpora.into_iter().chain(by_kind).find(|corpus| corpus.name == group);
    let corpus = corpus.ok_or(io::ErrorKind::NotFound)?;
    let memory = Memory::default();
    let prepared = Prepared::new(&corpus, &memory);
    count_passes(&mut prepared.writers(), writer, corpus.events.len())
}
