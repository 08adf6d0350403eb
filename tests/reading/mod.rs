//! What the tests of the read side share: valid lines with their meaning, a naive second decoder to hold the real one to,
//! and ways to spell a line differently.
#![allow(dead_code, reason = "each test is a crate of its own and uses what it needs")]
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

pub(crate) mod corpus;
pub(crate) mod expect;
pub(crate) mod json;
pub(crate) mod mutate;
pub(crate) mod oracle;
pub(crate) mod respell;
pub(crate) mod rng;
pub(crate) mod seen;
pub(crate) mod source;
pub(crate) mod traces;
