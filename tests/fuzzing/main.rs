//! The fuzz targets without a fuzzer: over what fuzzing has found so far, over fresh pseudo-random data, and over changes of
//! what was found.
//!
//! `COVE_TRACE_FUZZ_SECONDS=60 cargo test --release --test fuzzing` gives each target so many seconds of fresh data. With
//! `fuzz/` and a nightly toolchain the same targets are led by coverage.

#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

mod seeds;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use targets::reading::mutate::{change_bytes, change_line};
use targets::reading::rng::Rng;

type Target = fn(&[u8]);
type Change = fn(&mut Vec<u8>, &mut Rng);

/// Enough for the decoders that recurse, without optimisation.
const STACK: usize = 256 * 1024 * 1024;

macro_rules! targets {
    ($( $name:ident: $change:expr ),+ $(,)?) => { $(
        #[test]
        fn $name() {
            hold(stringify!($name), targets::$name::check, $change);
        }
    )+ };
}

targets! {
    event_roundtrip: change_bytes,
    value_roundtrip: change_bytes,
    decode_bytes: change_line,
    reader_chunks: targets::reader_chunks::change,
    escape: change_bytes,
    number: change_bytes,
    sink_faults: change_bytes,
    replay_tape: change_bytes,
}

fn hold(name: &'static str, target: Target, change: Change) {
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let found = found_before(name);
        for (path, data) in &found {
            run(target, data, &path.display().to_string());
        }
        let known: Vec<_> = found.into_iter().map(|(_, data)| data).collect();
        let end = Instant::now() + fresh_data_for();
        let mut rng = Rng::new(1);
        while Instant::now() < end {
            run(target, &random(&mut rng), "fresh data");
            if !known.is_empty() {
                let mut data = rng.pick(&known).clone();
                for _ in 0..1 + rng.below(4) {
                    change(&mut data, &mut rng);
                }
                run(target, &data, "changed data");
            }
        }
    });
    thread.unwrap().join().expect("the target holds");
}

/// Says which data it was, if the target does not hold.
fn run(target: Target, data: &[u8], whence: &str) {
    let outcome = catch_unwind(AssertUnwindSafe(|| target(data)));
    assert!(outcome.is_ok(), "the above is what happened with {whence}: b\"{}\"", data.escape_ascii());
}

fn fresh_data_for() -> Duration {
    let default = if cfg!(miri) { 0.0 } else { 1.5 };
    let seconds =
        env::var("COVE_TRACE_FUZZ_SECONDS").map_or(default, |text| text.parse().expect("a number of seconds"));
    Duration::from_secs_f64(seconds)
}

/// Random bytes, small numbers common among them, mostly short.
fn random(rng: &mut Rng) -> Vec<u8> {
    let longest = *rng.pick(&[16, 64, 256, 2048]);
    let low = rng.one_in(2);
    (0..rng.below(longest)).map(|_| if low { rng.below(12) as u8 } else { rng.next() as u8 }).collect()
}

/// The corpus of a target, and what crashed it once. Published packages lack both.
fn found_before(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut found = Vec::new();
    for kind in ["corpora", "crashes"] {
        let folder = fuzz.join(kind).join(name);
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        found.extend(paths.map(|path| (path.clone(), fs::read(&path).expect("the file can be read"))));
    }
    assert!(!fuzz.exists() || !found.is_empty(), "{name} has no corpus in {}", fuzz.display());
    found.sort();
    found
}
