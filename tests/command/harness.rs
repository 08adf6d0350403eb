//! Runs the command and keeps its files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// What became of one run of the command.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

impl Run {
    /// That it found nothing wrong: exit code 0, nothing said on standard error.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
    }

    /// That it exited with this code and said exactly these lines on standard error.
    #[track_caller]
    pub(crate) fn assert_said(&self, code: i32, stderr: &[&str]) {
        assert_eq!((self.code, self.stderr.lines().collect::<Vec<_>>()), (Some(code), stderr.to_vec()));
    }
}

/// The command with these arguments, and an empty standard input.
pub(crate) fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cove-trace"));
    command.args(args).stdin(Stdio::null());
    command
}

/// A directory for one test's files, in which the command can be run. Gone when the test is done.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The command, to be run here.
    pub(crate) fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = command(args);
        command.current_dir(&self.0);
        command
    }

    /// Runs the command here.
    pub(crate) fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
        self.command(args).output().unwrap().into()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A directory left behind harms no test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the command on one trace, in a file named `run.jsonl`.
pub(crate) fn run_on(trace: impl AsRef<[u8]>, args: &[&str]) -> Run {
    let place = Place::new();
    place.write("run.jsonl", trace);
    place.run(args.iter().chain(&["run.jsonl"]))
}

/// Runs the command with the trace as its standard input, named `-`.
pub(crate) fn run_on_stdin(trace: impl AsRef<[u8]>, args: &[&str]) -> Run {
    let place = Place::new();
    place.write("input", trace);
    let input = File::open(place.path("input")).unwrap();
    place.command(args.iter().chain(&["-"])).stdin(input).output().unwrap().into()
}

/// Says that a test can't be run here. Past the test harness, which would show it only for a test that failed.
pub(crate) fn skipped(why: &str) {
    io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}
