//! Matches the tasks of two runs.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::ENTRY_TASK;
use crate::replay::recording::Recording;

/// A task of one run and its match in the other, or a task without a match.
type Pair = (Option<u64>, Option<u64>);

/// Matches all tasks that made calls, starting at the entry. Children follow their parents.
pub(super) fn matched(first: &Recording, second: &Recording) -> Vec<Pair> {
    let mut pairs = vec![(Some(ENTRY_TASK), Some(ENTRY_TASK))];
    let mut known = [HashSet::from([ENTRY_TASK]), HashSet::from([ENTRY_TASK])];
    let scopes = [scopes_by_parent(first), scopes_by_parent(second)];
    // First the tasks without a parent, then the children of the entry.
    let mut parents = VecDeque::from([(None, None), (Some(ENTRY_TASK), Some(ENTRY_TASK))]);
    while let Some((one, other)) = parents.pop_front() {
        let names = scopes.iter().zip([one, other]).filter_map(|(scopes, parent)| scopes.get(&parent)).flatten();
        for scope in names.copied().collect::<BTreeSet<&str>>() {
            let [known_first, known_second] = &mut known;
            let first_children = new_children(first, one, scope, known_first);
            let second_children = new_children(second, other, scope, known_second);
            for pair in match_children(first, second, first_children, second_children) {
                pairs.push(pair);
                if let (Some(one), Some(other)) = pair {
                    parents.push_back((Some(one), Some(other)));
                }
            }
        }
    }
    add_the_rest(first, second, &mut pairs);
    pairs.retain(|(one, other)| has_calls(first, *one) || has_calls(second, *other));
    pairs
}

/// The scopes of each parent.
fn scopes_by_parent(trace: &Recording) -> HashMap<Option<u64>, Vec<&str>> {
    let mut scopes: HashMap<_, Vec<&str>> = HashMap::new();
    for (parent, scope) in trace.children().keys() {
        scopes.entry(*parent).or_default().push(scope);
    }
    scopes
}

/// Returns the tasks that `parent` spawned in `scope`. In a damaged trace, a task can be spawned repeatedly or by
/// itself; later spawns are ignored.
fn new_children(trace: &Recording, parent: Option<u64>, scope: &str, known: &mut HashSet<u64>) -> Vec<u64> {
    let children = trace.children().get(&(parent, scope.into())).into_iter().flatten();
    children.copied().filter(|task| known.insert(*task)).collect()
}

/// Matches the tasks of one scope: tasks with equal calls first, the others in order.
fn match_children(first: &Recording, second: &Recording, one: Vec<u64>, other: Vec<u64>) -> Vec<Pair> {
    let mut same: HashMap<u64, BTreeSet<usize>> = HashMap::new();
    for (place, task) in other.iter().enumerate() {
        same.entry(fingerprint(second, *task)).or_default().insert(place);
    }
    let mut partners: Vec<Option<usize>> = one
        .iter()
        .enumerate()
        .map(|(place, task)| {
            let places = same.get_mut(&fingerprint(first, *task))?;
            // The task at the same index is preferred.
            places.take(&place).or_else(|| places.pop_first())
        })
        .collect();
    let mut is_taken = vec![false; other.len()];
    partners.iter().flatten().for_each(|place| is_taken[*place] = true);
    let mut free = (0..other.len()).filter(|place| !is_taken[*place]).collect::<VecDeque<_>>();
    for partner in partners.iter_mut().filter(|partner| partner.is_none()) {
        *partner = free.pop_front();
    }
    let pairs = one.iter().zip(partners).map(|(task, partner)| (Some(*task), partner.map(|place| other[place])));
    pairs.chain(free.iter().map(|place| (None, Some(other[*place])))).collect()
}

/// Hashes the calls of a task. A collision is harmless, since matched tasks are compared anyway.
fn fingerprint(trace: &Recording, task: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    for call in trace.tape(task).into_iter().flat_map(|tape| &tape.calls) {
        let call = &trace.calls[*call];
        let site = trace.site(call);
        (site.module(), site.op(), site.capability(), trace.args(call), trace.outcome(call)).hash(&mut hasher);
    }
    hasher.finish()
}

/// Matches tasks without a known parent by their ids.
fn add_the_rest(first: &Recording, second: &Recording, pairs: &mut Vec<Pair>) {
    let rest = |trace: &Recording, known: Vec<u64>| {
        let known: HashSet<u64> = known.into_iter().collect();
        let mut rest: Vec<u64> = trace.tapes().map(|(task, _)| task).filter(|task| !known.contains(task)).collect();
        rest.sort_unstable();
        rest
    };
    let one = rest(first, pairs.iter().filter_map(|pair| pair.0).collect());
    let other = rest(second, pairs.iter().filter_map(|pair| pair.1).collect());
    for task in &one {
        pairs.push((Some(*task), other.binary_search(task).is_ok().then_some(*task)));
    }
    for task in other.iter().filter(|task| one.binary_search(task).is_err()) {
        pairs.push((None, Some(*task)));
    }
}

fn has_calls(trace: &Recording, task: Option<u64>) -> bool {
    task.and_then(|task| trace.tape(task)).is_some_and(|tape| !tape.calls.is_empty())
}
