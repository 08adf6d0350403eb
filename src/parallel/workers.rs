//! Work done by several threads and taken in order.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Finished work that each thread may have waiting for its turn.
const WAITING: usize = 1;

/// Makes the things numbered from 0 to `count` on so many threads, and hands them to `take` in their order, until that says
/// to stop. A thread that can't be had is done without.
pub(super) fn in_order<T: Send>(
    threads: NonZero<usize>,
    count: u64,
    make: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> bool,
) {
    let stride = (threads.get() as u64).min(count);
    thread::scope(|scope| {
        let make = &make;
        let start = |first: u64| -> Option<Receiver<T>> {
            let (hand_over, receiver) = sync_channel(WAITING);
            let work = move || {
                let mut numbers = (first..count).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
                // When nobody waits for it any more there is nothing left to do.
                numbers.try_for_each(|number| hand_over.send(make(number)))
            };
            thread::Builder::new().spawn_scoped(scope, work).is_ok().then_some(receiver)
        };
        let workers: Vec<_> = if stride > 1 { (0..stride).map(start).collect() } else { Vec::new() };
        for number in 0..count {
            let worker = workers.get((number % stride) as usize).and_then(Option::as_ref);
            let made = worker.and_then(|worker| worker.recv().ok()).unwrap_or_else(|| make(number));
            if !take(number, made) {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_taken_once_and_in_order() {
        for threads in 1..5 {
            for count in 0..20 {
                let mut taken = Vec::new();
                in_order(
                    NonZero::new(threads).unwrap(),
                    count,
                    |number| number * number,
                    |number, made| {
                        assert_eq!(made, number * number);
                        taken.push(number);
                        number < 11
                    },
                );
                assert_eq!(taken, (0..count.min(12)).collect::<Vec<_>>(), "{threads} threads");
            }
        }
    }
}
