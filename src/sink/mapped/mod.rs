//! A file that is written through memory.

mod ahead;
mod memory;

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use self::ahead::{Ahead, is_lack_of_room};
use self::memory::{Home, Window};
use super::create_trace_file;

/// A trace file that is mapped into memory: what is written is stored there, with no system call, and other processes see
/// it at once. For putting under a [`JsonlSink`](super::JsonlSink).
///
/// What is stored belongs to the kernel and outlives the process, however that ends; not a machine that loses power.
///
/// - The disk sets its blocks aside before they are mapped, a megabyte at a time, so a full disk is an error of a write
///   (nothing of which is then written) and never a signal. So is the process's limit on the size of files.
/// - A thread of its own has the next megabyte mapped and its pages in memory before they are needed.
/// - The last byte of each write, a line's newline, is stored after all others: a process that is killed leaves no line
///   that ends like a whole one and is not.
/// - [Closing](Self::close) or dropping cuts the file to its exact length. Until then, and when the process is killed, or
///   exits without dropping it, up to four megabytes of zeros follow the last line; [`TraceReader`](crate::TraceReader) takes
///   such an end for a torn one. A reader that comes by while a line is being stored can find zeros *in* that line, if it
///   copies the beginning before it is stored and the end after: it should read the line again.
/// - In a forked child writing is an error and dropping leaves the file alone.
///
/// Where that can't be had (file systems that can't set blocks aside, or that copy on write, as btrfs and ZFS do; systems other than Linux and Android; no thread) it is
/// written to as any other; [`is_mapped`](Self::is_mapped) says which.
///
/// The one thing it can't survive is another program that shortens the file while it is mapped: storing beyond its end is
/// a `SIGBUS`. Replacing it by renaming, as [`create_trace_file`] does, or deleting it, does no harm.
///
/// ```
/// use cove_trace::{JsonlSink, MappedFile, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture};
///
/// # let directory = std::env::temp_dir().join(format!("cove-trace-mapped-doc-{}", std::process::id()));
/// # std::fs::create_dir(&directory)?;
/// # let path = directory.join("trace.jsonl");
/// let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
/// let sink = JsonlSink::new(MappedFile::create(&path)?, &header)?;
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
    home: Home,
}

struct Mapping {
    window: Window,
    /// The one after it, once a write was seen to need it.
    next: Option<Window>,
    ahead: Ahead,
}

impl MappedFile {
    /// Creates the file at `path`, by the rules of [`create_trace_file`]: fresh, its owner's alone, and in the place of what
    /// was there. Starts a thread.
    ///
    /// # Errors
    ///
    /// Those of [`create_trace_file`], and a disk that has no room.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::over(create_trace_file(path)?)
    }

    /// `file` is empty, and nobody else's.
    fn over(file: File) -> io::Result<Self> {
        let file = Arc::new(file);
        let mapping = match Ahead::start(Arc::clone(&file)) {
            Ok((window, ahead)) => Some(Mapping { window, next: None, ahead }),
            Err(error) if is_lack_of_room(&error) => return Err(error),
            Err(_) => {
                file.set_len(0)?;
                None
            }
        };
        Ok(Self { file, mapping, home: Home::here() })
    }

    /// Whether the file is written through memory. If not, it is written to as any other, with a system call for each event.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }

    /// Cuts the file to its exact length and closes it. Does nothing in a forked child.
    ///
    /// # Errors
    ///
    /// When the file can't be cut: then zeros follow its last line.
    pub fn close(mut self) -> io::Result<()> {
        self.cut()
    }

    fn cut(&mut self) -> io::Result<()> {
        let Some(mapping) = self.mapping.take() else { return Ok(()) };
        if self.home.is_left() {
            // The thread and the locks of its channels are the parent's: not to be touched.
            mem::forget(mapping);
            return Ok(());
        }
        let Mapping { window, next, ahead } = mapping;
        ahead.stop();
        let end = window.position();
        // Unmapped first: nothing of this process is left that could store beyond the end.
        drop((window, next));
        self.file.set_len(end)
    }
}

impl Write for MappedFile {
    /// Takes all of `bytes`, or what there is room for in the current window.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.home.is_left() {
            return Err(io::Error::other("the trace is recorded by the process that this one was forked from"));
        }
        match &mut self.mapping {
            Some(mapping) => mapping.write(bytes),
            None => (&*self.file).write(bytes),
        }
    }

    /// Does nothing: what was written is with the kernel already.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Mapping {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.window.room() {
            self.need_next()?;
        }
        Ok(self.window.append(bytes))
    }

    /// Makes sure of the next window before anything is stored, so that a line for which there is no room leaves no
    /// fragment; and moves on to it when this one is full.
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
        // Nobody is left to be told. The zeros that then end the file are what a reader expects of a process that died.
        let _ = self.cut();
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
    fn a_file_that_cannot_be_mapped_is_written_to_as_any_other() {
        let path = std::env::temp_dir().join(format!("cove-trace-unmappable-{}", std::process::id()));
        // A map that can be written to has to be readable, too.
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
