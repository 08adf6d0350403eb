//! Aligns the calls of two tasks.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::common::{Run, common_runs};

/// A segment of an alignment, as ranges of indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// Ranges of equal length, paired element by element.
    Pairs(Range<usize>, Range<usize>),
    /// Only in the first.
    Removed(Range<usize>),
    /// Only in the second.
    Added(Range<usize>),
}

/// Aligns two rows by `whole` keys, and the gaps between equal keys by `partial` keys.
pub(super) fn align<T, W: Eq + Hash, P: Eq + Hash>(
    first: &[T],
    second: &[T],
    whole: impl Fn(&T, Side) -> W,
    partial: impl Fn(&T, Side) -> P,
) -> Vec<Segment> {
    let mut steps = Vec::new();
    for step in by_key(first, second, 0..first.len(), 0..second.len(), whole) {
        match step {
            Gap::Common(left, right) => steps.push(Segment::Pairs(left, right)),
            Gap::Different(left, right) => {
                for step in by_key(first, second, left, right, &partial) {
                    match step {
                        Gap::Common(left, right) => steps.push(Segment::Pairs(left, right)),
                        Gap::Different(left, right) => {
                            steps.push(Segment::Removed(left));
                            steps.push(Segment::Added(right));
                        }
                    }
                }
            }
        }
    }
    steps.retain(|step| match step {
        Segment::Pairs(calls, _) | Segment::Removed(calls) | Segment::Added(calls) => !calls.is_empty(),
    });
    steps
}

/// The row of an element.
pub(super) use super::change::Side;

enum Gap {
    Common(Range<usize>, Range<usize>),
    Different(Range<usize>, Range<usize>),
}

/// Returns the parts of two rows with equal keys, and the parts between them.
fn by_key<T, K: Eq + Hash>(
    first: &[T],
    second: &[T],
    left: Range<usize>,
    right: Range<usize>,
    key: impl Fn(&T, Side) -> K,
) -> Vec<Gap> {
    let is_same = |left: usize, right: usize| key(&first[left], Side::First) == key(&second[right], Side::Second);
    // Two runs mostly agree at both ends, so those calls are compared without numbering them.
    let shorter = left.len().min(right.len());
    let head = (0..shorter).take_while(|at| is_same(left.start + at, right.start + at)).count();
    let tail = (1..=shorter - head).take_while(|at| is_same(left.end - at, right.end - at)).count();

    let (middle_left, middle_right) = (left.start + head..left.end - tail, right.start + head..right.end - tail);
    let mut numbers = HashMap::new();
    let mut number = |call: &T, side| {
        let next = numbers.len() as u32;
        *numbers.entry(key(call, side)).or_insert(next)
    };
    let one: Vec<u32> = first[middle_left.clone()].iter().map(|call| number(call, Side::First)).collect();
    let other: Vec<u32> = second[middle_right.clone()].iter().map(|call| number(call, Side::Second)).collect();

    let mut gaps = vec![Gap::Common(left.start..middle_left.start, right.start..middle_right.start)];
    let (mut at_left, mut at_right) = (middle_left.start, middle_right.start);
    let end = Run { first: one.len(), second: other.len(), len: 0 };
    for run in common_runs(&one, &other).into_iter().chain([end]) {
        let (start_left, start_right) = (middle_left.start + run.first, middle_right.start + run.second);
        gaps.push(Gap::Different(at_left..start_left, at_right..start_right));
        (at_left, at_right) = (start_left + run.len, start_right + run.len);
        gaps.push(Gap::Common(start_left..at_left, start_right..at_right));
    }
    gaps.push(Gap::Common(middle_left.end..left.end, middle_right.end..right.end));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(first: &str, second: &str) -> Vec<Segment> {
        let (first, second): (Vec<_>, Vec<_>) = (first.chars().collect(), second.chars().collect());
        let steps = align(&first, &second, |call, _| *call, |call, _| call.to_ascii_lowercase());
        // Every call stands once, in its order.
        let (mut left, mut right) = (0, 0);
        for step in &steps {
            if let Segment::Pairs(calls, others) = step {
                assert_eq!(calls.len(), others.len());
                for (call, other) in calls.clone().zip(others.clone()) {
                    assert!(first[call].eq_ignore_ascii_case(&second[other]));
                }
            }
            let (lefts, rights) = match step.clone() {
                Segment::Pairs(lefts, rights) => (lefts, rights),
                Segment::Removed(lefts) => (lefts, right..right),
                Segment::Added(rights) => (left..left, rights),
            };
            assert_eq!((lefts.start, rights.start), (left, right));
            (left, right) = (lefts.end, rights.end);
        }
        assert_eq!((left, right), (first.len(), second.len()));
        steps
    }

    #[test]
    fn one_put_in_or_left_out_is_one() {
        assert_eq!(
            aligned("abc", "abxc"),
            [Segment::Pairs(0..2, 0..2), Segment::Added(2..3), Segment::Pairs(2..3, 3..4)]
        );
        assert_eq!(
            aligned("abxc", "abc"),
            [Segment::Pairs(0..2, 0..2), Segment::Removed(2..3), Segment::Pairs(3..4, 2..3)]
        );
        assert_eq!(aligned("", "a"), [Segment::Added(0..1)]);
        assert_eq!(aligned("aaa", "aa").len(), 2);
        assert_eq!(aligned("", ""), []);
    }

    #[test]
    fn what_is_alike_in_part_is_paired() {
        let steps = aligned("abcd", "aBcd");
        let pairs: usize =
            steps.iter().map(|step| if let Segment::Pairs(calls, _) = step { calls.len() } else { 0 }).sum();
        assert_eq!(pairs, 4);
        let steps = aligned("axbycz", "aXbYcZ");
        assert!(steps.iter().all(|step| matches!(step, Segment::Pairs(..))), "{steps:?}");
        aligned("thequickbrownfox", "jumpsOVERTHElazydog");
    }

    #[test]
    fn long_rows_that_have_nothing_in_common_are_aligned_all_the_same() {
        let (first, second) = (vec![1; 50_000], vec![2; 50_000]);
        let steps = align(&first, &second, |call, _| *call, |call, _| *call);
        assert_eq!(steps, [Segment::Removed(0..50_000), Segment::Added(0..50_000)]);
    }
}
