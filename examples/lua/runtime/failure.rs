//! Why a host call returned no value: its outcome in the trace, and the error for the script.

use std::borrow::Cow;
use std::fmt;

use cove_trace::HostOutcome;
use mlua::Error;

use super::host::Operation;

/// The recorded error of a call whose function panicked. The run is over.
pub(crate) const PANICKED: &str = "the host's function panicked";

/// The recorded error of a call whose result did not fit into Lua's memory.
pub(crate) const NO_ROOM: &str = "Lua had no room for the answer";

/// Why a host call returned no value.
pub(crate) enum Failure {
    /// The program does not hold the capability. The host was not reached.
    NotGranted,
    /// The arguments are wrong. The host was not reached.
    Arguments,
    /// The run is over, because this call exceeds a limit or for an earlier reason. The host was not reached.
    Stopped,
    /// The host tried and failed, with this message. A redacted trace keeps it, so it must not quote an argument.
    Error(Cow<'static, str>),
    /// Lua could not take the result.
    Engine(Error),
    /// The host's function panicked. The run is over.
    Panic,
}

impl Failure {
    pub(crate) fn error(said: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(said.into())
    }

    /// The call's outcome in a trace. `None` if it did not reach the host.
    pub(crate) fn outcome(&self) -> Option<HostOutcome<'_>> {
        match self {
            Self::NotGranted | Self::Arguments | Self::Stopped => None,
            Self::Error(said) => Some(HostOutcome::Error(said)),
            Self::Engine(_) => Some(HostOutcome::Error(NO_ROOM)),
            Self::Panic => Some(HostOutcome::Error(PANICKED)),
        }
    }

    /// Returns the error for the script that called `operation`.
    pub(crate) fn raise(self, operation: &Operation) -> Error {
        let site = operation.site();
        let (module, op, capability) = (site.module(), site.op(), site.capability());
        match self {
            Self::NotGranted => Raised::Refusal(format!("{module}.{op} takes the capability {capability}")).into(),
            Self::Arguments => Raised::Refusal(format!("{module}.{op} takes {}", operation.takes)).into(),
            Self::Stopped | Self::Panic => Raised::Stopped.into(),
            Self::Error(said) => Raised::Error(said).into(),
            Self::Engine(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// An error of the host. Its type differs from the errors of a script, even if a script catches it and raises it again.
#[derive(Debug)]
pub(crate) enum Raised {
    /// The host refused the call.
    Refusal(String),
    /// The host tried and failed.
    Error(Cow<'static, str>),
    /// The run is over. A script that catches this can make no more host calls, and runs only until the next check of
    /// the limits.
    Stopped,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refusal(said) => said,
            Self::Error(said) => said,
            Self::Stopped => "the run is over",
        })
    }
}

impl std::error::Error for Raised {}

impl From<Raised> for Error {
    fn from(raised: Raised) -> Self {
        Self::external(raised)
    }
}

/// Returns the error without the tracebacks in which Lua wraps it.
pub(crate) fn root(error: &Error) -> &Error {
    match error {
        Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } => root(cause),
        other => other,
    }
}
