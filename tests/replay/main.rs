//! Replays: what is answered, what diverges and how that is reported, what tasks may do, and what is incomplete.

mod answers;
mod check_only;
mod divergences;
mod endings;
mod keep_going;
mod opening;
mod recorded;
mod reports;
mod suite;
mod tasks;
