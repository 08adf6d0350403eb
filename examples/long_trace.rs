//! Writes a trace of a given length, to measure whole commands. It has the mixed run of the benchmarks, the same on
//! every machine.
//!
//! `cargo run --release --example long_trace -- /tmp/long.jsonl 1000000000`

#[path = "../benches/support"]
#[allow(dead_code, unreachable_pub, reason = "the benchmarks use the rest of it")]
mod support {
    pub mod corpora;
    mod random;
}

use std::fs::File;
use std::io::{self, Write};

use cove_trace::{
    Arena, RecordingBackend, RunOutcome, TraceEvent, TraceHeader, ValueCapture, encode_event, encode_header,
};
use support::corpora;

/// The number of events to generate at a time.
const BLOCK: usize = 20_000;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), Some(Ok(len))) =
        (arguments.next(), arguments.next().map(|len| len.to_string_lossy().parse::<u64>()))
    else {
        return Err(io::Error::other("expected a path and a length in bytes"));
    };
    let mut file = File::create(path)?;
    let mut block = Vec::new();
    encode_header(&TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove"), &mut block);
    let (mut written, mut seed, mut arena) = (0, 0, Arena::default());
    while written < len {
        for event in corpora::mixed(seed, BLOCK) {
            arena.clear();
            encode_event(&event.view(&arena), ValueCapture::Full, &mut block);
        }
        file.write_all(&block)?;
        written += block.len() as u64;
        block.clear();
        seed += 1;
    }
    encode_event(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None }, ValueCapture::Full, &mut block);
    file.write_all(&block)
}
