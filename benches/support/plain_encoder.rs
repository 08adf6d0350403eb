//! The yardstick: the same lines by an independent, straightforward encoder over the interpreter's own values.

use cove_trace::TraceEvent;

use super::live::{Event, Outcome, Value};

/// Appends the line of `event`, its newline included.
pub fn event(event: &Event<'_>, out: &mut Vec<u8>) {
    let call = match event {
        Event::Call(call) => call,
        Event::Other(event) => return other(event, out),
    };
    out.extend_from_slice(br#"{"event":"host_call","task":"#);
    integer(call.task, out);
    out.extend_from_slice(br#","module":"#);
    string(call.site.named.module(), out);
    out.extend_from_slice(br#","op":"#);
    string(call.site.named.op(), out);
    out.extend_from_slice(br#","capability":"#);
    string(call.site.named.capability(), out);
    out.extend_from_slice(br#","wait_ns":"#);
    integer(call.wait.as_nanos() as u64, out);
    out.extend_from_slice(br#","granted":"#);
    out.extend_from_slice(if call.granted { b"true" } else { b"false" });
    out.extend_from_slice(br#","args":["#);
    values(&call.args, out);
    out.extend_from_slice(br#"],"outcome":"#);
    match &call.outcome {
        None => out.extend_from_slice(b"null"),
        Some(Outcome::Value(result)) => {
            out.extend_from_slice(br#"{"kind":"value","value":"#);
            value(result, out);
            out.push(b'}');
        }
        Some(Outcome::Error(message)) => {
            out.extend_from_slice(br#"{"kind":"error","message":"#);
            string(message, out);
            out.push(b'}');
        }
        Some(Outcome::NotRecordable) => out.extend_from_slice(br#"{"kind":"not_recordable"}"#),
    }
    out.extend_from_slice(b"}\n");
}

fn other(event: &TraceEvent<'_>, out: &mut Vec<u8>) {
    match *event {
        TraceEvent::TaskSpawned { id, parent, scope } => {
            out.extend_from_slice(br#"{"event":"task_spawned","id":"#);
            integer(id, out);
            out.extend_from_slice(br#","parent":"#);
            match parent {
                Some(parent) => integer(parent, out),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(br#","scope":"#);
            string(scope, out);
        }
        TraceEvent::TaskCompleted { id, cpu } => {
            out.extend_from_slice(br#"{"event":"task_completed","id":"#);
            integer(id, out);
            out.extend_from_slice(br#","cpu_ns":"#);
            integer(cpu.as_nanos() as u64, out);
        }
        TraceEvent::TaskCancelled { id } => {
            out.extend_from_slice(br#"{"event":"task_cancelled","id":"#);
            integer(id, out);
        }
        TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
            out.extend_from_slice(br#"{"event":"heap_collected","task":"#);
            integer(task, out);
            out.extend_from_slice(br#","allocated":"#);
            integer(allocated, out);
            out.extend_from_slice(br#","freed":"#);
            integer(freed, out);
            out.extend_from_slice(br#","live_objects":"#);
            integer(live_objects, out);
            out.extend_from_slice(br#","live_bytes":"#);
            integer(live_bytes, out);
            out.extend_from_slice(br#","pause_ns":"#);
            integer(pause.as_nanos() as u64, out);
        }
        TraceEvent::RunEnded { outcome, message } => {
            out.extend_from_slice(br#"{"event":"run_ended","outcome":"#);
            string(outcome.as_str(), out);
            out.extend_from_slice(br#","message":"#);
            match message {
                Some(message) => string(message, out),
                None => out.extend_from_slice(b"null"),
            }
        }
        _ => panic!("no corpus has {event:?}"),
    }
    out.extend_from_slice(b"}\n");
}

fn value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.extend_from_slice(br#"{"type":"unit""#),
        Value::Bool(true) => out.extend_from_slice(br#"{"type":"bool","value":true"#),
        Value::Bool(false) => out.extend_from_slice(br#"{"type":"bool","value":false"#),
        Value::Int(int) => {
            out.extend_from_slice(br#"{"type":"int","value":"#);
            integer(*int, out);
        }
        Value::Float(float) if float.is_finite() => {
            out.extend_from_slice(br#"{"type":"float","value":"#);
            out.extend_from_slice(ryu::Buffer::new().format_finite(*float).as_bytes());
        }
        Value::Float(float) => opaque("Float", &float.to_string(), out),
        Value::Span(ns) => {
            out.extend_from_slice(br#"{"type":"duration","ns":"#);
            integer(*ns, out);
        }
        Value::Text(text) => {
            out.extend_from_slice(br#"{"type":"string","value":"#);
            string(text, out);
        }
        Value::List(items) => {
            out.extend_from_slice(br#"{"type":"array","items":["#);
            values(items, out);
            out.push(b']');
        }
        Value::Case(case) => {
            out.extend_from_slice(br#"{"type":"enum","name":"#);
            string(&case.name, out);
            out.extend_from_slice(br#","case":"#);
            string(&case.case, out);
            out.extend_from_slice(br#","payload":["#);
            values(&case.payload, out);
            out.push(b']');
        }
        Value::Record(record) => {
            out.extend_from_slice(br#"{"type":"struct","name":"#);
            string(&record.name, out);
            out.extend_from_slice(br#","fields":["#);
            for (index, (name, field)) in record.fields.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(br#"{"name":"#);
                string(name, out);
                out.extend_from_slice(br#","value":"#);
                self::value(field, out);
                out.push(b'}');
            }
            out.push(b']');
        }
        Value::Handle(name, id) => {
            out.extend_from_slice(br#"{"type":"resource","name":"#);
            string(name, out);
            out.extend_from_slice(br#","id":"#);
            integer(*id, out);
        }
        Value::Secret(of) => {
            out.extend_from_slice(br#"{"type":"redacted","of":"#);
            string(of, out);
        }
        Value::Other(of, shown) => opaque(of, shown, out),
    }
    out.push(b'}');
}

fn values(values: &[Value], out: &mut Vec<u8>) {
    for (index, item) in values.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        value(item, out);
    }
}

fn opaque(of: &str, shown: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"opaque","of":"#);
    string(of, out);
    out.extend_from_slice(br#","shown":"#);
    string(shown, out);
}

fn integer(integer: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
}

/// For each byte: 0 when it stands for itself, otherwise the byte after the backslash.
const ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        escapes[control] = b'u';
        control += 1;
    }
    escapes[b'"' as usize] = b'"';
    escapes[b'\\' as usize] = b'\\';
    escapes[b'\n' as usize] = b'n';
    escapes[b'\r' as usize] = b'r';
    escapes[b'\t' as usize] = b't';
    escapes
};

fn string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut written = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[written..index]);
        out.extend_from_slice(&[b'\\', escape]);
        if escape == b'u' {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let [high, low] = [byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]);
            out.extend_from_slice(&[b'0', b'0', high, low]);
        }
        written = index + 1;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}
