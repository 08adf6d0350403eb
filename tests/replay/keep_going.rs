//! All divergences of a run, instead of the first.

use cove_trace::replay::{Answer, DivergenceKind, Verdict};
use cove_trace::{RunOutcome, Value};

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
