//! A small runtime around rhai that records the host calls of its scripts.
//!
//! [`host`] has the one function through which all host calls go, and [`value`] the wrapper of rhai's values. The
//! author of another interpreter writes these two first. The rest is the interpreter itself.

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
