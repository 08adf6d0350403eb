//! FORMAT.md says what the crate writes: its examples are read and written back alike, and its tables are complete.

use std::collections::BTreeSet;
use std::fmt;

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};
use cove_trace::{
    Arena, EventKind, RecordingBackend, RunOutcome, TraceEvent, TraceReader, Value, ValueCapture, encode_event,
    encode_header,
};

const PAGE: &str = include_str!("../FORMAT.md");

/// Returns the example lines in order, which together are a trace.
fn examples() -> Vec<&'static str> {
    let mut is_example = false;
    let mut lines = Vec::new();
    for line in PAGE.lines() {
        match line {
            "```json" => is_example = true,
            "```" => is_example = false,
            line if is_example => lines.push(line),
            _ => {}
        }
    }
    lines
}

/// Returns the events of the examples.
fn example_events() -> Vec<OwnedEvent> {
    let text = examples().into_iter().filter(|line| !line.contains("run_ended")).collect::<Vec<_>>().join("\n");
    let mut reader = TraceReader::from_slice(text.as_bytes());
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().expect("the examples can be read") {
        events.push(OwnedEvent::from(&event));
    }
    events
}

/// Returns the rows of the table whose first heading is `heading`, each with its cells.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let start = format!("| {heading} |");
    let rows = PAGE.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let cells = |row: &'static str| row.trim_matches('|').split(" |").map(str::trim).collect();
    let rows: Vec<Vec<&str>> = rows.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "no table {heading}");
    rows
}

/// Returns the words in backquotes.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns the keys of a JSON object in their order.
fn keys(object: &str) -> Vec<String> {
    struct Keys(Vec<String>);

    impl<'de> serde::Deserialize<'de> for Keys {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(Keys(Vec::new()))
        }
    }

    impl<'de> serde::de::Visitor<'de> for Keys {
        type Value = Self;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(mut self, mut object: A) -> Result<Self, A::Error> {
            while let Some((key, _)) = object.next_entry::<_, serde::de::IgnoredAny>()? {
                self.0.push(key);
            }
            Ok(self)
        }
    }

    serde_json::from_str::<Keys>(object).expect("an object").0
}

#[test]
fn every_example_is_written_back_as_it_is() {
    let mut reader = TraceReader::new(examples()[0].as_bytes());
    let header = reader.header().expect("it can be read").expect("the first example is a header");
    let mut written = Vec::new();
    assert!(encode_header(header, &mut written));
    assert_eq!(String::from_utf8(written).expect("UTF-8").trim_end(), examples()[0]);

    let text = examples().join("\n");
    let mut reader = TraceReader::from_slice(text.as_bytes());
    for example in &examples()[1..] {
        let event = reader.next_event().expect("it can be read").expect("an event for each line");
        let mut written = Vec::new();
        assert!(encode_event(&event, ValueCapture::Full, &mut written));
        assert_eq!(String::from_utf8(written).expect("UTF-8").trim_end(), *example);
    }
}

