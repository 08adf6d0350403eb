//! A longest common subsequence of two rows, or a good one where that would take long.
//!
//! This is the linear-space algorithm of Myers ("An O(ND) Difference Algorithm and Its Variations", 1986), which finds
//! a point on a shortest path from both ends and divides there, with a limit for the search: behind [`LIMIT`] edits it
//! divides at the point that is furthest from its end. So time is proportional to the length of the rows, times the
//! limit at most.

use crate::cost::count_examined;

/// The number of edits from either end after which a search gives up.
const LIMIT: usize = 256;

/// Elements that two rows have in common, one behind the other in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) len: usize,
}

/// The runs of a common subsequence, in order.
pub(super) fn common_runs(first: &[u32], second: &[u32]) -> Vec<Run> {
    let mut runs = Runs(Vec::new());
    let mut search = Search::default();
    let mut rest = vec![Part { first: (0, first.len()), second: (0, second.len()) }];
    while let Some(Part { first: (mut left, mut left_end), second: (mut right, mut right_end) }) = rest.pop() {
        let (one, other) = (&first[left..left_end], &second[right..right_end]);
        let head = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        runs.push(left, right, head);
        (left, right) = (left + head, right + head);
        let (one, other) = (&first[left..left_end], &second[right..right_end]);
        let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
        (left_end, right_end) = (left_end - tail, right_end - tail);
        if tail > 0 {
            // Its turn comes after that of the parts before it.
            rest.push(Part { first: (left_end, left_end + tail), second: (right_end, right_end + tail) });
        }
        let (one, other) = (&first[left..left_end], &second[right..right_end]);
        if !one.is_empty() && !other.is_empty() {
            let (x, y) = search.point_between(one, other);
            rest.push(Part { first: (left + x, left_end), second: (right + y, right_end) });
            rest.push(Part { first: (left, left + x), second: (right, right + y) });
        }
    }
    runs.0
}

/// Parts of both rows that are still to be compared, each from a place to another.
struct Part {
    first: (usize, usize),
    second: (usize, usize),
}

struct Runs(Vec<Run>);

impl Runs {
    fn push(&mut self, first: usize, second: usize, len: usize) {
        match self.0.last_mut() {
            _ if len == 0 => {}
            Some(last) if last.first + last.len == first && last.second + last.len == second => last.len += len,
            _ => self.0.push(Run { first, second, len }),
        }
    }
}

/// The points reached so far from both ends.
#[derive(Default)]
struct Search {
    forward: Reached,
    backward: Reached,
}

/// For each diagonal, the `x` of the furthest point reached on it, or [`NOWHERE`]. The `y` of a point is its `x` less
/// the number of the diagonal.
#[derive(Default)]
struct Reached {
    x: Vec<isize>,
    /// The place of diagonal 0.
    zero: isize,
}

const NOWHERE: isize = -1;

impl Search {
    /// A point that divides two rows. Neither of them is empty, and they differ at both ends, so it is none of their
    /// corners.
    fn point_between(&mut self, first: &[u32], second: &[u32]) -> (usize, usize) {
        let (n, m) = (first.len(), second.len());
        let limit = LIMIT.min((n + m).div_ceil(2));
        self.forward.clear(limit);
        self.backward.clear(limit);
        let delta = n as isize - m as isize;
        for edits in 0..=limit as isize {
            for diagonal in (-edits..=edits).step_by(2) {
                let is_same = |x: usize, y: usize| first[x] == second[y];
                let Some((x, y)) = self.forward.advance(diagonal, edits, (n, m), is_same) else { continue };
                // The other end has made one edit less.
                let opposite = delta - diagonal;
                if delta % 2 != 0 && opposite.abs() < edits && self.backward.meets(opposite, n - x) {
                    return (x, y);
                }
            }
            for diagonal in (-edits..=edits).step_by(2) {
                let is_same = |x: usize, y: usize| first[n - 1 - x] == second[m - 1 - y];
                let Some((x, y)) = self.backward.advance(diagonal, edits, (n, m), is_same) else { continue };
                let opposite = delta - diagonal;
                if delta % 2 == 0 && opposite.abs() <= edits && self.forward.meets(opposite, n - x) {
                    return (n - x, m - y);
                }
            }
        }
        let (forward, backward) = (self.forward.furthest(), self.backward.furthest());
        if forward.0 + forward.1 >= backward.0 + backward.1 { forward } else { (n - backward.0, m - backward.1) }
    }
}

impl Reached {
    /// Makes room for the diagonals that so many edits reach, and one on either side.
    fn clear(&mut self, edits: usize) {
        self.zero = edits as isize + 1;
        self.x.clear();
        self.x.resize(2 * edits + 3, NOWHERE);
    }

    fn at(&mut self, diagonal: isize) -> &mut isize {
        &mut self.x[(self.zero + diagonal) as usize]
    }

