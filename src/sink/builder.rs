//! Creates a `JsonlSink` with everything it is asked to do.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::file::{Access, create_with};
use super::file_limit::room_in;
use super::fork::ForkGuard;
use super::jsonl::JsonlSink;
#[cfg(all(feature = "mmap", unix))]
use super::mapped::MappedFile;
use super::output::{Limits, Output, drop_writer};
use crate::encode::{EncodeOptions, encode_header};
use crate::event::TraceHeader;
use crate::line::LINE_LIMIT;

/// Configures a [`JsonlSink`] and opens it. Made by [`JsonlSink::builder`].
///
/// ```
/// use cove_trace::{JsonlSink, RecordingBackend, TraceHeader, ValueCapture};
///
/// # let path = std::env::temp_dir().join(format!("cove-trace-builder-doc-{}", std::process::id()));
/// let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
/// // A new file at `path`.
/// let sink = JsonlSink::builder(&header).create(&path)?;
/// // Any writer, with a buffer of 64 KiB and at most 1 GiB of trace.
/// let sink = JsonlSink::builder(&header).buffer(64 * 1024).byte_limit(1 << 30).open(Vec::new())?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it opens a sink"]
pub struct JsonlSinkBuilder<'h> {
    header: &'h TraceHeader,
    buffer_size: usize,
    byte_limit: u64,
    line_limit: usize,
}

impl<'h> JsonlSinkBuilder<'h> {
    pub(super) const fn new(header: &'h TraceHeader) -> Self {
        Self { header, buffer_size: 0, byte_limit: u64::MAX, line_limit: LINE_LIMIT }
    }

    /// Gathers lines in a buffer of `bytes` bytes, which is allocated when the sink is opened. With 0, the default,
    /// each line is written and flushed at once.
    ///
    /// The buffer is written and flushed when the next line does not fit, after a `run_ended`, by
    /// [`flush`](JsonlSink::flush), and when the sink is finished or dropped. A line longer than the buffer is written
    /// by itself.
    ///
    /// A buffered line costs a copy instead of a system call. A killed process loses the buffered lines. A failed write
    /// loses the unwritten part of the buffer; [`dropped`](JsonlSink::dropped) stays exact.
    pub const fn buffer(mut self, bytes: usize) -> Self {
        self.buffer_size = bytes;
        self
    }

    /// Limits the trace to `bytes` bytes, its header included.
    ///
    /// The first event that does not fit and all later ones are [dropped](JsonlSink::dropped) without being encoded, so
    /// the trace is the beginning of the run, without a gap. The events that close a run (`entry_exit`, `heap_summary`,
    /// `run_ended`) are still written, on top of the limit. A header that is longer than the limit is written, too.
    pub const fn byte_limit(mut self, bytes: u64) -> Self {
        self.byte_limit = bytes;
        self
    }

    /// Limits each line to `bytes` bytes, its newline included; [`LINE_LIMIT`] if this is not called.
    ///
    /// An argument or result that ends beyond the limit is replaced by an opaque, `longer than N bytes`. An event whose
    /// line is longer because of anything else is [dropped](JsonlSink::dropped): its names, its messages, its number of
    /// arguments, or what follows a value that ends just within the limit. A reader has to be given a limit that is not
    /// lower.
    pub const fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Writes the header to `writer` and flushes it.
    ///
    /// The sink cannot know the limits of the writer. Over a file use [`open_file`](Self::open_file) or
    /// [`create`](Self::create): only these stop before the process's limit on the size of files, at which a write
    /// raises `SIGXFSZ` and ends the program.
    ///
    /// # Errors
    ///
    /// If the header is longer than the limit of a line, if it cannot be written and flushed, if the buffer cannot be
    /// allocated, or if the system has no memory to watch for forks.
    pub fn open<W: Write>(self, writer: W) -> io::Result<JsonlSink<W>> {
        self.open_within(writer, u64::MAX)
    }

    /// Writes the header to `file`, at its current position, and flushes it.
    ///
    /// On Unix, if the process has a limit on the size of files (`RLIMIT_FSIZE`, `ulimit -f`), the limit at this moment
    /// becomes a limit of the sink. Events over it are [dropped](JsonlSink::dropped), those that close a run included.
    /// The bytes that the file has already count. The sink does not see a limit that is lowered later, nor the bytes that
    /// other writers append.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and if the limit leaves no room for the header.
    pub fn open_file(self, file: File) -> io::Result<JsonlSink<File>> {
        let room = room_in(&file)?;
        self.open_within(file, room)
    }

    /// Creates the file at `path` by the rules of [`create_trace_file`](super::create_trace_file), and opens it as
    /// [`open_file`](Self::open_file) does.
    ///
    /// The file takes the place of an old one only after its header is written, so a failure leaves the old file as it
    /// was, and no temporary file.
    ///
    /// # Errors
    ///
    /// Those of [`create_trace_file`](super::create_trace_file) and of [`open_file`](Self::open_file). The text has the
    /// path.
    pub fn create(self, path: impl AsRef<Path>) -> io::Result<JsonlSink<File>> {
        create_with(path.as_ref(), Access::Append, |file| self.open_file(file))
    }

    /// Creates a [`MappedFile`] at `path` and opens it. Starts a thread.
    ///
    /// The file takes the place of an old one only after its header is written, as with [`create`](Self::create).
    ///
    /// # Errors
    ///
    /// Those of [`MappedFile::create`] and of [`open`](Self::open). The text has the path.
    #[cfg(all(feature = "mmap", unix))]
    pub fn create_mapped(self, path: impl AsRef<Path>) -> io::Result<JsonlSink<MappedFile>> {
        create_with(path.as_ref(), Access::Anywhere, |file| {
            let room = room_in(&file)?;
            let file = MappedFile::over(file)?;
            // A mapped file asks for the limit whenever it grows.
            let room = if file.is_mapped() { u64::MAX } else { room };
            self.open_within(file, room)
        })
    }

    /// `room` is how many bytes may be written at all.
    fn open_within<W: Write>(self, writer: W, room: u64) -> io::Result<JsonlSink<W>> {
        // All that can fail comes before the header: a failure must leave nothing written.
        let (guard, buffer, header) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                drop_writer(writer);
                return Err(error);
            }
        };
        let options = EncodeOptions::new(self.header.values).line_limit(self.line_limit);
        let limits = Limits { trace: self.byte_limit.min(room), file: room };
        JsonlSink::start(Output::new(writer, buffer, self.buffer_size, limits), &header, options, guard)
    }

    fn prepare(&self) -> io::Result<(ForkGuard, Vec<u8>, Vec<u8>)> {
        let guard = ForkGuard::new()?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(self.buffer_size)?;
        let mut header = Vec::new();
        if !encode_header(self.header, &mut header) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if header.len() > self.line_limit {
            let text = format!("the header takes {} bytes, and a line may have {}", header.len(), self.line_limit);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok((guard, buffer, header))
    }
}
