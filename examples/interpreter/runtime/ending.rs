//! How a run, or a task of it, came to its end.

use std::fmt;

use cove_trace::RunOutcome;
use rhai::{Dynamic, EvalAltResult, Position};

use super::failure::Refusal;
use super::value::Shown;

/// How a run, or a task of it, came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: RunOutcome,
    /// Words for it. Where the program did not choose them (every outcome but success and error) a redacted trace keeps
    /// them, so they hold nothing that the program computed.
    pub(crate) message: Option<String>,
}

impl Ending {
    pub(crate) const SUCCESS: Self = Self { outcome: RunOutcome::Success, message: None };

    pub(crate) fn new(outcome: RunOutcome, message: impl Into<String>) -> Self {
        Self { outcome, message: Some(message.into()) }
    }

    /// How a task ends that was cancelled.
    pub(crate) fn of_cancelled_task() -> Self {
        Self::new(RunOutcome::Cancelled, "the task was cancelled")
    }

    /// This ending as an error that no script can catch.
    pub(crate) fn raise(self) -> Box<EvalAltResult> {
        Box::new(EvalAltResult::ErrorTerminated(Dynamic::from(self), Position::NONE))
    }
}

/// How a script ends when nobody catches this error.
impl From<&EvalAltResult> for Ending {
    fn from(error: &EvalAltResult) -> Self {
        use EvalAltResult as E;

        // rhai's own sentences can quote the program's values, so they are said in other words.
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
            // rhai notices before the host does that an operation does not exist. After its name come the arguments' types.
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
