//! How a run, or one of its tasks, ended.

use std::fmt;

use cove_trace::RunOutcome;
use rhai::{Dynamic, EvalAltResult, Position};

use super::failure::Refusal;
use super::value::Shown;

/// How a run, or one of its tasks, ended.
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

    /// The end of a cancelled task.
    pub(crate) fn of_cancelled_task() -> Self {
        Self::new(RunOutcome::Cancelled, "the task was cancelled")
    }

    /// Returns this ending as an error that no script can catch.
    pub(crate) fn raise(self) -> Box<EvalAltResult> {
        Box::new(EvalAltResult::ErrorTerminated(Dynamic::from(self), Position::NONE))
    }
}

/// The end of a script that does not catch this error.
impl From<&EvalAltResult> for Ending {
    fn from(error: &EvalAltResult) -> Self {
        use EvalAltResult as E;

        // rhai's own messages can quote the program's values, so they are replaced.
        let broken = |what: &str| Self::new(RunOutcome::Invariant, format!("{what}, {}", error.position()));
        match error.unwrap_inner() {
            E::ErrorTerminated(token, _) => match token.read_lock::<Self>() {
                Some(ending) => ending.clone(),
                None => broken("a stop that nobody asked for"),
            },
            E::ErrorTooManyOperations(_) => Self::new(RunOutcome::Fuel, "too many operations"),
            E::ErrorStackOverflow(_) => Self::new(RunOutcome::CallDepth, "calls nested too deep"),
            E::ErrorRuntime(thrown, _) => match thrown.read_lock::<Refusal>() {
                Some(refusal) => Self::new(RunOutcome::HostBoundary, refusal.to_string()),
                None => Self::new(RunOutcome::Error, Shown(thrown).to_string()),
            },
            // rhai itself detects an unknown operation. The types of the arguments follow its name.
            E::ErrorFunctionNotFound(signature, _) => {
                let name = signature.split(' ').next().unwrap_or_default();
                if name.contains("::") {
                    Self::new(RunOutcome::HostBoundary, format!("no such operation: {name}"))
                } else {
                    broken("an unknown function")
                }
            }
            E::ErrorModuleNotFound(name, _) => {
                Self::new(RunOutcome::HostBoundary, format!("no such host module: {name}"))
            }
            E::ErrorArithmetic(..) => broken("broken arithmetic"),
            E::ErrorArrayBounds(..) | E::ErrorStringBounds(..) => broken("an index out of bounds"),
            E::ErrorVariableNotFound(..) => broken("an unknown variable"),
            _ => broken("a fault in the script"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.outcome.as_str())?;
        self.message.iter().try_for_each(|message| write!(f, ": {message}"))
    }
}
