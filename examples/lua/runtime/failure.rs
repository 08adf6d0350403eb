//! Why a host call gave no value: what the trace says about it, and what the script is told.

use std::borrow::Cow;
use std::fmt;

use cove_trace::HostOutcome;
use mlua::Error;

use super::host::Operation;

/// What a trace says of a call whose function panicked. The run is over then.
pub(crate) const PANICKED: &str = "the host's function panicked";

/// What a trace says of a call whose result Lua could not take.
pub(crate) const NO_ROOM: &str = "Lua had no room for the answer";

/// Why a host call gave no value.
pub(crate) enum Failure {
    /// The program does not hold the capability. The host was not reached.
    NotGranted,
    /// The operation takes other arguments than these. The host was not reached.
    Arguments,
    /// The run is over, by a limit that this call went beyond or by something before it. The host was not reached.
    Stopped,
    /// The host tried and failed. Why, in the host's own words, which a redacted trace keeps: so nothing of an argument is
    /// in it.
    Error(Cow<'static, str>),
    /// Lua could not take what the host had to say.
    Engine(Error),
    /// The host's function panicked. The run is over.
    Panic,
}

impl Failure {
    pub(crate) fn error(said: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(said.into())
    }

    /// The call's outcome in a trace; none when it did not reach the host.
    pub(crate) fn outcome(&self) -> Option<HostOutcome<'_>> {
        match self {
            Self::NotGranted | Self::Arguments | Self::Stopped => None,
            Self::Error(said) => Some(HostOutcome::Error(said)),
            Self::Engine(_) => Some(HostOutcome::Error(NO_ROOM)),
            Self::Panic => Some(HostOutcome::Error(PANICKED)),
        }
    }

    /// What the script is told about its call of `operation`.
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

/// What the host raises. Its type tells it from what a script raises, also when a script catches it and raises it again.
#[derive(Debug)]
pub(crate) enum Raised {
    /// The host did not do what it was asked for.
    Refusal(String),
    /// The host tried and failed.
    Error(Cow<'static, str>),
    /// The run is over. A script that catches this makes no more host calls, and gets no further than to the next look at the
    /// limits.
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

/// An error without the tracebacks that Lua wraps it in on its way.
pub(crate) fn root(error: &Error) -> &Error {
    match error {
        Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } => root(cause),
        other => other,
    }
}
