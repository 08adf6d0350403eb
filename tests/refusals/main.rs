//! What the reader accepts and what it refuses, and that every refusal blames the right byte of the right line.
//!
//! Faults are put into valid lines in a systematic way, so that the byte to blame is known from how the line was made; a
//! naive second decoder has to agree each time.
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

#[path = "../reading/mod.rs"]
mod reading;

mod headers;
mod keys;
mod nesting;
mod numbers;
mod order;
mod strings;
mod syntax;
mod types;
