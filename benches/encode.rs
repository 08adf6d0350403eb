//! Events to bytes: the encoder against other ways to write the same lines, on the same events, one thread.
//!
//! | run | what it does |
//! |---|---|
//! | `cargo bench --bench encode` | Criterion's groups, each contender by itself |
//! | `cargo bench --bench encode -- --ratios [--seed N] [GROUP]` | a table of medians and ratios |
//! | `benches/instructions.sh encode GROUP CONTENDER` | instructions an event, counted by callgrind |
//!
//! `--ratios` times the contenders in turn, round by round, so that a change in the machine's speed meets all of them.
//! It writes the ratios to `target/encode-ratios.json`. `GROUP` selects the groups with this text in their names.
//!
//! All corpora but `example` are drawn from a seed (1 by default): names, types, call sites, ids, numbers and texts.
//! The events of `example` are those that `cargo run --release --example interpreter` recorded.
//!
//! The contenders:
//!
//! - `live`: an interpreter's own values with rendered call sites, which is how this crate is meant to be used;
//! - `live_named`: the same with plain call sites;
//! - `recorded`: recorded values that were built beforehand;
//! - `plain`: a straightforward hand-written encoder over the interpreter's own values;
//! - `serde_json`, `sonic_rs`: borrowed structs with serde's derive, built beforehand;
//! - `format`: `format!` with a `String` for each part;
//! - `copy`: a copy of the finished bytes.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports to a person")]

mod support;

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bumpalo::Bump;
use cove_trace::owned::OwnedEvent;
use cove_trace::{
    Arena, JsonlSink, NullSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture, encode_event,
};
use criterion::{Criterion, Throughput};
use support::options::{Mode, Options};
use support::random::Random;
use support::timing::{Contender, Group, count_passes, medians, table, write_ratios};
use support::vocabulary::{name, type_name};
use support::{drawn, example, format_strings, live, plain_encoder, recorded, serde_form};

/// The output is cleared when it has grown past this size, like that of a sink with a buffer.
const CLEARED_AT: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let Options { mode, seed, group } = Options::from_args();
    match mode {
        Mode::Criterion => {
            let mut criterion = Criterion::default().configure_from_args();
            for corpus in corpora(seed, "") {
                corpus.prepared(|prepared| criterion_group(&mut criterion, corpus.name, prepared));
            }
            criterion.final_summary();
            Ok(())
        }
        Mode::Ratios => ratios(seed, &group),
        Mode::Instructions { contender } => count_instructions(seed, &group, &contender),
    }
}

struct Corpus {
    name: &'static str,
    events: Vec<OwnedEvent>,
}

/// The corpora with `group` in their names. Each is drawn when the iterator gets to it.
fn corpora(seed: u64, group: &str) -> impl Iterator<Item = Corpus> {
    const EXAMPLE: &str = "example";
    let drawn = drawn::GROUPS.into_iter().filter(move |(name, _)| name.contains(group));
    let drawn = drawn.map(move |(name, events)| Corpus { name, events: events(seed) });
    let example = EXAMPLE.contains(group).then(|| {
        std::iter::once_with(example::events).filter_map(|events| {
            let skipped = |reason| eprintln!("\nSKIPPED: {EXAMPLE}: {reason}");
            events.map_err(skipped).ok().map(|events| Corpus { name: EXAMPLE, events })
        })
    });
    drawn.chain(example.into_iter().flatten())
}

impl Corpus {
    /// Builds the events in each contender's form and checks that all contenders write the same.
    fn prepared<R>(&self, work: impl FnOnce(&Prepared<'_>) -> R) -> R {
        let (bump, arena) = (Bump::new(), Arena::new());
        let prepared = Prepared {
            live: live::events(&self.events, &arena),
            recorded: recorded::events(&self.events, &bump, &arena),
            serde: serde_form::events(&self.events),
            owned: &self.events,
            finished: self.events.iter().map(|event| line(&event.view(&arena))).collect(),
        };
        prepared.assert_same_bytes();
        work(&prepared)
    }
}

fn line(event: &TraceEvent<'_>) -> Vec<u8> {
    let mut line = Vec::new();
    encode_event(event, ValueCapture::Full, &mut line);
    line
}

/// The events of a corpus in each contender's form.
struct Prepared<'a> {
    live: Vec<live::Event<'a>>,
    recorded: Vec<TraceEvent<'a>>,
    serde: Vec<serde_form::Event<'a>>,
    owned: &'a [OwnedEvent],
    finished: Vec<Vec<u8>>,
}

