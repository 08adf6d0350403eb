//! What is wrong: said on standard error, and by the exit code.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

use cove_trace::check::{Finding, Severity};
use cove_trace::display::{count, escaped};
use cove_trace::{ReadError, ReadErrorKind};

use crate::progress::Progress;

/// Says what is wrong on standard error, and remembers the worst of it.
#[derive(Default)]
pub(crate) struct Diagnostics {
    status: Status,
    /// Of the files that are being read.
    progress: Progress,
    /// The most faults and findings to show, or 0 for all.
    max_errors: u64,
    /// The number of faults and findings so far.
    errors: u64,
}

/// How it went, from good to bad.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    #[default]
    Clean,
    /// A trace has faults.
    Faulty,
    /// Something can't be read or written, or the command line is wrong.
    Unusable,
}

impl Diagnostics {
    /// A file of this length is going to be read, perhaps beside others. Its progress is shown on standard error too, and the
    /// two must not meet.
    pub(crate) fn begin(&mut self, len: u64) -> Progress {
        self.progress.begin(len);
        self.progress.clone()
    }

    /// All was read: no progress is shown any more.
    pub(crate) fn end(&mut self) {
        std::mem::take(&mut self.progress).finish();
    }

    pub(crate) fn set_max_errors(&mut self, max_errors: u64) {
        self.max_errors = max_errors;
    }

    /// Says how many faults and findings were not shown.
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

    /// A fault that the reader met in `file`.
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

    /// The source of `file` gave an error, after which nothing of it comes.
    pub(crate) fn broken_off(&mut self, file: &str, error: &io::Error) {
        self.worsen(status_of(error));
        self.say(&format_args!("{file}: error: {error}"));
    }

    /// Something about `file` that belongs to what else is said of it.
    pub(crate) fn note(&self, file: &str, message: &str) {
        self.say(&format_args!("{file}: {message}"));
    }

    /// Something about the events of `file`. It is about a whole line, which begins at column 1.
    pub(crate) fn finding(&mut self, file: &str, finding: &Finding) {
        if finding.severity == Severity::Error {
            self.worsen(Status::Faulty);
        }
        if !self.shows_error() {
            return;
        }
        self.say(&format_args!("{file}:{}:1: {}: {}", finding.line, finding.severity, finding.message));
    }

    /// The last line of `file` is torn.
    pub(crate) fn torn(&mut self, file: &str) {
        self.worsen(Status::Faulty);
        self.say(&format_args!("{file}: error: the last line is torn: what it would have held is not compared"));
    }

    /// Two traces differ, as the output says.
    pub(crate) fn differs(&mut self) {
        self.worsen(Status::Faulty);
    }

    /// Something that can't be read or written.
    pub(crate) fn unusable(&mut self, what: &str, problem: &dyn Display) {
        self.worsen(Status::Unusable);
        self.say(&format_args!("{what}: error: {problem}"));
    }

    /// A command line that is wrong.
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

/// What an error of a source means: that it can't be had, unless its content is wrong (compressed data that is cut off or
/// damaged).
fn status_of(error: &io::Error) -> Status {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Status::Faulty,
        _ => Status::Unusable,
    }
}

/// Something about `file` that is worth saying and nothing wrong with it.
pub(crate) fn note(file: &str, message: &str) {
    say(&format_args!("{file}: {message}"));
}

/// Writes one line, in one piece and with nothing in it that could act on a terminal.
fn say(text: &fmt::Arguments<'_>) {
    let line = format!("{}\n", escaped(&text.to_string()));
    // When nobody listens there is nobody to tell; the exit code still says it.
    let _ = io::stderr().write_all(line.as_bytes());
}
