//! Bytes to events: the decoder against other ways to read the same lines, one thread.
//!
//! | run | what it does |
//! |---|---|
//! | `cargo bench --bench decode` | Criterion's groups, each reader by itself |
//! | `cargo bench --bench decode -- --ratios` | a table of medians and ratios |
//! | `benches/instructions.sh decode GROUP READER` | instructions an event, counted by callgrind |
//!
//! `--ratios` times the readers in turn, round by round, and writes the ratios to `target/decode-ratios.json`.
//!
//! `cove_trace`, `serde_json` and `sonic_rs` read typed events; the latter two by serde's derive on tagged enums that
//! own their strings. `sonic_rs_untyped` reads a document and `simd_json_tape` a tape, which is reused; simd-json works
//! in place, so each line is copied first. All of them check numbers, escapes and UTF-8. `scan` only finds the newlines
//! and checks UTF-8 with the standard library.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

mod support;

use std::hint::black_box;
use std::io;
use std::time::Duration;

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Arena, ValueCapture, encode_event};
use criterion::{Criterion, Throughput};
use support::respelt::Order;
use support::timing::{Contender, Group, count_passes, medians, table, write_ratios};
use support::{corpora, respelt, serde_owned};

struct Corpus {
    name: &'static str,
    /// The lines, each with its newline.
    text: Vec<u8>,
    events: usize,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let corpora = corpora();
    if let [_, group, reader] = &arguments[..]
        && arguments[0] == "--instructions"
    {
        let corpus = corpora.iter().find(|corpus| corpus.name == group).ok_or(io::ErrorKind::NotFound)?;
        return count_passes(&mut corpus.readers(), reader, corpus.events);
    }
    for corpus in &corpora {
        assert_same_events(corpus);
    }
    if arguments.iter().any(|argument| argument == "--ratios") {
        return ratios(&corpora);
    }
    let mut criterion = Criterion::default().configure_from_args();
    for corpus in &corpora {
        criterion_group(&mut criterion, corpus);
    }
    criterion.final_summary();
    Ok(())
}

fn ratios(corpora: &[Corpus]) -> io::Result<()> {
    let groups: Vec<Group> = corpora.iter().map(|corpus| measure(corpus, &mut corpus.readers())).collect();
    println!("{}", table(&groups));
    for (kind, events) in corpora::kinds(3, 1000) {
        let corpus = Corpus::new(kind, &events);
        let mut readers = corpus.readers();
        readers.retain(|reader| matches!(reader.name, "cove_trace" | "simd_json_tape"));
        println!("{}", table(&[measure(&corpus, &mut readers)]).trim());
    }
    println!("ratios in {}", write_ratios("decode-ratios.json", &groups)?.display());
    Ok(())
}

fn corpora() -> Vec<Corpus> {
    let warm = Corpus::new("decode_hot", &corpora::mixed(1, 1_000));
    let respelt = |name, order, spacing| {
        let text = respelt::lines(&warm.text, order, spacing);
        Corpus { name, text, events: warm.events }
    };
    let respelt = [
        respelt("decode_respelt", Order::Sorted, respelt::SPACED),
        respelt("decode_reversed", Order::Reversed, respelt::TIGHT),
        respelt("decode_shuffled", Order::Shuffled, respelt::WIDE),
    ];
    let mut corpora = vec![
        Corpus::new("decode_mixed", &corpora::mixed(1, 100_000)),
        warm,
        Corpus::new("decode_strings", &corpora::texts(1, 200)),
        Corpus::new("decode_numbers", &corpora::numbers(1, 200)),
        Corpus::new("decode_hot_second_seed", &corpora::mixed(2, 1_000)),
    ];
    corpora.extend(respelt);
    corpora
}

impl Corpus {
    fn new(name: &'static str, events: &[OwnedEvent]) -> Self {
        let (mut text, mut arena) = (Vec::new(), Arena::new());
        for event in events {
            arena.clear();
            encode_event(&event.view(&arena), ValueCapture::Full, &mut text);
        }
        Self { name, text, events: events.len() }
    }

    /// The readers. A pass goes over the whole corpus.
    fn readers(&self) -> Vec<Contender<'_>> {
        let (mut decoder, mut tape) = (Decoder::new(), TapeReader::default());
        vec![
            self.reader("cove_trace", move |line| {
                black_box(decoder.decode_event(line).expect("it is right"));
            }),
            self.reader("serde_json", |line| drop(black_box(read_serde_json(line)))),
            self.reader("sonic_rs", |line| drop(black_box(read_sonic_rs(line)))),
            self.reader("sonic_rs_untyped", |line| drop(black_box(read_sonic_rs_untyped(line)))),
            self.reader("simd_json_tape", move |line| {
                black_box(tape.read(line));
            }),
            self.reader("scan", |line| {
                black_box(std::str::from_utf8(line).expect("it is UTF-8"));
            }),
        ]
    }

    fn reader<'a>(&'a self, name: &'static str, mut read: impl FnMut(&'a [u8]) + 'a) -> Contender<'a> {
        Contender { name, pass: Box::new(move || lines(black_box(&self.text)).for_each(&mut read)) }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', text).map(move |newline| {
        let line = &text[start..newline];
        start = newline + 1;
        line
    })
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
    for line in lines(&corpus.text) {
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
    let mut group = criterion.benchmark_group(corpus.name);
    group.throughput(Throughput::Bytes(corpus.text.len() as u64));
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for mut reader in corpus.readers() {
        group.bench_function(reader.name, |bencher| bencher.iter(|| (reader.pass)()));
    }
    group.finish();
}

fn measure(corpus: &Corpus, readers: &mut [Contender<'_>]) -> Group {
    let count = corpus.events as f64;
    let times = medians(readers, 9, Duration::from_millis(30));
    Group {
        name: corpus.name,
        bytes_per_event: corpus.text.len() as f64 / count,
        nanoseconds: times.into_iter().map(|(name, time)| (name, time.as_nanos() as f64 / count)).collect(),
    }
}
