//! Two runs compared: what is no difference, what is one, and what is said of it.
#![cfg(feature = "diff")]

#[allow(dead_code, reason = "the replay's tests use all of it")]
#[path = "replay/recorded.rs"]
mod recorded;

use std::time::Duration;

use cove_trace::diff::{Change, ChangedPart, Compared, Diff, Side, Times};
use cove_trace::{
    CallSite, HostCall, HostOutcome, JsonlSink, RecordedField, RecordedResource, RecordedStruct, RecordedValue,
    RecordingBackend, RunOutcome, TraceEvent, TraceHeader, TraceReader, Value, ValueCapture,
};
use recorded::{Int, Recorded, Text, Unit};

const EXACT: Times = Times::Compared { tolerance_percent: 0 };

fn compared_with(first: &[u8], second: &[u8], times: Times) -> (Vec<Change>, Compared) {
    let diff = Diff::load(&mut TraceReader::new(first), &mut TraceReader::new(second)).expect("two traces");
    let mut changes = Vec::new();
    let compared = diff.compare(times, |change| changes.push(change));
    assert_eq!(compared.differences, changes.len() as u64);
    (changes, compared)
}

fn changes(first: &[u8], second: &[u8]) -> Vec<Change> {
    compared_with(first, second, Times::Ignored).0
}

/// A run of two tasks, whose calls and ids fall as they are given.
fn two_tasks(ids: [u64; 2], swapped: bool) -> Recorded {
    let [a, b] = ids;
    let mut trace = Recorded::full().spawned(a.min(b), 0, "s").spawned(a.max(b), 0, "s");
    let order = if swapped { [(b, "b"), (a, "a")] } else { [(a, "a"), (b, "b")] };
    for (task, name) in order {
        for number in 0..3 {
            trace = trace.gave(task, "a.f", &[Text(name), Int(number)], Int(number));
        }
    }
    trace.completed(a).completed(b)
}

#[test]
fn the_same_program_twice_is_no_difference() {
    let trace = two_tasks([1, 2], false).ended();
    let (changes, compared) = compared_with(&trace, &trace, EXACT);
    assert_eq!((changes, compared.calls, compared.unchecked), (vec![], 6, 0));
}

#[test]
fn tasks_swapped_are_no_difference() {
    let trace = two_tasks([1, 2], false).ended();
    assert_eq!(changes(&trace, &two_tasks([1, 2], true).ended()), []);
    // Scheduling gave each the other's id.
    assert_eq!(changes(&trace, &two_tasks([2, 1], true).ended()), []);
}

/// A run that opens two files and reads them, the host having given them these ids.
fn two_files(ids: [i64; 2], read: [usize; 2]) -> Vec<u8> {
    let files = ids.map(|id| RecordedResource { name: "File", id });
    let file = |place: usize| RecordedValue::Resource(&files[place]);
    let open = |run: Recorded, place, name| run.gave(0, "files.open", &[Text(name)], file(place));
    let run = open(open(Recorded::full(), 0, "a"), 1, "b");
    let run = run.gave(0, "files.read", &[file(read[0])], Text("x")).gave(0, "files.seek", &[Int(0)], Unit);
    run.gave(0, "files.read", &[file(read[1])], Text("x")).ended()
}

