//! Work that several threads do, and whose results are taken in order.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The number of results of each thread that may wait for their turn.
const WAITING: usize = 1;

/// Calls `make` on `threads` threads for each number below `count`, and passes the results to `take` in order until it
/// returns false. If a thread cannot be started, the calling thread does its work.
pub(super) fn in_order<T: Send>(
    threads: usize,
    count: u64,
    make: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> bool,
) {
    let stride = (threads as u64).min(count);
    thread::scope(|scope| {
        let make = &make;
        let start = |first: u64| -> Option<Receiver<T>> {
            let (hand_over, receiver) = sync_channel(WAITING);
            let work = move || {
                let mut numbers = (first..count).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
                // Sending fails after `take` has returned false.
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
                    threads,
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
