//! A value's own code can panic, fail, say nothing, record events, or nest without end: the line stays one valid line with
//! exactly the replacement that the format knows, and the next event is clean.

mod common;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use bumpalo::Bump;
use common::{print_call, print_line};
use cove_trace::{
    HostOutcome, JsonlSink, MAX_VALUE_DEPTH, RecordedEnum, RecordedField, RecordedStruct, RecordedValue,
    RecordingBackend, TraceEvent, TraceHeader, TraceSink, TraceValue, Value, ValueCapture, ValueWriter, value_to_json,
};

const FAILED: &str = "failed while being written";
const SILENT: &str = "wrote no value";

/// A live value of type `Fiend`, made of a closure.
struct Fiend<F>(F);

impl<F: Fn(ValueWriter<'_>)> TraceValue for Fiend<F> {
    fn type_name(&self) -> Cow<'_, str> {
        "Fiend".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        (self.0)(out);
    }
}

fn opaque(of: &str, shown: &str) -> String {
    format!(r#"{{"type":"opaque","of":"{of}","shown":"{shown}"}}"#)
}

fn sink(values: ValueCapture) -> JsonlSink<Vec<u8>> {
    let header = TraceHeader::new(RecordingBackend::Vm, values, "main.cove");
    JsonlSink::new(Vec::new(), &header).expect("a vector takes a header")
}

/// The lines that `sink` wrote after its header. Each of them is JSON, and none was dropped.
#[track_caller]
fn lines_of(sink: JsonlSink<Vec<u8>>) -> Vec<String> {
    let finished = sink.finish();
    assert_eq!(finished.dropped, 0);
    assert!(finished.last_error.is_none());
    let text = String::from_utf8(finished.writer).expect("lines are UTF-8");
    assert!(text.ends_with('\n'));
    let mut lines = text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    for line in &lines {
        assert_is_json(line);
    }
    lines.remove(0);
    lines
}

#[track_caller]
fn assert_is_json(text: &str) {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let values = reader.into_iter::<serde_json::Value>().collect::<Result<Vec<_>, _>>();
    assert_eq!(values.expect("JSON").len(), 1);
}

const CANCELLED: TraceEvent<'_> = TraceEvent::TaskCancelled { id: 7 };
const CANCELLED_LINE: &str = "{\"event\":\"task_cancelled\",\"id\":7}\n";

/// Holds that `value` is replaced as a whole by an opaque of type `of`, wherever it stands in a call, and that its
/// neighbours and the next event are whole.
#[track_caller]
fn assert_replaced_by(value: RecordedValue<'_>, of: &str, shown: &str) {
    let one = RecordedValue::Int(1);
    let one_line = r#"{"type":"int","value":1}"#;
    let replacement = opaque(of, shown);
    let outcome = format!(r#"{{"kind":"value","value":{replacement}}}"#);

    let sink = sink(ValueCapture::Full);
    sink.record(&print_call(&[value], None));
    sink.record(&CANCELLED);
    sink.record(&print_call(&[one, value, one], Some(HostOutcome::Value(value))));
    sink.record(&print_call(&[value, value], Some(HostOutcome::Value(one))));
    sink.record(&CANCELLED);
    assert_eq!(
        lines_of(sink),
        [
            print_line(&replacement, "null"),
            CANCELLED_LINE.to_owned(),
            print_line(&format!("{one_line},{replacement},{one_line}"), &outcome),
            print_line(&format!("{replacement},{replacement}"), &format!(r#"{{"kind":"value","value":{one_line}}}"#)),
            CANCELLED_LINE.to_owned(),
        ]
    );
    assert_eq!(value_to_json(&value, ValueCapture::Full), replacement);
}

#[track_caller]
fn assert_fiend(shown: &str, write: impl Fn(ValueWriter<'_>)) {
    let fiend = Fiend(write);
    assert_replaced_by(RecordedValue::Live(&fiend), "Fiend", shown);
    // A part of a prebuilt value is no argument of its own: the whole argument is replaced.
    let live = [RecordedValue::Int(1), RecordedValue::Live(&fiend), RecordedValue::Int(2)];
    assert_replaced_by(RecordedValue::Array(&live), "Array", shown);
    let case = RecordedEnum { name: "Option", case: "Some", payload: &live };
    assert_replaced_by(RecordedValue::Array(&[RecordedValue::Enum(&case)]), "Array", shown);
    let fields = [RecordedField { name: "x", value: RecordedValue::Array(&live) }];
    assert_replaced_by(RecordedValue::Struct(&RecordedStruct { name: "Point", fields: &fields }), "Point", shown);
}

// Panics.

#[test]
fn panics_before_it_says_anything() {
    assert_fiend(FAILED, |_| panic!("no"));
}

#[test]
fn panics_after_it_said_everything() {
    assert_fiend(FAILED, |out| {
        out.int(1);
        panic!("no");
    });
}

#[test]
fn panics_in_the_middle_of_nested_containers() {
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            items.item(&RecordedValue::Int(1));
            items.item_with(|out| {
                out.structure("Point", |fields| {
                    fields.field("x", &RecordedValue::Int(1));
                    fields.field_with("y", |out| {
                        out.enum_case("Option", "Some", |payload| {
                            payload.item(&RecordedValue::String("half a"));
                            panic!("no");
                        });
                    });
                });
            });
        });
    });
}

#[test]
fn panics_between_the_name_of_a_field_and_its_value() {
    assert_fiend(FAILED, |out| out.structure("Point", |fields| fields.field_with("x", |_| panic!("no"))));
}

/// Formats half of itself, then ends as told.
struct HalfFormatted(fn() -> fmt::Result);

impl fmt::Display for HalfFormatted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half \" ")?;
        (self.0)()
    }
}

