//! A temporary directory for one test.

use std::fs;
use std::path::{Path, PathBuf};

/// A directory that is removed on drop.
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Creates an empty directory. `name` must be unique among the tests.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        // A killed run with the same process id may have left it behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch directory");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Failure to remove the directory must not fail the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
