#![no_main]

mod mutator;
#[path = "../../tests/fuzzing/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::decode_bytes::check(data));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(data, size, max_size, seed, targets::reading::mutate::change_line)
});
