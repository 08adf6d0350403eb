//! The traces that the command line names.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Cursor, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use cove_trace::TraceReader;
use cove_trace::compress::{Compression, Decompressed};
use cove_trace::parallel::ReadAt as _;

use crate::diagnostics::Diagnostics;
use crate::identify::{look, trace_from};
use crate::progress::{Counted, Progress};

/// A file, or standard input for `-`.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    path: PathBuf,
}

impl From<OsString> for Input {
    fn from(argument: OsString) -> Self {
        Self { path: argument.into() }
    }
}

impl Input {
    /// Returns the name to show. Invalid Unicode is replaced.
    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Returns the path of the file, or `None` for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        (self.path.as_os_str() != "-").then_some(&self.path)
    }

    /// Opens the trace for a command that writes while it reads. Progress is shown unless the output is a terminal,
    /// where the output itself shows it. Reports an error and returns `None` if nothing can be read.
    pub(crate) fn open(&self, diagnostics: &mut Diagnostics) -> Option<TraceReader<Box<dyn Read>>> {
        let is_seen = io::stdout().is_terminal();
        let source = self.source(|len| if is_seen { Progress::default() } else { diagnostics.begin(len) });
        self.report(source, diagnostics).map(Opened::stream)
    }

    /// Opens the trace for a command that writes nothing before its end. Progress is shown until
    /// [`Diagnostics::end`]. Reports an error and returns `None` if nothing can be read.
    pub(crate) fn open_whole(&self, diagnostics: &mut Diagnostics) -> Option<TraceReader<Box<dyn Read>>> {
        self.open_source(diagnostics).map(Opened::stream)
    }

    /// Opens the trace as [`open_whole`](Self::open_whole) does, and keeps a file open for reading with all cores.
    pub(crate) fn open_source(&self, diagnostics: &mut Diagnostics) -> Option<Opened> {
        let source = self.source(|len| diagnostics.begin(len));
        self.report(source, diagnostics)
    }

    fn report<T>(&self, result: io::Result<T>, diagnostics: &mut Diagnostics) -> Option<T> {
        result
            .map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => diagnostics.unusable(&self.name(), &error),
                _ => diagnostics.unusable(&self.name(), &format_args!("can't be read: {error}")),
            })
            .ok()
    }

    /// Opens the trace. `begin` is called with the length of a regular file.
    fn source(&self, begin: impl FnOnce(u64) -> Progress) -> io::Result<Opened> {
        let Some(path) = self.path() else {
            return trace_from(decompressed(io::stdin().lock())?).map(Opened::Stream);
        };
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return trace_from(decompressed(file)?).map(Opened::Stream);
        }
        let len = metadata.len();
        let mut start = [0; Compression::MAGIC_LEN];
        let start_len = file.read_at(&mut start, 0)?;
        let counted = Counted { file, progress: begin(len) };
        match Compression::detect(&start[..start_len]) {
            // Looked at through another handle, so that the file is read from its beginning afterwards.
            None => match look(&mut File::open(path)?, &mut Vec::new())? {
                None => Ok(Opened::File { file: counted, len }),
                Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, what)),
            },
            Some(_) => trace_from(decompressed(counted)?).map(Opened::Stream),
        }
    }
}

/// A trace that can be read.
pub(crate) enum Opened {
    /// A stream of bytes.
    Stream(Box<dyn Read>),
    /// A regular file that is not compressed.
    File { file: Counted, len: u64 },
}

impl Opened {
    /// Returns a reader of the trace.
    pub(crate) fn stream(self) -> TraceReader<Box<dyn Read>> {
        TraceReader::new(self.source())
    }

    /// Returns the bytes of the trace as a stream.
    pub(crate) fn source(self) -> Box<dyn Read> {
        match self {
            Self::Stream(source) => source,
            Self::File { file, .. } => Box::new(file),
        }
    }
}

/// Decompresses the source. Fails if a compressed source is cut off before its first byte.
fn decompressed(source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut source = Decompressed::new(source)?;
    if source.compression().is_none() {
        return Ok(Box::new(source));
    }
    let mut start = Vec::new();
    source.by_ref().take(1).read_to_end(&mut start)?;
    Ok(Box::new(Cursor::new(start).chain(source)))
}
