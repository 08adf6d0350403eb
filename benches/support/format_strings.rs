//! The same lines by `format!`, with a `String` for each part.

use cove_trace::owned::{OwnedEvent, OwnedOutcome, OwnedValue};

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if u32::from(control) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn value(value: &OwnedValue) -> String {
    let all = |values: &[OwnedValue]| values.iter().map(self::value).collect::<Vec<_>>().join(",");
    match value {
        OwnedValue::Unit => r#"{"type":"unit"}"#.into(),
        OwnedValue::Bool(value) => format!(r#"{{"type":"bool","value":{value}}}"#),
        OwnedValue::Int(value) => format!(r#"{{"type":"int","value":{value}}}"#),
        OwnedValue::Float(value) => format!(r#"{{"type":"float","value":{value:?}}}"#),
        OwnedValue::Duration { ns } => format!(r#"{{"type":"duration","ns":{ns}}}"#),
        OwnedValue::String(text) => format!(r#"{{"type":"string","value":{}}}"#, quoted(text)),
        OwnedValue::Array(items) => format!(r#"{{"type":"array","items":[{}]}}"#, all(items)),
        OwnedValue::Enum { name, case, payload } => {
            format!(r#"{{"type":"enum","name":{},"case":{},"payload":[{}]}}"#, quoted(name), quoted(case), all(payload))
        }
        OwnedValue::Struct { name, fields } => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!(r#"{{"name":{},"value":{}}}"#, quoted(name), self::value(value)))
                .collect::<Vec<_>>();
            format!(r#"{{"type":"struct","name":{},"fields":[{}]}}"#, quoted(name), fields.join(","))
        }
        OwnedValue::Resource { name, id } => format!(r#"{{"type":"resource","name":{},"id":{id}}}"#, quoted(name)),
        OwnedValue::Redacted { of } => format!(r#"{{"type":"redacted","of":{}}}"#, quoted(of)),
        OwnedValue::Opaque { of, shown } => {
            format!(r#"{{"type":"opaque","of":{},"shown":{}}}"#, quoted(of), quoted(shown))
        }
    }
}

/// The line of `event`, without its newline.
pub fn line(event: &OwnedEvent) -> String {
    match event {
        OwnedEvent::TaskSpawned { id, parent, scope } => {
            let parent = parent.map_or_else(|| "null".to_string(), |id| id.to_string());
            format!(r#"{{"event":"task_spawned","id":{id},"parent":{parent},"scope":{}}}"#, quoted(scope))
        }
        OwnedEvent::TaskCompleted { id, cpu } => {
            format!(r#"{{"event":"task_completed","id":{id},"cpu_ns":{}}}"#, cpu.as_nanos())
        }
        OwnedEvent::TaskCancelled { id } => format!(r#"{{"event":"task_cancelled","id":{id}}}"#),
        OwnedEvent::HostCall(call) => {
            let outcome = match &call.outcome {
                None => "null".to_string(),
                Some(OwnedOutcome::Value(result)) => format!(r#"{{"kind":"value","value":{}}}"#, value(result)),
                Some(OwnedOutcome::Error(message)) => format!(r#"{{"kind":"error","message":{}}}"#, quoted(message)),
                Some(OwnedOutcome::NotRecordable) => r#"{"kind":"not_recordable"}"#.to_string(),
            };
            let args = call.args.iter().map(value).collect::<Vec<_>>().join(",");
            format!(
                r#"{{"event":"host_call","task":{},"module":{},"op":{},"capability":{},"wait_ns":{},"granted":{},"args":[{args}],"outcome":{outcome}}}"#,
                call.task,
                quoted(&call.module),
                quoted(&call.op),
                quoted(&call.capability),
                call.wait.as_nanos(),
                call.granted,
            )
        }
        OwnedEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => format!(
            r#"{{"event":"heap_collected","task":{task},"allocated":{allocated},"freed":{freed},"live_objects":{live_objects},"live_bytes":{live_bytes},"pause_ns":{}}}"#,
            pause.as_nanos(),
        ),
        OwnedEvent::RunEnded { outcome, message } => {
            let message = message.as_deref().map_or_else(|| "null".to_string(), quoted);
            format!(r#"{{"event":"run_ended","outcome":"{outcome}","message":{message}}}"#)
        }
        other => panic!("no corpus has {other:?}"),
    }
}
