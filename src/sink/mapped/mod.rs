//! A file that is written through memory.

mod ahead;
mod memory;
mod signals;

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use self::ahead::Ahead;
use self::memory::Window;
use super::backoff::is_lack_of_room;
use super::file::{Access, create_with};
use super::fork::ForkGuard;

/// A trace file that is mapped into memory: a write is a copy, without a system call, and other processes see it at
/// once. Use it as the writer of a [`JsonlSink`](super::JsonlSink).
///
/// Written bytes belong to the kernel. They survive the end of the process, however it ends, but not a loss of power.
///
/// - The file grows by a megabyte at a time, for which the disk reserves blocks before it is mapped. So a full disk, or
///   the process's limit on the size of files, is an error of a write, which then writes nothing, and never a signal. A
///   nearly full disk is used in smaller steps. Four kilobytes are set aside for the events that close a run.
/// - A thread named `cove-trace-map` prepares the next megabyte. It has all signals blocked, so it takes none that the
///   program waits for.
/// - The last byte of each write, the newline of a line, is stored after all others. A killed process leaves no line
///   that ends with a newline and is not whole.
/// - [Closing](Self::close) or dropping truncates the file to its exact length. Until then, and after a kill or an exit
///   without a drop, up to four megabytes of zeros follow the last line; [`TraceReader`](crate::TraceReader) reports
///   them as a torn end. A process that reads a line while it is being stored can find zeros in it; it should read the
///   line again.
/// - In a forked child writing is an error, and dropping leaves the file alone. A child made by `_Fork` or a raw
///   `clone` system call is not recognised.
///
/// The file is mapped on ext4, XFS and tmpfs, which keep the blocks that they reserved, and on an overlay over ext4, as
/// most containers have. Elsewhere it is written with a system call per event: on other file systems, on systems other
/// than Linux and Android, and if no thread can be started. [`is_mapped`](Self::is_mapped) tells.
///
/// No library can survive the following while the file is mapped. Each raises `SIGBUS`, which ends the program:
///
/// - Another program truncates the file, and a store goes beyond its end. So do not use a log rotator's `copytruncate`
///   on it. Renaming or deleting the file, or replacing it by [`create_trace_file`](super::create_trace_file), does no
///   harm.
/// - The disk reports an error.
/// - The file was cloned (`cp --reflink`) on XFS, or is in a snapshot, and the disk is full: then a store needs a new
///   block.
///
/// ```
/// use cove_trace::{JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture};
///
/// # let directory = std::env::temp_dir().join(format!("cove-trace-mapped-doc-{}", std::process::id()));
/// # std::fs::create_dir(&directory)?;
/// # let path = directory.join("trace.jsonl");
/// let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
/// let sink = JsonlSink::builder(&header).create_mapped(&path)?;
/// sink.record(&TraceEvent::TaskCancelled { id: 7 });
/// let finished = sink.finish();
/// finished.writer.close()?;
/// assert_eq!(finished.dropped, 0);
/// assert!(std::fs::read_to_string(&path)?.ends_with("{\"event\":\"task_cancelled\",\"id\":7}\n"));
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct MappedFile {
    file: Arc<File>,
    mapping: Option<Mapping>,
    guard: ForkGuard,
}

struct Mapping {
    window: Window,
    /// The next window, if a write has needed it already.
    next: Option<Window>,
    ahead: Ahead,
}

/// The last bytes of the file are kept for the events that close a run, so that a full disk has them, too.
const SET_ASIDE: usize = 4096;

/// Whether these bytes are the line of such an event, perhaps after a newline.
fn closes_a_run(bytes: &[u8]) -> bool {
    let line = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    line.strip_prefix(br#"{"event":""#).is_some_and(|kind| {
        [&b"entry_exit\""[..], b"heap_summary\"", b"run_ended\""].iter().any(|closing| kind.starts_with(closing))
    })
}

