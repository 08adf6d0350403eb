//! Reading allocates nothing once a reader is warm, gives back what a huge line took, and takes no more for any line than
//! its documentation says.
//!
//! Allocations are counted by a global allocator, for the measuring thread alone. It counts what was asked for, and an
//! allocation that moves as both its old and its new one.

mod reading;

use std::hint::black_box;
use std::io::Read;

use allocation_counter::measure;
use cove_trace::decode::Decoder;
use cove_trace::{Arena, TraceReader};
use reading::corpus::{self, CANCELLED, HEADER};
use reading::json::parse_valid;
use reading::respell::{Variation, respell};
use reading::rng::Rng;
use reading::source::Repeated;

const MIB: u64 = 1 << 20;

/// Events of every kind, canonical and spelt otherwise, with every value shape, nested ones and escapes.
fn mixed_events() -> Vec<String> {
    let mut rng = Rng::new(1);
    let mut lines = Vec::new();
    for (line, _) in corpus::events() {
        let root = parse_valid(&line);
        lines.push(respell(&root, Variation::ALL, &mut rng));
        lines.push(respell(&root, Variation { key_order: true, ..Variation::NONE }, &mut rng));
        lines.push(line);
    }
    lines
}

fn read_events(reader: &mut TraceReader<impl Read>, count: usize) {
    for _ in 0..count {
        black_box(reader.next_event().expect("it is right").expect("it is there"));
    }
}

#[test]
fn ten_thousand_mixed_events_allocate_nothing() {
    let lines = mixed_events();
    let text = lines.join("\n") + "\n\r\n";
    let rounds = 10_000_usize.div_ceil(lines.len());
    let source = HEADER.as_bytes().chain(&b"\n"[..]).chain(Repeated::new(text.as_bytes(), rounds as u64 + 1));
    let mut reader = TraceReader::new(source);
    read_events(&mut reader, lines.len());
    let counted = measure(|| read_events(&mut reader, rounds * lines.len()));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(reader.next_event().expect("it ends well").is_none());
}

