//! Why a host call returned no value: its outcome in the trace, and the error for the script.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::resume_unwind;

use cove_trace::HostOutcome;
use rhai::{Dynamic, EvalAltResult, Position};

use super::ending::Ending;
use super::host::Operation;

/// The recorded error of a call whose function panicked. The program does not continue after it.
pub(crate) const PANICKED: &str = "the host's function panicked";

/// The recorded error of a sleep that the end of the task or run interrupted. The task does not continue after it.
pub(crate) const WOKEN: &str = "stopped while it slept";

/// Why a host call returned no value.
pub(crate) enum Failure {
    /// The program does not hold the capability. The host was not reached.
    NotGranted,
    /// The arguments are wrong. The host was not reached.
    Arguments,
    /// The call would exceed a limit. The host was not reached.
    Limit(Ending),
    /// The host tried and failed.
    Error {
        /// The host's message. A redacted trace keeps it, so it must not quote an argument.
        said: Cow<'static, str>,
        /// The error for the script.
        raise: Box<EvalAltResult>,
    },
    /// The host did something that a trace cannot answer, and the program does not continue.
    NotRecordable(Ending),
    /// The host's function panicked with this payload.
    Panic(Box<dyn Any + Send>),
}

impl Failure {
    /// An error with the same message in the trace and for the script, which may catch it.
    pub(crate) fn error(said: impl Into<Cow<'static, str>>) -> Self {
        let said = said.into();
        let raise = Box::new(EvalAltResult::ErrorRuntime(said.to_string().into(), Position::NONE));
        Self::Error { said, raise }
    }

    /// The host stopped a call because the task or the run ends.
    pub(crate) fn stopped(said: &'static str, ending: Ending) -> Self {
        Self::Error { said: said.into(), raise: ending.raise() }
    }

    /// The call's outcome in a trace. `None` if it did not reach the host.
    pub(crate) fn outcome(&self) -> Option<HostOutcome<'_>> {
        match self {
            Self::NotGranted | Self::Arguments | Self::Limit(_) => None,
            Self::Error { said, .. } => Some(HostOutcome::Error(said)),
            Self::NotRecordable(_) => Some(HostOutcome::NotRecordable),
            Self::Panic(_) => Some(HostOutcome::Error(PANICKED)),
        }
    }

    /// Returns the error for the script that called `operation`.
    ///
    /// # Panics
    ///
    /// Resumes the panic of the host's function, because no script can continue after it.
    pub(crate) fn raise(self, operation: &Operation) -> Box<EvalAltResult> {
        let site = operation.site();
        let (module, op, capability) = (site.module(), site.op(), site.capability());
        match self {
            Self::NotGranted => Refusal::raise(format!("{module}::{op} takes the capability {capability}")),
            Self::Arguments => Refusal::raise(format!("{module}::{op} takes {}", operation.takes())),
            Self::Limit(ending) | Self::NotRecordable(ending) => ending.raise(),
            Self::Error { raise, .. } => raise,
            Self::Panic(panic) => resume_unwind(panic),
        }
    }
}

/// The error that a script catches when the host refuses a call. Its type differs from everything that a script can
/// throw.
#[derive(Clone)]
pub(crate) struct Refusal(String);

impl Refusal {
    fn raise(message: String) -> Box<EvalAltResult> {
        Box::new(EvalAltResult::ErrorRuntime(Dynamic::from(Self(message)), Position::NONE))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
