//! What each fuzz target holds, as plain functions of bytes: `fuzz/` gives them what libFuzzer finds, the test suite what
//! was found before and what is new.
#![allow(dead_code, reason = "each fuzz target is a crate of its own and uses what it needs")]

#[path = "../../common/canonical.rs"]
mod canonical;
#[path = "../../common/generate.rs"]
mod generate;
#[path = "../../common/lines.rs"]
mod lines;
#[path = "../../common/live.rs"]
mod live;
#[path = "../../reading/mod.rs"]
pub(crate) mod reading;
#[path = "../../common/replayable.rs"]
mod replayable;
#[path = "../../common/secrets.rs"]
mod secrets;

pub(crate) mod decode_bytes;
pub(crate) mod escape;
pub(crate) mod event_roundtrip;
pub(crate) mod number;
pub(crate) mod reader_chunks;
pub(crate) mod replay_tape;
pub(crate) mod sink_faults;
pub(crate) mod value_roundtrip;
