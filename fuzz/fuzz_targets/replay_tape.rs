#![no_main]

#[path = "../../tests/fuzzing/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::replay_tape::check(data));