    /// Whether the point reached on a diagonal is at `x` or behind it.
    fn meets(&mut self, diagonal: isize, x: usize) -> bool {
        *self.at(diagonal) >= x as isize
    }

    /// Goes as far on a diagonal as the last edit allows. Returns `None` if that leads out of the rows.
    fn advance(
        &mut self,
        diagonal: isize,
        edits: isize,
        (n, m): (usize, usize),
        is_same: impl Fn(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let (left, above) = (*self.at(diagonal - 1), *self.at(diagonal + 1));
        let after_removal = if left == NOWHERE || left >= n as isize { NOWHERE } else { left + 1 };
        let after_addition = if above - diagonal > m as isize { NOWHERE } else { above };
        let start = if edits == 0 { 0 } else { after_removal.max(after_addition) };
        let end = (start != NOWHERE).then(|| {
            let (mut x, mut y) = (start as usize, (start - diagonal) as usize);
            count_examined(1);
            while x < n && y < m && is_same(x, y) {
                count_examined(1);
                (x, y) = (x + 1, y + 1);
            }
            (x, y)
        });
        *self.at(diagonal) = end.map_or(NOWHERE, |(x, _)| x as isize);
        end
    }

    /// The point that is furthest from the corner.
    fn furthest(&self) -> (usize, usize) {
        let reached = (-self.zero..).zip(&self.x).filter(|(_, x)| **x != NOWHERE);
        let points = reached.map(|(diagonal, x)| (*x as usize, (*x - diagonal) as usize));
        points.max_by_key(|(x, y)| x + y).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::examined_by;

    /// Length of a longest common subsequence, by the textbook's table.
    fn longest(first: &[u32], second: &[u32]) -> usize {
        let mut row = vec![0; second.len() + 1];
        for one in first {
            let mut diagonal = 0;
            for (at, other) in second.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if one == other { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[second.len()]
    }

    /// Asserts that the runs are a common subsequence, and gives its length.
    fn checked(first: &[u32], second: &[u32]) -> usize {
        let (mut left, mut right, mut len) = (0, 0, 0);
        for run in common_runs(first, second) {
            assert!(run.len > 0 && run.first >= left && run.second >= right);
            assert_eq!(first[run.first..run.first + run.len], second[run.second..run.second + run.len]);
            (left, right, len) = (run.first + run.len, run.second + run.len, len + run.len);
        }
        len
    }

    fn noise(seed: &mut u64) -> usize {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize
    }

    #[test]
    fn short_rows_have_a_longest_one() {
        let mut seed = 1;
        for round in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let letters = 1 + round % 6;
            let mut row =
                || -> Vec<u32> { (0..noise(&mut seed) % 14).map(|_| (noise(&mut seed) % letters) as u32).collect() };
            let (first, second) = (row(), row());
            assert_eq!(checked(&first, &second), longest(&first, &second), "{first:?} {second:?}");
        }
    }

    #[test]
    fn rows_within_the_limit_have_a_longest_one() {
        let mut seed = 2;
        for _ in 0..if cfg!(miri) { 1 } else { 20 } {
            let first: Vec<u32> = (0..400).map(|_| (noise(&mut seed) % 5) as u32).collect();
            let second: Vec<u32> = (0..300).map(|_| (noise(&mut seed) % 5) as u32).collect();
            assert_eq!(checked(&first, &second), longest(&first, &second));
        }
    }

    /// Counts comparisons, since timing can't prove that their number is linear.
    #[test]
    fn long_rows_take_time_in_proportion() {
        let mut seed = 3;
        let mut pairs = |len: usize| -> Vec<(Vec<u32>, Vec<u32>)> {
            let first: Vec<u32> = (0..len as u32).map(|at| at % 4).collect();
            let rows: [Vec<u32>; 5] = [
                (1..=len as u32).map(|at| at % 4).collect(),
                (0..len).map(|_| (noise(&mut seed) % 4) as u32).collect(),
                (0..len as u32).map(|at| if at % 10 == 0 { 9 } else { at % 4 }).collect(),
                (0..len as u32).map(|at| 3 - at % 4).collect(),
                (0..len as u32)
                    .map(|at| if noise(&mut seed).is_multiple_of(3) { 1_000 + at } else { at % 4 })
                    .collect(),
            ];
            rows.into_iter().map(|row| (first.clone(), row)).collect()
        };
        let len = if cfg!(miri) { 500 } else { 4_000 };
        let short = pairs(len);
        let long = pairs(4 * len);
        for ((short_first, short_second), (long_first, long_second)) in short.iter().zip(&long) {
            let steps = |first: &[u32], second: &[u32]| examined_by(|| drop(common_runs(first, second)));
            let (short, long) = (steps(short_first, short_second), steps(long_first, long_second));
            assert!(long < 6 * short + 1_000_000, "{short} and {long}");
        }
    }
}
