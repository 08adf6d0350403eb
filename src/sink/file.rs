//! Creates trace files: under a temporary name first, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates the file of a trace, readable and writable only by its owner where the platform supports it.
///
/// The file is new: it is created in the directory of `path` under the temporary name `.cove-trace.PID.N`, with
/// owner-only permissions from its first byte (mode 0600 on Unix, whatever the umask), and then renamed to `path`. A
/// reader of the old file, or a run that still records into it, keeps it whole. Other hard links to the old file keep
/// it, too. It is open for appending, so a program that truncates it leaves no hole before the next line.
///
/// To write a header before the old file is replaced, use
/// [`JsonlSinkBuilder::create`](super::JsonlSinkBuilder::create).
///
/// # Errors
///
/// - `path` is a symbolic link, a FIFO, a directory or a device: it is left as it is.
/// - The directory does not exist, cannot be written to, or has no room for a name.
/// - A file is mounted at `path`, as containers do with a single file: it cannot be replaced by renaming.
///
/// The text has the path. A failure leaves what was at `path` as it was.
pub fn create_trace_file(path: impl AsRef<Path>) -> io::Result<File> {
    create_with(path.as_ref(), Access::Append, Ok)
}

/// How a new file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Each write goes to the end, wherever that is. So a program that truncates the file leaves no hole before the
    /// next line.
    Append,
    /// Each write goes to a place of its own. On Linux, a write to a place appends if the file is open for appending.
    #[cfg(all(feature = "mmap", unix))]
    Anywhere,
}

/// Creates a file, passes it to `open`, and puts it at `path` if that succeeds. Adds the path to every error.
pub(super) fn create_with<T>(path: &Path, access: Access, open: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
    let create = || {
        let FreshFile { file, name } = FreshFile::create_for(path, access)?;
        let opened = open(file)?;
        name.persist()?;
        Ok(opened)
    };
    create().map_err(|error: io::Error| {
        io::Error::new(error.kind(), format!("cannot create the trace {}: {error}", path.display()))
    })
}

/// A new file under a temporary name, which gets its final name when it is complete.
///
/// The rules of [`create_trace_file`] apply. The file is removed if it is dropped before it [gets its
/// name](Self::persist); a killed process leaves it behind as `.cove-trace.PID.N`.
///
/// ```
/// use std::io::Write;
/// use cove_trace::sink::FreshFile;
///
/// # let path = std::env::temp_dir().join(format!("cove-trace-fresh-doc-{}", std::process::id()));
/// let mut file = FreshFile::create(&path)?;
/// file.write_all(b"text")?;
/// assert!(!path.exists());
/// file.persist()?;
/// assert_eq!(std::fs::read(&path)?, b"text");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FreshFile {
    // Closed before its name is removed.
    file: File,
    name: TemporaryName,
}

impl FreshFile {
    /// Creates the file in the directory of `path`.
    ///
    /// # Errors
    ///
    /// Those of [`create_trace_file`], without the path in their text.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::create_for(path.as_ref(), Access::Append)
    }

    fn create_for(path: &Path, access: Access) -> io::Result<Self> {
        refuse_unless_regular(path)?;
        let (file, temporary) = create_beside(path, access)?;
        let fresh = Self { file, name: TemporaryName { temporary, path: path.to_owned(), is_removed: false } };
        set_owner_only(&fresh.file)?;
        Ok(fresh)
    }

    /// The file under its temporary name.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file to its final name, in the place of what was there.
    ///
    /// # Errors
    ///
    /// If it cannot be renamed, for example because another file is mounted at that name. Then the file is removed.
    pub fn persist(self) -> io::Result<File> {
        self.name.persist()?;
        Ok(self.file)
    }
}

impl Write for FreshFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The name of a file that is not complete. Removes the file when it is dropped.
#[derive(Debug)]
struct TemporaryName {
    temporary: PathBuf,
    /// The final name.
    path: PathBuf,
    /// Whether the name is gone, because the file got its final one.
    is_removed: bool,
}

impl TemporaryName {
    fn persist(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => io::Error::new(
                error.kind(),
                format!(
                    "a file that is mounted there cannot be replaced ({error}); mount its directory instead, \
                     or open the file and pass it to `JsonlSinkBuilder::open_file`"
                ),
            ),
            _ => error,
        })?;
        self.is_removed = true;
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if !self.is_removed {
            // The error that led here is the one to report; that the file remains adds nothing.
            let _ = fs::remove_file(&self.temporary);
        }
    }
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
    let found = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else {
        "no regular file"
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("expected a regular file or nothing at that path, found {found}; choose another path"),
    ))
}

/// Creates a file in the directory of `path`, and returns it with its name.
fn create_beside(path: &Path, access: Access) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(temporary_name(number));
        let mut options = OpenOptions::new();
        options.read(true).write(true).append(access == Access::Append).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&temporary) {
            // A killed process with the same id left it behind.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (file, temporary)),
        }
    }
}

/// Short, so that it fits wherever the final name does.
fn temporary_name(number: u64) -> String {
    format!(".cove-trace.{}.{number}", std::process::id())
}

/// Sets the permissions of the owner, too: the umask may have removed them.
#[cfg(unix)]
fn set_owner_only(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn set_owner_only(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_at_the_temporary_name_is_not_written_through() {
        let directory = std::env::temp_dir().join(format!("cove-trace-fresh-name-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let victim = directory.join("victim");
        fs::write(&victim, "kept").unwrap();
        // More names than the tests of one process can have used.
        for number in 0..if cfg!(miri) { 40 } else { 1_000 } {
            symlink(&victim, directory.join(temporary_name(number))).unwrap();
        }
        let path = directory.join("trace.jsonl");
        create_trace_file(&path).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert!(fs::symlink_metadata(directory.join(temporary_name(0))).unwrap().is_symlink());
        fs::remove_dir_all(&directory).unwrap();
    }
}