#[test]
fn panics_in_the_display_of_an_opaque() {
    assert_fiend(FAILED, |out| out.opaque("Closure", HalfFormatted(|| panic!("no"))));
}

#[test]
fn reports_an_error_from_the_display_of_an_opaque() {
    assert_fiend(FAILED, |out| out.opaque("Closure", HalfFormatted(|| Err(fmt::Error))));
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            items.item_with(|out| out.opaque("Closure", HalfFormatted(|| Err(fmt::Error))));
            items.item(&RecordedValue::Int(1));
        });
    });
}

#[test]
fn a_display_runs_once() {
    struct Counted<'c>(&'c Cell<u32>);
    impl fmt::Display for Counted<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.set(self.0.get() + 1);
            f.write_str("shown")
        }
    }
    let runs = Cell::new(0);
    let value = Fiend(|out: ValueWriter<'_>| out.opaque("Closure", Counted(&runs)));
    assert_eq!(value_to_json(&value, ValueCapture::Full), opaque("Closure", "shown"));
    assert_eq!(runs.get(), 1);
}

/// Panics when it is dropped, with another of its kind.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic::panic_any(Bomb);
    }
}

#[test]
fn panics_with_something_whose_drop_panics() {
    assert_fiend(FAILED, |_| panic::panic_any(Bomb));
    assert_fiend(FAILED, |out| out.array(|_| panic::panic_any(Bomb)));
}

#[test]
fn catches_the_panic_of_a_part_and_goes_on() {
    let caught = |code: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(code)).is_err());
    // The part left half of itself in the line.
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            caught(&mut || {
                items.item_with(|out| {
                    out.array(|items| {
                        items.item(&RecordedValue::Int(1));
                        panic!("no");
                    });
                });
            });
            items.item(&RecordedValue::Int(2));
        });
    });
    // The part left nothing but a comma or a name.
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            items.item(&RecordedValue::Int(1));
            caught(&mut || items.item_with(|_| panic!("no")));
        });
    });
    assert_fiend(FAILED, |out| {
        out.structure("Point", |fields| caught(&mut || fields.field_with("x", |_| panic!("no"))));
    });
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            caught(&mut || items.item_with(|out| out.opaque("T", HalfFormatted(|| panic!("no")))));
        });
    });
    // It was the whole of the value.
    assert_fiend(FAILED, |out| {
        let mut out = Some(out);
        caught(&mut || out.take().into_iter().for_each(|out| out.array(|_| panic!("no"))));
    });
}

