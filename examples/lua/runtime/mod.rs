//! A small runtime around Lua that records what its scripts ask of their host.
//!
//! [`call`] is the one place that every host call goes through, and [`value`] the wrapper around Lua's values: these two are
//! the glue between engine and trace. The rest is the interpreter itself.

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
