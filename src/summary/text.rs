//! A summary as tables.

use std::fmt;

use super::table::{Table, name};
use super::{Calls, Collections, RunEnd, Summary, TaskEnd, TaskTotals};
use crate::display::{cpu_time, duration, escaped, write_heap_summary};
use crate::event::TraceHeader;

/// Names are escaped, so each stays on its row.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_trace(f)?;
        if self.header.is_none() && self.events == 0 {
            return writeln!(f, "Nothing could be read.");
        }
        self.fmt_program(f)?;
        self.fmt_outcome(f)?;
        self.fmt_figures(f)?;
        self.fmt_heap(f)?;
        self.fmt_entries(f)?;
        self.fmt_capabilities(f)?;
        self.fmt_operations(f)?;
        self.fmt_refusals(f)?;
        self.fmt_slowest_calls(f)?;
        self.fmt_tasks(f)
    }
}

impl Summary {
    fn fmt_trace(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, lines, bytes, errors, truncated_bytes, .. } = self;
        write!(f, "{}: events {events}, lines {lines}, bytes {bytes}", escaped(&self.file))?;
        if *errors > 0 {
            write!(f, ", errors {errors}")?;
        }
        if *truncated_bytes > 0 {
            write!(f, ", bytes of a torn end {truncated_bytes}")?;
        }
        writeln!(f, "\n")
    }

    fn fmt_program(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(TraceHeader { backend, values, entry, args }) = &self.header else {
            return writeln!(f, "program      unknown, no header could be read");
        };
        write!(f, "program      {} (backend {backend}, values {values})", name(entry))?;
        for arg in args {
            write!(f, " \"{}\"", name(arg))?;
        }
        writeln!(f)
    }

    fn fmt_outcome(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Some(RunEnd { name, message: Some(message) }) => writeln!(f, "outcome      {name}: {}", escaped(message)),
            Some(RunEnd { name, message: None }) => writeln!(f, "outcome      {name}"),
            None => writeln!(f, "outcome      none: the trace ends without a run_ended"),
        }
    }

    fn fmt_figures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskTotals { spawned, completed, cancelled, cpu_ns } = self.tasks;
        let cpu = duration(cpu_ns);
        write!(f, "tasks        spawned {spawned}, completed {completed}, cancelled {cancelled}, ")?;
        writeln!(f, "cpu {cpu} (without the entry)")?;
        let Calls { granted, refused, failed, not_recordable, wait_ns } = self.calls;
        write!(f, "host calls   granted {granted} (failed {failed}, not recordable {not_recordable}), ")?;
        writeln!(f, "refused {refused}, wait {} over all tasks", duration(wait_ns))?;
        let Collections { count, allocated, freed, pause_ns } = self.collections;
        if count == 0 {
            return writeln!(f, "collections  none recorded");
        }
        write!(f, "collections  recorded {count}, objects allocated {allocated}, freed {freed}, ")?;
        writeln!(f, "pause {}", duration(pause_ns))
    }

    fn fmt_heap(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(heap) = &self.heap else { return Ok(()) };
        f.write_str("heap         ")?;
        write_heap_summary(f, heap)?;
        writeln!(f)
    }

    fn fmt_entries(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::<3, 1>::new(["entry", "cpu", "wait"]);
        for row in self.entries() {
            table.push([path(row.module, row.function), cpu_time(row.cpu_ns, row.wait_ns), duration(row.wait_ns)]);
        }
        fmt_table(f, &table)
    }

    fn fmt_capabilities(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::<5, 1>::new(["capability", "granted", "refused", "failed", "wait"]);
        for row in self.capabilities() {
            let [granted, refused, failed] = [row.granted, row.refused, row.failed].map(|count| count.to_string());
            table.push([name(row.capability), granted, refused, failed, duration(row.wait_ns)]);
        }
        fmt_table(f, &table)
    }

    fn fmt_operations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["operation", "capability", "granted", "refused", "failed", "wait", "p50", "p99", "max"];
        let mut table = Table::<9, 2>::new(titles);
        for row in self.operations() {
            let [granted, refused, failed] = [row.granted, row.refused, row.failed].map(|count| count.to_string());
            let [p50, p99, max] = [row.wait_p50_ns, row.wait_p99_ns, row.wait_max_ns]
                .map(|wait| wait.map_or_else(|| "-".to_owned(), |wait| duration(wait.into())));
            let operation = path(row.module, row.op);
            let wait = duration(row.wait_ns);
            table.push([operation, name(row.capability), granted, refused, failed, wait, p50, p99, max]);
        }
        fmt_table(f, &table)
    }
}

/// The number of tasks that are shown.
const SHOWN_TASKS: usize = 20;

impl Summary {
    fn fmt_refusals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::<4, 2>::new(["refused", "capability", "calls", "first on line"]);
        for row in self.refusals() {
            let [calls, line] = [row.refused, row.first_line].map(|figure| figure.to_string());
            table.push([path(row.module, row.op), name(row.capability), calls, line]);
        }
        fmt_table(f, &table)
    }

    fn fmt_slowest_calls(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::<4, 1>::new(["slowest calls", "wait", "task", "line"]);
        for row in self.slowest_calls() {
            let [task, line] = [row.task, row.line].map(|number| number.to_string());
            table.push([path(row.module, row.op), duration(row.wait_ns.into()), task, line]);
        }
        fmt_table(f, &table)
    }

    /// Formats the tasks if there are several. The other tables already describe a single one.
    fn fmt_tasks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.by_task.len();
        if count < 2 {
            return Ok(());
        }
        let mut table = Table::<7, 0>::new(["task", "granted", "refused", "failed", "wait", "cpu", "end"]);
        for row in self.by_task.longest_waits::<SHOWN_TASKS>() {
            let [granted, refused, failed] = [row.granted, row.refused, row.failed].map(|count| count.to_string());
            let cpu = row.cpu_ns.map_or_else(|| "-".to_owned(), |cpu| cpu_time(cpu.into(), row.wait_ns));
            let end = row.end.map_or("-", TaskEnd::as_str).to_owned();
            table.push([row.task.to_string(), granted, refused, failed, duration(row.wait_ns), cpu, end]);
        }
        fmt_table(f, &table)?;
        match count.saturating_sub(SHOWN_TASKS) {
            0 => Ok(()),
            more => writeln!(f, "and {more} more, none of which waited longer"),
        }
    }
}

/// Formats a function with its module.
fn path(module: &str, function: &str) -> String {
    format!("{}.{}", name(module), name(function))
}

/// Formats a table after an empty line, unless it has no rows.
fn fmt_table<const N: usize, const LEFT: usize>(f: &mut fmt::Formatter<'_>, table: &Table<N, LEFT>) -> fmt::Result {
    if table.is_empty() { Ok(()) } else { write!(f, "\n{table}") }
}