#[test]
fn catches_a_panic_that_left_the_line_alone_and_goes_on() {
    let value = Fiend(|out: ValueWriter<'_>| {
        out.array(|items| {
            assert!(catch_unwind(|| panic!("no")).is_err());
            items.item(&RecordedValue::Int(2));
        });
    });
    assert_eq!(value_to_json(&value, ValueCapture::Full), r#"{"type":"array","items":[{"type":"int","value":2}]}"#);
}

/// Panics when it is asked for its name, and when it is written.
struct Nameless;

impl TraceValue for Nameless {
    fn type_name(&self) -> Cow<'_, str> {
        panic!("no name");
    }

    fn write(&self, _: ValueWriter<'_>) {
        panic!("no value");
    }
}

#[test]
fn panics_in_its_type_name() {
    assert_replaced_by(RecordedValue::Live(&Nameless), "Unknown", FAILED);

    let sink = sink(ValueCapture::Redacted);
    let nameless = RecordedValue::Live(&Nameless);
    sink.record(&print_call(&[nameless, RecordedValue::Unit], Some(HostOutcome::Value(nameless))));
    sink.record(&CANCELLED);
    let unknown = r#"{"type":"redacted","of":"Unknown"}"#;
    assert_eq!(
        lines_of(sink),
        [
            print_line(
                &format!(r#"{unknown},{{"type":"redacted","of":"Unit"}}"#),
                &format!(r#"{{"kind":"value","value":{unknown}}}"#)
            ),
            CANCELLED_LINE.to_owned(),
        ]
    );
}

#[test]
fn panics_while_the_thread_unwinds_already() {
    struct RecordsOnDrop<'s>(&'s JsonlSink<Vec<u8>>);
    impl Drop for RecordsOnDrop<'_> {
        fn drop(&mut self) {
            let fiend = Fiend(|_: ValueWriter<'_>| panic!("no"));
            self.0.record(&print_call(&[RecordedValue::Live(&fiend)], None));
        }
    }
    let sink = sink(ValueCapture::Full);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = RecordsOnDrop(&sink);
        panic!("the program's own");
    }));
    assert!(unwound.is_err());
    sink.record(&CANCELLED);
    assert_eq!(lines_of(sink), [print_line(&opaque("Fiend", FAILED), "null"), CANCELLED_LINE.to_owned()]);
}

// Silence.

#[test]
fn says_nothing() {
    assert_fiend(SILENT, |_| {});
}

#[test]
fn says_that_it_fails() {
    assert_fiend(FAILED, |out| out.fail());
    assert_fiend(FAILED, |out| {
        out.array(|items| {
            items.item(&Value::Int(1));
            items.item_with(|out| out.fail());
        });
    });
}

#[test]
fn says_nothing_in_an_item() {
    assert_fiend(SILENT, |out| out.array(|items| items.item_with(|_| {})));
    assert_fiend(SILENT, |out| {
        out.enum_case("Option", "Some", |payload| {
            payload.item(&RecordedValue::Int(1));
            payload.item_with(|_| {});
            payload.item(&RecordedValue::Int(2));
        });
    });
}

#[test]
fn says_nothing_in_a_field() {
    assert_fiend(SILENT, |out| {
        out.structure("Point", |fields| {
            fields.field_with("x", |_| {});
            fields.field("y", &RecordedValue::Int(1));
        });
    });
}

#[test]
fn says_it_on_another_thread() {
    let value = Fiend(|out: ValueWriter<'_>| {
        thread::scope(|scope| {
            scope.spawn(|| out.int(1));
        });
    });
    assert_eq!(value_to_json(&value, ValueCapture::Full), r#"{"type":"int","value":1}"#);
}

// Events recorded by a value.

