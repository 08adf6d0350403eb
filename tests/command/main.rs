//! The command as a process: what it gives, what it says, and how it exits.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

mod cat;
mod check;
mod compressed;
mod diagnostics;
mod diff;
mod follow;
mod full_disk;
mod generated;
mod grants;
mod harness;
mod known_run;
mod memory;
mod output;
mod parallel;
mod readme;
mod redact;
mod repair;
mod show;
mod shown;
mod summary;
mod terminal;
mod timeline;
mod traces;
