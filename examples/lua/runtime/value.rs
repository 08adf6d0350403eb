//! Lua's values as a trace writes them.
//!
//! An interpreter needs no more for its values: a wrapper around a borrowed [`Value`], the name of its type, and a
//! method that writes it. It runs no Lua code, because it ignores metatables.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

use cove_trace::{TraceValue, ValueWriter};
use mlua::{BorrowedStr, Error, Table, Value};

use super::modules::files::File;
use super::modules::kv::Store;
use super::shown::Shown;

/// A Lua value in a trace event.
pub(crate) struct Traced<'a>(pub(crate) &'a Value);

impl TraceValue for Traced<'_> {
    fn type_name(&self) -> Cow<'_, str> {
        type_name(self.0)
    }

    fn write(&self, out: ValueWriter<'_>) {
        write(self.0, &Room(Cell::new(MAX_PARTS)), out);
    }
}

/// The most table entries that are recorded of one argument or result.
///
/// A table that contains itself ends at the depth limit of a trace. A table that contains itself twice, or a chain of
/// tables that each contain the next one twice, would be written 2^127 times before.
const MAX_PARTS: usize = 10_000;

/// The number of table entries that may still be written.
struct Room(Cell<usize>);

impl Room {
    fn take(&self, entries: usize) -> bool {
        let left = self.0.get().checked_sub(entries);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

pub(super) const TABLE: &str = "Table";

/// The enum case of tables that are neither arrays nor structs.
pub(super) const ENTRIES: &str = "entries";

/// Returns the name of the type that [`write`] writes.
fn type_name(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Nil => "Unit".into(),
        Value::Boolean(_) => "Bool".into(),
        Value::Integer(_) => "Int".into(),
        Value::Number(_) => "Float".into(),
        Value::String(_) => "String".into(),
        Value::Table(table) => if is_sequence(table, MAX_PARTS) { "Array" } else { TABLE }.into(),
        Value::Function(_) => "Function".into(),
        Value::Thread(_) => "Coroutine".into(),
        Value::Error(_) => "Error".into(),
        // A host type. Scripts cannot access the metatable that contains its name.
        Value::UserData(data) => match data.type_name() {
            Ok(name) => name.to_string_lossy().into(),
            Err(_) => "Userdata".into(),
        },
        _ => "Userdata".into(),
    }
}

fn write(value: &Value, room: &Room, out: ValueWriter<'_>) {
    match value {
        Value::Nil => out.unit(),
        Value::Boolean(truth) => out.bool(*truth),
        Value::Integer(int) => out.int(*int),
        Value::Number(float) => out.exact_float(*float),
        Value::String(bytes) => out.byte_string(&bytes.as_bytes()),
        Value::Table(table) => write_table(table, room, out),
        _ => match handle(value) {
            Some(id) => out.resource(&type_name(value), id),
            None => out.opaque(&type_name(value), Shown(value)),
        },
    }
}

/// Returns the host's number of the object to which this value is a handle, if it is one.
fn handle(value: &Value) -> Option<i64> {
    let data = value.as_userdata()?;
    let file = data.borrow::<File>().map(|file| file.id());
    file.or_else(|_| data.borrow::<Store>().map(|store| store.id())).ok()
}

/// Writes a table. With only the keys 1 to n, it is an array. With only text keys, it is a struct. Any other table is
/// the enum case `entries` with pairs of key and value, so that all keys stay distinct.
fn write_table(table: &Table, room: &Room, out: ValueWriter<'_>) {
    if is_sequence(table, room.0.get()) && room.take(table.raw_len()) {
        out.array(|items| {
            for item in table.sequence_values::<Value>().flatten() {
                items.item_with(|out| write(&item, room, out));
            }
        });
        return;
    }
    let Some(entries) = sorted_entries(table, room) else {
        return out.opaque(TABLE, format_args!("left out: there is room for {MAX_PARTS} entries in all"));
    };
    if entries.iter().all(|(key, _)| text(key).is_some()) {
        out.structure(TABLE, |fields| {
            for (key, value) in &entries {
                let name = text(key);
                fields.field_with(name.as_deref().unwrap_or_default(), |out| write_entry(key, value, room, out));
            }
        });
    } else {
        out.enum_case(TABLE, ENTRIES, |pairs| {
            for (key, value) in &entries {
                pairs.item_with(|out| {
                    out.array(|pair| {
                        pair.item_with(|out| write(key, room, out));
                        pair.item_with(|out| write_entry(key, value, room, out));
                    });
                });
            }
        });
    }
}

/// The keys whose values this interpreter never writes, not even to a full trace.
const SECRETS: [&[u8]; 2] = [b"password", b"token"];

fn write_entry(key: &Value, value: &Value, room: &Room, out: ValueWriter<'_>) {
    match key {
        Value::String(name) if SECRETS.iter().any(|secret| name.as_bytes().eq_ignore_ascii_case(secret)) => {
            out.redacted(&type_name(value));
        }
        _ => write(value, room, out),
    }
}

/// Whether the keys of a table are 1 to n, with n at most `most`. Stops at the first other key.
fn is_sequence(table: &Table, most: usize) -> bool {
    let length = table.raw_len();
    let mut seen = 0;
    let mut count = |key: Value, _: Value| {
        seen += 1;
        key.as_usize().filter(|index| (1..=length).contains(index)).map(drop).ok_or(ENOUGH)
    };
    length <= most && table.for_each(&mut count).is_ok() && seen == length
}

/// Returns the entries of a table, or `None` if there are too many. They are sorted by the type of the key and then by
/// the key, because Lua's own order differs from run to run.
fn sorted_entries(table: &Table, room: &Room) -> Option<Vec<(Value, Value)>> {
    let mut entries = Vec::new();
    let collect = |key, value| {
        entries.push((key, value));
        room.take(1).then_some(()).ok_or(ENOUGH)
    };
    table.for_each(collect).ok()?;
    entries.sort_by(|(a, _), (b, _)| by_key(a, b));
    Some(entries)
}

/// Stops an iteration over a table.
const ENOUGH: Error = Error::StackError;

fn by_key(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(&b.as_bytes()),
        _ => a.type_name().cmp(b.type_name()),
    }
}

fn text(key: &Value) -> Option<BorrowedStr> {
    key.as_string()?.to_str().ok()
}
