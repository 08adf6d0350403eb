//! What the benchmarks share: the corpora, and the same events as other libraries take them.
#![allow(unreachable_pub, dead_code, reason = "each benchmark compiles this for itself and uses a part of it")]

pub mod corpora;
pub mod example;
pub mod live;
pub mod plain;
pub mod recorded;
pub mod respelt;
pub mod serde_form;
pub mod serde_owned;
pub mod timing;
