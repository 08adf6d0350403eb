//! Generates values from seeds. A seed gives the same value on every machine, so a failure can be reproduced.
#![allow(dead_code, reason = "each user of this file is a crate of its own and uses what it needs")]

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arbitrary::{Arbitrary, Unstructured};

/// The environment variable that multiplies the number of seeds.
const FACTOR: &str = "COVE_TRACE_CASES_FACTOR";

/// The environment variable that selects a single seed.
const ONLY_SEED: &str = "COVE_TRACE_SEED";

/// The divisor of the number of seeds. Miri is slow.
const FEWER: u64 = if cfg!(miri) { 2_500 } else { 1 };

/// Calls `check` for `count` seeds, and names the seed if it panics.
pub(crate) fn for_each_seed(count: u64, check: impl Fn(u64)) {
    let seeds = match number_from_environment(ONLY_SEED) {
        Some(seed) => seed..seed + 1,
        None => 0..count.div_ceil(FEWER) * number_from_environment(FACTOR).unwrap_or(1),
    };
    for seed in seeds {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(seed)));
        assert!(outcome.is_ok(), "failed with seed {seed}, see above; {ONLY_SEED}={seed} reproduces it");
    }
}

fn number_from_environment(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be an unsigned integer, found {text:?}")))
}

/// The maximum number of bytes that a seed expands to. A quarter of the seeds expand to less than 64, for small values.
const MAX_DATA: u64 = if cfg!(miri) { 512 } else { 4096 };

/// Generates a value from a seed.
pub(crate) fn generated<T: for<'a> Arbitrary<'a>>(seed: u64) -> T {
    let mut data = SplitMix64(seed);
    let len = match data.next() {
        pick if pick % 4 == 0 => pick / 4 % 64,
        pick => pick / 4 % MAX_DATA,
    };
    let bytes = (0..len.div_ceil(8)).flat_map(|_| data.next().to_le_bytes()).collect::<Vec<_>>();
    made_of(&bytes)
}

/// Generates a value from bytes.
pub(crate) fn made_of<T: for<'a> Arbitrary<'a>>(data: &[u8]) -> T {
    T::arbitrary(&mut Unstructured::new(data)).expect("generation cannot run out of data")
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
