//! What the benchmarks share: corpora, the same events in the form that each writer or reader takes, and a timing loop.
#![allow(unreachable_pub, dead_code, reason = "each benchmark compiles this for itself and uses a part of it")]

pub mod corpora;
pub mod drawn;
pub mod example;
pub mod format_strings;
pub mod live;
mod names;
pub mod options;
pub mod plain_encoder;
pub mod random;
pub mod recorded;
pub mod respelt;
pub mod serde_form;
pub mod serde_owned;
pub mod timing;
pub mod vocabulary;
