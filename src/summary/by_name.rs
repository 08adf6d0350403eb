//! A map whose keys are names, several to a key.

use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Values by `N` names each, in the order of those. Looking up names that are there allocates nothing.
#[derive(Debug, Clone)]
pub(super) struct ByName<const N: usize, V> {
    /// Where in `values` each one is, so that one search is enough whether it is there or not.
    places: BTreeMap<Names<N>, usize>,
    values: Vec<V>,
}

/// The names as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Names<const N: usize>([Box<str>; N]);

/// What kept and borrowed names have in common: a map of the one can be asked for the other.
trait ParallelReader<const N: usize> {
    fn parts(&self) -> [&str; N];
}

impl<const N: usize> ParallelReader<N> for Names<N> {
    fn parts(&self) -> [&str; N] {
        std::array::from_fn(|index| &*self.0[index])
    }
}

impl<const N: usize> ParallelReader<N> for [&str; N] {
    fn parts(&self) -> [&str; N] {
        *self
    }
}

impl<'n, const N: usize> Borrow<dyn ParallelReader<N> + 'n> for Names<N> {
    fn borrow(&self) -> &(dyn ParallelReader<N> + 'n) {
        self
    }
}

// Compares as the derived order of `Names` does, which `Borrow` asks for.
impl<const N: usize> Ord for dyn ParallelReader<N> + '_ {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl<const N: usize> PartialOrd for dyn ParallelReader<N> + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> PartialEq for dyn ParallelReader<N> + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl<const N: usize> Eq for dyn ParallelReader<N> + '_ {}

impl<const N: usize, V> Default for ByName<N, V> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), values: Vec::new() }
    }
}

impl<const N: usize, V> ByName<N, V> {
    pub(super) fn iter(&self) -> impl Iterator<Item = ([&str; N], &V)> {
        self.places.iter().map(|(names, place)| (names.parts(), &self.values[*place]))
    }

    /// Takes over what `other` holds; where both hold something, `add` adds the other's to this one's. Gives the place here of
    /// each place there.
    pub(super) fn merge(&mut self, other: Self, add: impl Fn(&mut V, V)) -> Vec<usize> {
        let mut moved_to = vec![0; other.values.len()];
        let mut values: Vec<Option<V>> = other.values.into_iter().map(Some).collect();
        for (names, place) in other.places {
            let Some(value) = values[place].take() else { continue };
            moved_to[place] = match self.places.get(&names) {
                Some(here) => {
                    add(&mut self.values[*here], value);
                    *here
                }
                None => {
                    self.places.insert(names, self.values.len());
                    self.values.push(value);
                    self.values.len() - 1
                }
            };
        }
        moved_to
    }

    /// The names of each place.
    pub(super) fn names(&self) -> Vec<[&str; N]> {
        let mut names = vec![[""; N]; self.values.len()];
        self.places.iter().for_each(|(these, place)| names[*place] = these.parts());
        names
    }

    pub(super) fn each(&mut self, change: impl FnMut(&mut V)) {
        self.values.iter_mut().for_each(change);
    }

    pub(super) fn at(&mut self, place: usize) -> &mut V {
        &mut self.values[place]
    }
}

impl<const N: usize, V: Default> ByName<N, V> {
    /// The place of the value by these names, which never changes. One that is not there becomes the default.
    pub(super) fn place(&mut self, names: [&str; N]) -> usize {
        match self.places.get(&names as &dyn ParallelReader<N>) {
            Some(place) => *place,
            None => {
                self.places.insert(Names(names.map(Box::from)), self.values.len());
                self.values.push(V::default());
                self.values.len() - 1
            }
        }
    }

    pub(super) fn get_or_default(&mut self, names: [&str; N]) -> &mut V {
        let place = self.place(names);
        self.at(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_their_borders() {
        let mut map = ByName::<2, u32>::default();
        *map.get_or_default(["ab", "c"]) += 1;
        *map.get_or_default(["a", "bc"]) += 2;
        *map.get_or_default(["ab", "c"]) += 4;
        assert_eq!(map.iter().collect::<Vec<_>>(), [(["a", "bc"], &2), (["ab", "c"], &5)]);
    }

    #[test]
    fn merging_adds_and_takes_over() {
        let (mut one, mut two) = (ByName::<1, u32>::default(), ByName::<1, u32>::default());
        *one.get_or_default(["both"]) = 1;
        *two.get_or_default(["both"]) = 2;
        *two.get_or_default(["only"]) = 3;
        *two.get_or_default(["a third"]) = 4;
        let moved_to = one.merge(two, |here, more| *here += more);
        assert_eq!(one.iter().collect::<Vec<_>>(), [(["a third"], &4), (["both"], &3), (["only"], &3)]);
        let names = one.names();
        assert_eq!(moved_to.iter().map(|place| names[*place]).collect::<Vec<_>>(), [["both"], ["only"], ["a third"]]);
    }
}
