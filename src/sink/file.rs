//! The file that a trace is written to.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates the file a trace is written to, readable only by its owner where the platform can say so.
///
/// The file is fresh: it is made beside `path` under another name, with owner-only permissions from its first byte (mode
/// 0600 on Unix, whatever the umask), and put in the place of what was there by renaming. So a reader of the old file, or a
/// run that is still recording into it, keeps it whole; and another hard link to it stays what it was.
///
/// # Errors
///
/// When what stands at `path` is not a regular file: symbolic links, FIFOs, directories and devices are refused and left
/// as they are. When the directory does not exist or can't be written to. When the disk has no room for a name.
pub fn create_trace_file(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    refuse_unless_regular(path)?;
    let (file, fresh) = create_beside(path)?;
    owner_only(&file).and_then(|()| fs::rename(&fresh, path)).inspect_err(|_| {
        // The error that counts is the one being returned; a name left behind says nothing more.
        let _ = fs::remove_file(&fresh);
    })?;
    Ok(file)
}

fn refuse_unless_regular(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(there) => there.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else {
        "not a regular file"
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("a trace is only written to a regular file, and {} is {what}", path.display()),
    ))
}

/// A new file in the directory of `path`, and its name there.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let fresh = path.with_file_name(fresh_name(number));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&fresh) {
            // Left behind by a process of the same number that died here.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (file, fresh)),
        }
    }
}

fn fresh_name(number: u64) -> String {
    format!(".cove-trace.{}.{number}", std::process::id())
}

/// A umask can have taken bits away from the owner, too.
#[cfg(unix)]
fn owner_only(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn owner_only(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_under_the_name_of_the_fresh_file_is_not_written_through() {
        let directory = std::env::temp_dir().join(format!("cove-trace-fresh-name-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let victim = directory.join("victim");
        fs::write(&victim, "kept").unwrap();
        // More names than the tests of one process can have used up.
        for number in 0..if cfg!(miri) { 40 } else { 1_000 } {
            symlink(&victim, directory.join(fresh_name(number))).unwrap();
        }
        let path = directory.join("trace.jsonl");
        create_trace_file(&path).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert!(fs::symlink_metadata(directory.join(fresh_name(0))).unwrap().is_symlink());
        fs::remove_dir_all(&directory).unwrap();
    }
}
