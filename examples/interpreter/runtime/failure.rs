//! Why a host call gave no value: what the trace says about it, and what the script is told.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::resume_unwind;

use cove_trace::HostOutcome;
use rhai::{Dynamic, EvalAltResult, Position};

use super::ending::Ending;
use super::host::Operation;

/// What a trace says of a call whose function panicked. The program does not go on after it.
pub(crate) const PANICKED: &str = "the host's function panicked";

/// What a trace says of a sleep that the end of the task, or of the run, cut short. The task does not go on after it.
pub(crate) const WOKEN: &str = "stopped while it slept";

/// Why a host call gave no value.
pub(crate) enum Failure {
    /// The program does not hold the capability. The host was not reached.
    NotGranted,
    /// The operation takes other arguments than these. The host was not reached.
    Arguments,
    /// The call would have gone beyond a limit. The host was not reached.
    Limit(Ending),
    /// The host tried and failed.
    Error {
        /// Why, in the host's own words, which a redacted trace keeps: so nothing of an argument is in it.
        said: Cow<'static, str>,
        /// What the script is told.
        raise: Box<EvalAltResult>,
    },
    /// The host did something that can't be answered from a trace, and the program does not go on.
    NotRecordable(Ending),
    /// The host's function panicked, with this.
    Panic(Box<dyn Any + Send>),
}

impl Failure {
    /// An error that the script is told in the words that the trace has, and may catch.
    pub(crate) fn error(said: impl Into<Cow<'static, str>>) -> Self {
        let said = said.into();
        let raise = Box::new(EvalAltResult::ErrorRuntime(said.to_string().into(), Position::NONE));
        Self::Error { said, raise }
    }

    /// The host gave up in the middle of a call, because the task or the run ends.
    pub(crate) fn stopped(said: &'static str, ending: Ending) -> Self {
        Self::Error { said: said.into(), raise: ending.raise() }
    }

    /// The call's outcome in a trace; none when it did not reach the host.
    pub(crate) fn outcome(&self) -> Option<HostOutcome<'_>> {
        match self {
            Self::NotGranted | Self::Arguments | Self::Limit(_) => None,
            Self::Error { said, .. } => Some(HostOutcome::Error(said)),
            Self::NotRecordable(_) => Some(HostOutcome::NotRecordable),
            Self::Panic(_) => Some(HostOutcome::Error(PANICKED)),
        }
    }

    /// What the script is told about its call of `operation`.
    ///
    /// # Panics
    ///
    /// Goes on with the panic of the host's function: no script can go on after that.
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

/// What a script catches when the host refuses a call. Its type tells it from what the script itself may throw.
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
