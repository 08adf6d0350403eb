//! A directory for one test.

use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory, gone when this is dropped.
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    /// `name` tells it from the directories of other tests.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        // What a run that was killed left behind under the same number.
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
        // A directory left behind is no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}
