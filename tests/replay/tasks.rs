//! Several tasks: what interleaving may change, and what not.

use std::thread;

use cove_trace::replay::{Answer, DivergenceKind, Order, TaskMatching, Verdict};
use cove_trace::{RunOutcome, Value};

use crate::recorded::{Int, Recorded, Text, Unit, ask, diverging, opened};

/// Two tasks that ask the same operation for different things.
fn two_tasks() -> Vec<u8> {
    Recorded::full()
        .spawned(1, 0, "s")
        .spawned(2, 0, "s")
        .gave(1, "a.f", &[Text("a")], Int(1))
        .gave(2, "a.f", &[Text("b")], Int(2))
        .completed(1)
        .completed(2)
        .ended()
}

#[test]
fn tasks_asked_in_another_order_get_their_own_answers() {
    let replay = opened(&two_tasks());
    assert_eq!(ask(&replay, 2, "a.f", &[Text("b")]), Ok(Answer::Value(Value::Int(2))));
    assert_eq!(ask(&replay, 1, "a.f", &[Text("a")]), Ok(Answer::Value(Value::Int(1))));
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);
}

#[test]
fn in_the_strict_order_that_is_a_divergence() {
    let replay = opened(&two_tasks()).order(Order::Strict);
    let divergence = diverging(&replay, 2, "a.f", &[Text("b")]);
    assert_eq!((divergence.kind(), divergence.path()), (DivergenceKind::OtherCall, Some("task")));
    assert_eq!((divergence.task(), divergence.recorded_task()), (2, Some(1)));
    assert_eq!((divergence.recorded(), divergence.actual()), (r#"task 1: a.f("a")"#, r#"task 2: a.f("b")"#));

    let replay = opened(&two_tasks()).order(Order::Strict);
    assert_eq!(ask(&replay, 1, "a.f", &[Text("a")]), Ok(Answer::Value(Value::Int(1))));
    assert_eq!(ask(&replay, 2, "a.f", &[Text("b")]), Ok(Answer::Value(Value::Int(2))));
    assert_eq!(diverging(&replay, 2, "a.f", &[Text("b")]).kind(), DivergenceKind::MoreCalls);
}

#[test]
fn a_strict_replay_in_order_is_reproduced() {
    let replay = opened(&two_tasks()).order(Order::Strict);
    ask(&replay, 1, "a.f", &[Text("a")]).unwrap();
    assert!(replay.has_calls_left(2) && !replay.has_calls_left(1));
    ask(&replay, 2, "a.f", &[Text("b")]).unwrap();
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.verdict, conclusion.calls_used), (Verdict::Reproduced, 2));
}

/// Two children of the entry, each of which has two children; ids by one counter, as scheduling had it.
fn family(ids: [u64; 6]) -> Vec<u8> {
    let [a, b, a1, a2, b1, b2] = ids;
    let mut trace = Recorded::full()
        .spawned(a, 0, "parents")
        .spawned(b, 0, "parents")
        .spawned(b1, b, "children")
        .spawned(a1, a, "children")
        .spawned(a2, a, "children")
        .spawned(b2, b, "children");
    for (name, id) in ["a", "b", "a1", "a2", "b1", "b2"].into_iter().zip(ids) {
        trace = trace.gave(id, "console.log", &[Text(name)], Text(name)).completed(id);
    }
    trace.ended()
}

#[test]
fn tasks_are_matched_by_where_they_come_from() {
    let replay = opened(&family([1, 2, 4, 5, 3, 6])).tasks(TaskMatching::ByScope);
    // Another interleaving, and so other ids.
    replay.spawned(11, Some(0), "parents");
    replay.spawned(13, Some(11), "children");
    replay.spawned(14, Some(11), "children");
    replay.spawned(12, Some(0), "parents");
    replay.spawned(15, Some(12), "children");
    replay.spawned(16, Some(12), "children");
    for (task, name) in [(16, "b2"), (15, "b1"), (14, "a2"), (13, "a1"), (12, "b"), (11, "a")] {
        assert_eq!(ask(&replay, task, "console.log", &[Text(name)]), Ok(Answer::Value(Value::String(name.into()))));
    }
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);
}

#[test]
fn a_task_too_many_is_unknown_and_so_are_its_children() {
    let replay = opened(&family([1, 2, 4, 5, 3, 6])).tasks(TaskMatching::ByScope).keep_going();
    for id in [21, 22, 23] {
        replay.spawned(id, Some(0), "parents");
    }
    replay.spawned(24, Some(23), "children");
    replay.spawned(25, Some(21), "another scope");
    for id in [23, 24, 25, 26] {
        let divergence = diverging(&replay, id, "console.log", &[Text("a")]);
        assert_eq!((divergence.kind(), divergence.task()), (DivergenceKind::UnknownTask, id));
    }
    assert_eq!(ask(&replay, 22, "console.log", &[Text("b")]), Ok(Answer::Value(Value::String("b".into()))));
}

