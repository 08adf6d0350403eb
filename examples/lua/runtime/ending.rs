//! How a run ended.

use std::fmt;

use cove_trace::RunOutcome;
use mlua::{Error, Function, Lua, Value};

use super::failure::{Raised, root};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: RunOutcome,
    /// A redacted trace keeps the message of every outcome but success and error. Such a message must not contain
    /// anything that the program computed.
    pub(crate) message: Option<String>,
}

impl Ending {
    pub(crate) const SUCCESS: Self = Self { outcome: RunOutcome::Success, message: None };

    pub(crate) fn new(outcome: RunOutcome, message: impl Into<String>) -> Self {
        Self { outcome, message: Some(message.into()) }
    }

    /// Memory counts as fuel, because the format has no outcome for it.
    pub(super) fn out_of_memory() -> Self {
        Self::new(RunOutcome::Fuel, "the memory is used up")
    }

    /// The end by an error of the engine itself. The engine's own message can quote the program's values, so it is
    /// replaced.
    pub(super) fn by_engine(error: &Error) -> Self {
        match root(error) {
            Error::MemoryError(_) => Self::out_of_memory(),
            _ => Self::new(RunOutcome::Invariant, "a fault in the engine"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.outcome.as_str())?;
        self.message.iter().try_for_each(|message| write!(f, ": {message}"))
    }
}

/// Determines how a script ends from an error that it does not catch.
///
/// Lua's own faults and a script's `error("...")` are both texts, so the function that raised them decides.
pub(super) struct Judge {
    error: Function,
    assert: Function,
}

/// The beginnings of Lua's messages about faults. The rest of such a message can quote the program's values.
const FAULTS: [&str; 8] = [
    "attempt to index",
    "attempt to call",
    "attempt to compare",
    "attempt to concatenate",
    "attempt to perform arithmetic",
    "attempt to divide by zero",
    "attempt to perform 'n%0'",
    "bad argument",
];

impl Judge {
    /// Call it before a script can replace these functions.
    pub(super) fn new(lua: &Lua) -> mlua::Result<Self> {
        Ok(Self { error: lua.globals().get("error")?, assert: lua.globals().get("assert")? })
    }

    /// Call it where the error was raised, before the stack is unwound.
    pub(super) fn ending(&self, lua: &Lua, thrown: &Value) -> Ending {
        match thrown {
            Value::Error(error) => match root(error) {
                Error::ExternalError(error) => match error.downcast_ref() {
                    Some(Raised::Refusal(said)) => Ending::new(RunOutcome::HostBoundary, said),
                    Some(Raised::Error(said)) => Ending::new(RunOutcome::Error, said.clone()),
                    Some(Raised::Stopped) | None => broken(lua, "a fault in the host"),
                },
                error => Ending::by_engine(error),
            },
            Value::String(text) => self.ending_by_text(lua, text.to_string_lossy()),
            other => Ending::new(RunOutcome::Error, format!("a {} was thrown", other.type_name())),
        }
    }

    fn ending_by_text(&self, lua: &Lua, text: String) -> Ending {
        let raised_by = lua.inspect_stack(1, |frame| (frame.function(), frame.source().what));
        let fault = FAULTS.iter().find(|fault| text.contains(**fault));
        match raised_by {
            Some((function, _)) if function == self.error => Ending::new(RunOutcome::Error, text),
            Some((function, _)) if function == self.assert => broken(lua, "a failed assertion"),
            _ if text.contains("stack overflow") => Ending::new(RunOutcome::CallDepth, "calls nested too deep"),
            _ if text.contains("not enough memory") => Ending::out_of_memory(),
            _ if fault.is_some() => broken(lua, fault.unwrap_or(&"")),
            // A function of Lua's library. It also passes on the errors of a wrapped coroutine.
            Some((_, "C")) => Ending::new(RunOutcome::Error, text),
            _ => broken(lua, "a fault in the script"),
        }
    }
}

/// The end by a broken invariant: its kind, and the line of the script.
fn broken(lua: &Lua, what: &str) -> Ending {
    let line = |level| {
        lua.inspect_stack(level, |frame| {
            let source = frame.source().short_src?.into_owned();
            frame.current_line().map(|line| format!("{what}, {source}:{line}"))
        })
    };
    let place = (1..).map_while(line).flatten().next();
    Ending::new(RunOutcome::Invariant, place.unwrap_or_else(|| what.to_owned()))
}
