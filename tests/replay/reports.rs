//! Reports, whole, as a person reads them.

use cove_trace::replay::Order;
use cove_trace::{HostOutcome, RecordedField, RecordedOpaque, RecordedStruct, RecordedValue, RunOutcome};

use crate::recorded::{Int, Recorded, Text, Unit, ask, diverging, opened};

/// A small run with a call of each kind.
fn trace() -> Vec<u8> {
    let options = [RecordedField { name: "limit", value: Int(10) }, RecordedField { name: "after", value: Text("k") }];
    let options = RecordedStruct { name: "Options", fields: &options };
    Recorded::full()
        .gave(0, "console.log", &[Text("it begins")], Unit)
        .call(0, "files.read", &[Text("old.txt")], HostOutcome::Error("no such file"))
        .any_call(0, "files.write", false, &[Text("new.txt"), Text("...")], None)
        .gave(0, "store.list", &[Text("users"), RecordedValue::Struct(&options)], RecordedValue::Array(&[Text("ada")]))
        .ended()
}

#[test]
fn other_arguments() {
    let replay = opened(&trace());
    ask(&replay, 0, "console.log", &[Text("it begins")]).unwrap();
    ask(&replay, 0, "files.read", &[Text("old.txt")]).unwrap();
    ask(&replay, 0, "files.write", &[Text("new.txt"), Text("...")]).unwrap();
    let options = [RecordedField { name: "limit", value: Int(100) }, RecordedField { name: "after", value: Text("k") }];
    let options = RecordedStruct { name: "Options", fields: &options };
    let divergence = diverging(&replay, 0, "store.list", &[Text("users"), RecordedValue::Struct(&options)]);
    assert_eq!(
        divergence.to_string(),
        r#"the entry called store.list with other arguments than recorded

  where     call 4 of the entry, call 4 of the trace, line 5
  differs   args[1].fields.limit
  recorded  10
  actual    100

  before it, as recorded:
    call 2, line 3: files.read("old.txt") -> error: no such file
    call 3, line 4: files.write("new.txt", "...") was not granted
"#
    );
}

#[test]
fn another_call() {
    let replay = opened(&trace());
    ask(&replay, 0, "console.log", &[Text("it begins")]).unwrap();
    assert_eq!(
        diverging(&replay, 0, "files.list", &[]).to_string(),
        r#"the entry called files.list where files.read was recorded

  where     call 2 of the entry, call 2 of the trace, line 3
  recorded  files.read("old.txt")
  actual    files.list()

  before it, as recorded:
    call 1, line 2: console.log("it begins") -> ()
"#
    );
}

#[test]
fn one_call_too_many() {
    let replay = opened(&Recorded::full().spawned(3, 0, "s").gave(3, "queue.poll", &[], Int(7)).completed(3).ended());
    ask(&replay, 3, "queue.poll", &[]).unwrap();
    assert_eq!(
        diverging(&replay, 3, "queue.poll", &[]).to_string(),
        "task 3 called queue.poll after all of its recorded calls

  where     call 2 of task 3
  recorded  nothing more: task 3 made 1 call
  actual    queue.poll()

  before it, as recorded:
    call 1, line 3: queue.poll() -> 7
"
    );
}

#[test]
fn another_task() {
    let trace = Recorded::full().gave(1, "a.b", &[Int(1)], Unit).gave(2, "a.b", &[Int(2)], Unit).ended();
    assert_eq!(
        diverging(&opened(&trace).order(Order::Strict), 2, "a.b", &[Int(2)]).to_string(),
        "task 2 called where the recorded order has a call of task 1

  where     call 1 of task 2, recorded as task 1, call 1 of the trace, line 2
  differs   task
  recorded  task 1: a.b(1)
  actual    task 2: a.b(2)

  The trace does not say where the entry was entered. If it is a flight recorder's dump, its beginning is missing, and it \
         can't be replayed.
"
    );
    assert_eq!(
        diverging(&opened(&trace), 9, "a.b", &[Int(2)]).to_string(),
        "task 9 called a.b, and the recording has no such task

  recorded  no task with the id 9
  actual    a.b(2)
"
    );
}

#[test]
fn a_result_that_is_missing() {
    let closure = RecordedOpaque { of: "Closure", shown: "f" };
    let trace = Recorded::full().gave(0, "list.sorter", &[], RecordedValue::Opaque(&closure)).ended();
    assert_eq!(
        diverging(&opened(&trace), 0, "list.sorter", &[]).to_string(),
        "the recorded result of list.sorter can't be given back

  where     call 1 of the entry, call 1 of the trace, line 2
  differs   outcome.value
  recorded  opaque Closure
  actual    list.sorter()

  An operation that the interpreter itself performs (spawning a task, say) is named to the replay with `passthrough`.
"
    );
}

