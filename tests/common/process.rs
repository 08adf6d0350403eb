//! Processes of a test's own: itself run again, or a fork of it.
#![allow(unsafe_code)]

use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The command that runs one (ignored) test of this very binary.
pub(crate) fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    command
}

/// Runs `child` in a fork of this process, which then ends at once, destructors and all left undone.
/// `child` says whether it found everything as it should be.
pub(crate) fn fork(child: impl FnOnce() -> bool) -> Fork {
    split().unwrap_or_else(|| end(std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false)))
}

/// Forks, and goes on in both: with the child in the parent, with nothing in the child, which has to [`end`].
pub(crate) fn split() -> Option<Fork> {
    // SAFETY: the child goes on with memory that is its own; of the locks that other threads held it may meet those of the
    // allocator, which the C library sets free, and those of the code under test, which is what the test is about.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", io::Error::last_os_error()),
        0 => None,
        process => Some(Fork(process)),
    }
}

/// Ends a forked child.
pub(crate) fn end(is_right: bool) -> ! {
    #[cfg(coverage)]
    keep_what_was_run();
    // SAFETY: ends the process.
    unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
}

/// Has the lines that this process ran counted, as happens by itself where a process ends in order.
#[cfg(coverage)]
fn keep_what_was_run() {
    unsafe extern "C" {
        fn __llvm_profile_write_file() -> libc::c_int;
    }
    // SAFETY: takes nothing, and this process has no other thread that could end it meanwhile.
    assert_eq!(unsafe { __llvm_profile_write_file() }, 0, "the counts can't be written");
}

/// A forked child.
#[must_use]
pub(crate) struct Fork(libc::pid_t);

impl Fork {
    /// Holds that the child ends soon, and well.
    #[track_caller]
    pub(crate) fn assert_ends_well(self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut status = 0;
        loop {
            // SAFETY: waits for a child that nobody else waits for.
            match unsafe { libc::waitpid(self.0, &raw mut status, libc::WNOHANG) } {
                0 if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
                0 => {
                    // SAFETY: the child is there until it is waited for.
                    unsafe { libc::kill(self.0, libc::SIGKILL) };
                    panic!("the forked child hangs");
                }
                _ => break,
            }
        }
        assert!(libc::WIFEXITED(status), "the forked child did not exit");
        assert_eq!(libc::WEXITSTATUS(status), 0, "the forked child found something wrong");
    }
}
