//! A summary for people.

use std::fmt;

use super::table::{Table, name};
use super::units::duration;
use super::{Summary, escaped, nanoseconds};

/// Everything that a trace names is shown with its control characters escaped, each name on one row.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_trace(f)?;
        self.fmt_run(f)?;
        self.fmt_entries(f)?;
        self.fmt_capabilities(f)?;
        self.fmt_operations(f)
    }
}

impl Summary {
    fn fmt_trace(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, lines, bytes, errors, torn_bytes, .. } = self;
        write!(f, "{}: {events} events on {lines} lines, {bytes} bytes", escaped(&self.file))?;
        if *errors > 0 {
            write!(f, ", {errors} errors")?;
        }
        if *torn_bytes > 0 {
            write!(f, ", the last {torn_bytes} bytes torn")?;
        }
        writeln!(f, "\n")
    }

    fn fmt_run(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.header {
            Some(header) => {
                write!(f, "program      {} (backend {}, values {})", name(&header.entry), header.backend, header.values)?;
                for arg in &header.args {
                    write!(f, " \"{}\"", name(arg))?;
                }
                writeln!(f)?;
            }
            None => writeln!(f, "program      unknown, there is no header")?,
        }
        match &self.outcome {
            Some(outcome) => {
                write!(f, "outcome      {}", outcome.name)?;
                if let Some(message) = &outcome.message {
                    write!(f, ": {}", escaped(message))?;
                }
                writeln!(f)?;
            }
            None => writeln!(f, "outcome      none, the run is still going or was killed")?,
        }
        let tasks = &self.tasks;
        writeln!(
            f,
            "tasks        {} spawned, {} completed, {} cancelled, cpu {}",
            tasks.spawned,
            tasks.completed,
            tasks.cancelled,
            duration(tasks.cpu_ns)
        )?;
        let calls = &self.calls;
        writeln!(
            f,
            "host calls   {} granted, {} refused, {} failed, {} not recordable, wait {}",
            calls.granted,
            calls.refused,
            calls.failed,
            calls.not_recordable,
            duration(calls.wait_ns)
        )?;
        let collections = &self.collections;
        writeln!(
            f,
            "collections  {}, {} objects allocated, {} freed, pause {}",
            collections.count,
            collections.allocated,
            collections.freed,
            duration(collections.pause_ns)
        )?;
        self.fmt_heap(f)
    }

    fn fmt_heap(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(heap) = &self.heap else { return Ok(()) };
        write!(f, "heap         {} collections", heap.collections)?;
        for (figure, what) in [
            (heap.object_count, "objects alive"),
            (heap.allocated_bytes, "bytes allocated"),
            (heap.live_bytes, "bytes alive"),
            (heap.peak_bytes, "bytes at most"),
            (heap.allocated_words, "words allocated"),
            (heap.capacity_words, "words of room"),
            (heap.live_words, "words alive"),
        ] {
            if let Some(figure) = figure {
                write!(f, ", {figure} {what}")?;
            }
        }
        if let Some(pause) = heap.pause {
            write!(f, ", pause {}", duration(nanoseconds(pause).into()))?;
        }
        writeln!(f)
    }

    fn fmt_entries(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::<3, 1>::new(["entry", "cpu", "wait"]);
        for row in self.entries() {
            table.push([path(row.module, row.function), duration(row.cpu_ns), duration(row.wait_ns)]);
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
            let [p50, p99, max] = [row.wait_p50_ns, row.wait_p99_ns, row.wait_max_ns].map(|wait| duration(wait.into()));
            let operation = path(row.module, row.op);
            let wait = duration(row.wait_ns);
            table.push([operation, name(row.capability), granted, refused, failed, wait, p50, p99, max]);
        }
        fmt_table(f, &table)
    }
}

/// A function in its module.
fn path(module: &str, function: &str) -> String {
    format!("{}.{}", name(module), name(function))
}

/// Sets the table off from what stands above it. One without rows is left out.
fn fmt_table<const N: usize, const LEFT: usize>(f: &mut fmt::Formatter<'_>, table: &Table<N, LEFT>) -> fmt::Result {
    if table.is_empty() { Ok(()) } else { write!(f, "\n{table}") }
}
