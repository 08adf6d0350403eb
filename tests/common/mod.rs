//! Helpers shared by several tests.
#![allow(dead_code, reason = "each test is a crate of its own and uses what it needs")]

pub(crate) mod example;
#[cfg(unix)]
pub(crate) mod process;
pub(crate) mod scratch_dir;

use std::time::Duration;

use cove_trace::{CallSite, ENTRY_TASK, HostCall, HostOutcome, RecordedValue, TraceEvent};

/// Returns a call of `console.print`, granted, with a wait of 5 ns, for tests of its values.
pub(crate) fn print_call<'a>(args: &'a [RecordedValue<'a>], outcome: Option<HostOutcome<'a>>) -> TraceEvent<'a> {
    TraceEvent::HostCall(HostCall {
        task: ENTRY_TASK,
        site: CallSite::new("console", "print", "console.write"),
        wait: Duration::from_nanos(5),
        granted: true,
        args,
        outcome,
    })
}

/// Returns the line of a [`print_call`] with these encoded arguments and this encoded outcome.
pub(crate) fn print_line(args: &str, outcome: &str) -> String {
    format!(
        r#"{{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":5,"granted":true,"args":[{args}],"outcome":{outcome}}}"#
    ) + "\n"
}
