//! Names of the events of a part, most of which occur often.

use super::fact::QualifiedName;

/// The number of slots in the cache of recent names.
const REMEMBERED: usize = 64;

/// Stores pairs of names by number. A pair that is not in the cache is stored again, which avoids a search.
#[derive(Default)]
pub(super) struct SeenNames {
    all: Vec<[Box<str>; 2]>,
    /// A cache of indices in `all`, addressed by a weak hash.
    remembered: Vec<usize>,
}

impl SeenNames {
    /// Stores names unless the cache has them. Returns their number.
    pub(super) fn keep(&mut self, names: QualifiedName<'_>) -> usize {
        self.remembered.resize(REMEMBERED, 0);
        let slot = &mut self.remembered[slot(names)];
        if self.all.get(*slot).is_none_or(|[module, name]| QualifiedName { module, name } != names) {
            *slot = self.all.len();
            self.all.push([names.module.into(), names.name.into()]);
        }
        *slot
    }

    /// Returns the names with a number that `keep` returned.
    pub(super) fn get(&self, number: usize) -> QualifiedName<'_> {
        let [module, name] = &self.all[number];
        QualifiedName { module, name }
    }
}

fn slot(names: QualifiedName<'_>) -> usize {
    let ends = |text: &str| match text.as_bytes() {
        [] => 0,
        [first, .., last] => usize::from(*first) * 3 + usize::from(*last) * 5,
        [only] => usize::from(*only),
    };
    (names.module.len() * 7 + names.name.len() * 11 + ends(names.module) + ends(names.name)) % REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_stands_for_its_names() {
        let texts: Vec<String> = (0..20).map(|number| "x".repeat(number % 5) + &number.to_string()).collect();
        let mut seen = SeenNames::default();
        let mut numbers = Vec::new();
        for _ in 0..2 {
            for module in ["", "m", "console"] {
                for name in &texts {
                    numbers.push((seen.keep(QualifiedName { module, name }), module, name));
                }
            }
        }
        for (number, module, name) in numbers {
            assert_eq!(seen.get(number), QualifiedName { module, name });
        }
        let before = seen.all.len();
        let again = QualifiedName { module: "console", name: "print" };
        assert_eq!(seen.keep(again), seen.keep(again));
        assert_eq!(seen.all.len(), before + 1);
    }
}
