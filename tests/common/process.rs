//! Child processes of a test: its own binary, or a fork.
#![allow(unsafe_code)]

use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Returns the command that runs an ignored test of this test binary.
pub(crate) fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    command
}

/// Runs `child` in a forked process, which then exits without running destructors. `child` returns whether it
/// succeeded.
pub(crate) fn fork(child: impl FnOnce() -> bool) -> Fork {
    split().unwrap_or_else(|| end(std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false)))
}

/// Forks. Returns the child in the parent, and `None` in the child, which must call [`end`].
pub(crate) fn split() -> Option<Fork> {
    // SAFETY: the child continues with its own copy of the memory. Of the locks that other threads hold it may use
    // those of the allocator, which the C library resets, and those of the code under test, which the test is about.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", io::Error::last_os_error()),
        0 => None,
        process => Some(Fork(process)),
    }
}

/// Exits a forked child.
pub(crate) fn end(is_right: bool) -> ! {
    #[cfg(coverage)]
    write_coverage_profile();
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
}

/// Writes the coverage profile, which `_exit` would lose.
#[cfg(coverage)]
fn write_coverage_profile() {
    unsafe extern "C" {
        fn __llvm_profile_write_file() -> libc::c_int;
    }
    // SAFETY: the function has no arguments, and no other thread of this process can exit it meanwhile.
    assert_eq!(unsafe { __llvm_profile_write_file() }, 0, "the coverage profile cannot be written");
}

/// A forked child.
#[must_use]
pub(crate) struct Fork(libc::pid_t);

impl Fork {
    /// Asserts that the child exits successfully within 20 seconds.
    #[track_caller]
    pub(crate) fn assert_ends_well(self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut status = 0;
        loop {
            // SAFETY: no other code waits for this child, and `status` is valid for writes.
            match unsafe { libc::waitpid(self.0, &raw mut status, libc::WNOHANG) } {
                0 if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
                0 => {
                    // SAFETY: the process id stays valid until the child is waited for.
                    unsafe { libc::kill(self.0, libc::SIGKILL) };
                    panic!("the forked child hangs");
                }
                _ => break,
            }
        }
        assert!(libc::WIFEXITED(status), "the forked child did not exit by itself");
        assert_eq!(libc::WEXITSTATUS(status), 0, "the forked child failed");
    }
}
