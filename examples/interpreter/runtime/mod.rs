//! A small runtime around rhai that records what its scripts ask of their host.
//!
//! [`host`] holds the one place that every host call goes through, and [`value`] the wrapper around rhai's values: these
//! two are what the author of another interpreter writes first. The rest is the interpreter itself.

mod ending;
mod engine;
mod failure;
pub(crate) mod host;
pub(crate) mod modules;
mod replaying;
mod run;
mod task;
pub(crate) mod value;

pub(crate) use self::ending::Ending;
pub(crate) use self::replaying::Replaying;
pub(crate) use self::run::{Limits, Program, Run, Setup};