#[test]
fn a_resource_is_the_one_that_the_same_call_gave() {
    let first = two_files([1, 2], [0, 1]);
    assert_eq!(changes(&first, &two_files([1, 2], [0, 1])), []);
    assert_eq!(changes(&first, &two_files([2, 1], [0, 1])), []);
    assert_eq!(changes(&first, &two_files([7, 4], [0, 1])), []);
    // The other file is read, also where that gives the same id.
    for (ids, expected) in [([1, 2], "File#1"), ([2, 1], "File#2, which is another one there")] {
        match &changes(&first, &two_files(ids, [0, 0]))[..] {
            [Change::Changed { parts, .. }] => {
                let [ChangedPart { path, was, is, .. }] = &parts[..] else { panic!("{parts:?}") };
                assert_eq!((&path[..], &was[..], &is[..]), ("args[0]", "File#2", expected));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_call_put_in_before_a_resource_is_used_is_one_difference() {
    let run = |id, with_more: bool| {
        let file = RecordedResource { name: "File", id };
        let file = RecordedValue::Resource(&file);
        let mut run = Recorded::full().gave(0, "files.open", &[Text("a")], file);
        for line in 0..5 {
            if with_more && line == 2 {
                run = run.gave(0, "files.read", &[file, Text("ahead")], Int(7));
            }
            run = run.gave(0, "files.read", &[file], Int(line));
        }
        run.ended()
    };
    assert!(matches!(changes(&run(1, false), &run(5, true))[..], [Change::Added(_)]));
}

#[test]
fn tasks_that_are_spawned_again_or_by_themselves_are_compared_once() {
    let call = |trace: Recorded, task| trace.gave(task, "a.f", &[Int(1)], Unit);
    let mut trace = Recorded::full().spawned(0, 0, "s").spawned(1, 1, "s").spawned(2, 3, "s").spawned(3, 2, "s");
    trace = call(call(trace, 0), 1);
    for _ in 0..2_000 {
        trace = call(trace.spawned(4, 0, "s").spawned(4, 0, "t"), 4);
    }
    let trace = trace.ended();
    let (changes, compared) = compared_with(&trace, &trace, Times::Ignored);
    assert_eq!((changes, compared.calls), (vec![], 2_002));
}

#[test]
fn many_tasks_that_did_the_same_find_partners() {
    const TASKS: u64 = if cfg!(miri) { 40 } else { 20_000 };
    let run = |of: fn(u64) -> &'static str| {
        let mut trace = Recorded::full();
        for task in 1..=TASKS {
            trace = trace.spawned(task, 0, "s").gave(task, of(task), &[], Unit);
        }
        trace.ended()
    };
    let half = run(|task| if task <= TASKS / 2 { "a.f" } else { "a.g" });
    let all = run(|_| "a.g");
    let (changes, compared) = compared_with(&half, &all, Times::Ignored);
    assert_eq!((changes.len() as u64, compared.calls), (TASKS, TASKS / 2));
}

#[test]
fn a_call_put_in_is_one_difference() {
    let calls = |with_another| {
        let mut trace = Recorded::full();
        for number in 0..100 {
            if number == 57 && with_another {
                trace = trace.gave(0, "console.log", &[Text("another")], Unit);
            }
            trace = trace.gave(0, "a.f", &[Int(number % 7)], Int(number));
        }
        trace.ended()
    };
    let found = changes(&calls(false), &calls(true));
    let [Change::Added(call), Change::Capability { side: Side::Second, capability }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((call.task, call.call_in_task, call.line), (0, 58, 59));
    assert_eq!((&*call.shown, &**capability), (r#"console.log("another") -> ()"#, "console"));
    assert!(matches!(&changes(&calls(true), &calls(false))[0], Change::Removed(removed) if removed == call));
}

#[test]
fn what_changed_in_a_call_is_named() {
    let run = |args: &[RecordedValue<'_>], capability, granted, outcome| {
        let site = CallSite::new("files", "read", capability);
        let call = HostCall { task: 0, site, wait: Duration::ZERO, granted, args, outcome };
        Recorded::full()
            .gave(0, "console.log", &[Text("a")], Unit)
            .event(&TraceEvent::HostCall(call))
            .gave(0, "console.log", &[Text("b")], Unit)
            .ended()
    };
    let value = |value| Some(HostOutcome::Value(value));
    let base = run(&[Text("x"), Int(1)], "read", true, value(Int(1)));
    let cases = [
        (run(&[Text("x"), Int(2)], "read", true, value(Int(1))), ["args[1]", "1", "2"]),
        (run(&[Text("x")], "read", true, value(Int(1))), ["args[1]", "1", "(nothing)"]),
        (run(&[Text("x"), Int(1)], "read", true, value(Int(2))), ["outcome.value", "1", "2"]),
        (run(&[Text("x"), Int(1)], "read", true, None), ["outcome", "1", "nothing"]),
        (run(&[Text("x"), Int(1)], "read", false, None), ["granted", "granted", "not granted"]),
        (run(&[Text("x"), Int(1)], "read", true, Some(HostOutcome::Error("no"))), ["outcome", "1", "error: no"]),
        (run(&[Text("x"), Int(1)], "root", true, value(Int(1))), ["capability", "read", "root"]),
    ];
    for (other, expected) in cases {
        let found = changes(&base, &other);
        let Change::Changed { first, second, parts, .. } = &found[0] else { panic!("{found:?}") };
        let ChangedPart { path, was, is, .. } = &parts[0];
        assert_eq!([&**path, was, is], expected);
        assert_eq!((first.line, second.line, first.call_in_task), (3, 3, 2));
        let capabilities = found[1..].iter().all(|change| matches!(change, Change::Capability { .. }));
        assert!(capabilities && found.len() == if expected[0] == "capability" { 3 } else { 1 }, "{found:?}");
    }
    let errors = |message| run(&[], "read", true, Some(HostOutcome::Error(message)));
    let found = changes(&errors("one"), &errors("other"));
    assert!(matches!(&found[..], [Change::Changed { parts, .. }] if parts[0].path == "outcome.message"), "{found:?}");
}

#[test]
fn runs_that_start_or_end_otherwise_differ() {
    let ended = |outcome, message| Recorded::full().ended_as(outcome, message);
    let found = changes(&ended(RunOutcome::Success, None), &ended(RunOutcome::Error, Some("why")));
    assert_eq!(found, [Change::Ended { first: "success".into(), second: "error: \"why\"".into() }]);
    let found = changes(&ended(RunOutcome::Error, Some("a")), &ended(RunOutcome::Error, Some("b")));
    assert!(matches!(&found[..], [Change::Ended { .. }]), "{found:?}");
    let found = changes(&ended(RunOutcome::Success, None), &Recorded::full().cut());
    assert_eq!(found, [Change::Ended { first: "success".into(), second: "no run_ended".into() }]);

    let text = String::from_utf8(ended(RunOutcome::Success, None)).unwrap();
    let other = text.replace("main.cove", "other.cove").replace("\"-v\"", "\"-q\"");
    let found = changes(text.as_bytes(), other.as_bytes());
    let parts = found.iter().map(|change| match change {
        Change::Header { part, .. } => *part,
        other => panic!("{other:?}"),
    });
    assert_eq!(parts.collect::<Vec<_>>(), ["args", "entry"]);
}

#[test]
fn a_task_of_one_run_is_one_difference() {
    let with = two_tasks([1, 2], false).spawned(3, 1, "nested").gave(3, "a.f", &[Text("c")], Unit).ended();
    let found = changes(&two_tasks([1, 2], false).ended(), &with);
    assert_eq!(found, [Change::Task { side: Side::Second, task: 3, calls: 1 }]);
}

#[test]
fn a_redacted_side_is_compared_by_types_and_counted() {
    let run = |recorded: Recorded, arg: RecordedValue<'_>, result: RecordedValue<'_>| {
        recorded.gave(0, "files.read", &[arg, Int(1)], result).ended_as(RunOutcome::Error, Some("its own words"))
    };
    let full = run(Recorded::full(), Text("a"), Text("b"));
    for (first, second) in [
        (&full, &run(Recorded::redacted(), Text("other"), Text("other"))),
        (&run(Recorded::redacted(), Text("other"), Text("other")), &full),
        (&run(Recorded::redacted(), Text("a"), Text("b")), &run(Recorded::redacted(), Text("other"), Text("other"))),
    ] {
        let (changes, compared) = compared_with(first, second, Times::Ignored);
        assert_eq!((changes, compared.unchecked, compared.calls), (vec![], 3, 1));
    }
    let found = changes(&full, &run(Recorded::redacted(), Unit, Text("b")));
    assert!(matches!(&found[..], [Change::Changed { parts, .. }] if parts[0].path == "args[0]"), "{found:?}");
    let found = changes(&full, &run(Recorded::redacted(), Text("a"), Unit));
    assert!(matches!(&found[..], [Change::Changed { parts, .. }] if parts[0].path == "outcome.value"), "{found:?}");
}

#[test]
fn a_part_that_one_run_redacted_is_compared_by_its_type_and_counted() {
    let run = |arg| Recorded::full().gave(0, "files.read", &[RecordedValue::Array(&[arg, Int(1)])], arg).ended();
    let redacted = run(RecordedValue::Redacted { of: "String" });
    let (changes, compared) = compared_with(&run(Text("secret")), &redacted, Times::Ignored);
    assert_eq!((changes, compared.unchecked), (vec![], 2));
}

#[test]
fn times_are_compared_when_they_are_asked_for() {
    let run = |wait| {
        let site = CallSite::new("a", "f", "a");
        let call =
            HostCall { task: 0, site, wait: Duration::from_nanos(wait), granted: true, args: &[], outcome: None };
        Recorded::full().event(&TraceEvent::HostCall(call)).event(&TraceEvent::HostCall(call)).ended()
    };
    assert_eq!(changes(&run(5), &run(7)), []);
    let (found, _) = compared_with(&run(5), &run(7), EXACT);
    assert_eq!(found, [Change::Wait { operation: "a.f".into(), first_ns: 10, second_ns: 14 }]);
}

/// Texts that are cut or escaped to the same characters where they are shown.
#[test]
fn what_is_shown_alike_is_told_apart() {
    let long = "x".repeat(100);
    for (one, other) in [(format!("{long}1"), format!("{long}2")), ("\u{1}".to_owned(), r"\u{1}".to_owned())] {
        let entry = |entry: &str| {
            let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, entry);
            JsonlSink::new(Vec::new(), &header).unwrap().finish().writer
        };
        let found = changes(&entry(&one), &entry(&other));
        let [Change::Header { part: "entry", first, second }] = &found[..] else { panic!("{found:?}") };
        assert!(one.len() < 100 || first != second, "{first}");

        let under = |capability: &str| {
            let (site, args, wait) = (CallSite::new("a", "f", capability), &[][..], Duration::ZERO);
            let call = HostCall { task: 0, site, wait, granted: true, args, outcome: None };
            Recorded::full().event(&TraceEvent::HostCall(call)).ended()
        };
        let found = changes(&under(&one), &under(&other));
        assert!(
            matches!(&found[..], [Change::Changed { parts, .. }, _, _] if parts[0].path == "capability"),
            "{found:?}"
        );

        let operation = |module: &str| Recorded::full().gave(0, &format!("{module}.f"), &[], Unit).ended();
        assert_eq!(changes(&operation(&one), &operation(&other)).len(), 4);

        let result = |text: &str| Recorded::full().gave(0, "a.f", &[], Text(text)).ended();
        assert_eq!(changes(&result(&one), &result(&other)).len(), 1);

        let ended = |text: &str| Recorded::full().ended_as(RunOutcome::Error, Some(text));
        assert_eq!(changes(&ended(&one), &ended(&other)).len(), 1);
    }
}

#[test]
fn waits_of_operations_with_dots_in_their_names_are_not_added_up() {
    let run = |[first, second]: [u64; 2]| {
        let mut trace = Recorded::full();
        for (module, op, wait) in [("a.b", "c", first), ("a", "b.c", second)] {
            let (site, wait) = (CallSite::new(module, op, "a"), Duration::from_nanos(wait));
            let call = HostCall { task: 0, site, wait, granted: true, args: &[], outcome: None };
            trace = trace.event(&TraceEvent::HostCall(call));
        }
        trace.ended()
    };
    let (found, _) = compared_with(&run([5, 7]), &run([7, 5]), EXACT);
    let waits = |first_ns, second_ns| Change::Wait { operation: "a.b.c".into(), first_ns, second_ns };
    assert_eq!(found, [waits(7, 5), waits(5, 7)]);
}

#[test]
fn numbers_are_told_apart_to_the_last_digit() {
    for (one, other) in [(Value::Int(i64::MAX), Value::Int(i64::MAX - 1)), (Value::Float(0.0), Value::Float(-0.0))] {
        let run = |value: &Value| Recorded::full().gave(0, "a.f", &[RecordedValue::Live(value)], Unit).ended();
        assert_eq!(changes(&run(&one), &run(&other)).len(), 1);
    }
}

#[test]
fn every_changed_part_of_a_call_is_listed() {
    let run = |args: &[RecordedValue<'_>], result| Recorded::full().gave(0, "a.f", args, result).ended();
    let fields = |number, names: [&'static str; 2]| names.map(|name| RecordedField { name, value: Int(number) });
    let (one, other) = (fields(1, ["a", "b"]), fields(2, ["b", "c"]));
    let [one, other] = [&one, &other].map(|fields| RecordedStruct { name: "S", fields });
    let found = changes(
        &run(&[Int(1), Text("x"), RecordedValue::Struct(&one)], Int(5)),
        &run(&[Int(2), Text("x"), RecordedValue::Struct(&other)], Int(6)),
    );
    let [Change::Changed { parts, more: 0, .. }] = &found[..] else { panic!("{found:?}") };
    let parts: Vec<_> = parts.iter().map(|part| [&*part.path, &part.was, &part.is]).collect();
    let expected = [
        ["args[0]", "1", "2"],
        ["args[2].fields.a", "1", "(nothing)"],
        ["args[2].fields.b", "1", "2"],
        ["args[2].fields.c", "(nothing)", "2"],
        ["outcome.value", "5", "6"],
    ];
    assert_eq!(parts, expected);
}

#[test]
fn many_changed_parts_are_counted() {
    let run = |number| Recorded::full().gave(0, "a.f", &[Int(number); 1_000], Unit).ended();
    let found = changes(&run(1), &run(2));
    assert!(matches!(&found[..], [Change::Changed { parts, more: 900, .. }] if parts.len() == 100), "{found:?}");
}

#[test]
fn a_sign_tells_texts_apart_that_look_alike() {
    let of = |text: &str| Recorded::full().gave(0, "a.f", &[Text(text)], Unit).ended();
    for (one, other, sign) in [("K", "\u{212a}", "U+212A"), ("a", "\u{430}", "U+0430"), ("a", "a\u{200d}", "U+200D")] {
        let found = changes(&of(one), &of(other));
        let [Change::Changed { parts, .. }] = &found[..] else { panic!("{found:?}") };
        assert!(parts[0].is.contains(sign) && !parts[0].was.contains(sign), "{parts:?}");
        let calls = |module: &str| Recorded::full().gave(0, &format!("{module}.f"), &[], Unit).ended();
        let found = changes(&calls(one), &calls(other));
        let capability = format!("{found:?}");
        assert!(capability.contains(sign), "{capability}");
    }
}

#[test]
fn small_differences_of_times_are_tolerated() {
    let run = |wait| {
        let (site, wait) = (CallSite::new("a", "f", "a"), Duration::from_nanos(wait));
        let call = HostCall { task: 0, site, wait, granted: true, args: &[], outcome: None };
        Recorded::full().event(&TraceEvent::HostCall(call)).ended()
    };
    let times = Times::Compared { tolerance_percent: 10 };
    assert_eq!(compared_with(&run(1_000), &run(900), times).0, []);
    assert_eq!(compared_with(&run(1_000), &run(899), times).0.len(), 1);
}
