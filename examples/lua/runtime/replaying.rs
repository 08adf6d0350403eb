//! Answers host calls from a trace.

use std::io::{self, Write};

use cove_trace::replay::{Answer as Recorded, Completeness, ReplayReport};
use cove_trace::{ENTRY_TASK, LiveArgs, Replay, RunOutcome, Value};
use mlua::Lua;

use super::failure::{Failure, NO_ROOM, PANICKED};
use super::host::{Answer, Args, Operation};
use super::modules::files::File;
use super::modules::kv::Store;
use super::value::{ENTRIES, TABLE, Traced};
use super::{Ending, Run};

/// Answers the calls of a run from a trace.
pub(crate) struct Replaying {
    replay: Replay,
    /// Whether to print what the script prints.
    shows: bool,
}

impl Replaying {
    pub(crate) fn new(replay: Replay, shows: bool) -> Self {
        Self { replay, shows }
    }

    /// Returns the recorded result of this call.
    pub(super) fn answer(&self, run: &Run, operation: &Operation, args: Args<'_>) -> Answer {
        let answer =
            LiveArgs::with(args.values.iter().map(Traced), |args| self.replay.call(ENTRY_TASK, operation.site(), args));
        match answer {
            Ok(Recorded::Value(value)) => {
                self.show(operation, args)?;
                lua_value(args.lua, value)?.ok_or_else(|| stop(run, RunOutcome::Invariant, "a value of another engine"))
            }
            Ok(Recorded::Error(message)) if message == PANICKED => {
                Err(stop(run, RunOutcome::Invariant, "a panic in the host"))
            }
            Ok(Recorded::Error(message)) if message == NO_ROOM => {
                run.stop(Ending::out_of_memory());
                Err(Failure::Stopped)
            }
            Ok(Recorded::Error(message)) => Err(Failure::error(message)),
            Ok(Recorded::NotGranted) => Err(Failure::NotGranted),
            // The call that exceeded a limit is the last one.
            Ok(Recorded::NotDispatched) if self.is_at_a_limit() => Err(self.end_as_recorded(run)),
            Ok(Recorded::NotDispatched) => Err(Failure::Arguments),
            Ok(Recorded::NotRecordable | Recorded::Stopped | Recorded::Perform) => Err(self.end_as_recorded(run)),
            Ok(Recorded::Thrown(_) | Recorded::NeverReturned) => {
                Err(stop(run, RunOutcome::Invariant, "no call of this host ends like this"))
            }
            Ok(Recorded::Incomplete) => Err(stop(run, RunOutcome::Cancelled, "the recording ends here")),
            // The report is in the conclusion.
            Err(_) => Err(stop(run, RunOutcome::Cancelled, "the replay diverged")),
        }
    }

    /// Ends the replay of a run that ended like this.
    pub(crate) fn finish(&self, ending: &Ending) -> ReplayReport {
        self.replay.finish(ending.outcome, ending.message.as_deref())
    }

    fn show(&self, operation: &Operation, args: Args<'_>) -> mlua::Result<()> {
        if let Some(shows) = operation.shows.filter(|_| self.shows) {
            // The recorded call succeeded, so a closed terminal does not matter.
            let _ = io::stdout().lock().write_all(&shows(args)?);
        }
        Ok(())
    }

    fn is_at_a_limit(&self) -> bool {
        matches!(self.replay.completeness(), Completeness::Stopped(_)) && !self.replay.has_calls_left(ENTRY_TASK)
    }

    fn end_as_recorded(&self, run: &Run) -> Failure {
        let (outcome, message) = self.replay.recorded_end().unwrap_or((RunOutcome::Cancelled, None));
        run.stop(Ending { outcome, message: message.map(str::to_owned) });
        Failure::Stopped
    }
}

fn stop(run: &Run, outcome: RunOutcome, message: &str) -> Failure {
    run.stop(Ending::new(outcome, message));
    Failure::Stopped
}

/// Converts a recorded value. Returns `None` for a value that no operation of this host returns.
fn lua_value(lua: &Lua, value: Value) -> mlua::Result<Option<mlua::Value>> {
    Ok(Some(match value {
        Value::Unit => mlua::Value::Nil,
        Value::Bool(truth) => mlua::Value::Boolean(truth),
        Value::Int(int) => mlua::Value::Integer(int),
        Value::Float(float) => mlua::Value::Number(float),
        Value::String(text) => mlua::Value::String(lua.create_string(text)?),
        Value::Bytes(bytes) => mlua::Value::String(lua.create_string(bytes)?),
        Value::Array(items) => {
            let table = lua.create_table()?;
            for item in items {
                let Some(item) = lua_value(lua, item)? else { return Ok(None) };
                table.raw_push(item)?;
            }
            mlua::Value::Table(table)
        }
        Value::Struct { fields, .. } => {
            let table = lua.create_table()?;
            for (name, value) in fields {
                let Some(value) = lua_value(lua, value)? else { return Ok(None) };
                table.raw_set(name, value)?;
            }
            mlua::Value::Table(table)
        }
        Value::Enum { name, case, payload } if (name.as_str(), case.as_str()) == (TABLE, ENTRIES) => {
            let table = lua.create_table()?;
            for pair in payload {
                let Some(mlua::Value::Table(pair)) = lua_value(lua, pair)? else { return Ok(None) };
                table.raw_set(pair.raw_get::<mlua::Value>(1)?, pair.raw_get::<mlua::Value>(2)?)?;
            }
            mlua::Value::Table(table)
        }
        Value::Resource { name, id } => match name.as_str() {
            "File" => mlua::Value::UserData(lua.create_any_userdata(File::replayed(id))?),
            "Store" => mlua::Value::UserData(lua.create_any_userdata(Store::replayed(id))?),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}
