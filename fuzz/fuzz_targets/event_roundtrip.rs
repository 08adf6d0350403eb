#![no_main]

#[path = "../../tests/fuzzing/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::event_roundtrip::check(data));
