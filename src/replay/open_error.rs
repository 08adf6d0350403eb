//! Errors of loading a trace for a replay.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::display::{Name, task_name};
use crate::reader::ReadError;

/// The reason why a trace cannot be loaded for a replay.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be opened.
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The trace can't be read: it is of another version, is damaged in its middle, or is no trace. A torn last line is
    /// not among these: the calls before it can be replayed.
    Read(ReadError),
    /// The reader is past the header, and reported that as faulty.
    NoHeader,
    /// The trace is redacted: it has no results to answer with.
    Redacted,
    /// The beginning of the trace is missing, as it is in the dump of a [flight recorder](crate::RingSink). Which of
    /// its calls are a task's first is not in it, so none can be matched.
    NoBeginning {
        /// The first line that shows it.
        line: u64,
        /// What that line shows to be missing.
        sign: MissingBeginning,
    },
    /// The trace is of another entry than the required one.
    OtherEntry {
        /// The required entry.
        required: String,
        /// The entry that the trace was recorded from.
        recorded: String,
    },
}

/// What shows that the beginning of a trace is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingBeginning {
    /// The entry exits and was never entered.
    Entry,
    /// A task calls or ends, and was never spawned. A trace that has nothing of the life of any task is none of these.
    Spawn {
        /// The task.
        task: u64,
    },
}

impl fmt::Display for MissingBeginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry => f.write_str("the exit of an entry that was never entered"),
            Self::Spawn { task } => write!(f, "{}, which was never spawned", task_name(*task)),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "can't open {path:?}: {error}"),
            Self::Read(error) => write!(f, "{error}"),
            Self::NoHeader => {
                f.write_str("expected a reader at the beginning of a trace, found one that is past its faulty header")
            },
            Self::Redacted => f.write_str(
                "the trace is redacted: it holds the types of results and not the results, so there is nothing to replay. \
                 Record the run with full values, or hold a live run against the trace with `Replay::check_only`",
            ),
            Self::NoBeginning { line, sign } => write!(
                f,
                "line {line}: expected a trace from the run's beginning, found {sign}. The beginning is missing, as in a \
                 flight recorder's dump, and a replay needs every call from the first on: record the run with a sink that \
                 keeps all of it"
            ),
            Self::OtherEntry { required, recorded } => write!(
                f,
                "expected a trace of the entry \"{}\", found one of \"{}\": replay that entry, or record this one",
                Name(required),
                Name(recorded)
            ),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message contains that of the error, so only its cause is left.
            Self::Io { error, .. } => error.source(),
            Self::Read(error) => error.source(),
            Self::NoHeader | Self::Redacted | Self::NoBeginning { .. } | Self::OtherEntry { .. } => None,
        }
    }
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