#[test]
fn an_end_too_soon() {
    let replay = opened(&trace());
    ask(&replay, 0, "console.log", &[Text("it begins")]).unwrap();
    assert_eq!(
        replay.finish(RunOutcome::Success, None).to_string(),
        r#"the run ended, and 3 recorded calls were not asked for

  where     call 2 of the entry, call 2 of the trace, line 3
  recorded  files.read("old.txt")
  actual    nothing

  before it, as recorded:
    call 1, line 2: console.log("it begins") -> ()
"#
    );
    assert_eq!(
        replay.finish(RunOutcome::Error, Some("it broke")).to_string(),
        r#"the run ended as error, the recorded one as success

  where     line 6
  differs   outcome
  recorded  success
  actual    error: "it broke"

  3 recorded calls were not asked for.
"#
    );
    assert_eq!(
        opened(&trace()).finish(RunOutcome::Success, None).to_string(),
        "the run ended without a single host call, so nothing was compared

  recorded  4 calls
  actual    nothing

  Is the replay in the place of the host, and is it the same program?
"
    );
}

#[test]
fn long_texts_are_shown_where_they_differ() {
    let text = |middle: &str| format!("{}{middle}{}", "a long text, ".repeat(50), "and on it goes ".repeat(50));
    let (recorded, asked) = (text("here it says one thing "), text("here it says another "));
    let replay = opened(&Recorded::full().gave(0, "console.log", &[Text(&recorded)], Unit).ended());
    let divergence = diverging(&replay, 0, "console.log", &[Text(&asked)]);
    assert_eq!(divergence.recorded(), r#"…" text, here it says one thing and on it goes and on it goes and on it …"#);
    assert_eq!(divergence.actual(), r#"…" text, here it says another and on it goes and on it goes and on it go…"#);
}

#[test]
fn nothing_in_a_report_acts_on_a_terminal() {
    let evil = "\u{1b}[31m\n\u{9b}\u{202e}\u{7}";
    let closure = RecordedOpaque { of: evil, shown: evil };
    let fields = [RecordedField { name: evil, value: Text(evil) }];
    let args = [
        Text(evil),
        RecordedValue::Opaque(&closure),
        RecordedValue::Struct(&RecordedStruct { name: evil, fields: &fields }),
    ];
    let operation = format!("{evil}.{evil}");
    let trace = Recorded::full()
        .call(0, &operation, &args, HostOutcome::Error(evil))
        .gave(0, &operation, &args, Text(evil))
        .ended_as(RunOutcome::Error, Some(evil));
    let other = [RecordedField { name: evil, value: Int(1) }];
    let other = [args[0], args[1], RecordedValue::Struct(&RecordedStruct { name: evil, fields: &other })];
    let replay = opened(&trace);
    ask(&replay, 0, &operation, &args).unwrap();
    let reports = [
        diverging(&replay, 0, &operation, &other).to_string(),
        diverging(&opened(&trace), 0, "a.b", &[]).to_string(),
        diverging(&opened(&trace), 7, &operation, &args).to_string(),
        opened(&trace).finish(RunOutcome::Success, Some(evil)).to_string(),
        opened(&trace).finish(RunOutcome::Error, Some("fine")).to_string(),
    ];
    for report in reports {
        assert!(report.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{report:?}");
        assert!(report.contains(r"\u{1b}[31m\n"), "{report}");
    }
}

#[test]
fn a_sign_tells_calls_apart_that_look_alike() {
    let replay = || opened(&Recorded::full().gave(0, "a.f", &[Text("K")], Unit).ended());
    let divergence = diverging(&replay(), 0, "a.f", &[Text("\u{212a}")]);
    assert_eq!(divergence.recorded(), r#""K" (U+004B at character 1)"#);
    assert_eq!(divergence.actual(), "\"\u{212a}\" (U+212A at character 1)");
    let divergence = diverging(&replay(), 0, "\u{430}.f", &[Text("K")]);
    assert_eq!(divergence.recorded(), r#"a.f("K") (U+0061 at character 1)"#);
    assert_eq!(divergence.actual(), "\u{430}.f(\"K\") (U+0430 at character 1)");
}
