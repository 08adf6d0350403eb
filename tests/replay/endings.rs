//! How a run ended, beside how it was recorded to; and recordings that go no further than they go.

use cove_trace::replay::{Answer, Completeness, DivergenceKind, ReplayReport, Verdict};
use cove_trace::{Replay, RunOutcome};

use crate::recorded::{Int, Recorded, Unit, ask, diverging, opened};

fn one_call() -> Recorded {
    Recorded::full().entered().gave(0, "a.b", &[], Unit)
}

fn asked_once(trace: &[u8]) -> Replay {
    let replay = opened(trace);
    ask(&replay, 0, "a.b", &[]).expect("the recorded call");
    replay
}

/// Why the recording ended too early, the task that asked for more, and the number of that call.
#[track_caller]
fn incomplete(conclusion: &ReplayReport) -> (Completeness, Option<u64>, Option<u64>) {
    let Verdict::Incomplete(incomplete) = conclusion.verdict else { panic!("not incomplete: {conclusion}") };
    (incomplete.reason, incomplete.task, incomplete.call_in_task)
}

#[test]
fn another_outcome_or_message_at_the_end_is_a_divergence() {
    let recorded = || one_call().ended_as(RunOutcome::Error, Some("not found"));
    let cases = [
        (RunOutcome::Error, Some("not found"), None),
        (RunOutcome::Success, None, Some(("outcome", r#"error: "not found""#, "success"))),
        (RunOutcome::Deadline, Some("late"), Some(("outcome", r#"error: "not found""#, r#"deadline: "late""#))),
        (RunOutcome::Error, Some("found"), Some(("message", r#""not found""#, r#""found""#))),
        (RunOutcome::Error, None, Some(("message", r#""not found""#, "none"))),
    ];
    for (outcome, message, expected) in cases {
        let conclusion = asked_once(&recorded()).finish(outcome, message);
        let found = conclusion.divergence();
        assert!(found.is_none_or(|found| found.kind() == DivergenceKind::EndedDifferently));
        assert!(found.is_none_or(|found| found.line() == Some(4)));
        assert_eq!(found.map(|found| (found.path().unwrap(), found.recorded(), found.actual())), expected);
    }
}

#[test]
fn how_it_ended_says_more_than_what_was_left() {
    let trace = one_call().gave(0, "a.b", &[], Unit).ended();
    let conclusion = asked_once(&trace).finish(RunOutcome::Invariant, Some("a bug"));
    assert_eq!(conclusion.divergences.len(), 1);
    let divergence = conclusion.divergence().unwrap();
    assert_eq!(divergence.kind(), DivergenceKind::EndedDifferently);
    assert!(divergence.to_string().ends_with("\n  1 recorded call was not asked for.\n"), "{divergence}");
}

#[test]
fn a_cut_trace_is_incomplete_where_it_ends() {
    let trace = one_call().cut();
    for (trace, reason) in
        [(&trace[..], Completeness::Cut), (&[&trace[..], b"{\"event"].concat(), Completeness::Truncated)]
    {
        let replay = asked_once(trace);
        assert_eq!(ask(&replay, 0, "a.b", &[]), Ok(Answer::Incomplete));
        let conclusion = replay.finish(RunOutcome::Cancelled, Some("the interpreter stopped it"));
        assert_eq!(incomplete(&conclusion), (reason, Some(0), Some(2)));
        assert_eq!(conclusion.divergence(), None);

        // One that ends just there: nothing contradicts, and nobody knows.
        let conclusion = asked_once(trace).finish(RunOutcome::Success, None);
        assert_eq!(incomplete(&conclusion), (reason, None, None));
    }
    let text = asked_once(&trace).finish(RunOutcome::Success, None).to_string();
    assert_eq!(text, "As recorded for 1 call, and then incomplete: the recording is cut off: it has no run_ended");
}

#[test]
fn until_it_is_cut_a_trace_is_compared() {
    let trace = one_call().gave(0, "a.b", &[Int(1)], Unit).cut();
    let replay = asked_once(&trace);
    let divergence = diverging(&replay, 0, "a.b", &[Int(2)]);
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.verdict, conclusion.divergence()), (Verdict::Diverged, Some(&divergence)));

    let conclusion = asked_once(&trace).finish(RunOutcome::Success, None);
    assert_eq!(conclusion.divergence().unwrap().kind(), DivergenceKind::UnusedCalls);
}

#[test]
fn a_task_that_a_cut_trace_does_not_have_may_have_come_later() {
    let replay = asked_once(&one_call().cut());
    assert_eq!(ask(&replay, 5, "a.b", &[]), Ok(Answer::Incomplete));
    // One that is known to have ended asked too much all the same.
    let replay = opened(&one_call().spawned(1, 0, "s").gave(1, "a.b", &[], Unit).completed(1).cut());
    ask(&replay, 1, "a.b", &[]).unwrap();
    assert_eq!(diverging(&replay, 1, "a.b", &[]).kind(), DivergenceKind::MoreCalls);
}

#[test]
fn a_run_that_a_limit_stopped_is_incomplete_from_there() {
    let limits = [
        RunOutcome::Fuel,
        RunOutcome::Deadline,
        RunOutcome::Cancelled,
        RunOutcome::CallDepth,
        RunOutcome::HostCalls,
        RunOutcome::Concurrency,
    ];
    for outcome in RunOutcome::ALL {
        let trace = one_call().exited().ended_as(*outcome, Some("said"));
        let replay = asked_once(&trace);
        let beyond = ask(&replay, 0, "a.b", &[]);
        if !limits.contains(outcome) {
            assert_eq!(beyond.unwrap_err().kind(), DivergenceKind::MoreCalls);
            continue;
        }
        assert_eq!(beyond, Ok(Answer::Incomplete));
        let reason = Completeness::Stopped(*outcome);
        let conclusion = replay.finish(RunOutcome::Error, Some("stopped by the interpreter"));
        assert_eq!(incomplete(&conclusion), (reason, Some(0), Some(2)));
        // A limit that strikes again at the same place.
        assert_eq!(asked_once(&trace).finish(*outcome, Some("said")).verdict, Verdict::Reproduced);
        // One that does not.
        let conclusion = asked_once(&trace).finish(RunOutcome::Success, None);
        assert_eq!(incomplete(&conclusion), (reason, None, None));
    }
}

#[test]
fn two_runs_stopped_by_a_limit_may_have_got_to_different_places() {
    let trace = one_call().gave(0, "a.b", &[], Unit).ended_as(RunOutcome::Deadline, None);
    let conclusion = asked_once(&trace).finish(RunOutcome::Deadline, None);
    assert!(matches!(conclusion.verdict, Verdict::Incomplete(_)), "{conclusion}");
    // One that came to its end without the second call did something else.
    let conclusion = asked_once(&trace).finish(RunOutcome::Success, None);
    assert_eq!(conclusion.divergence().unwrap().kind(), DivergenceKind::UnusedCalls);
}