#[test]
fn the_table_of_events_has_every_kind_with_its_keys() {
    let rows = table("event");
    let kinds: Vec<&str> = rows.iter().map(|row| code(row[0])[0]).collect();
    let expected: BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(kinds.iter().copied().collect::<BTreeSet<_>>(), expected);
    for (row, kind) in rows.iter().zip(kinds) {
        let start = format!(r#"{{"event":"{kind}""#);
        let example = examples().into_iter().find(|line| line.starts_with(&start)).expect(kind);
        let mut documented = vec!["event"];
        documented.extend(code(row[1]));
        assert_eq!(keys(example), documented, "{kind}");
    }
    let mut header = vec!["event"];
    header.extend(table("key").iter().map(|row| code(row[0])[0]));
    assert_eq!(keys(examples()[0]), header);
}

#[test]
fn the_closed_sets_are_complete() {
    let outcomes: BTreeSet<&str> = table("outcome").iter().flat_map(|row| code(row[0])).collect();
    assert_eq!(outcomes, RunOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect());
    let cell = |key: &str| table("key").into_iter().find(|row| row[0] == format!("`{key}`")).expect("a row")[1];
    assert_eq!(code(cell("backend")), RecordingBackend::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>());
    assert_eq!(code(cell("values")), ValueCapture::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>());
}

/// All values of the examples, and their parts.
fn values() -> Vec<OwnedValue> {
    fn collect(value: &OwnedValue, into: &mut Vec<OwnedValue>) {
        into.push(value.clone());
        match value {
            OwnedValue::Array(parts) | OwnedValue::Enum { payload: parts, .. } => {
                parts.iter().for_each(|part| collect(part, into));
            }
            OwnedValue::Struct { fields, .. } => fields.iter().for_each(|(_, value)| collect(value, into)),
            _ => {}
        }
    }
    let mut values = Vec::new();
    for event in example_events() {
        if let OwnedEvent::HostCall(call) = event {
            call.args.iter().for_each(|arg| collect(arg, &mut values));
            if let Some(OwnedOutcome::Value(result)) = &call.outcome {
                collect(result, &mut values);
            }
        }
    }
    values
}

#[test]
fn the_table_of_values_has_every_type_with_its_keys_and_its_name() {
    let rows = table("type");
    let mut seen = BTreeSet::new();
    for value in values() {
        let written = cove_trace::value_to_json(&value, ValueCapture::Full);
        let keys = keys(&written);
        let start = |row: &&Vec<&str>| written.starts_with(&format!(r#"{{"type":"{}""#, code(row[0])[0]));
        let row = rows.iter().find(start).expect("a row for the type");
        seen.insert(row[0]);
        // The keys come first in their cell; what follows explains them.
        assert_eq!(code(row[1])[..keys.len() - 1], keys[1..], "{written}");
        let arena = Arena::new();
        let name = cove_trace::TraceValue::type_name(&value.view(&arena)).into_owned();
        match code(row[2])[0] {
            "name" | "of" if written.contains(r#""name":"@"#) => {}
            key @ ("name" | "of") => assert!(written.contains(&format!(r#""{key}":"{name}""#)), "{written}"),
            documented => assert_eq!(name, documented),
        }
    }
    assert_eq!(seen.len(), rows.len(), "an example for each type: {seen:?}");
}

#[test]
fn the_table_of_reserved_names_holds() {
    let documented: BTreeSet<(&str, &str)> = table("value")
        .iter()
        .flat_map(|row| code(row[2]).into_iter().map(move |case| (code(row[1])[0], case)))
        .collect();
    let arena = Arena::new();
    for (name, case) in documented {
        let payload = match (name, case) {
            ("@Int", _) => vec![OwnedValue::String("-9223372036854775809".into())],
            ("@String", _) => vec![OwnedValue::String("80".into())],
            ("@Map", _) => vec![OwnedValue::Array(vec![OwnedValue::Unit, OwnedValue::Unit])],
            ("@Range", _) => vec![OwnedValue::Int(1), OwnedValue::Unit],
            ("@Thrown", _) => vec![OwnedValue::Unit],
            _ => vec![],
        };
        let value = OwnedValue::Enum { name: name.into(), case: case.into(), payload };
        let row = table("value").into_iter().find(|row| code(row[1])[0] == name).expect("its row");
        let view = value.view(&arena);
        assert_eq!(cove_trace::TraceValue::type_name(&view), code(row[4])[0]);
        let is_plain_enum = matches!(view.to_value(), Ok(Value::Enum { .. }));
        assert_eq!(is_plain_enum, matches!(name, "@Thrown" | "@NeverReturned"), "{name}.{case}");
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    assert!(PAGE.starts_with(&format!("# The trace format, version {}\n", cove_trace::TRACE_FORMAT_VERSION)));
    let is_call = |event: &OwnedEvent| matches!(event, OwnedEvent::HostCall(_));
    assert!(example_events().iter().any(is_call), "the examples are events");
    let ended = TraceEvent::RunEnded { outcome: RunOutcome::Error, message: Some("no such page") };
    let mut written = Vec::new();
    assert!(encode_event(&ended, ValueCapture::Full, &mut written));
    assert!(PAGE.contains(std::str::from_utf8(&written).expect("UTF-8")));
}