#[test]
fn records_into_the_same_sink_while_it_is_written() {
    let sink = sink(ValueCapture::Full);
    let inner = Fiend(|out: ValueWriter<'_>| {
        sink.record(&CANCELLED);
        out.int(1);
    });
    let outer = Fiend(|out: ValueWriter<'_>| {
        out.array(|items| {
            items.item(&RecordedValue::String("before"));
            sink.record(&print_call(&[RecordedValue::Live(&inner)], None));
            items.item(&RecordedValue::String("after"));
        });
    });
    for _ in 0..3 {
        sink.record(&print_call(&[RecordedValue::Live(&outer)], None));
    }
    let round = [
        CANCELLED_LINE.to_owned(),
        print_line(r#"{"type":"int","value":1}"#, "null"),
        print_line(
            r#"{"type":"array","items":[{"type":"string","value":"before"},{"type":"string","value":"after"}]}"#,
            "null",
        ),
    ];
    let expected = [round.clone(), round.clone(), round].concat();
    assert_eq!(lines_of(sink), expected);
}

#[test]
fn records_and_then_panics_or_says_nothing() {
    let sink = sink(ValueCapture::Full);
    let panics = Fiend(|out: ValueWriter<'_>| {
        out.array(|_| {
            sink.record(&CANCELLED);
            panic!("no");
        });
    });
    let silent = Fiend(|_: ValueWriter<'_>| sink.record(&print_call(&[RecordedValue::Live(&panics)], None)));
    sink.record(&print_call(&[RecordedValue::Live(&silent)], None));
    assert_eq!(
        lines_of(sink),
        [
            CANCELLED_LINE.to_owned(),
            print_line(&opaque("Fiend", FAILED), "null"),
            print_line(&opaque("Fiend", SILENT), "null"),
        ]
    );
}

#[test]
fn records_from_its_type_name_and_its_display() {
    struct Chatty<'s>(&'s JsonlSink<Vec<u8>>);
    impl TraceValue for Chatty<'_> {
        fn type_name(&self) -> Cow<'_, str> {
            self.0.record(&CANCELLED);
            "Chatty".into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            out.opaque("Chatty", self);
        }
    }
    impl fmt::Display for Chatty<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("before")?;
            self.0.record(&CANCELLED);
            f.write_str(" after")
        }
    }
    for (capture, expected) in [
        (ValueCapture::Full, opaque("Chatty", "before after")),
        (ValueCapture::Redacted, r#"{"type":"redacted","of":"Chatty"}"#.to_owned()),
    ] {
        let sink = sink(capture);
        sink.record(&print_call(&[RecordedValue::Live(&Chatty(&sink))], None));
        assert_eq!(lines_of(sink), [CANCELLED_LINE.to_owned(), print_line(&expected, "null")]);
    }
}

/// A value that encodes another one on its own, and hands its own writer into that.
#[test]
fn says_it_from_within_another_encoding() {
    let value = Fiend(|out: ValueWriter<'_>| {
        let out = RefCell::new(Some(out));
        let inner = Fiend(|mine: ValueWriter<'_>| {
            out.take().into_iter().for_each(|outer| outer.array(|items| items.item(&RecordedValue::Int(1))));
            mine.int(2);
        });
        assert_eq!(value_to_json(&inner, ValueCapture::Full), r#"{"type":"int","value":2}"#);
    });
    assert_eq!(value_to_json(&value, ValueCapture::Full), r#"{"type":"array","items":[{"type":"int","value":1}]}"#);
}

/// Records an event, with values that misbehave in it, when its thread ends.
struct RecordsAtExit(Arc<JsonlSink<Vec<u8>>>);

impl Drop for RecordsAtExit {
    fn drop(&mut self) {
        let panics = Fiend(|_: ValueWriter<'_>| panic!("no"));
        let records = Fiend(|out: ValueWriter<'_>| {
            self.0.record(&CANCELLED);
            out.string("recorded at the thread's exit");
        });
        self.0.record(&print_call(&[RecordedValue::Live(&panics), RecordedValue::Live(&records)], None));
    }
}

