//! The report of `cove-trace check` about one trace.

use std::io;

use cove_trace::check::{Checked, Finding, Remark, Severity};
use cove_trace::display::{count, escaped};
use cove_trace::{ReadError, ReadErrorKind};

use crate::diagnostics::Diagnostics;

/// Reports the faults and findings of one trace, and counts them.
pub(super) struct Report<'d> {
    file: &'d str,
    pub(super) diagnostics: &'d mut Diagnostics,
    errors: u64,
    torn: bool,
    findings: u64,
    warnings: u64,
}

impl<'d> Report<'d> {
    pub(super) fn new(file: &'d str, diagnostics: &'d mut Diagnostics) -> Self {
        Self { file, diagnostics, errors: 0, torn: false, findings: 0, warnings: 0 }
    }

    /// Reports that reading the source failed.
    pub(super) fn broken_off(&mut self, error: &io::Error) {
        self.errors += 1;
        self.diagnostics.broken_off(self.file, error);
    }

    pub(super) fn note(&self, message: &str) {
        self.diagnostics.note(self.file, message);
    }

    pub(super) fn remark(&mut self, remark: Remark) {
        match remark {
            Remark::Fault(error) => self.fault(&error),
            Remark::Finding(finding) => self.finding(&finding),
        }
    }

    pub(super) fn fault(&mut self, error: &ReadError) {
        match error.kind() {
            ReadErrorKind::Torn { .. } => self.torn = true,
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
    pub(super) fn conclusion(&self, checked: &Checked) -> String {
        let (events, lines) = (count(checked.events, "event"), count(checked.extent.lines, "line"));
        let mut text = format!("{}: {events} on {lines}", escaped(self.file));
        if self.errors > 0 {
            text = text + ", " + &count(self.errors, "unreadable line");
        }
        if self.torn {
            text += ", a torn end";
        }
        text = text + ", " + &count(self.findings, "finding");
        if self.warnings > 0 {
            text = text + ", " + &count(self.warnings, "warning");
        }
        text
    }
}
