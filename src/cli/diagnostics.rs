//! Reports problems on standard error and by the exit code.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

use cove_trace::check::{Finding, Severity};
use cove_trace::display::{count, escaped};
use cove_trace::{ReadError, ReadErrorKind};

use crate::progress::Progress;

/// Writes problems to standard error and keeps the worst status.
#[derive(Default)]
pub(crate) struct Diagnostics {
    status: Status,
    /// The progress of the files that are being read.
    progress: Progress,
    /// The most faults and findings to show, or 0 for all.
    max_errors: u64,
    /// The number of faults and findings so far.
    errors: u64,
}

/// The status of the run, best first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    #[default]
    Clean,
    /// A trace has faults.
    Faulty,
    /// A file cannot be read or written, or the command line is wrong.
    Unusable,
}

impl Diagnostics {
    /// Begins to show the progress of a file of `len` bytes. It is shown on standard error, so it is hidden while a
    /// problem is written.
    pub(crate) fn begin(&mut self, len: u64) -> Progress {
        self.progress.begin(len);
        self.progress.clone()
    }

    /// Ends the progress display.
    pub(crate) fn end(&mut self) {
        std::mem::take(&mut self.progress).finish();
    }

    pub(crate) fn set_max_errors(&mut self, max_errors: u64) {
        self.max_errors = max_errors;
    }

    /// Reports how many faults and findings were not shown.
    pub(crate) fn finish(&mut self) {
        self.end();
        if self.max_errors > 0 && self.errors > self.max_errors {
            let more = count(self.errors - self.max_errors, "more error");
            self.say(&format_args!("{more} not shown; --max-errors 0 shows all"));
        }
    }

    /// Counts a fault or a finding. Returns whether it is to be shown.
    fn shows_error(&mut self) -> bool {
        self.errors += 1;
        self.max_errors == 0 || self.errors <= self.max_errors
    }

    /// Reports a fault that the reader found in `file`.
    pub(crate) fn fault(&mut self, file: &str, error: &ReadError) {
        // An error of the source ends the trace, so it is shown in any case.
        let is_shown = match error.kind() {
            ReadErrorKind::Io(error) => {
                self.worsen(status_of(error));
                true
            }
            _ => {
                self.worsen(Status::Faulty);
                self.shows_error()
            }
        };
        if !is_shown {
            return;
        }
        let position = error.position();
        self.say(&format_args!("{file}:{}:{}: error: {}", position.line, position.column, error.message()));
    }

    /// Reports an error of the source of `file`, which ends it.
    pub(crate) fn broken_off(&mut self, file: &str, error: &io::Error) {
        self.worsen(status_of(error));
        self.say(&format_args!("{file}: error: {error}"));
    }

    /// Reports a message about `file` that is no problem of its own.
    pub(crate) fn note(&self, file: &str, message: &str) {
        self.say(&format_args!("{file}: {message}"));
    }

    /// Reports a finding about the events of `file`. It is about a whole line, so its column is 1.
    pub(crate) fn finding(&mut self, file: &str, finding: &Finding) {
        if finding.severity == Severity::Error {
            self.worsen(Status::Faulty);
        }
        if !self.shows_error() {
            return;
        }
        self.say(&format_args!("{file}:{}:1: {}: {}", finding.line, finding.severity, finding.message));
    }

    /// Reports that the last line of `file` is torn.
    pub(crate) fn torn(&mut self, file: &str) {
        self.worsen(Status::Faulty);
        self.say(&format_args!("{file}: error: the last line is torn: what it would have held is not compared"));
    }

    /// Notes that two traces differ, as the output shows.
    pub(crate) fn differs(&mut self) {
        self.worsen(Status::Faulty);
    }

    /// Reports something that cannot be read or written.
    pub(crate) fn unusable(&mut self, what: &str, problem: &dyn Display) {
        self.worsen(Status::Unusable);
        self.say(&format_args!("{what}: error: {problem}"));
    }

    /// Reports a wrong command line.
    pub(crate) fn usage(&mut self, explanation: &str) {
        self.worsen(Status::Unusable);
        explanation.lines().for_each(|line| self.say(&format_args!("{line}")));
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.status {
            Status::Clean => 0,
            Status::Faulty => 1,
            Status::Unusable => 2,
        })
    }

    fn say(&self, text: &fmt::Arguments<'_>) {
        self.progress.aside(|| say(text));
    }

    fn worsen(&mut self, status: Status) {
        self.status = self.status.max(status);
    }
}

/// Returns what an error of a source means: its content is wrong (compressed data that is cut off or damaged), or it
/// cannot be read.
fn status_of(error: &io::Error) -> Status {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Status::Faulty,
        _ => Status::Unusable,
    }
}

/// Writes a note about `file`, which is no problem.
pub(crate) fn note(file: &str, message: &str) {
    say(&format_args!("{file}: {message}"));
}

/// Writes one line with one system call. Characters that could act on a terminal are escaped.
fn say(text: &fmt::Arguments<'_>) {
    let line = format!("{}\n", escaped(&text.to_string()));
    // If standard error is closed, the exit code still tells.
    let _ = io::stderr().write_all(line.as_bytes());
}