#[test]
fn scopes_keep_their_own_count() {
    let trace = Recorded::full()
        .spawned(1, 0, "one")
        .spawned(2, 0, "other")
        .gave(1, "a.b", &[], Int(1))
        .gave(2, "a.b", &[], Int(2))
        .completed(1)
        .completed(2)
        .ended();
    let replay = opened(&trace).tasks(TaskMatching::ByScope);
    replay.spawned(8, Some(0), "other");
    replay.spawned(9, Some(0), "one");
    assert_eq!(ask(&replay, 8, "a.b", &[]), Ok(Answer::Value(Value::Int(2))));
    assert_eq!(ask(&replay, 9, "a.b", &[]), Ok(Answer::Value(Value::Int(1))));
}

#[test]
fn how_far_a_cancelled_task_gets_is_no_divergence() {
    let trace = || {
        Recorded::full()
            .spawned(1, 0, "s")
            .gave(1, "clock.tick", &[], Int(1))
            .gave(1, "clock.tick", &[], Int(2))
            .cancelled(1)
            .gave(0, "console.log", &[], Unit)
            .ended()
    };
    // It gets less far.
    let replay = opened(&trace());
    ask(&replay, 1, "clock.tick", &[]).unwrap();
    ask(&replay, 0, "console.log", &[]).unwrap();
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.verdict, conclusion.unused, conclusion.unused_by_stopped), (Verdict::Reproduced, 0, 1));
    assert_eq!(conclusion.to_string(), "As recorded, to the end: 2 calls; 1 call of stopped tasks not asked for");

    // It would get further.
    let replay = opened(&trace());
    ask(&replay, 0, "console.log", &[]).unwrap();
    for _ in 0..2 {
        assert!(replay.has_calls_left(1));
        ask(&replay, 1, "clock.tick", &[]).unwrap();
    }
    assert!(!replay.has_calls_left(1));
    assert_eq!(ask(&replay, 1, "clock.tick", &[]), Ok(Answer::Stopped));
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);

    // What it does until then is compared.
    assert_eq!(diverging(&opened(&trace()), 1, "clock.tick", &[Unit]).kind(), DivergenceKind::OtherArguments);
}

#[test]
fn a_run_that_a_task_ended_may_find_the_entry_anywhere() {
    let trace = Recorded::full()
        .spawned(1, 0, "s")
        .gave(0, "console.log", &[], Unit)
        .gave(1, "a.fail", &[], Unit)
        .cancelled(1)
        .ended_as(RunOutcome::Invariant, Some("a bug"));
    let replay = opened(&trace);
    ask(&replay, 0, "console.log", &[]).unwrap();
    assert_eq!(ask(&replay, 0, "console.log", &[]), Ok(Answer::Stopped));
    ask(&replay, 1, "a.fail", &[]).unwrap();
    assert_eq!(replay.finish(RunOutcome::Invariant, Some("a bug")).verdict, Verdict::Reproduced);
}

#[test]
fn threads_share_a_replay() {
    const CALLS: i64 = if cfg!(miri) { 20 } else { 2_000 };
    let mut trace = (1..=4).fold(Recorded::full(), |trace, task| trace.spawned(task, 0, "s"));
    for number in 0..CALLS {
        for task in 1..=4 {
            trace = trace.gave(task, "a.f", &[Int(number)], Int(number * 10 + task as i64));
        }
    }
    for task in 1..=4 {
        trace = trace.completed(task);
    }
    let trace = trace.ended();
    for order in [Order::PerTask, Order::Strict] {
        let replay = opened(&trace).order(order);
        if order == Order::PerTask {
            thread::scope(|scope| {
                for task in 1..=4 {
                    let replay = &replay;
                    scope.spawn(move || {
                        for number in 0..CALLS {
                            let expected = Value::Int(number * 10 + task as i64);
                            assert_eq!(ask(replay, task, "a.f", &[Int(number)]), Ok(Answer::Value(expected)));
                        }
                    });
                }
            });
        } else {
            for number in 0..CALLS {
                for task in 1..=4 {
                    ask(&replay, task, "a.f", &[Int(number)]).unwrap();
                }
            }
        }
        let conclusion = replay.finish(RunOutcome::Success, None);
        assert_eq!((conclusion.verdict, conclusion.calls_used), (Verdict::Reproduced, 4 * CALLS as u64));
    }
}

#[test]
fn threads_that_ask_for_one_task_share_its_calls_out() {
    const CALLS: u64 = if cfg!(miri) { 40 } else { 4_000 };
    let mut trace = Recorded::full();
    for number in 0..CALLS {
        trace = trace.gave(0, "queue.poll", &[], Int(number as i64));
    }
    let replay = opened(&trace.ended());
    let mut polled: Vec<i64> = thread::scope(|scope| {
        let poll = || {
            let next = || ask(&replay, 0, "queue.poll", &[]);
            (0..CALLS / 4)
                .map(|_| next())
                .map(|answer| match answer {
                    Ok(Answer::Value(Value::Int(number))) => number,
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(poll)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    polled.sort_unstable();
    assert!(polled.into_iter().eq(0..CALLS as i64));
}

#[test]
fn a_replay_is_shareable() {
    fn assert_shareable<T: Send + Sync>() {}
    assert_shareable::<cove_trace::Replay>();
    assert_shareable::<cove_trace::replay::LiveCheck>();
    assert_shareable::<cove_trace::replay::Divergence>();
    assert_shareable::<cove_trace::replay::ReplayReport>();
}
