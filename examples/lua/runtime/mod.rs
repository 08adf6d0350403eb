//! A small runtime around Lua that records the host calls of its scripts.
//!
//! [`call`] has the one function through which all host calls go, and [`value`] the wrapper of Lua's values. These two
//! connect the engine with the trace. The rest is the interpreter itself.

mod call;
mod ending;
mod engine;
mod failure;
pub(crate) mod host;
pub(crate) mod modules;
mod replaying;
mod run;
mod shown;
pub(crate) mod value;

pub(crate) use self::ending::Ending;
pub(crate) use self::replaying::Replaying;
pub(crate) use self::run::{Limits, Program, Run, Setup};
