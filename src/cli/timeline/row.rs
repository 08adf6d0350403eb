//! One event as one row.

use std::fmt::{self, Write};
use std::iter;

use clap::builder::styling::{AnsiColor, Effects, Style};
use cove_trace::display::{Cells, cpu_time, write_duration, write_heap_summary, write_list, write_value};
use cove_trace::{ENTRY_TASK, HostCall, HostOutcome, RunOutcome, TraceEvent};

use super::filter::wait_of;

/// What stands over the rows.
pub(super) const TITLES: &str = "   line   task       wait  event";

/// How rows are made.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The columns that a row may take; none for rows that are whole.
    pub(super) width: Option<usize>,
    pub(super) colored: bool,
}

/// Makes rows, one at a time, in the memory of the ones before.
pub(super) struct Rows {
    layout: Layout,
    row: String,
    /// A part of the row, before it is known where it goes.
    part: String,
}

impl Rows {
    pub(super) const fn new(layout: Layout) -> Self {
        Self { layout, row: String::new(), part: String::new() }
    }

    /// The row that was made last, without a newline.
    pub(super) fn last(&self) -> &str {
        &self.row
    }

    /// Makes the row of the event on that line.
    pub(super) fn make(&mut self, line: u64, event: &TraceEvent<'_>) {
        self.row.clear();
        let mut columns = self.put_column(7, |out| out.write_str(itoa::Buffer::new().format(line)));
        columns += self.put_column(5, |out| match task_of(event) {
            Some(task) => out.write_str(itoa::Buffer::new().format(task)),
            None => Ok(()),
        });
        columns += self.put_column(9, |out| match wait_of(event) {
            Some(wait) => write_duration(out, wait.as_nanos()),
            None => Ok(()),
        });
        // Long figures take their room from the event.
        let room = self.layout.width.map(|width| width.saturating_sub(columns));
        let style = style_of(event).filter(|_| self.layout.colored);
        if let Some(style) = style {
            self.row += &style.to_string();
        }
        match event {
            TraceEvent::HostCall(call) => self.put_call(call, room),
            other => written(Cells::behind(&mut self.row, room), |out| write_event(out, other)).finish(),
        }
        if let Some(style) = style {
            self.row += &format!("{style:#}");
        }
    }

    /// Puts a figure to the right of so many columns, and two spaces behind it. Gives how many columns that took.
    fn put_column(&mut self, width: usize, write: impl FnOnce(&mut String) -> fmt::Result) -> usize {
        self.part.clear();
        // A `String` takes everything.
        let _ = write(&mut self.part);
        let taken = self.part.chars().count();
        self.row.extend(iter::repeat_n(' ', width.saturating_sub(taken)));
        self.row += &self.part;
        self.row += "  ";
        width.max(taken) + 2
    }

    /// Puts a call and what came of it, which is not to be pushed off the row by long arguments: they get what it
    /// leaves, and it leaves them half.
    fn put_call(&mut self, call: &HostCall<'_>, room: Option<usize>) {
        let asked = written(Cells::behind(&mut self.row, room), |out| write_asked(out, call));
        let Some(columns) = room else {
            return written(asked, |out| write_outcome(out, call)).finish();
        };
        let for_outcome = if asked.is_cut() { columns / 2 } else { (columns - asked.width()).max(columns / 2) };
        self.part.clear();
        let outcome = written(Cells::behind(&mut self.part, Some(for_outcome)), |out| write_outcome(out, call));
        let left = columns - outcome.width().min(columns);
        outcome.finish();
        if asked.width() <= left && !asked.is_cut() {
            asked.finish();
        } else {
            written(asked.restart(left), |out| write_asked(out, call)).finish();
        }
        self.row += &self.part;
    }
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
        _ => None,
    }
}

fn style_of(event: &TraceEvent<'_>) -> Option<Style> {
    let bad = Style::new().fg_color(Some(AnsiColor::Red.into()));
    match event {
        TraceEvent::HostCall(HostCall { granted: false, .. }) => Some(bad.effects(Effects::BOLD)),
        TraceEvent::HostCall(HostCall { outcome: Some(outcome), .. })
            if outcome.is_failure() || outcome.never_returned() =>
        {
            Some(bad)
        }
        TraceEvent::HostCall(_) => None,
        TraceEvent::RunEnded { outcome: RunOutcome::Success, .. } => Some(Style::new().effects(Effects::BOLD)),
        TraceEvent::RunEnded { .. } => Some(bad.effects(Effects::BOLD)),
        _ => Some(Style::new().effects(Effects::DIMMED)),
    }
}

fn written<'t>(mut cells: Cells<'t>, write: impl FnOnce(&mut Cells<'t>) -> fmt::Result) -> Cells<'t> {
    // The one error there is says that the columns are used up, which the cells know.
    let _ = write(&mut cells);
    cells
}

fn write_asked(out: &mut Cells<'_>, call: &HostCall<'_>) -> fmt::Result {
    for text in [call.site.module(), ".", call.site.op(), "("] {
        out.write_str(text)?;
    }
    write_list(out, call.args)?;
    out.write_char(')')
}

fn write_outcome(out: &mut Cells<'_>, call: &HostCall<'_>) -> fmt::Result {
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

fn write_event(out: &mut Cells<'_>, event: &TraceEvent<'_>) -> fmt::Result {
    match *event {
        TraceEvent::HostCall(_) => Ok(()),
        TraceEvent::TaskSpawned { parent: Some(parent), scope, .. } => {
            write!(out, "spawned by task {parent} in scope {scope}")
        }
        TraceEvent::TaskSpawned { parent: None, scope, .. } => write!(out, "spawned in scope {scope}"),
        TraceEvent::TaskCompleted { cpu, .. } => {
            out.write_str("completed, cpu ")?;
            write_duration(out, cpu.as_nanos())
        }
        TraceEvent::TaskCancelled { .. } => out.write_str("cancelled"),
        TraceEvent::EntryEnter { module, function } => write!(out, "enter {module}.{function}"),
        TraceEvent::EntryExit { module, function, cpu, wait } => {
            write!(out, "exit {module}.{function}, cpu {}", cpu_time(cpu.as_nanos(), wait.as_nanos()))
        }
        TraceEvent::HeapCollected { allocated, freed, live_objects, live_bytes, pause, .. } => {
            out.write_str("heap collected in ")?;
            write_duration(out, pause.as_nanos())?;
            write!(out, ": objects allocated {allocated}, freed {freed}, alive {live_objects} in {live_bytes} bytes")
        }
        TraceEvent::HeapSummary(ref figures) => {
            out.write_str("heap over the run: ")?;
            write_heap_summary(out, figures)
        }
        TraceEvent::RunEnded { outcome, message: Some(message) } => write!(out, "run ended: {outcome}: {message}"),
        TraceEvent::RunEnded { outcome, message: None } => write!(out, "run ended: {outcome}"),
        // An event that this command does not know yet.
        _ => out.write_str(event.kind().as_str()),
    }
}
