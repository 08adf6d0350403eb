//! Bytes to events: the decoder against other ways to read the same lines, one thread.
//!
//! | run | what it does |
//! |---|---|
//! | `cargo bench --bench decode` | Criterion's groups, each reader by itself |
//! | `cargo bench --bench decode -- --ratios [--seed N] [GROUP]` | a table of medians and ratios |
//! | `benches/instructions.sh decode GROUP READER` | instructions an event, counted by callgrind |
//!
//! `--ratios` times the readers in turn, round by round, and writes the ratios to `target/decode-ratios.json`. `GROUP`
//! selects the groups with this text in their names. All corpora are drawn from a seed (1 by default): names, types,
//! call sites, ids, numbers and texts.
//!
//! The readers:
//!
//! - `slice`: a `TraceReader` of the trace in memory;
//! - `read`: a `TraceReader` of the same trace through `Read`;
//! - `decoder`: a `Decoder`, given the lines;
//! - `serde_json`, `sonic_rs`: typed events that own their strings, by serde's derive on tagged enums;
//! - `sonic_rs_untyped`: a document;
//! - `simd_json_tape`: a tape, which is reused; simd-json works in place, so each line is copied first;
//! - `scan`: finds the newlines and checks UTF-8 with the standard library.
//!
//! All but `scan` check numbers, escapes and UTF-8.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

mod support;

use std::hint::black_box;
use std::io;
use std::time::Duration;

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Arena, RecordingBackend, TraceHeader, TraceReader, ValueCapture, encode_event, encode_header};
use criterion::{Criterion, Throughput};
use support::drawn;
use support::options::{Mode, Options};
use support::respelt::{self, Order, Spacing};
use support::serde_owned;
use support::timing::{Contender, Group, count_passes, medians, table, write_ratios};

/// Reads a trace to its end. The types of readers have no common interface.
macro_rules! read_all {
    ($reader:expr) => {{
        let mut reader = $reader;
        while let Some(event) = reader.next_event().expect("it is right") {
            black_box(&event);
        }
    }};
}

struct Corpus {
    name: &'static str,
    /// A header and the events, each line with its newline.
    trace: Vec<u8>,
    events: usize,
}

fn main() -> io::Result<()> {
    let Options { mode, seed, group } = Options::from_args();
    match mode {
        Mode::Criterion => {
            let mut criterion = Criterion::default().configure_from_args();
            for corpus in corpora(seed, "") {
                assert_same_events(&corpus);
                criterion_group(&mut criterion, &corpus);
            }
            criterion.final_summary();
            Ok(())
        }
        Mode::Ratios => ratios(seed, &group),
        Mode::Instructions { contender } => {
            let corpus = corpora(seed, &group).find(|corpus| corpus.name == group).ok_or_else(|| not_found(&group))?;
            count_passes(&mut corpus.readers(), &contender, corpus.events)
        }
    }
}

fn ratios(seed: u64, group: &str) -> io::Result<()> {
    println!("seed {seed}");
    let mut groups = Vec::new();
    for corpus in corpora(seed, group) {
        assert_same_events(&corpus);
        let measured = measure(&corpus, &mut corpus.readers());
        print!("{}", table(std::slice::from_ref(&measured)));
        groups.push(measured);
    }
    if groups.is_empty() {
        return Err(not_found(group));
    }
    println!("\nratios in {}", write_ratios("decode-ratios.json", &groups)?.display());
    Ok(())
}

fn not_found(group: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no group is named {group}"))
}

/// The first group, with its lines in other spellings.
const RESPELT: [(&str, Order, Spacing); 3] = [
    ("sorted_spaced", Order::Sorted, respelt::SPACED),
    ("reversed", Order::Reversed, respelt::TIGHT),
    ("shuffled_wide", Order::Shuffled, respelt::WIDE),
];

/// The corpora with `group` in their names. Each is drawn when the iterator gets to it.
fn corpora(seed: u64, group: &str) -> impl Iterator<Item = Corpus> {
    let canonical = drawn::GROUPS.into_iter().filter(move |(name, _)| name.contains(group));
    let canonical = canonical.map(move |(name, events)| Corpus::new(name, &events(seed)));
    let respelt = RESPELT.into_iter().filter(move |(name, ..)| name.contains(group));
    canonical.chain(respelt.map(move |(name, order, spacing)| {
        let (_, events) = drawn::GROUPS[0];
        Corpus::new(name, &events(seed)).respelt(order, spacing)
    }))
}

impl Corpus {
    fn new(name: &'static str, events: &[OwnedEvent]) -> Self {
        let (mut trace, mut arena) = (Vec::new(), Arena::new());
        encode_header(&TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench"), &mut trace);
        for event in events {
            arena.clear();
            encode_event(&event.view(&arena), ValueCapture::Full, &mut trace);
        }
        Self { name, trace, events: events.len() }
    }

    fn respelt(self, order: Order, spacing: Spacing) -> Self {
        Self { trace: respelt::lines(&self.trace, order, spacing), ..self }
    }

    /// The lines of the events, without their newlines.
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        let lines = memchr::memchr_iter(b'\n', &self.trace).map(move |newline| {
            let line = &self.trace[start..newline];
            start = newline + 1;
            line
        });
        lines.skip(1)
    }

