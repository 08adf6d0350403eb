//! Which events are asked for.

use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use cove_trace::{ENTRY_TASK, EventKind, HostCall, RunOutcome, TraceEvent};
use wildmatch::WildMatch;

use super::texts;

/// Options that choose events. Of one kind, any may hold; of those given, every kind has to.
#[derive(clap::Args)]
#[command(next_help_heading = "Filters (one given more than once: either; different ones: all of them)")]
pub(crate) struct Filter {
    /// Events of this task; 0 is the entry.
    #[arg(long, value_name = "ID")]
    task: Vec<u64>,
    /// Host calls that ask for this capability; * stands for anything.
    #[arg(long, value_name = "NAME", value_parser = pattern)]
    capability: Vec<WildMatch>,
    /// Host calls of this operation, as in 'http.*'; without a dot, of this name in any module.
    #[arg(long, value_name = "MODULE.OP", value_parser = pattern)]
    op: Vec<WildMatch>,
    /// Events of this kind.
    #[arg(long, value_name = "KIND", value_parser = event_kind())]
    event: Vec<EventKind>,
    /// Host calls that were refused. With --errors: either.
    #[arg(long)]
    refused: bool,
    /// Host calls that gave an error, and a run that ended otherwise than well.
    #[arg(long)]
    errors: bool,
    /// Events that waited for the host at least this long, as in 5ms.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    min_wait: Option<Duration>,
    /// Events in which this text stands: in a name, a value or a message.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    contains: Vec<String>,
    /// Events on these lines of the file, both ends included: 10..20, 10.., ..20 or 10.
    #[arg(long, value_name = "A..B")]
    lines: Vec<Lines>,
}

fn pattern(text: &str) -> Result<WildMatch, Infallible> {
    Ok(WildMatch::new(text))
}

fn event_kind() -> impl TypedValueParser<Value = EventKind> {
    PossibleValuesParser::new(EventKind::ALL.iter().map(|kind| kind.as_str())).try_map(|name| name.parse())
}

impl Filter {
    pub(super) fn admits(&self, line: u64, event: &TraceEvent<'_>) -> bool {
        any(&self.lines, |lines| lines.first <= line && line <= lines.last)
            && any(&self.event, |kind| *kind == event.kind())
            && any(&self.task, |task| concerns(event, *task))
            && any(&self.capability, |pattern| call(event).is_some_and(|call| pattern.matches(call.site.capability())))
            && any(&self.op, |pattern| call(event).is_some_and(|call| is_of(call, pattern)))
            && self.min_wait.is_none_or(|least| wait_of(event).is_some_and(|wait| wait >= least))
            && self.admits_failures(event)
            && (self.contains.is_empty() || texts::contains_any(event, &self.contains))
    }

    fn admits_failures(&self, event: &TraceEvent<'_>) -> bool {
        !self.refused && !self.errors || self.refused && is_refused(event) || self.errors && is_error(event)
    }

    /// Returns the first line that is asked for.
    pub(super) fn first_line(&self) -> u64 {
        self.lines.iter().map(|lines| lines.first).min().unwrap_or(1)
    }

    /// Returns the last line that is asked for.
    pub(super) fn last_line(&self) -> Option<u64> {
        self.lines.iter().map(|lines| lines.last).max()
    }
}

/// Whether one of them holds, or none is given.
fn any<T>(given: &[T], holds: impl FnMut(&T) -> bool) -> bool {
    given.is_empty() || given.iter().any(holds)
}

fn call<'e, 'a>(event: &'e TraceEvent<'a>) -> Option<&'e HostCall<'a>> {
    match event {
        TraceEvent::HostCall(call) => Some(call),
        _ => None,
    }
}

fn is_of(call: &HostCall<'_>, pattern: &WildMatch) -> bool {
    pattern.matches(call.site.op()) || pattern.matches(&format!("{}.{}", call.site.module(), call.site.op()))
}

/// How long the event waited for the host, if it is one that can.
pub(super) fn wait_of(event: &TraceEvent<'_>) -> Option<Duration> {
    match *event {
        TraceEvent::HostCall(HostCall { wait, .. }) | TraceEvent::EntryExit { wait, .. } => Some(wait),
        _ => None,
    }
}

fn is_refused(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::HostCall(HostCall { granted: false, .. }))
}

fn is_error(event: &TraceEvent<'_>) -> bool {
    match event {
        TraceEvent::HostCall(call) => {
            call.outcome.is_some_and(|outcome| outcome.is_failure() || outcome.never_returned())
        }
        TraceEvent::RunEnded { outcome, .. } => *outcome != RunOutcome::Success,
        _ => false,
    }
}

/// Whether it is done by the task, or about it: spawning concerns both.
fn concerns(event: &TraceEvent<'_>, task: u64) -> bool {
    match *event {
        TraceEvent::TaskSpawned { id, parent, .. } => id == task || parent == Some(task),
        TraceEvent::TaskCompleted { id, .. } | TraceEvent::TaskCancelled { id } => id == task,
        TraceEvent::HostCall(HostCall { task: by, .. }) | TraceEvent::HeapCollected { task: by, .. } => by == task,
        TraceEvent::EntryEnter { .. } | TraceEvent::EntryExit { .. } => task == ENTRY_TASK,
        _ => false,
    }
}

/// Lines from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lines {
    first: u64,
    last: u64,
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str, open: u64| match digits {
            "" => Ok(open),
            _ => digits.parse().map_err(|_| format!("expected line numbers such as 10..20, found {digits:?}")),
        };
        let lines = match text.split_once("..") {
            Some((first, last)) => Self { first: number(first, 1)?, last: number(last, u64::MAX)? },
            None if text.is_empty() => return Err("expected line numbers such as 10..20".to_owned()),
            None => Self { first: number(text, 1)?, last: number(text, 1)? },
        };
        if lines.first > lines.last {
            return Err(format!("the lines end before they begin: {text}"));
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_lines() {
        for (text, first, last) in [("10..20", 10, 20), ("10..", 10, u64::MAX), ("..20", 1, 20), ("7", 7, 7)] {
            assert_eq!(text.parse(), Ok(Lines { first, last }), "{text}");
        }
        for text in ["", "a", "1..b", "-1", "20..10", "1...2"] {
            assert!(text.parse::<Lines>().is_err(), "{text}");
        }
    }
}