/// Appends the line of the event of this index.
type WriteOne<'a> = Box<dyn Fn(usize, &mut Vec<u8>) + 'a>;

impl Prepared<'_> {
    fn bytes(&self) -> usize {
        self.finished.iter().map(Vec::len).sum()
    }

    /// The contenders. A pass goes over the whole corpus.
    fn contenders(&self) -> Vec<Contender<'_>> {
        vec![
            contender("live", &self.live, write_live),
            contender("live_named", &self.live, write_live_named),
            contender("recorded", &self.recorded, |event, out| _ = encode_event(event, ValueCapture::Full, out)),
            contender("plain", &self.live, plain_encoder::event),
            contender("serde_json", &self.serde, write_serde_json),
            contender("sonic_rs", &self.serde, write_sonic_rs),
            contender("format", self.owned, write_format),
            contender("copy", &self.finished, |line, out| out.extend_from_slice(line)),
        ]
    }

    /// Panics unless all contenders write the same bytes. The others may spell floats differently.
    fn assert_same_bytes(&self) {
        let ours: [(&str, WriteOne<'_>); 4] = [
            ("live", Box::new(|index, out| write_live(&self.live[index], out))),
            ("live_named", Box::new(|index, out| write_live_named(&self.live[index], out))),
            ("recorded", Box::new(|index, out| out.extend(line(&self.recorded[index])))),
            ("plain", Box::new(|index, out| plain_encoder::event(&self.live[index], out))),
        ];
        let others: [(&str, WriteOne<'_>); 3] = [
            ("serde_json", Box::new(|index, out| write_serde_json(&self.serde[index], out))),
            ("sonic_rs", Box::new(|index, out| write_sonic_rs(&self.serde[index], out))),
            ("format", Box::new(|index, out| write_format(&self.owned[index], out))),
        ];
        let mut out = Vec::new();
        let shown = String::from_utf8_lossy;
        let meaning = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).expect("valid JSON");
        for (index, expected) in self.finished.iter().enumerate() {
            for (name, write) in &ours {
                out.clear();
                write(index, &mut out);
                assert!(out == *expected, "{name} wrote {} and not {}", shown(&out), shown(expected));
            }
            for (name, write) in &others {
                out.clear();
                write(index, &mut out);
                let same = out == *expected
                    || shown(expected).contains(r#""type":"float""#) && meaning(&out) == meaning(expected);
                assert!(same, "{name} wrote {} and not {}", shown(&out), shown(expected));
            }
        }
    }
}

fn contender<'a, E>(name: &'static str, events: &'a [E], write: fn(&E, &mut Vec<u8>)) -> Contender<'a> {
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

fn write_live(event: &live::Event<'_>, out: &mut Vec<u8>) {
    event.record(|event| _ = encode_event(event, ValueCapture::Full, out));
}

fn write_live_named(event: &live::Event<'_>, out: &mut Vec<u8>) {
    event.record_named(|event| _ = encode_event(event, ValueCapture::Full, out));
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
    out.extend_from_slice(format_strings::line(event).as_bytes());
    out.push(b'\n');
}

fn criterion_group(criterion: &mut Criterion, name: &str, prepared: &Prepared<'_>) {
    let mut group = criterion.benchmark_group(format!("encode_{name}"));
    group.throughput(Throughput::Bytes(prepared.bytes() as u64));
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for mut contender in prepared.contenders() {
        group.bench_function(contender.name, |bencher| bencher.iter(|| (contender.pass)()));
    }
    group.finish();
}

fn ratios(seed: u64, group: &str) -> io::Result<()> {
    println!("seed {seed}");
    let mut groups = Vec::new();
    let mut add = |measured: Group| {
        print!("{}", table(std::slice::from_ref(&measured)));
        groups.push(measured);
    };
    for corpus in corpora(seed, group) {
        add(corpus.prepared(|prepared| {
            let events = corpus.events.len();
            let bytes_per_event = prepared.bytes() as f64 / events as f64;
            measure(corpus.name, bytes_per_event, events, &mut prepared.contenders())
        }));
    }
    if HOST_CALL.contains(group) {
        with_host_call(seed, |bytes, contenders| add(measure(HOST_CALL, bytes as f64, CALLS, contenders)));
    }
    if NOT_RECORDING.contains(group) {
        add(measure(NOT_RECORDING, 0.0, CALLS, &mut not_recording()));
    }
    if groups.is_empty() {
        return Err(not_found(group));
    }
    println!("\nratios in {}", write_ratios("encode-ratios.json", &groups)?.display());
    Ok(())
}

fn measure(name: &'static str, bytes_per_event: f64, events: usize, contenders: &mut [Contender<'_>]) -> Group {
    let times = medians(contenders, 15, Duration::from_millis(30));
    let nanoseconds = times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / events as f64)).collect();
    Group { name, bytes_per_event, nanoseconds }
}

