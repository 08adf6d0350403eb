//! Reads a trace back: its summary, and the result of checking it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use cove_trace::TraceReader;
use cove_trace::check::{CheckEvent, Checker};
use cove_trace::display::escaped;
use cove_trace::summary::Summary;

use crate::runtime::Ending;

/// The summary of a trace, and its faults.
pub(crate) struct Report {
    summary: Summary,
    /// Errors of the reader and findings of the checker, each with its line.
    problems: Vec<String>,
}

impl Report {
    /// Reads the trace at `path`. Its beginning may be missing if `partial`.
    pub(crate) fn read(path: &Path, partial: bool) -> io::Result<Self> {
        let mut problems = Vec::new();
        let mut summary = Summary::read(&mut TraceReader::new(File::open(path)?), |error| {
            problems.push(format!("line {}: {error}", error.position().line));
        });
        summary.file = path.display().to_string();
        // The summary has reported the reader's errors.
        Checker::new().partial(partial).read(&mut TraceReader::new(File::open(path)?), |remark| {
            if let CheckEvent::Finding(finding) = remark {
                problems.push(format!("line {}: {}", finding.line, finding.message));
            }
        });
        Ok(Self { summary, problems })
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Prints how the run ended, the path of the trace, and its contents.
    pub(crate) fn show(&self, out: &mut impl Write, path: &Path, ending: &Ending, dropped: u64) -> io::Result<()> {
        writeln!(
            out,
            "\nThe run ended: {}\nIts trace: {}\n",
            escaped(&ending.to_string()),
            escaped(&path.to_string_lossy())
        )?;
        writeln!(out, "{}", self.summary)?;
        if dropped > 0 {
            writeln!(out, "Lost: {dropped} events.")?;
        }
        for problem in &self.problems {
            writeln!(out, "{}", escaped(problem))?;
        }
        if self.is_clean() {
            writeln!(out, "Checked: nothing is wrong with it.")?;
        }
        Ok(())
    }
}
