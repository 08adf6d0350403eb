//! What a divergence says, as data.

use cove_trace::replay::{DivergenceKind, Verdict};
use cove_trace::{RecordedField, RecordedOpaque, RecordedStruct, RecordedValue, RunOutcome};

use crate::recorded::{Int, Recorded, Text, Unit, ask, diverging, opened};

#[test]
fn call_57_of_100_that_differs_deep_in_its_second_argument_is_said_to_the_field() {
    let request =
        |token| [RecordedField { name: "url", value: Text("/") }, RecordedField { name: "token", value: token }];
    let (recorded, asked) = (request(Text("abc")), request(Text("abd")));
    let structure = |fields| RecordedStruct { name: "Request", fields };
    let (recorded, asked) = (structure(&recorded), structure(&asked));

    let mut trace = Recorded::full().gave(5, "other.task", &[], Unit);
    for number in 1..=100 {
        trace = trace.gave(0, "http.send", &[Int(number), RecordedValue::Struct(&recorded)], Int(200));
    }
    let replay = opened(&trace.ended());
    for number in 1..57 {
        ask(&replay, 0, "http.send", &[Int(number), RecordedValue::Struct(&recorded)]).unwrap();
    }
    let divergence = diverging(&replay, 0, "http.send", &[Int(57), RecordedValue::Struct(&asked)]);
    assert_eq!(divergence.kind(), DivergenceKind::OtherArguments);
    assert_eq!((divergence.task(), divergence.recorded_task()), (0, Some(0)));
    assert_eq!((divergence.call_in_task(), divergence.call_in_trace()), (Some(57), Some(58)));
    assert_eq!(divergence.line(), Some(59));
    assert_eq!(divergence.path(), Some("args[1].fields.token"));
    assert_eq!((divergence.recorded(), divergence.actual()), ("\"abc\"", "\"abd\""));
    let [first, second] = divergence.before() else { panic!("two calls: {:?}", divergence.before()) };
    for (before, call, line) in [(first, 55, 57), (second, 56, 58)] {
        let shown = format!("http.send({call}, Request {{ url: \"/\", token: \"abc\" }}) -> 200");
        assert_eq!((before.call_in_task, before.line, &before.shown), (call, line, &shown));
    }
}

#[test]
fn the_first_divergence_is_the_report() {
    let mut trace = Recorded::full();
    for number in 1..=5 {
        trace = trace.gave(0, "console.log", &[Int(number)], Unit);
    }
    let trace = trace.ended();
    let replay = opened(&trace);
    ask(&replay, 0, "console.log", &[Int(1)]).unwrap();
    let first = diverging(&replay, 0, "console.log", &[Int(20)]);
    assert_eq!(first.call_in_task(), Some(2));
    // Whatever is asked after that, also what would have been right, and by another task.
    assert_eq!(diverging(&replay, 0, "console.log", &[Int(2)]), first);
    assert_eq!(diverging(&replay, 7, "something.else", &[]), first);
    let conclusion = replay.finish(RunOutcome::Error, Some("replay diverged"));
    assert_eq!(conclusion.verdict, Verdict::Diverged);
    assert_eq!(conclusion.divergences, [first]);
    assert_eq!((conclusion.calls_used, conclusion.unused), (1, 4));
}

#[test]
fn each_kind_of_divergence_at_a_call() {
    let opaque = RecordedOpaque { of: "Closure", shown: "f" };
    let result = [RecordedValue::Opaque(&opaque)];
    let trace = || Recorded::full().gave(0, "list.map", &[Int(1)], RecordedValue::Array(&result)).ended();

    let divergence = diverging(&opened(&trace()), 0, "list.fold", &[Int(1)]);
    assert_eq!((divergence.kind(), divergence.path()), (DivergenceKind::OtherCall, None));
    assert_eq!((divergence.recorded(), divergence.actual()), ("list.map(1)", "list.fold(1)"));

    let divergence = diverging(&opened(&trace()), 0, "list.map", &[]);
    assert_eq!((divergence.kind(), divergence.path()), (DivergenceKind::OtherArguments, Some("args[0]")));
    assert_eq!((divergence.recorded(), divergence.actual()), ("1", "(nothing)"));

    let divergence = diverging(&opened(&trace()), 0, "list.map", &[Int(1), Int(2)]);
    assert_eq!(divergence.path(), Some("args[1]"));
    assert_eq!((divergence.recorded(), divergence.actual()), ("(nothing)", "2"));

    let divergence = diverging(&opened(&trace()), 0, "list.map", &[Int(1)]);
    assert_eq!((divergence.kind(), divergence.path()), (DivergenceKind::Unanswerable, Some("outcome.value.items[0]")));
    assert_eq!(divergence.recorded(), "opaque Closure");

    let divergence = diverging(&opened(&trace()), 9, "list.map", &[Int(1)]);
    assert_eq!((divergence.kind(), divergence.task()), (DivergenceKind::UnknownTask, 9));
    assert_eq!((divergence.recorded_task(), divergence.line()), (None, None));
}

#[test]
fn a_replay_that_asked_nothing_is_no_success() {
    let replay = opened(&Recorded::full().gave(0, "console.log", &[], Unit).ended());
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!(conclusion.verdict, Verdict::Diverged);
    assert_eq!(conclusion.divergence().unwrap().kind(), DivergenceKind::NoCalls);

    // Not of a cut trace either, nor of one whose only task was stopped.
    let replay = opened(&Recorded::full().gave(0, "console.log", &[], Unit).cut());
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Diverged);
    let replay = opened(&Recorded::full().spawned(1, 0, "s").gave(1, "console.log", &[], Unit).cancelled(1).ended());
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Diverged);
}

#[test]
fn of_a_trace_without_calls_nothing_need_be_asked() {
    let conclusion = opened(&Recorded::full().ended()).finish(RunOutcome::Success, None);
    assert_eq!((conclusion.verdict, conclusion.calls_recorded), (Verdict::Reproduced, 0));
    // One that holds nothing but its header proves nothing.
    let conclusion = opened(&Recorded::full().cut()).finish(RunOutcome::Success, None);
    assert!(matches!(conclusion.verdict, Verdict::Incomplete(_)), "{conclusion}");
}

#[test]
fn calls_that_were_not_asked_for_are_a_divergence_at_the_end() {
    let trace = Recorded::full()
        .spawned(1, 0, "s")
        .gave(0, "a.b", &[Int(1)], Unit)
        .gave(1, "a.b", &[Int(2)], Unit)
        .gave(0, "a.b", &[Int(3)], Unit)
        .completed(1)
        .ended();
    let replay = opened(&trace);
    ask(&replay, 0, "a.b", &[Int(1)]).unwrap();
    let conclusion = replay.finish(RunOutcome::Success, None);
    let divergence = conclusion.divergence().unwrap();
    assert_eq!(divergence.kind(), DivergenceKind::UnusedCalls);
    assert_eq!((divergence.task(), divergence.call_in_task(), divergence.line()), (1, Some(1), Some(4)));
    assert_eq!(divergence.recorded(), "a.b(2)");
    assert_eq!(conclusion.unused, 2);
}