#[test]
fn recorded_from_the_destructor_of_a_thread_local() {
    thread_local! {
        static AT_EXIT: RefCell<Option<RecordsAtExit>> = const { RefCell::new(None) };
    }
    type Step = fn(&Arc<JsonlSink<Vec<u8>>>);
    let register: Step = |sink| AT_EXIT.set(Some(RecordsAtExit(Arc::clone(sink))));
    let record: Step = |sink| sink.record(&CANCELLED);
    let at_exit = [
        CANCELLED_LINE.to_owned(),
        print_line(
            &format!(r#"{},{{"type":"string","value":"recorded at the thread's exit"}}"#, opaque("Fiend", FAILED)),
            "null",
        ),
    ];
    // Destructors run in an order that follows the order of first use: the crate's own thread-local is used by `record`.
    for (steps, recorded_before) in
        [(&[register, record][..], 1), (&[record, register], 1), (&[record, register, record], 2), (&[register], 0)]
    {
        let sink = Arc::new(sink(ValueCapture::Full));
        let on_thread = Arc::clone(&sink);
        let steps = steps.to_vec();
        thread::spawn(move || steps.iter().for_each(|step| step(&on_thread))).join().expect("the thread ends well");
        let mut expected = vec![CANCELLED_LINE.to_owned(); recorded_before];
        expected.extend_from_slice(&at_exit);
        assert_eq!(lines_of(Arc::into_inner(sink).expect("the thread is gone")), expected);
    }
}

// Depth.

/// Runs `test` on the smallest stack that the promise about depth holds for.
fn on_a_small_stack(test: fn()) {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(test).expect("a thread");
    assert!(thread.join().is_ok());
}

const TOO_DEEP: &str = "nested deeper than 128 levels";
const DEPTHS: &[usize] = if cfg!(miri) { &[1, 127, 128, 129] } else { &[1, 127, 128, 129, 300, 100_000] };

/// What is written for `containers` of one kind around an int.
fn nested(containers: usize, open: &str, close: &str, type_name: &str) -> String {
    let limit = MAX_VALUE_DEPTH - 1;
    let core = if containers <= limit { r#"{"type":"int","value":1}"#.to_owned() } else { opaque(type_name, TOO_DEEP) };
    let levels = containers.min(limit);
    open.repeat(levels) + &core + &close.repeat(levels)
}

const ARRAY: (&str, &str) = (r#"{"type":"array","items":["#, "]}");
const ENUM: (&str, &str) = (r#"{"type":"enum","name":"Option","case":"Some","payload":["#, "]}");
const STRUCT: (&str, &str) = (r#"{"type":"struct","name":"Cell","fields":[{"name":"next","value":"#, "}]}");

#[test]
fn live_values_nest_to_the_limit_and_no_further() {
    /// So many containers around an int, made on the fly.
    #[derive(Clone, Copy)]
    struct Nest(usize, fn(Nest, ValueWriter<'_>));
    impl TraceValue for Nest {
        fn type_name(&self) -> Cow<'_, str> {
            "Nest".into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            if self.0 == 0 { out.int(1) } else { (self.1)(Nest(self.0 - 1, self.1), out) }
        }
    }
    on_a_small_stack(|| {
        for &depth in DEPTHS {
            let array = Nest(depth, |inner, out| out.array(|items| items.item(&inner)));
            assert_eq!(value_to_json(&array, ValueCapture::Full), nested(depth, ARRAY.0, ARRAY.1, "Array"));
            let case = Nest(depth, |inner, out| out.enum_case("Option", "Some", |payload| payload.item(&inner)));
            assert_eq!(value_to_json(&case, ValueCapture::Full), nested(depth, ENUM.0, ENUM.1, "Option"));
            let structure = Nest(depth, |inner, out| out.structure("Cell", |fields| fields.field("next", &inner)));
            assert_eq!(value_to_json(&structure, ValueCapture::Full), nested(depth, STRUCT.0, STRUCT.1, "Cell"));
        }
    });
}

#[test]
fn a_tree_behind_reference_counts_nests_to_the_limit_and_no_further() {
    enum Tree {
        Leaf,
        Around(Rc<Tree>),
    }
    impl TraceValue for Tree {
        fn type_name(&self) -> Cow<'_, str> {
            "Array".into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            match self {
                Self::Leaf => out.int(1),
                Self::Around(inner) => out.array(|items| items.item(&**inner)),
            }
        }
    }
    on_a_small_stack(|| {
        for &depth in DEPTHS {
            let tree = Rc::new((0..depth).fold(Tree::Leaf, |inner, _| Tree::Around(Rc::new(inner))));
            assert_eq!(value_to_json(&*tree, ValueCapture::Full), nested(depth, ARRAY.0, ARRAY.1, "Array"));
            // Taken apart level by level: its own drop would recurse.
            let mut tree = tree;
            while let Ok(Tree::Around(inner)) = Rc::try_unwrap(tree) {
                tree = inner;
            }
        }
    });
}

#[test]
fn recorded_values_nest_to_the_limit_and_no_further() {
    on_a_small_stack(|| {
        for &depth in DEPTHS {
            let memory = Bump::new();
            let int = RecordedValue::Int(1);
            let array = (0..depth).fold(int, |inner, _| RecordedValue::Array(memory.alloc([inner])));
            assert_eq!(value_to_json(&array, ValueCapture::Full), nested(depth, ARRAY.0, ARRAY.1, "Array"));
            assert_eq!(format!("{array:?}"), nested(depth, ARRAY.0, ARRAY.1, "Array"));
            assert!(array == array);
            let case = (0..depth).fold(int, |inner, _| {
                RecordedValue::Enum(memory.alloc(RecordedEnum {
                    name: "Option",
                    case: "Some",
                    payload: memory.alloc([inner]),
                }))
            });
            assert_eq!(value_to_json(&case, ValueCapture::Full), nested(depth, ENUM.0, ENUM.1, "Option"));
            let structure = (0..depth).fold(int, |inner, _| {
                let fields = memory.alloc([RecordedField { name: "next", value: inner }]);
                RecordedValue::Struct(memory.alloc(RecordedStruct { name: "Cell", fields }))
            });
            assert_eq!(value_to_json(&structure, ValueCapture::Full), nested(depth, STRUCT.0, STRUCT.1, "Cell"));
        }
    });
}

#[test]
fn an_empty_container_counts_as_a_level() {
    let empty = RecordedValue::Array(&[]);
    let around = |levels: usize| (0..levels).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]));
    let (open, close) = ARRAY;
    let (most, limit) = (MAX_VALUE_DEPTH - 2, MAX_VALUE_DEPTH - 1);
    let whole = open.repeat(most) + &value_to_json(&empty, ValueCapture::Full) + &close.repeat(most);
    assert_eq!(value_to_json(&around(most), ValueCapture::Full), whole);
    let cut = open.repeat(limit) + &opaque("Array", TOO_DEEP) + &close.repeat(limit);
    assert_eq!(value_to_json(&around(limit), ValueCapture::Full), cut);
}

#[test]
fn what_is_too_deep_does_not_touch_its_neighbours() {
    let deep = (0..MAX_VALUE_DEPTH).fold(Value::Int(1), |inner, _| Value::Array(vec![inner]));
    let value = Fiend(|out: ValueWriter<'_>| {
        out.array(|items| {
            items.item(&Value::Int(0));
            items.item(&deep);
            items.item(&Value::Array(vec![Value::Int(2)]));
        });
    });
    let (open, close) = ARRAY;
    let levels = MAX_VALUE_DEPTH - 2;
    let expected = format!(
        r#"{open}{{"type":"int","value":0}},{}{}{},{open}{{"type":"int","value":2}}{close}{close}"#,
        open.repeat(levels),
        opaque("Array", TOO_DEEP),
        close.repeat(levels),
    );
    assert_eq!(value_to_json(&value, ValueCapture::Full), expected);
}

#[test]
fn owned_values_are_written_to_the_limit_and_no_further() {
    on_a_small_stack(|| {
        for depth in [1, 127, 128, 129, 300] {
            let fold = |container: fn(Value) -> Value| (0..depth).fold(Value::Int(1), |inner, _| container(inner));
            let array = fold(|inner| Value::Array(vec![inner]));
            assert_eq!(value_to_json(&array, ValueCapture::Full), nested(depth, ARRAY.0, ARRAY.1, "Array"));
            let case = fold(|inner| Value::Enum { name: "Option".into(), case: "Some".into(), payload: vec![inner] });
            assert_eq!(value_to_json(&case, ValueCapture::Full), nested(depth, ENUM.0, ENUM.1, "Option"));
            let structure = fold(|inner| Value::Struct { name: "Cell".into(), fields: vec![("next".into(), inner)] });
            assert_eq!(value_to_json(&structure, ValueCapture::Full), nested(depth, STRUCT.0, STRUCT.1, "Cell"));
        }
    });
}

// Redaction.

#[test]
fn only_a_redacted_trace_asks_for_the_type_name_and_only_a_full_one_for_the_value() {
    #[derive(Default)]
    struct Asked {
        name: Cell<u32>,
        value: Cell<u32>,
    }
    impl TraceValue for Asked {
        fn type_name(&self) -> Cow<'_, str> {
            self.name.set(self.name.get() + 1);
            "Asked".into()
        }

        fn write(&self, out: ValueWriter<'_>) {
            self.value.set(self.value.get() + 1);
            out.int(1);
        }
    }
    for (capture, name, value) in [(ValueCapture::Full, 0, 2), (ValueCapture::Redacted, 2, 0)] {
        let sink = sink(capture);
        let asked = Asked::default();
        let live = RecordedValue::Live(&asked);
        sink.record(&print_call(&[live], Some(HostOutcome::Value(live))));
        assert_eq!((asked.name.get(), asked.value.get()), (name, value));
    }
}