#[test]
fn a_decoder_allocates_nothing_for_what_it_has_seen_the_like_of() {
    let lines = mixed_events();
    let values: Vec<_> = corpus::values();
    let mut decoder = Decoder::new();
    let mut decode_all = || {
        for line in &lines {
            black_box(decoder.decode_event(line.as_bytes()).expect("it is right"));
        }
        for (text, _) in &values {
            black_box(decoder.decode_value(text.as_bytes()).expect("it is right"));
        }
    };
    decode_all();
    let counted = measure(decode_all);
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

/// An owned event is viewed in an arena that is used again.
#[test]
fn viewing_owned_events_allocates_nothing() {
    let events: Vec<_> = corpus::events().into_iter().map(|(_, event)| event).collect();
    let mut arena = Arena::new();
    let view_all = |arena: &mut Arena| {
        for event in &events {
            arena.clear();
            black_box(event.view(arena));
        }
    };
    view_all(&mut arena);
    let counted = measure(|| view_all(&mut arena));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

fn call(args: &str) -> String {
    format!(
        r#"{{"event":"host_call","task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"args":[{args}],"outcome":null}}"#
    )
}

fn call_reversed(args: &str) -> String {
    format!(
        r#"{{"args":[{args}],"task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"outcome":null,"event":"host_call"}}"#
    )
}

/// So many of the same, with commas between them.
fn list(item: &str, count: usize) -> String {
    vec![item; count].join(",")
}

/// Lines that make a decoder take a lot of memory for their length: many small things, so many of each, or a long one.
fn greedy_lines(count: usize) -> Vec<(&'static str, String)> {
    let len = 10 * count;
    let unit = r#"{"type":"unit"}"#;
    let array = |items: &str| format!(r#"{{"type":"array","items":[{items}]}}"#);
    let string =
        |content: &str| call(&format!(r#"{{"type":"string","value":"{}"}}"#, content.repeat(len / content.len())));
    let nested = |open: &str, leaf: &str, close: &str, depth: usize| {
        let deep = format!("{}{leaf}{}", open.repeat(depth), close.repeat(depth));
        call_reversed(&list(&deep, count.div_ceil(depth)))
    };
    let reversed_array = format!(r#"{{"items":[{}],"type":"array"}}"#, list(unit, count));
    let reversed_fields = list(r#"{"value":{"type":"unit"},"name":""}"#, count);
    vec![
        ("plain string", string("x")),
        ("escaped string", string("\\n")),
        ("long escapes", string("\\u0041")),
        ("units", call(&list(unit, count))),
        ("units before the event", call_reversed(&list(unit, count))),
        ("units before their type", call_reversed(&reversed_array)),
        ("units and what no longer fits beside them", {
            let behind = list(r#"{"type":"resource","name":"","id":0}"#, 300);
            call_reversed(&format!("{reversed_array},{behind}"))
        }),
        ("units in arrays", call(&list(&array(&list(unit, 129)), count / 129))),
        ("units in two arrays", call(&list(&array(&list(unit, count / 2 + 1)), 2))),
        ("units in deep arrays", nested(r#"{"items":["#, &list(unit, 200), r#"],"type":"array"}"#, 120)),
        (
            "fields before their type",
            call_reversed(&format!(r#"{{"fields":[{reversed_fields}],"name":"","type":"struct"}}"#)),
        ),
        ("empty arrays", call_reversed(&list(r#"{"type":"array","items":[]}"#, count))),
        ("empty enums", call_reversed(&list(r#"{"type":"enum","name":"","case":"","payload":[]}"#, count))),
        ("empty structs", call_reversed(&list(r#"{"type":"struct","name":"","fields":[]}"#, count))),
        ("opaque values", call_reversed(&list(r#"{"type":"opaque","of":"","shown":""}"#, count))),
        ("resources", call_reversed(&list(r#"{"type":"resource","name":"","id":0}"#, count))),
        ("escaped keys", call_reversed(&list(r#"{"\u0074ype":"unit"}"#, count))),
        ("escaped names", call_reversed(&list(r#"{"type":"uni\u0074"}"#, count))),
        ("escaped strings", call_reversed(&list(r#"{"type":"string","value":"\n"}"#, count))),
        // These are refused.
        ("empty objects", call_reversed(&list("{}", count))),
        ("objects of no type", call_reversed(&list(r#"{"type":0}"#, count))),
        ("objects of no type in each other", nested(r#"{"type":"#, "0", "}", 380)),
        ("objects in objects", nested(r#"{"":"#, unit, "}", 380)),
        ("numbers", call_reversed(&list("0", len))),
        ("brackets", call_reversed(&"[".repeat(len))),
        ("braces", call_reversed(&r#"{"":"#.repeat(count))),
        ("types", call_reversed(&r#"{"type":"#.repeat(count))),
        ("a long number", call(&"1".repeat(len))),
        ("a long word", call(&"t".repeat(len))),
        ("a long name", format!(r#"{{"event":"{}"}}"#, "\\n".repeat(len))),
        ("a long key", format!(r#"{{"{}":1}}"#, "\\n".repeat(len))),
        ("a long key of a value", call_reversed(&format!(r#"{{"{}":1}}"#, "\\n".repeat(len)))),
        ("white space", call_reversed(&" ".repeat(len))),
    ]
}

/// Header lines of the same sort.
fn greedy_headers(count: usize) -> Vec<(&'static str, String)> {
    let with_args = |args: &str| HEADER.replace("[]", &format!("[{args}]"));
    let long = "\\n".repeat(10 * count);
    vec![
        ("empty arguments", with_args(&list(r#""""#, count))),
        ("short arguments", with_args(&list(r#""x""#, count))),
        ("escaped arguments", with_args(&list(r#""\n""#, count))),
        ("a long argument", with_args(&format!("\"{long}\""))),
        ("a long entry", HEADER.replace("main.cove", &long)),
        (
            "arguments first",
            format!(r#"{{"args":[{}],{}"#, list(r#""""#, count), &HEADER.replace(r#","args":[]"#, "")[1..]),
        ),
    ]
}

/// What stands at [`Decoder::decode_event`].
const DOCUMENTED_FOR_AN_EVENT: u64 = 11;
/// What stands at [`Decoder::decode_header`].
const DOCUMENTED_FOR_A_HEADER: u64 = 9;
/// What stands at [`TraceReader::with_line_limit`], the header apart.
const DOCUMENTED_FOR_A_READER: u64 = 12;

/// The worst for a vector that doubles: one more than a power of two.
const COUNT: usize = (1 << 14) + 1;

#[test]
fn no_line_takes_more_memory_than_is_documented() {
    for (name, line) in greedy_lines(COUNT) {
        let counted = measure(|| {
            // Many of them are refused.
            let _ = black_box(Decoder::new().decode_event(line.as_bytes()));
        });
        let documented = DOCUMENTED_FOR_AN_EVENT * line.len() as u64;
        assert!(counted.bytes_max < documented, "{name} of {} bytes: {counted:?}", line.len());
    }
    for (name, line) in greedy_headers(COUNT) {
        let counted = measure(|| {
            black_box(Decoder::new().decode_header(line.as_bytes()).expect("it is right"));
        });
        let documented = DOCUMENTED_FOR_A_HEADER * line.len() as u64;
        assert!(counted.bytes_max < documented, "{name} of {} bytes: {counted:?}", line.len());
    }
}

/// Line after line, each as long as is allowed, between small ones.
#[test]
fn no_trace_takes_more_memory_than_is_documented() {
    let lines = greedy_lines(COUNT);
    let limit = lines.iter().map(|(_, line)| line.len()).max().unwrap_or(0);
    for (name, line) in &lines {
        // White space takes no memory but its own, and brings every line to the same length.
        let padding = " ".repeat(limit - line.len());
        let trace = format!("{HEADER}\n{CANCELLED}\n{line}{padding}\n{CANCELLED}\n{line}{padding}\n{CANCELLED}\n");
        let mut errors = 0;
        let counted = measure(|| {
            let mut reader = TraceReader::new(trace.as_bytes()).with_line_limit(limit);
            loop {
                match reader.next_event() {
                    Ok(Some(event)) => drop(black_box(event)),
                    Ok(None) => break,
                    Err(_) => errors += 1,
                }
            }
        });
        assert!(errors == 0 || errors == 2);
        assert!(counted.bytes_max < DOCUMENTED_FOR_A_READER * limit as u64, "{name}, limit {limit}: {counted:?}");
        assert_eq!(counted.bytes_current, 0);
    }
}

/// However large a line was, and whatever in it, its memory is given back while small ones follow.
#[test]
fn memory_is_given_back_after_a_huge_line() {
    /// What a reader may keep.
    const KEPT: u64 = 2 * MIB;
    let small: String = mixed_events().iter().map(|line| format!("{line}\n")).collect();
    let rounds = 10;
    // Of each thing that grows, the line that makes it grow most: the line itself, unescaped text, values, what a look
    // ahead passes, fields.
    let worst = ["plain string", "escaped string", "units", "units before the event", "fields before their type"];
    for (name, line) in greedy_lines(COUNT * 8).into_iter().filter(|(name, _)| worst.contains(name)) {
        let before = format!("{HEADER}\n{small}");
        let after = Repeated::new(small.as_bytes(), rounds);
        let mut source = before.as_bytes().chain(line.as_bytes()).chain(&b"\n"[..]).chain(after);
        let source: &mut dyn Read = &mut source;
        let small_events = mixed_events().len();
        let mut kept = 0;
        let counted = measure(|| {
            let mut reader = TraceReader::new(source);
            let all = measure(|| {
                read_events(&mut reader, small_events + 1);
                read_events(&mut reader, small_events * (rounds as usize - 1));
            });
            kept = all.bytes_current;
        });
        assert!(counted.bytes_max > KEPT, "{name}: {counted:?}");
        assert!(kept < KEPT as i64, "{name}: {kept} bytes are kept");
    }
}

/// A source that always fills the buffer leaves a part of a line in it each time, so that it is never empty.
#[test]
fn the_buffer_is_given_back_though_it_is_never_empty() {
    const HUGE: u64 = 4 * MIB;
    let line = |len: u64| format!(r#"{{"event":"entry_enter","module":"{}","function":""}}"#, "x".repeat(len as usize));
    let trace = format!("{HEADER}\n{}\n{}", line(HUGE), format!("{}\n", line(10_000)).repeat(2_000));
    let counted = measure(|| {
        let mut reader = TraceReader::new(trace.as_bytes());
        read_events(&mut reader, 1);
        let counted = measure(|| read_events(&mut reader, 1_900));
        assert!(counted.bytes_current < -(HUGE as i64) / 2, "{counted:?}");
    });
    assert!(counted.bytes_max > HUGE, "{counted:?}");
}
