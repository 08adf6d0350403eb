//! Lua's values as text for people.

use std::fmt;

use mlua::Value;
use mlua::thread::ThreadStatus;

use super::failure::root;

/// Displays a value that is neither text nor number, without anything that differs from run to run, such as an address,
/// and without a function's captures.
pub(crate) struct Shown<'a>(pub(crate) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Boolean(truth) => truth.fmt(f),
            Value::Function(function) => {
                let info = function.info();
                match (info.short_src, info.line_defined) {
                    (Some(source), Some(line)) => write!(f, "function <{source}:{line}>"),
                    _ => f.write_str("builtin function"),
                }
            }
            Value::Thread(coroutine) => f.write_str(match coroutine.status() {
                ThreadStatus::Resumable => "suspended",
                ThreadStatus::Running => "running",
                ThreadStatus::Normal => "normal",
                ThreadStatus::Finished | ThreadStatus::Error => "dead",
            }),
            Value::Error(error) => root(error).fmt(f),
            other => f.write_str(other.type_name()),
        }
    }
}