#[test]
fn a_redacted_trace_of_values_that_differ_is_the_same() {
    let text = "s".repeat(100_000);
    let deep = (0..200).fold(Value::Unit, |inner, _| Value::Array(vec![inner]));
    let fiend = Fiend(|_: ValueWriter<'_>| panic!("no"));
    let tame = Fiend(|out: ValueWriter<'_>| out.opaque("Fiend", "tame"));
    let fields = [RecordedField { name: "secret", value: RecordedValue::Int(1) }];
    let pairs = [
        (RecordedValue::Bool(true), RecordedValue::Bool(false)),
        (RecordedValue::Int(i64::MIN), RecordedValue::Int(0)),
        (RecordedValue::Float(f64::NAN), RecordedValue::Float(1.5)),
        (RecordedValue::Duration { ns: 1 }, RecordedValue::Duration { ns: -1 }),
        (RecordedValue::String(""), RecordedValue::String(&text)),
        (RecordedValue::Array(&[]), RecordedValue::Array(&[RecordedValue::Unit, RecordedValue::Int(3)])),
        (RecordedValue::Array(&[]), RecordedValue::Live(&deep)),
        (
            RecordedValue::Enum(&RecordedEnum { name: "Option", case: "None", payload: &[] }),
            RecordedValue::Enum(&RecordedEnum { name: "Option", case: "Some", payload: &[RecordedValue::Unit] }),
        ),
        (
            RecordedValue::Struct(&RecordedStruct { name: "Cell", fields: &[] }),
            RecordedValue::Struct(&RecordedStruct { name: "Cell", fields: &fields }),
        ),
        (RecordedValue::Live(&fiend), RecordedValue::Live(&tame)),
        // One that was redacted by choice already.
        (RecordedValue::Redacted { of: "String" }, RecordedValue::String("secret")),
    ];
    let record = |value| {
        let sink = sink(ValueCapture::Redacted);
        sink.record(&print_call(&[value], Some(HostOutcome::Value(value))));
        lines_of(sink)
    };
    for (one, other) in pairs {
        assert_eq!(record(one), record(other));
    }
}
