//! What a replay answers.

use std::borrow::Cow;
use std::rc::Rc;

use cove_trace::replay::{Answer, Verdict};
use cove_trace::{
    CallSite, HostOutcome, LiveArgs, RecordedOpaque, RecordedValue, RenderedCallSite, RunOutcome, TraceValue, Value,
    ValueWriter,
};

use crate::recorded::{Int, Recorded, Text, Unit, ask, diverging, opened, site};

#[test]
fn each_kind_of_outcome_has_its_answer() {
    let trace = Recorded::full()
        .gave(0, "a.value", &[], RecordedValue::Array(&[Int(1), Text("two")]))
        .call(0, "a.error", &[Int(3)], HostOutcome::Error("no such thing"))
        .any_call(0, "a.refused", false, &[], None)
        .any_call(0, "a.wrong", true, &[Unit], None)
        .call(0, "a.exit", &[], HostOutcome::NotRecordable)
        .ended();
    let replay = opened(&trace);
    let array = Value::Array(vec![Value::Int(1), Value::String("two".into())]);
    assert_eq!(ask(&replay, 0, "a.value", &[]), Ok(Answer::Value(array)));
    assert_eq!(ask(&replay, 0, "a.error", &[Int(3)]), Ok(Answer::Error("no such thing".into())));
    assert_eq!(ask(&replay, 0, "a.refused", &[]), Ok(Answer::NotGranted));
    assert_eq!(ask(&replay, 0, "a.wrong", &[Unit]), Ok(Answer::NotDispatched));
    assert!(replay.has_calls_left(0));
    assert_eq!(ask(&replay, 0, "a.exit", &[]), Ok(Answer::NotRecordable));
    assert!(!replay.has_calls_left(0));
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!(conclusion.verdict, Verdict::Reproduced);
    assert_eq!((conclusion.calls_used, conclusion.calls_recorded, conclusion.unchecked), (5, 5, 0));
    assert_eq!(conclusion.to_string(), "As recorded, to the end: 5 calls");
}

/// A value of an interpreter, which can't leave its thread.
struct Live(Rc<[i64]>);

impl TraceValue for Live {
    fn type_name(&self) -> Cow<'_, str> {
        "Array".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.array(|items| items.extend(self.0.iter().map(|item| RecordedValue::Int(*item))));
    }
}

#[test]
fn an_interpreter_asks_with_its_own_values() {
    let trace = Recorded::full()
        .gave(0, "stats.sum", &[RecordedValue::Array(&[Int(1), Int(2)]), RecordedValue::Array(&[])], Int(3))
        .ended();
    let replay = opened(&trace);
    let args = [Live([1, 2].into()), Live([].into())];
    let rendered = RenderedCallSite::new("stats", "sum", "stats");
    assert_eq!(replay.call(0, rendered.site(), &LiveArgs::new(&args)), Ok(Answer::Value(Value::Int(3))));
}

#[test]
fn identical_calls_are_answered_in_their_order_and_one_too_many_diverges() {
    let trace = Recorded::full()
        .gave(0, "queue.poll", &[], Int(1))
        .gave(0, "queue.poll", &[], Int(2))
        .gave(0, "queue.poll", &[], Int(3))
        .ended();
    let replay = opened(&trace);
    for expected in 1..=3 {
        assert_eq!(ask(&replay, 0, "queue.poll", &[]), Ok(Answer::Value(Value::Int(expected))));
    }
    let divergence = diverging(&replay, 0, "queue.poll", &[]);
    assert_eq!(divergence.kind(), cove_trace::replay::DivergenceKind::MoreCalls);
    assert_eq!(divergence.call_in_task(), Some(4));
}

#[test]
fn a_spelling_is_no_difference() {
    let trace = concat!(
        "{\"args\": [ ], \"entry\":\"m\", \"values\":\"full\", \"version\":4, \"backend\":\"vm\", ",
        "\"event\":\"trace_header\"}\r\n\r\n",
        "{\"outcome\":{\"value\":{\"value\":\"caf\\u00e9\",\"type\":\"string\"},\"kind\":\"value\"},\"event\":\"host_call\",",
        "\"task\":0,\"module\":\"a\",\"op\":\"\\u0062\",\"capability\":\"a\",\"wait_ns\":0,\"granted\":true, \"args\" : [",
        "{\"value\":1,\"type\":\"float\"}, {\"value\":\"\\/\\u0041\\ud83d\\ude00\",\"type\":\"string\"}, ",
        "{\"value\":1000e-3,\"type\":\"float\"}]}\r\n",
        "{\"message\":null,\"outcome\":\"success\",\"event\":\"run_ended\"}",
    );
    let replay = opened(trace.as_bytes());
    let args = [RecordedValue::Float(1.0), Text("/A😀"), RecordedValue::Float(1.0)];
    assert_eq!(ask(&replay, 0, "a.b", &args), Ok(Answer::Value(Value::String("café".into()))));
    assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);
}