fn count_instructions(seed: u64, group: &str, contender: &str) -> io::Result<()> {
    match group {
        HOST_CALL => with_host_call(seed, |_, contenders| count_passes(contenders, contender, CALLS)),
        NOT_RECORDING => count_passes(&mut not_recording(), contender, CALLS),
        _ => {
            let corpus = corpora(seed, group).find(|corpus| corpus.name == group).ok_or_else(|| not_found(group))?;
            corpus.prepared(|prepared| count_passes(&mut prepared.contenders(), contender, corpus.events.len()))
        }
    }
}

fn not_found(group: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no group is named {group}"))
}

const HOST_CALL: &str = "host_call";
const NOT_RECORDING: &str = "not_recording";

/// Calls in one pass over `HOST_CALL` or `NOT_RECORDING`.
const CALLS: usize = 10_000;

/// A writer that only counts.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prepares a live host call with two short arguments and a wrapped unit as its result. It goes through `&dyn
/// TraceSink` into a `JsonlSink`; the plain encoder writes it into a buffer and takes a lock. Gives the line's length
/// to `work`, too.
fn with_host_call<R>(seed: u64, work: impl FnOnce(usize, &mut [Contender<'_>]) -> R) -> R {
    let mut random = Random::new(seed);
    let [module, op, capability, text] = std::array::from_fn(|_| name(&mut random));
    let [wrapper, case] = std::array::from_fn(|_| type_name(&mut random).into());
    let event = live::Event::Call(live::Call {
        task: 3,
        site: live::Site::new([&module, &op, &capability]).into(),
        wait: Duration::from_nanos(random.below(100_000)),
        granted: true,
        args: vec![live::Value::Text(text.into()), live::Value::Int(random.below(1000) as i64)],
        outcome: Some(live::Outcome::Value(live::Value::Case(
            live::Case { name: wrapper, case, payload: vec![live::Value::Nil] }.into(),
        ))),
    });
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench");
    let sink = JsonlSink::new(Counter(0), &header).expect("a counter takes everything");
    let sink: &dyn TraceSink = black_box(&sink);
    let (mut buffer, counter) = (Vec::new(), Mutex::new(Counter(0)));
    plain_encoder::event(&event, &mut buffer);
    let bytes = buffer.len();
    let plain = || {
        buffer.clear();
        plain_encoder::event(black_box(&event), &mut buffer);
        counter.lock().expect("no thread panics").write_all(&buffer).expect("a counter takes everything");
    };
    let mut contenders = [
        per_call("rendered", || black_box(&event).record(|event| sink.record(event))),
        per_call("named", || black_box(&event).record_named(|event| sink.record(event))),
        per_call("plain", plain),
    ];
    work(bytes, &mut contenders)
}

/// The least that a call through a trait object takes.
trait Asked: Sync {
    fn answer(&self) -> bool;
}

struct No;

impl Asked for No {
    fn answer(&self) -> bool {
        false
    }
}

fn not_recording() -> [Contender<'static>; 4] {
    // The compiler does not know which sink it is, but the reference may stay in a register, as in an interpreter's
    // loop.
    let sink: &dyn TraceSink = black_box(&NullSink);
    let none: Option<&dyn TraceSink> = black_box(None);
    let asked: &dyn Asked = black_box(&No);
    let record = |sink: &dyn TraceSink| sink.record(&TraceEvent::TaskCancelled { id: 1 });
    [
        per_call("dyn", move || {
            if sink.is_recording() {
                record(sink);
            }
        }),
        // The form of a host call that the guide shows.
        per_call("gated_clock", move || {
            let started = sink.is_recording().then(Instant::now);
            black_box(()); // Stands for the host's function.
            if let Some(started) = started {
                sink.record(&TraceEvent::TaskCompleted { id: 1, cpu: started.elapsed() });
            }
        }),
        per_call("option_of_dyn", move || {
            let sink = black_box(&none);
            if sink.is_recording() {
                sink.record(&TraceEvent::TaskCancelled { id: 1 });
            }
        }),
        per_call("empty_dyn_call", move || {
            if asked.answer() {
                record(sink);
            }
        }),
    ]
}

fn per_call<'a>(name: &'static str, mut call: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, pass: Box::new(move || (0..CALLS).for_each(|_| call())) }
}
