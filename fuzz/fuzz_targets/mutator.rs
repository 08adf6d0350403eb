//! libFuzzer's own changes in turn with some that know what a line is made of.

use crate::targets::reading::rng::Rng;

/// Changes the first `size` bytes of `data`, which has room for `max_size`, and says how many there are now.
pub(crate) fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    change: impl Fn(&mut Vec<u8>, &mut Rng),
) -> usize {
    let mut rng = Rng::new(seed.into());
    if rng.one_in(2) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut changed = data[..size].to_vec();
    for _ in 0..1 + rng.below(2) {
        change(&mut changed, &mut rng);
    }
    // What has no room is cut off.
    changed.truncate(max_size);
    data[..changed.len()].copy_from_slice(&changed);
    changed.len()
}
