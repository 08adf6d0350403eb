//! The greatest of many items.

/// The `N` greatest of all pushed items, the greatest first.
#[derive(Debug, Clone)]
pub(super) struct Top<T, const N: usize>(Vec<T>);

impl<T, const N: usize> Default for Top<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord, const N: usize> Top<T, N> {
    pub(super) fn push(&mut self, item: T) {
        if self.0.len() == N {
            if self.0.last().is_none_or(|least| item <= *least) {
                return;
            }
            self.0.pop();
        }
        self.0.insert(self.0.partition_point(|kept| *kept >= item), item);
    }
}

impl<T, const N: usize> Top<T, N> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_stay_whatever_comes_when() {
        let numbers = |seed: u64| (0..200).map(move |n: u64| n.wrapping_mul(seed) % 101);
        for seed in 1..50 {
            let mut top = Top::<u64, 7>::default();
            let mut sorted: Vec<u64> = numbers(seed).collect();
            for (count, number) in numbers(seed).enumerate() {
                top.push(number);
                assert_eq!(top.iter().count(), (count + 1).min(7));
            }
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(top.into_items().collect::<Vec<_>>(), sorted[..7]);
        }
        let mut none = Top::<u64, 0>::default();
        none.push(1);
        assert_eq!(none.iter().count(), 0);
    }
}
