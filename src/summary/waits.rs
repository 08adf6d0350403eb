//! The waits of an operation's calls: the longest one exactly, and the others within one percent.

use std::collections::BTreeMap;

/// The number of leading bits that a bucket distinguishes, so that its width is less than 1/128 of its waits.
const KEPT_BITS: u32 = 8;

/// A histogram of waits, which stores only buckets that are not empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Waits {
    /// The number of waits in each bucket, by the longest wait that the bucket can contain.
    buckets: BTreeMap<u64, u64>,
    count: u64,
    max: u64,
}

impl Waits {
    pub(super) fn add(&mut self, nanoseconds: u64) {
        *self.buckets.entry(bucket_end(nanoseconds)).or_default() += 1;
        self.count += 1;
        self.max = self.max.max(nanoseconds);
    }

    pub(super) fn merge(&mut self, more: Self) {
        for (end, count) in more.buckets {
            *self.buckets.entry(end).or_default() += count;
        }
        self.count += more.count;
        self.max = self.max.max(more.max);
    }

    /// Returns the longest wait, if there is any.
    pub(super) fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the wait at the percentile's nearest rank, rounded up by less than one percent. `None` without any wait.
    pub(super) fn percentile(&self, percent: u8) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100);
        let mut seen = 0;
        for (end, count) in &self.buckets {
            seen += u128::from(*count);
            if seen >= rank {
                return Some(self.max.min(*end));
            }
        }
        None
    }
}

/// Returns the longest wait in the same bucket, which has all bits below the leading ones set.
fn bucket_end(nanoseconds: u64) -> u64 {
    let length = u64::BITS - nanoseconds.leading_zeros();
    let dropped_bits = length.saturating_sub(KEPT_BITS);
    nanoseconds | ((1 << dropped_bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(waits: impl IntoIterator<Item = u64>) -> Waits {
        let mut all = Waits::default();
        waits.into_iter().for_each(|wait| all.add(wait));
        all
    }

    /// The nearest-rank percentile of all the waits.
    fn exact(waits: &[u64], percent: usize) -> u64 {
        let mut sorted = waits.to_vec();
        sorted.sort_unstable();
        sorted[(sorted.len() * percent).div_ceil(100) - 1]
    }

    fn assert_within_one_percent(waits: &[u64]) {
        let all = of(waits.iter().copied());
        for percent in 1..=100 {
            let (found, exact) = (all.percentile(percent).unwrap(), exact(waits, percent.into()));
            assert!(found >= exact && found - exact <= exact / 100, "p{percent}: {found} for {exact}");
            assert!(Some(found) <= all.max());
        }
        assert_eq!(all.max(), waits.iter().max().copied());
    }

    #[test]
    fn percentiles_are_within_one_percent_at_every_magnitude() {
        assert_within_one_percent(&(0..64).map(|shift| u64::MAX >> shift).collect::<Vec<_>>());
        assert_within_one_percent(&(0..64).map(|shift| 1 << shift).collect::<Vec<_>>());
        assert_within_one_percent(&(0..1000).collect::<Vec<_>>());
        assert_within_one_percent(&(1..5000u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>());
        for n in 1..300 {
            assert_within_one_percent(&(1..=n).map(|wait| wait * wait * 977).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_edges() {
        assert_eq!((of([]).percentile(50), of([]).max()), (None, None));
        assert_eq!((of([0]).percentile(99), of([0]).max()), (Some(0), Some(0)));
        assert_eq!(of([u64::MAX]).percentile(50), Some(u64::MAX));
        assert_eq!(of([u64::MAX - 1]).percentile(99), Some(u64::MAX - 1));
        assert_eq!(of([0, u64::MAX]).percentile(50), Some(0));
        assert_eq!(of([1_000_001]).percentile(50), Some(1_000_001));
    }

    #[test]
    fn merged_waits_are_those_of_all_calls() {
        let waits: Vec<u64> = (0..64).map(|shift| u64::MAX >> shift).collect();
        for cut in 0..=waits.len() {
            let (first, second) = waits.split_at(cut);
            for (first, second) in [(first, second), (second, first)] {
                let mut merged = of(first.iter().copied());
                merged.merge(of(second.iter().copied()));
                let whole = of(waits.iter().copied());
                assert_eq!(merged.max(), whole.max());
                for percent in 0..=100 {
                    assert_eq!(merged.percentile(percent), whole.percentile(percent));
                }
            }
        }
    }
}