#[test]
fn what_the_trace_left_out_of_an_argument_is_unchecked_and_counted() {
    let closure = RecordedOpaque { of: "Closure", shown: "f" };
    let args =
        [RecordedValue::Opaque(&closure), RecordedValue::Array(&[RecordedValue::Redacted { of: "String" }, Int(1)])];
    let trace = Recorded::full().gave(0, "list.map", &args, Unit).gave(0, "list.map", &args, Unit).ended();
    let other = RecordedOpaque { of: "Closure", shown: "g" };
    let asked = [RecordedValue::Opaque(&other), RecordedValue::Array(&[Text("secret"), Int(1)])];

    let replay = opened(&trace);
    assert_eq!(ask(&replay, 0, "list.map", &asked), Ok(Answer::Value(Value::Unit)));
    assert_eq!(ask(&replay, 0, "list.map", &args), Ok(Answer::Value(Value::Unit)));
    let conclusion = replay.finish(RunOutcome::Success, None);
    assert_eq!((conclusion.verdict, conclusion.unchecked), (Verdict::Reproduced, 4));
    assert_eq!(conclusion.to_string(), "As recorded, to the end: 2 calls; 4 values compared by type alone");

    // What stands beside them is checked, and so are their types.
    let other_int = [args[0], RecordedValue::Array(&[Text("secret"), Int(2)])];
    assert_eq!(diverging(&opened(&trace), 0, "list.map", &other_int).path(), Some("args[1].items[1]"));
    let other_type = [RecordedValue::Bool(true), args[1]];
    assert_eq!(diverging(&opened(&trace), 0, "list.map", &other_type).path(), Some("args[0]"));
}

#[test]
fn an_operation_of_the_interpreters_own_is_compared_and_performed() {
    let task = RecordedOpaque { of: "Task", shown: "task 1" };
    let trace = Recorded::full()
        .gave(0, "tasks.spawn", &[Text("scope")], RecordedValue::Opaque(&task))
        .any_call(0, "tasks.spawn", false, &[Text("other")], None)
        .ended();
    let replay = opened(&trace).passthrough("tasks");
    assert_eq!(ask(&replay, 0, "tasks.spawn", &[Text("scope")]), Ok(Answer::Perform));
    assert_eq!(ask(&replay, 0, "tasks.spawn", &[Text("other")]), Ok(Answer::NotGranted));
    assert!(ask(&opened(&trace).passthrough("tasks"), 0, "tasks.spawn", &[Text("else")]).is_err());
    assert!(ask(&opened(&trace), 0, "tasks.spawn", &[Text("scope")]).is_err());
}

/// A value whose own code asks the replay that is comparing it.
struct Asking<'r>(&'r cove_trace::Replay);

impl TraceValue for Asking<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        "Int".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self.0.call(1, site("clock.now"), &[]) {
            Ok(Answer::Value(Value::Int(now))) => out.int(now),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_value_may_ask_while_it_is_compared() {
    let trace = Recorded::full().gave(1, "clock.now", &[], Int(5)).gave(0, "console.log", &[Int(5)], Unit).ended();
    let replay = opened(&trace);
    let value = Asking(&replay);
    let answer = replay.call(0, site("console.log"), &[RecordedValue::Live(&value)]);
    assert_eq!(answer, Ok(Answer::Value(Value::Unit)));
}

struct Panicking;

impl TraceValue for Panicking {
    fn type_name(&self) -> Cow<'_, str> {
        "Broken".into()
    }

    fn write(&self, _: ValueWriter<'_>) {
        panic!("as the test asked for");
    }
}

#[test]
fn a_value_that_panics_is_a_divergence_and_no_panic() {
    let trace = Recorded::full().gave(0, "console.log", &[Int(5)], Unit).ended();
    let replay = opened(&trace);
    let divergence = replay.call(0, site("console.log"), &[RecordedValue::Live(&Panicking)]).unwrap_err();
    assert_eq!(divergence.path(), Some("args[0]"));
    assert_eq!(divergence.actual(), "<Broken: failed while being written>");
}

#[test]
fn a_capability_is_part_of_a_call() {
    let trace = Recorded::full().gave(0, "console.log", &[], Unit).ended();
    let divergence = opened(&trace).call(0, CallSite::new("console", "log", "root"), &[]).unwrap_err();
    assert_eq!(divergence.path(), Some("capability"));
    assert_eq!((divergence.recorded(), divergence.actual()), ("console", "root"));
}
