//! Maps whose keys are several names. Looking up a key that is in the map allocates nothing.

use indexmap::{Equivalent, IndexMap};

/// A map from `N` names each to a value, in the order of insertion. A key keeps its index until one is removed.
pub(crate) type NameMap<const N: usize, V> = IndexMap<Names<N>, V>;

/// The names of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Names<const N: usize>([Box<str>; N]);

impl<const N: usize> Names<N> {
    pub(crate) fn as_strs(&self) -> [&str; N] {
        self.0.each_ref().map(|name| &**name)
    }
}

impl<const N: usize> Equivalent<Names<N>> for [&str; N] {
    fn equivalent(&self, key: &Names<N>) -> bool {
        *self == key.as_strs()
    }
}

/// Returns the index of a key, which is inserted with the default value if it is missing.
pub(crate) fn index_of<const N: usize, V: Default>(map: &mut NameMap<N, V>, names: [&str; N]) -> usize {
    match map.get_index_of(&names) {
        Some(index) => index,
        None => map.insert_full(Names(names.map(Box::from)), V::default()).0,
    }
}

/// Moves the entries of `other` into `map`, where `add` adds values with equal keys. Returns the new index of each
/// entry.
#[cfg(feature = "summary")]
pub(crate) fn merge<const N: usize, V>(
    map: &mut NameMap<N, V>,
    other: NameMap<N, V>,
    add: impl Fn(&mut V, V),
) -> Vec<usize> {
    let moved = other.into_iter().map(|(names, value)| match map.entry(names) {
        indexmap::map::Entry::Occupied(mut entry) => {
            add(entry.get_mut(), value);
            entry.index()
        }
        indexmap::map::Entry::Vacant(entry) => entry.insert_entry(value).index(),
    });
    moved.collect()
}

/// Returns the entries in the order of their names.
#[cfg(feature = "summary")]
pub(crate) fn sorted<const N: usize, V>(map: &NameMap<N, V>) -> impl Iterator<Item = ([&str; N], &V)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(names, _)| *names);
    entries.into_iter().map(|(names, value)| (names.as_strs(), value))
}

#[cfg(test)]
#[cfg(feature = "summary")]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_their_borders() {
        let mut map = NameMap::<2, u32>::default();
        for (names, more) in [(["ab", "c"], 1), (["a", "bc"], 2), (["ab", "c"], 4)] {
            let index = index_of(&mut map, names);
            map[index] += more;
        }
        assert_eq!(sorted(&map).collect::<Vec<_>>(), [(["a", "bc"], &2), (["ab", "c"], &5)]);
    }

    #[test]
    fn merging_adds_and_takes_over() {
        let map = |entries: &[(&str, u32)]| {
            let mut map = NameMap::<1, u32>::default();
            for (name, value) in entries {
                let index = index_of(&mut map, [*name]);
                map[index] = *value;
            }
            map
        };
        let mut one = map(&[("both", 1)]);
        let moved = merge(&mut one, map(&[("only", 3), ("both", 2), ("a third", 4)]), |here, more| *here += more);
        assert_eq!(sorted(&one).collect::<Vec<_>>(), [(["a third"], &4), (["both"], &3), (["only"], &3)]);
        let names = moved.iter().map(|index| one.get_index(*index).unwrap().0.as_strs()[0]);
        assert_eq!(names.collect::<Vec<_>>(), ["only", "both", "a third"]);
    }
}
