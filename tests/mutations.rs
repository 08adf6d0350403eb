//! Valid lines with a few bytes changed: whatever comes out, the decoder neither panics nor disagrees with two others, a
//! JSON library about what is JSON, and a naive second decoder about what is an event and which byte is to blame if not.

#[path = "fuzzing/targets/decode_bytes.rs"]
#[allow(dead_code, reason = "its other user is the fuzz target")]
mod decode_bytes;
mod reading;

use cove_trace::decode::Decoder;
use decode_bytes::{check_event, check_header};
use reading::mutate::change_bytes;
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::{corpus, json};

const MUTANTS: usize = 80_000;

#[test]
fn changed_events() {
    let lines: Vec<String> = corpus::events().into_iter().map(|(line, _)| line).collect();
    let mut decoder = Decoder::new();
    let accepted = mutate_all(&lines, MUTANTS, 1, |mutant| check_event(&mut decoder, mutant));
    assert!(accepted > MUTANTS / 100, "{accepted} were still right");
}

#[test]
fn changed_headers() {
    let lines: Vec<String> = corpus::headers().into_iter().map(|(line, _)| line.to_owned()).collect();
    let mut decoder = Decoder::new();
    let accepted = mutate_all(&lines, MUTANTS / 10, 2, |mutant| check_header(&mut decoder, mutant));
    assert!(accepted > MUTANTS / 1000, "{accepted} were still right");
}

/// Lines of one kind where those of the other have to stand.
#[test]
fn changed_lines_in_the_wrong_place() {
    let headers: Vec<String> = corpus::headers().into_iter().map(|(line, _)| line.to_owned()).collect();
    let events: Vec<String> = corpus::events().into_iter().map(|(line, _)| line).collect();
    let mut decoder = Decoder::new();
    mutate_all(&headers, MUTANTS / 20, 3, |mutant| check_event(&mut decoder, mutant));
    mutate_all(&events, MUTANTS / 20, 4, |mutant| check_header(&mut decoder, mutant));
}

/// Gives `check` pseudo-random changes of canonical and of respelt lines, and counts how often it says yes.
fn mutate_all(lines: &[String], mutants: usize, seed: u64, mut check: impl FnMut(&[u8]) -> bool) -> usize {
    let mut rng = Rng::new(seed);
    let mut accepted = 0;
    for number in 0..mutants {
        let line = rng.pick(lines);
        let mut bytes = if rng.one_in(2) {
            respell(&json::parse_valid(line), Variation::ALL, &mut rng).into_bytes()
        } else {
            line.clone().into_bytes()
        };
        let changes = if number % 100 == 0 { 0 } else { 1 + rng.below(3) };
        for _ in 0..changes {
            change_bytes(&mut bytes, &mut rng);
        }
        accepted += usize::from(check(&bytes));
    }
    accepted
}
