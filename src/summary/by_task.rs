//! The totals of each task.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rows::{Calls, TaskEnd, TaskRow};
use super::top::Top;

/// The totals of each task by id. Each takes 64 bytes, and up to 140 in a tree that grew by rising ids.
#[derive(Debug, Clone, Default)]
pub(super) struct ByTask(BTreeMap<u64, TaskFigures>);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskFigures {
    pub(super) calls: Calls,
    pub(super) cpu_ns: u64,
    /// The last recorded end.
    pub(super) end: Option<TaskEnd>,
}

impl TaskFigures {
    pub(super) fn completed(&mut self, cpu_ns: u64) {
        self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns);
        self.end = Some(TaskEnd::Completed);
    }

    /// Adds the totals of a later part of the trace.
    fn add(&mut self, later: Self) {
        self.calls += later.calls;
        self.cpu_ns = self.cpu_ns.saturating_add(later.cpu_ns);
        self.end = later.end.or(self.end);
    }

    fn row(&self, task: u64) -> TaskRow {
        let Self { calls, cpu_ns, end } = *self;
        TaskRow {
            task,
            granted: calls.granted,
            refused: calls.refused,
            failed: calls.failed,
            wait_ns: calls.wait_ns,
            cpu_ns: (end == Some(TaskEnd::Completed)).then_some(cpu_ns),
            end,
        }
    }
}

impl ByTask {
    pub(super) fn entry(&mut self, task: u64) -> &mut TaskFigures {
        self.0.entry(task).or_default()
    }

    pub(super) fn merge(&mut self, later: Self) {
        for (task, figures) in later.0 {
            self.entry(task).add(figures);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = TaskRow> {
        self.0.iter().map(|(task, figures)| figures.row(*task))
    }

    /// Returns the `N` tasks with the longest waits. Of equal waits, the smallest id comes first.
    pub(super) fn longest_waits<const N: usize>(&self) -> impl Iterator<Item = TaskRow> {
        let mut top = Top::<_, N>::default();
        for (task, figures) in &self.0 {
            top.push((figures.calls.wait_ns, Reverse(*task)));
        }
        top.into_items().filter_map(|(_, Reverse(task))| self.0.get(&task).map(|figures| figures.row(task)))
    }
}
