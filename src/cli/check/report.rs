//! The report of `cove-trace check` about one trace.

use std::io;

use cove_trace::check::{CheckEvent, Finding, Severity};
use cove_trace::display::{count, escaped};
use cove_trace::parallel::Extent;
use cove_trace::{ReadError, ReadErrorKind};

use crate::diagnostics::Diagnostics;

/// Reports the faults and findings of one trace, and counts them.
pub(super) struct Report<'d> {
    file: &'d str,
    pub(super) diagnostics: &'d mut Diagnostics,
    errors: u64,
    torn: bool,
    /// Whether reading the source failed.
    broken_off: bool,
    findings: u64,
    warnings: u64,
}

impl<'d> Report<'d> {
    pub(super) fn new(file: &'d str, diagnostics: &'d mut Diagnostics) -> Self {
        Self { file, diagnostics, errors: 0, torn: false, broken_off: false, findings: 0, warnings: 0 }
    }

    /// Reports that reading the source failed.
    pub(super) fn broken_off(&mut self, error: &io::Error) {
        self.broken_off = true;
        self.diagnostics.broken_off(self.file, error);
    }

    pub(super) fn note(&self, message: &str) {
        self.diagnostics.note(self.file, message);
    }

    pub(super) fn remark(&mut self, remark: CheckEvent) {
        match remark {
            CheckEvent::Fault(error) => self.fault(&error),
            CheckEvent::Finding(finding) => self.finding(&finding),
            // An event that this command does not know yet.
            _ => {}
        }
    }

    pub(super) fn fault(&mut self, error: &ReadError) {
        match error.kind() {
            ReadErrorKind::Truncated { .. } => self.torn = true,
            ReadErrorKind::Io(_) => self.broken_off = true,
            _ => self.errors += 1,
        }
        self.diagnostics.fault(self.file, error);
    }

    pub(super) fn finding(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Warning => self.warnings += 1,
            _ => self.findings += 1,
        }
        self.diagnostics.finding(self.file, finding);
    }

    /// Returns the line that summarises the check.
    pub(super) fn conclusion(&self, events: u64, extent: Extent) -> String {
        if extent.lines == 0 && self.broken_off {
            return format!("{}: nothing could be read", escaped(self.file));
        }
        let (events, lines) = (count(events, "event"), count(extent.lines, "line"));
        let mut text = format!("{}: {events} on {lines}", escaped(self.file));
        if self.errors > 0 {
            text = text + ", " + &count(self.errors, "unreadable line");
        }
        if self.torn {
            text += ", a torn end";
        }
        if self.broken_off {
            text += ", the rest unreadable";
        }
        text = text + ", " + &count(self.findings, "finding");
        if self.warnings > 0 {
            text = text + ", " + &count(self.warnings, "warning");
        }
        text
    }
}
