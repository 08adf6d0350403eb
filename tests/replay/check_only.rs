//! A live run held against a trace by its operations and types.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cove_trace::replay::{DivergenceKind, LiveCheck, TaskMatching, Verdict};
use cove_trace::{
    HostCall, HostOutcome, RecordedResource, RecordedValue, Replay, RunOutcome, TraceEvent, TraceSink, TraceValue,
    ValueWriter,
};

use crate::recorded::{Int, Recorded, Text, Unit, site};

/// A run that reads something and says so.
fn record(recorded: Recorded) -> Vec<u8> {
    recorded
        .gave(0, "files.read", &[Text("one")], Text("its text"))
        .any_call(0, "files.write", false, &[Text("one"), Text("two")], None)
        .call(0, "files.read", &[Text("three")], HostOutcome::Error("no such file"))
        .ended()
}

fn checked(trace: &[u8]) -> LiveCheck {
    Replay::check_only(trace).expect("a trace")
}

fn live(
    check: &LiveCheck,
    task: u64,
    operation: &str,
    granted: bool,
    args: &[RecordedValue<'_>],
    outcome: Option<HostOutcome<'_>>,
) {
    let wait = Duration::from_secs(1);
    check.record(&TraceEvent::HostCall(HostCall { task, site: site(operation), wait, granted, args, outcome }));
}

fn end(check: &LiveCheck, outcome: RunOutcome) {
    check.record(&TraceEvent::RunEnded { outcome, message: Some("whatever") });
}

#[test]
fn a_run_with_other_values_is_the_same_by_its_types() {
    for trace in [record(Recorded::redacted()), record(Recorded::full())] {
        let check = checked(&trace);
        assert!(check.is_recording());
        live(&check, 0, "files.read", true, &[Text("else")], Some(HostOutcome::Value(Text("other"))));
        live(&check, 0, "files.write", false, &[Text("x"), Text("y")], None);
        live(&check, 0, "files.read", true, &[Text("z")], Some(HostOutcome::Error("another message")));
        end(&check, RunOutcome::Success);
        let conclusion = check.finish();
        assert_eq!((conclusion.verdict, conclusion.unchecked), (Verdict::Reproduced, 5), "{conclusion}");
        assert_eq!(conclusion.to_string(), "As recorded, to the end: 3 calls; 5 values compared by type alone");
    }
}

/// Type names that are cut or escaped to the same characters where they are shown.
#[test]
fn results_of_types_that_are_shown_alike_are_told_apart() {
    let long = "x".repeat(100);
    for (one, other) in [(format!("{long}1"), format!("{long}2")), ("\u{1}".to_owned(), r"\u{1}".to_owned())] {
        let value = |of| RecordedValue::Redacted { of };
        let trace = Recorded::redacted().gave(0, "files.read", &[], value(&one)).ended();
        for (of, is_same) in [(&one, true), (&other, false)] {
            let check = checked(&trace);
            live(&check, 0, "files.read", true, &[], Some(HostOutcome::Value(value(of))));
            let kind = check.divergence().map(cove_trace::replay::Divergence::kind);
            assert_eq!(kind, (!is_same).then_some(DivergenceKind::OtherOutcome), "{of}");
        }
    }
}

#[test]
fn what_differs_by_more_than_a_value_is_found() {
    use DivergenceKind as Kind;

    type Call<'a> = (&'a str, bool, &'a [RecordedValue<'a>], Option<HostOutcome<'a>>);
    let resource = RecordedResource { name: "File", id: 1 };
    let value = |value| Some(HostOutcome::Value(value));
    let cases: [(Call<'_>, Kind, Option<&str>, &str, &str); 7] = [
        (
            ("files.list", true, &[Text("a")], value(Text(""))),
            Kind::OtherCall,
            None,
            "files.read(<redacted String>)",
            "files.list(<redacted String>)",
        ),
        (
            ("files.read", true, &[Int(1)], value(Text(""))),
            Kind::OtherArguments,
            Some("args[0]"),
            "<redacted String>",
            "<redacted Int>",
        ),
        (
            ("files.read", true, &[RecordedValue::Resource(&resource)], value(Text(""))),
            Kind::OtherArguments,
            Some("args[0]"),
            "<redacted String>",
            "<redacted File>",
        ),
        (
            ("files.read", true, &[], value(Text(""))),
            Kind::OtherArguments,
            Some("args[0]"),
            "<redacted String>",
            "(nothing)",
        ),
        (("files.read", false, &[Text("a")], None), Kind::OtherVerdict, Some("granted"), "granted", "not granted"),
        (
            ("files.read", true, &[Text("a")], value(Unit)),
            Kind::OtherOutcome,
            Some("outcome"),
            "a value of type String",
            "a value of type Unit",
        ),
        (
            ("files.read", true, &[Text("a")], Some(HostOutcome::Error("secret"))),
            Kind::OtherOutcome,
            Some("outcome"),
            "a value of type String",
            "an error",
        ),
    ];
    for ((operation, granted, args, outcome), kind, path, recorded, asked) in cases {
        let check = checked(&record(Recorded::redacted()));
        live(&check, 0, operation, granted, args, outcome);
        let divergence = check.divergence().expect("a divergence").clone();
        assert_eq!((divergence.kind(), divergence.path()), (kind, path));
        assert_eq!((divergence.recorded(), divergence.actual()), (recorded, asked));
        assert_eq!(divergence.line(), Some(2));
        // What follows changes nothing of that.
        live(&check, 0, "files.read", true, &[Text("a")], value(Text("")));
        end(&check, RunOutcome::Error);
        assert_eq!(check.finish().divergences, [divergence]);
    }
}

#[test]
fn a_check_is_not_passed_by_doing_less_more_or_ending_otherwise() {
    let read = |check: &LiveCheck| {
        live(check, 0, "files.read", true, &[Text("a")], Some(HostOutcome::Value(Text(""))));
    };
    let kind = |check: LiveCheck| check.finish().divergence().map(cove_trace::replay::Divergence::kind);
    let trace = Recorded::redacted().gave(0, "files.read", &[Text("one")], Text("its text")).ended();

    let check = checked(&trace);
    end(&check, RunOutcome::Success);
    assert_eq!(kind(check), Some(DivergenceKind::NoCalls));

    let check = checked(&trace);
    read(&check);
    read(&check);
    end(&check, RunOutcome::Success);
    assert_eq!(kind(check), Some(DivergenceKind::MoreCalls));

    let check = checked(&trace);
    read(&check);
    end(&check, RunOutcome::Error);
    assert_eq!(kind(check), Some(DivergenceKind::EndedDifferently));

    let check = checked(&trace);
    read(&check);
    end(&check, RunOutcome::Success);
    assert_eq!(kind(check), None);
}

#[test]
fn spawns_are_told_by_the_runs_events() {
    let trace = Recorded::redacted().spawned(4, 0, "s").gave(4, "a.b", &[], Unit).completed(4).ended();
    let check = checked(&trace).tasks(TaskMatching::ByScope);
    check.record(&TraceEvent::TaskSpawned { id: 9, parent: Some(0), scope: "s" });
    live(&check, 9, "a.b", true, &[], Some(HostOutcome::Value(Unit)));
    end(&check, RunOutcome::Success);
    assert_eq!(check.finish().verdict, Verdict::Reproduced);
}

/// A result whose own code makes another call of the task, once.
struct Calling<'c> {
    check: &'c LiveCheck,
    has_called: AtomicBool,
}

impl TraceValue for Calling<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        if !self.has_called.swap(true, Ordering::Relaxed) {
            live(self.check, 0, "files.read", true, &[], Some(HostOutcome::Value(Int(1))));
        }
        Cow::Borrowed("String")
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.string("");
    }
}

#[test]
fn what_was_taken_while_a_call_was_compared_is_no_divergence() {
    let trace = Recorded::redacted().gave(0, "files.read", &[], Int(1)).gave(0, "files.read", &[], Text("")).ended();
    let check = checked(&trace);
    let result = Calling { check: &check, has_called: AtomicBool::new(false) };
    live(&check, 0, "files.read", true, &[], Some(HostOutcome::Value(RecordedValue::Live(&result))));
    end(&check, RunOutcome::Success);
    let conclusion = check.finish();
    assert_eq!(conclusion.verdict, Verdict::Reproduced, "{conclusion}");
}
