//! All divergences of a run, instead of the first.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cove_trace::replay::{Answer, Divergence, DivergenceKind, Verdict};
use cove_trace::{Replay, RunOutcome, Value};

use crate::recorded::{Int, Recorded, Text, Unit, ask, diverging, opened};

fn trace() -> Vec<u8> {
    let mut trace = Recorded::full();
    for (name, answer) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        trace = trace.gave(0, "store.get", &[Text(name)], Int(answer));
    }
    trace.gave(0, "store.close", &[], Unit).ended()
}

fn kinds(divergences: &[cove_trace::replay::Divergence]) -> Vec<DivergenceKind> {
    divergences.iter().map(cove_trace::replay::Divergence::kind).collect()
}

#[test]
fn other_arguments_are_answered_as_the_recorded_ones() {
    let replay = opened(&trace()).keep_going();
    for (name, expected) in [("a", 1), ("x", 2), ("c", 3), ("y", 4)] {
        assert_eq!(ask(&replay, 0, "store.get", &[Text(name)]), Ok(Answer::Value(Value::Int(expected))));
    }
    ask(&replay, 0, "store.close", &[]).unwrap();
    let conclusion = replay.finish(RunOutcome::Error, Some("why not"));
    assert_eq!(conclusion.verdict, Verdict::Diverged);
    let expected = [DivergenceKind::OtherArguments, DivergenceKind::OtherArguments, DivergenceKind::EndedDifferently];
    assert_eq!(kinds(&conclusion.divergences), expected);
    let calls: Vec<_> = conclusion.divergences.iter().map(cove_trace::replay::Divergence::call_in_task).collect();
    assert_eq!(calls, [Some(2), Some(4), None]);
    assert!(conclusion.to_string().ends_with("3 divergences in all"), "{conclusion}");
}

#[test]
fn a_call_that_was_left_out_is_passed_over() {
    let replay = opened(&trace()).keep_going();
    ask(&replay, 0, "store.get", &[Text("a")]).unwrap();
    assert_eq!(ask(&replay, 0, "store.close", &[]), Ok(Answer::Value(Value::Unit)));
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!(kinds(&conclusion.divergences), [DivergenceKind::OtherCall]);
    let report = conclusion.divergence().unwrap().to_string();
    assert!(report.contains("3 recorded calls passed over"), "{report}");
}

#[test]
fn a_call_that_was_put_in_gets_no_answer_and_the_recorded_one_stays_due() {
    let replay = opened(&trace()).keep_going();
    ask(&replay, 0, "store.get", &[Text("a")]).unwrap();
    assert_eq!(diverging(&replay, 0, "console.log", &[]).kind(), DivergenceKind::OtherCall);
    assert_eq!(ask(&replay, 0, "store.get", &[Text("b")]), Ok(Answer::Value(Value::Int(2))));
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!(kinds(&conclusion.divergences), [DivergenceKind::OtherCall, DivergenceKind::UnusedCalls]);
}

#[test]
fn a_thousand_divergences_are_kept_and_all_are_counted() {
    let mut trace = Recorded::full();
    for number in 0..1_500 {
        trace = trace.gave(0, "a.b", &[Int(number)], Unit);
    }
    let replay = opened(&trace.ended()).keep_going();
    for _ in 0..1_500 {
        ask(&replay, 0, "a.b", &[Text("other")]).unwrap();
    }
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.divergences.len(), conclusion.divergences_found), (1_000, 1_500));
}

/// The trace of a run that makes these calls, no two of which are the same.
fn run(calls: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let mut trace = Recorded::full();
    for number in calls {
        let operation = if number % 2 == 0 { "store.get" } else { "store.put" };
        trace = trace.gave(0, operation, &[Int(number / 2)], Int(number));
    }
    trace.ended()
}

/// The number with which this call of [`run`] is answered.
fn answered(replay: &Replay, number: i64) -> Result<i64, Divergence> {
    let operation = if number % 2 == 0 { "store.get" } else { "store.put" };
    match ask(replay, 0, operation, &[Int(number / 2)])? {
        Answer::Value(Value::Int(number)) => Ok(number),
        other => panic!("{other:?}"),
    }
}

/// Asks for these calls of [`run`], each of which gets the answer that belongs to it.
#[track_caller]
fn assert_answered(replay: &Replay, calls: impl IntoIterator<Item = i64>) {
    for number in calls {
        assert_eq!(answered(replay, number), Ok(number));
    }
}

#[test]
fn one_call_put_in_again_is_one_divergence_wherever_it_stands() {
    const CALLS: i64 = 40;
    for place in 1..=CALLS {
        for back in 1..=place.min(16) {
            let replay = opened(&run(0..CALLS)).keep_going();
            assert_answered(&replay, (0..place).chain([place - back]).chain(place..CALLS));
            let conclusion = replay.finish(RunOutcome::Success, None);
            assert_eq!((conclusion.divergences_found, conclusion.unused), (1, 0), "{place} {back}: {conclusion}");
        }
    }
}

#[test]
fn calls_left_out_are_one_divergence_whatever_their_operation() {
    const CALLS: i64 = 40;
    for left_out in 1..=16 {
        for place in 0..CALLS - left_out {
            let replay = opened(&run(0..CALLS)).keep_going();
            assert_answered(&replay, (0..place).chain(place + left_out..CALLS));
            let conclusion = replay.finish(RunOutcome::Success, None);
            assert_eq!((conclusion.divergences_found, conclusion.unused), (1, 0), "{place} {left_out}: {conclusion}");
        }
    }
}

#[test]
fn calls_in_another_order_get_their_own_answers() {
    let replay = opened(&run(0..6)).keep_going();
    assert_answered(&replay, [1, 0, 2, 4, 3, 5]);
    assert_eq!(replay.finish(RunOutcome::Success, None).divergences_found, 4);
}

#[test]
fn a_report_says_which_call_the_answer_is_of() {
    let replay = opened(&run(0..4)).keep_going();
    assert_answered(&replay, [0, 1, 0, 2, 3]);
    let conclusion = replay.finish(RunOutcome::Success, None);
    let report = conclusion.divergence().unwrap().to_string();
    assert!(report.contains("answered as recorded call 1 of the task, which is the same"), "{report}");
    assert_eq!(conclusion.divergence().unwrap().kind(), DivergenceKind::OtherArguments);
}

/// Two threads of one task, one of which asks for the first call of a pair and one for the second: in either order each gets
/// its own answer. It is two divergences if the second came first, and none if not.
#[test]
fn a_call_that_another_thread_made_due_meanwhile_is_no_divergence() {
    const PAIRS: i64 = if cfg!(miri) { 10 } else { 20_000 };
    let replay = opened(&run(0..2 * PAIRS)).keep_going();
    let (barrier, wrong) = (Barrier::new(2), AtomicU64::new(0));
    thread::scope(|scope| {
        for first in [0, 1] {
            let (replay, barrier, wrong) = (&replay, &barrier, &wrong);
            scope.spawn(move || {
                for number in (first..2 * PAIRS).step_by(2) {
                    barrier.wait();
                    // Counted, since the other thread would wait for one that panics.
                    wrong.fetch_add(u64::from(answered(replay, number) != Ok(number)), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(wrong.into_inner(), 0);
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.divergences_found % 2, conclusion.unused), (0, 0));
}
