//! A directory of recorded traces as a test suite.
//!
//! ```no_run
//! use std::path::Path;
//! use cove_trace::replay::suite::Suite;
//!
//! /// Replays the trace at this path; an error says how it went instead.
//! fn replay(trace: &Path) -> Result<(), Box<dyn std::error::Error>> {
//!     // Open it, run its entry with the interpreter, finish.
//! #   let _ = trace;
//!     Ok(())
//! }
//!
//! /// Runs the entry of that trace with its real host, and records it at the second path.
//! fn record(old: &Path, new: &Path) -> Result<(), Box<dyn std::error::Error>> {
//! #   let _ = (old, new);
//!     Ok(())
//! }
//!
//! // In a test:
//! Suite::new("tests/traces").run(replay, record).assert_passed();
//! ```
//!
//! With [`COVE_TRACE_UPDATE`](UPDATE) set to `1`, each trace is recorded again and takes the place of the old one, to
//! be looked through (`cove-trace diff`) and committed. Of a run that does what it did, the new one differs in its
//! times alone; where tasks run at the same time also in how their events fall between each other, in the ids that went
//! to whichever came first, and in how far a cancelled task got.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that has traces recorded again when it is `1`.
pub const UPDATE: &str = "COVE_TRACE_UPDATE";

/// What a trace's file name ends with.
const SUFFIX: &str = ".jsonl";

/// The traces of one directory, each a test.
#[derive(Debug, Clone)]
pub struct Suite {
    directory: PathBuf,
    is_update: bool,
}

/// How each trace of a suite did. Printed, it is one line for each, and what those that failed have to say.
#[derive(Debug)]
#[non_exhaustive]
pub struct Results {
    /// In the order of their names.
    pub traces: Vec<(PathBuf, TraceResult)>,
}

/// How one trace of a suite did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceResult {
    /// The run was reproduced.
    Passed,
    /// The trace was recorded again.
    Updated,
    /// The run was not reproduced, or the trace could not be recorded again: why.
    Failed(String),
}

type Attempt = Result<(), Box<dyn Error>>;

impl Suite {
    /// All files of `directory` whose names end in `.jsonl`. Whether they are recorded again is read from the
    /// [environment](UPDATE).
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), is_update: std::env::var_os(UPDATE).is_some_and(|value| value == "1") }
    }

    /// The same suite, recording its traces again, or not, whatever the environment says.
    #[must_use]
    pub fn update(mut self, is_update: bool) -> Self {
        self.is_update = is_update;
        self
    }

    /// Gives each trace to `replay`, or has `record` record it again: `record` is given the path of the old trace,
    /// which says what to run, and another path to write the new one to, which is then put in the place of the old one.
    ///
    /// A directory that can't be read, or has no traces, is a failure: a suite that runs nothing proves nothing.
    pub fn run(&self, replay: impl Fn(&Path) -> Attempt, record: impl Fn(&Path, &Path) -> Attempt) -> Results {
        let traces = self.traces().unwrap_or_else(|error| vec![(self.directory.clone(), Some(error.to_string()))]);
        let traces = traces.into_iter().map(|(path, problem)| {
            let outcome = match problem {
                Some(problem) => TraceResult::Failed(problem),
                None if self.is_update => outcome(rerecord(&path, &record), TraceResult::Updated),
                None => outcome(replay(&path), TraceResult::Passed),
            };
            (path, outcome)
        });
        Results { traces: traces.collect() }
    }

    fn traces(&self) -> io::Result<Vec<(PathBuf, Option<String>)>> {
        let mut traces = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(SUFFIX) {
                traces.push((entry.path(), None));
            }
        }
        traces.sort();
        if traces.is_empty() {
            traces.push((self.directory.clone(), Some(format!("no trace: no file whose name ends in {SUFFIX}"))));
        }
        Ok(traces)
    }
}

fn outcome(step: Attempt, good: TraceResult) -> TraceResult {
    step.map_or_else(|error| TraceResult::Failed(error.to_string()), |()| good)
}

fn rerecord(path: &Path, record: impl Fn(&Path, &Path) -> Attempt) -> Attempt {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let recorded = record(path, &new).and_then(|()| Ok(fs::rename(&new, path)?));
    if recorded.is_err() {
        // What is left of it, if there is anything, is of no use; that it failed is what is reported.
        let _ = fs::remove_file(&new);
    }
    recorded
}

impl Results {
    /// Whether no trace failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.traces.iter().any(|(_, outcome)| matches!(outcome, TraceResult::Failed(_)))
    }

    /// For a test.
    ///
    /// # Panics
    ///
    /// When a trace failed, with the results.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.passed(), "\n{self}\n{UPDATE}=1 records the traces again.");
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, outcome) in &self.traces {
            let word = match outcome {
                TraceResult::Passed => "passed",
                TraceResult::Updated => "updated",
                TraceResult::Failed(_) => "FAILED",
            };
            writeln!(f, "{word:<8}{}", path.display())?;
        }
        for (path, outcome) in &self.traces {
            if let TraceResult::Failed(why) = outcome {
                write!(f, "\n{}:\n{why}\n", path.display())?;
            }
        }
        Ok(())
    }
}
