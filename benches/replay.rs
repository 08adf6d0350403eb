//! Replays a trace of a million calls: calls answered in a second, and memory used.
//!
//! `cargo bench --bench replay` measures; `-- --calls COUNT` changes the number of calls.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports to a person")]

mod support;

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::replay::{Answer, Verdict};
use cove_trace::{
    Arena, CallSite, JsonlSink, RecordedValue, RecordingBackend, Replay, RunOutcome, TraceEvent, TraceHeader,
    TraceSink, ValueCapture,
};
use support::corpora;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 5;

/// How many prints to generate at a time. The generator makes as many events of every other kind, too.
const PIECE: usize = 50_000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, path] = &arguments[..]
        && option == "--open"
    {
        return open_and_tell(path);
    }
    if arguments.iter().any(|argument| argument == "--test") {
        return measure("mixed", mixed(2_000));
    }
    let calls = match arguments.iter().position(|argument| argument == "--calls") {
        Some(at) => arguments.get(at + 1).ok_or("--calls takes a number")?.parse()?,
        None => 1_000_000,
    };
    measure("console prints", prints(calls))?;
    measure("mixed run", mixed(calls))
}

/// The host calls of the mixed run, spread over four tasks, without those whose results a replay cannot return.
fn mixed(count: usize) -> Vec<OwnedHostCall> {
    let calls = corpora::mixed(1, count + count / 4 + 100).into_iter().filter_map(|event| match event {
        OwnedEvent::HostCall(call) => Some(call),
        _ => None,
    });
    let calls = calls.filter(|call| !matches!(&call.outcome, Some(OwnedOutcome::Value(OwnedValue::Opaque { .. }))));
    calls.take(count).enumerate().map(|(index, call)| OwnedHostCall { task: index as u64 % 4, ..call }).collect()
}

fn prints(count: usize) -> Vec<OwnedHostCall> {
    let kinds = |count| corpora::kinds(1, count).swap_remove(0).1;
    let events: Vec<_> = (0..count.div_ceil(PIECE)).flat_map(|_| kinds(PIECE.min(count))).take(count).collect();
    let calls = events.into_iter().filter_map(|event| match event {
        OwnedEvent::HostCall(call) => Some(call),
        _ => None,
    });
    calls.enumerate().map(|(index, call)| OwnedHostCall { task: index as u64 % 4, ..call }).collect()
}

fn measure(name: &str, calls: Vec<OwnedHostCall>) -> Outcome<()> {
    let trace = recorded(&calls)?;
    let arena = Arena::new();
    let asked = views(&calls, &arena, |_| true);
    println!("{name}: {} calls, {} bytes a line", calls.len(), trace.len() / calls.len().max(1));

    println!("  kept  {:>6.2} times the file", kept_of(&trace)? as f64 / trace.len() as f64);

    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let replay = Replay::open(&trace[..])?;
        times.push(time(|| ask(&replay, asked.iter())));
        assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);
    }
    show("one thread", calls.len(), median(times));

    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let replay = Replay::open(&trace[..])?;
        let start = Barrier::new(3);
        let took = thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|parity| {
                    let (replay, calls, start) = (&replay, &calls, &start);
                    scope.spawn(move || {
                        let arena = Arena::new();
                        let asked = views(calls, &arena, |call| call.task % 2 == parity);
                        start.wait();
                        ask(replay, asked.iter());
                    })
                })
                .collect();
            start.wait();
            time(|| threads.into_iter().for_each(|thread| thread.join().expect("it answers")))
        });
        times.push(took);
    }
    show("two threads", calls.len(), median(times));

    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(time(|| drop(black_box(Replay::open(&trace[..])))));
    }
    show("opening", calls.len(), median(times));

    let mut times = Vec::new();
    for _ in 0..2 {
        let mut trees = Trees::load(&trace)?;
        times.push(time(|| trees.ask(&calls)));
    }
    show("trees of serde_json", calls.len(), median(times));
    Ok(())
}

/// A call in the form in which an interpreter makes it.
type Asked<'a> = (u64, CallSite<'a>, Vec<RecordedValue<'a>>);

fn views<'a>(calls: &'a [OwnedHostCall], arena: &'a Arena, which: impl Fn(&OwnedHostCall) -> bool) -> Vec<Asked<'a>> {
    let view = |call: &'a OwnedHostCall| {
        let args = call.args.iter().map(|arg| arg.view(arena)).collect();
        (call.task, CallSite::new(&call.module, &call.op, &call.capability), args)
    };
    calls.iter().filter(|call| which(call)).map(view).collect()
}

fn recorded(calls: &[OwnedHostCall]) -> Outcome<Vec<u8>> {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "bench");
    let sink = JsonlSink::new(Vec::new(), &header)?;
    let mut arena = Arena::new();
    for call in calls {
        sink.record(&OwnedEvent::HostCall(call.clone()).view(&arena));
        arena.clear();
    }
    sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
    Ok(sink.finish().writer)
}

fn ask<'c>(replay: &Replay, calls: impl Iterator<Item = &'c Asked<'c>>) {
    for (task, site, args) in calls {
        match replay.call(*task, *site, args) {
            Ok(Answer::Value(value)) => drop(black_box(value)),
            Ok(other) => drop(black_box(other)),
            Err(divergence) => panic!("{divergence}"),
        }
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn show(what: &str, calls: usize, time: Duration) {
    let each = time.as_nanos() as f64 / calls as f64;
    println!("  {what:<20} {each:>8.0} ns a call, {:>6.2} million a second", 1_000.0 / each);
}

/// The memory that a replay of this trace takes, measured in a new process: this one would first use memory it has
/// freed.
fn kept_of(trace: &[u8]) -> Outcome<usize> {
    let path = std::env::temp_dir().join(format!("cove-trace-bench-{}.jsonl", std::process::id()));
    std::fs::write(&path, trace)?;
    let output = Command::new(std::env::current_exe()?).arg("--open").arg(&path).output()?;
    std::fs::remove_file(&path)?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn open_and_tell(path: &str) -> Outcome<()> {
    let before = resident();
    let replay = Replay::open_file(path)?;
    println!("{}", resident() - before);
    drop(black_box(replay));
    Ok(())
}

/// The resident bytes of this process, or 0 where `/proc` does not exist.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// The usual way: a `serde_json::Value` for each line, kept by task and compared with one made of the arguments.
struct Trees(HashMap<u64, VecDeque<serde_json::Value>>);

impl Trees {
    fn load(trace: &[u8]) -> Outcome<Self> {
        let mut tapes: HashMap<u64, VecDeque<_>> = HashMap::new();
        for line in trace.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let event: serde_json::Value = serde_json::from_slice(line)?;
            if event["event"] == "host_call" {
                tapes.entry(event["task"].as_u64().unwrap_or_default()).or_default().push_back(event);
            }
        }
        Ok(Self(tapes))
    }

    fn ask(&mut self, calls: &[OwnedHostCall]) {
        for call in calls {
            let due = self.0.get_mut(&call.task).and_then(VecDeque::pop_front).expect("a call is due");
            assert!(due["module"] == call.module && due["op"] == call.op && due["capability"] == call.capability);
            for (recorded, asked) in due["args"].as_array().into_iter().flatten().zip(&call.args) {
                let asked = cove_trace::value_to_json(asked, ValueCapture::Full);
                let asked: serde_json::Value = serde_json::from_str(&asked).expect("JSON");
                assert_eq!(*recorded, asked);
            }
            black_box(due["outcome"].clone());
        }
    }
}