impl MappedFile {
    /// Creates the file at `path` by the rules of [`create_trace_file`](super::create_trace_file), maps it and starts
    /// its thread. For a file that gets its header before it replaces an old one, use
    /// [`JsonlSinkBuilder::create_mapped`](super::JsonlSinkBuilder::create_mapped).
    ///
    /// # Errors
    ///
    /// Those of [`create_trace_file`](super::create_trace_file). If the disk has no room for 64 KiB, or the process may
    /// not write a file of that size. If the system has no memory to watch for forks.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        create_with(path.as_ref(), Access::Anywhere, Self::over)
    }

    /// Maps `file`, which is empty and belongs to this process alone.
    pub(super) fn over(file: File) -> io::Result<Self> {
        let guard = ForkGuard::new()?;
        let file = Arc::new(file);
        let mapping = match Ahead::start(Arc::clone(&file)) {
            Ok((window, ahead)) => Some(Mapping { window, next: None, ahead }),
            Err(error) if is_lack_of_room(&error) => return Err(error),
            Err(_) => {
                file.set_len(0)?;
                None
            }
        };
        Ok(Self { file, mapping, guard })
    }

    /// Whether the file is written through memory. If not, each write is a system call.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }

    /// Truncates the file to its exact length and closes it. Does nothing in a forked child. Waits for the thread to
    /// end.
    ///
    /// # Errors
    ///
    /// If the file cannot be truncated. Then zeros follow its last line.
    pub fn close(mut self) -> io::Result<()> {
        self.truncate()
    }

    fn truncate(&mut self) -> io::Result<()> {
        let Some(mapping) = self.mapping.take() else { return Ok(()) };
        if !self.guard.is_owner() {
            // The thread and the locks of its channels belong to the parent.
            mem::forget(mapping);
            return Ok(());
        }
        let Mapping { window, next, ahead } = mapping;
        ahead.stop();
        let end = window.position();
        // Unmapped first, so that nothing in this process can store beyond the end.
        drop((window, next));
        self.file.set_len(end)
    }
}

impl Write for MappedFile {
    /// Writes all of `bytes`, or what fits into the current window.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.guard.is_owner() {
            return Err(io::Error::other(
                "this process was forked from the one that created the file; write to it there",
            ));
        }
        match &mut self.mapping {
            Some(mapping) => mapping.write(bytes),
            None => (&*self.file).write(bytes),
        }
    }

    /// Does nothing: the kernel has all written bytes.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Mapping {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() + SET_ASIDE > self.window.room()
            && let Err(error) = self.need_next()
            && !(closes_a_run(bytes) && bytes.len() <= self.window.room())
        {
            return Err(error);
        }
        Ok(self.window.append(bytes))
    }

    /// Gets the next window before anything is stored, so that a line that does not fit leaves no fragment. Moves on to
    /// it if this one is full.
    #[cold]
    fn need_next(&mut self) -> io::Result<()> {
        let next = match self.next.take() {
            Some(next) => next,
            None => self.ahead.next_window()?,
        };
        if self.window.room() > 0 {
            self.next = Some(next);
        } else {
            self.ahead.give_back(mem::replace(&mut self.window, next));
        }
        Ok(())
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // There is no place to report the error. Readers accept the zeros that then end the file.
        let _ = self.truncate();
    }
}

impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedFile").field("file", &self.file).field("is_mapped", &self.is_mapped()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};

    #[test]
    fn a_file_that_cannot_be_mapped_is_written_by_system_calls() {
        let path = std::env::temp_dir().join(format!("cove-trace-unmappable-{}", std::process::id()));
        // A writable map needs a file that is open for reading, too.
        let unreadable = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
        let mut file = MappedFile::over(unreadable).unwrap();
        assert!(!file.is_mapped());
        file.write_all(b"one\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\n");
        file.write_all(b"two\n").unwrap();
        file.close().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        fs::remove_file(&path).unwrap();
    }
}
