//! One event as one row.

use std::fmt::{self, Write};
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Effects, Style};
use cove_trace::summary::duration;
use cove_trace::{ENTRY_TASK, HostCall, HostOutcome, RunOutcome, TraceEvent};

use super::filter::wait_of;
use crate::cells::Cells;
use crate::value_text::{write_list, write_value};

/// What stands over the rows.
pub(super) const TITLES: &str = "   line   task       wait  event";

/// The columns before the event.
const BEFORE: usize = "   line   task       wait  ".len();

/// How rows are made.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The columns that a row may take; none for rows that are whole.
    pub(super) width: Option<usize>,
    pub(super) colored: bool,
}

impl Layout {
    /// The row of the event on that line, its newline left out.
    pub(super) fn row(&self, line: u64, event: &TraceEvent<'_>) -> String {
        let task = task_of(event).map(|task| task.to_string()).unwrap_or_default();
        let wait = wait_of(event).map(shown).unwrap_or_default();
        let before = format!("{line:>7}  {task:>5}  {wait:>9}  ");
        // Long figures take their room from the event.
        let taken = before.chars().count().max(BEFORE);
        let what = describe(event, self.width.map(|width| width.saturating_sub(taken)));
        match style_of(event).filter(|_| self.colored) {
            Some(style) => before + &format!("{style}{what}{style:#}"),
            None => before + &what,
        }
    }
}

fn shown(time: Duration) -> String {
    duration(time.as_nanos())
}

/// The task that an event is about, or that did it.
fn task_of(event: &TraceEvent<'_>) -> Option<u64> {
    match *event {
        TraceEvent::TaskSpawned { id, .. }
        | TraceEvent::TaskCompleted { id, .. }
        | TraceEvent::TaskCancelled { id }
        | TraceEvent::HostCall(HostCall { task: id, .. })
        | TraceEvent::HeapCollected { task: id, .. } => Some(id),
        TraceEvent::EntryEnter { .. } | TraceEvent::EntryExit { .. } => Some(ENTRY_TASK),
        TraceEvent::HeapSummary(_) | TraceEvent::RunEnded { .. } => None,
    }
}

fn style_of(event: &TraceEvent<'_>) -> Option<Style> {
    let bad = Style::new().fg_color(Some(AnsiColor::Red.into()));
    match event {
        TraceEvent::HostCall(HostCall { granted: false, .. }) => Some(bad.effects(Effects::BOLD)),
        TraceEvent::HostCall(HostCall { outcome: Some(HostOutcome::Error(_)), .. }) => Some(bad),
        TraceEvent::HostCall(_) => None,
        TraceEvent::RunEnded { outcome: RunOutcome::Success, .. } => Some(Style::new().effects(Effects::BOLD)),
        TraceEvent::RunEnded { .. } => Some(bad.effects(Effects::BOLD)),
        _ => Some(Style::new().effects(Effects::DIMMED)),
    }
}

/// What happened, in so many columns.
fn describe(event: &TraceEvent<'_>, room: Option<usize>) -> String {
    match event {
        TraceEvent::HostCall(call) => describe_call(call, room),
        other => written(room, |out| write_event(out, other)).finish(),
    }
}

/// A call and what came of it, which is not to be pushed off the row by long arguments: they get what it leaves, and it
/// leaves them half.
fn describe_call(call: &HostCall<'_>, room: Option<usize>) -> String {
    let asked = written(room, |out| write_asked(out, call));
    let Some(columns) = room else { return asked.finish() + &written(None, |out| write_outcome(out, call)).finish() };
    let for_outcome = if asked.is_cut() { columns / 2 } else { (columns - asked.width()).max(columns / 2) };
    let outcome = written(Some(for_outcome), |out| write_outcome(out, call));
    let left = columns - outcome.width().min(columns);
    let asked = if asked.width() <= left && !asked.is_cut() {
        asked
    } else {
        written(Some(left), |out| write_asked(out, call))
    };
    asked.finish() + &outcome.finish()
}

fn written(room: Option<usize>, write: impl FnOnce(&mut Cells) -> fmt::Result) -> Cells {
    let mut cells = Cells::new(room);
    // The one error there is says that the columns are used up, which the cells know.
    let _ = write(&mut cells);
    cells
}

fn write_asked(out: &mut Cells, call: &HostCall<'_>) -> fmt::Result {
    write!(out, "{}.{}(", call.site.module(), call.site.op())?;
    write_list(out, call.args)?;
    out.write_char(')')
}

fn write_outcome(out: &mut Cells, call: &HostCall<'_>) -> fmt::Result {
    if !call.granted {
        write!(out, " refused: {} not granted", call.site.capability())?;
    }
    match call.outcome {
        Some(HostOutcome::Value(value)) => {
            out.write_str(" -> ")?;
            write_value(out, &value)
        }
        Some(HostOutcome::Error(message)) => write!(out, " -> error: {message}"),
        Some(HostOutcome::NotRecordable) => out.write_str(" -> not recordable"),
        None if call.granted => out.write_str(" not dispatched"),
        None => Ok(()),
    }
}

fn write_event(out: &mut Cells, event: &TraceEvent<'_>) -> fmt::Result {
    match *event {
        TraceEvent::HostCall(_) => Ok(()),
        TraceEvent::TaskSpawned { parent: Some(parent), scope, .. } => {
            write!(out, "spawned by task {parent} in scope {scope}")
        }
        TraceEvent::TaskSpawned { parent: None, scope, .. } => write!(out, "spawned in scope {scope}"),
        TraceEvent::TaskCompleted { cpu, .. } => write!(out, "completed, cpu {}", shown(cpu)),
        TraceEvent::TaskCancelled { .. } => out.write_str("cancelled"),
        TraceEvent::EntryEnter { module, function } => write!(out, "enter {module}.{function}"),
        TraceEvent::EntryExit { module, function, cpu, .. } => {
            write!(out, "exit {module}.{function}, cpu {}", shown(cpu))
        }
        TraceEvent::HeapCollected { allocated, freed, live_objects, live_bytes, pause, .. } => write!(
            out,
            "heap collected in {}: objects allocated {allocated}, freed {freed}, alive {live_objects} in {live_bytes} bytes",
            shown(pause)
        ),
        TraceEvent::HeapSummary(figures) => {
            write!(out, "heap over the run: collections {}", figures.collections)?;
            for (name, figure) in [
                ("objects alive", figures.object_count),
                ("bytes allocated", figures.allocated_bytes),
                ("bytes alive", figures.live_bytes),
                ("peak bytes", figures.peak_bytes),
                ("words allocated", figures.allocated_words),
                ("words of room", figures.capacity_words),
                ("words alive", figures.live_words),
            ] {
                if let Some(figure) = figure {
                    write!(out, ", {name} {figure}")?;
                }
            }
            match figures.pause {
                Some(pause) => write!(out, ", pause {}", shown(pause)),
                None => Ok(()),
            }
        }
        TraceEvent::RunEnded { outcome, message: Some(message) } => write!(out, "run ended: {outcome}: {message}"),
        TraceEvent::RunEnded { outcome, message: None } => write!(out, "run ended: {outcome}"),
    }
}