    /// The readers. A pass goes over the whole corpus.
    fn readers(&self) -> Vec<Contender<'_>> {
        let (mut decoder, mut tape) = (Decoder::new(), TapeReader::default());
        let trace = &self.trace[..];
        vec![
            reader("slice", move || read_all!(TraceReader::from_slice(black_box(trace)))),
            reader("read", move || read_all!(TraceReader::new(black_box(trace)))),
            self.by_line("decoder", move |line| {
                black_box(&decoder.decode_event(line).expect("it is right"));
            }),
            self.by_line("serde_json", |line| drop(black_box(read_serde_json(line)))),
            self.by_line("sonic_rs", |line| drop(black_box(read_sonic_rs(line)))),
            self.by_line("sonic_rs_untyped", |line| drop(black_box(read_sonic_rs_untyped(line)))),
            self.by_line("simd_json_tape", move |line| {
                black_box(tape.read(line));
            }),
            self.by_line("scan", |line| {
                black_box(std::str::from_utf8(line).expect("it is UTF-8"));
            }),
        ]
    }

    fn by_line<'a>(&'a self, name: &'static str, mut read: impl FnMut(&'a [u8]) + 'a) -> Contender<'a> {
        reader(name, move || black_box(self).lines().for_each(&mut read))
    }
}

fn reader<'a>(name: &'static str, pass: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, pass: Box::new(pass) }
}

fn read_serde_json(line: &[u8]) -> serde_owned::Event {
    serde_json::from_slice(line).expect("it is right")
}

fn read_sonic_rs(line: &[u8]) -> serde_owned::Event {
    sonic_rs::from_slice(line).expect("it is right")
}

fn read_sonic_rs_untyped(line: &[u8]) -> sonic_rs::Value {
    sonic_rs::from_slice(line).expect("it is right")
}

/// The buffers that simd-json reuses for each line.
struct TapeReader {
    buffers: simd_json::Buffers,
    line: Vec<u8>,
    tape: simd_json::Tape<'static>,
}

impl Default for TapeReader {
    fn default() -> Self {
        Self { buffers: simd_json::Buffers::default(), line: Vec::new(), tape: simd_json::Tape::null() }
    }
}

impl TapeReader {
    /// Returns the number of nodes on the line's tape.
    fn read(&mut self, line: &[u8]) -> usize {
        self.with_tape(line, |tape| {
            let nodes = black_box(&tape).0.len();
            (nodes, tape)
        })
    }

    fn with_tape<T>(
        &mut self,
        line: &[u8],
        with: impl for<'t> FnOnce(simd_json::Tape<'t>) -> (T, simd_json::Tape<'t>),
    ) -> T {
        self.line.clear();
        self.line.extend_from_slice(line);
        self.line.resize(line.len() + simd_json::INPUT_PADDING, 0);
        let mut tape = std::mem::replace(&mut self.tape, simd_json::Tape(Vec::new())).reset();
        simd_json::fill_tape_padded(&mut self.line, line.len(), &mut self.buffers, &mut tape).expect("it is right");
        let (result, tape) = with(tape);
        self.tape = tape.reset();
        result
    }
}

/// Panics unless all readers of typed events read the same events, and the others the same JSON.
fn assert_same_events(corpus: &Corpus) {
    let (mut decoder, mut tape) = (Decoder::new(), TapeReader::default());
    for line in corpus.lines() {
        let ours = OwnedEvent::from(&decoder.decode_event(line).expect("it is right"));
        assert_eq!(OwnedEvent::from(read_serde_json(line)), ours, "serde_json");
        assert_eq!(OwnedEvent::from(read_sonic_rs(line)), ours, "sonic_rs");
        let json: serde_json::Value = serde_json::from_slice(line).expect("valid JSON");
        let untyped = serde_json::to_value(read_sonic_rs_untyped(line)).expect("JSON is JSON");
        assert_eq!(untyped, json, "sonic_rs_untyped");
        let taped = tape.with_tape(line, |tape| {
            let nodes = tape.0.clone();
            (simd_json::Tape(nodes).deserialize::<serde_json::Value>().expect("JSON is JSON"), tape)
        });
        assert_eq!(taped, json, "simd_json_tape");
    }
}

fn criterion_group(criterion: &mut Criterion, corpus: &Corpus) {
    let mut group = criterion.benchmark_group(format!("decode_{}", corpus.name));
    group.throughput(Throughput::Bytes(corpus.trace.len() as u64));
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for mut reader in corpus.readers() {
        group.bench_function(reader.name, |bencher| bencher.iter(|| (reader.pass)()));
    }
    group.finish();
}

fn measure(corpus: &Corpus, readers: &mut [Contender<'_>]) -> Group {
    let count = corpus.events as f64;
    let times = medians(readers, 15, Duration::from_millis(30));
    Group {
        name: corpus.name,
        bytes_per_event: corpus.trace.len() as f64 / count,
        nanoseconds: times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / count)).collect(),
    }
}
