//! The traces that the command line names.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cove_trace::TraceReader;
use cove_trace::compress::Decompressed;

use crate::diagnostics::Diagnostics;

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
    /// The name to show. What is not Unicode in it is replaced.
    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Where the file is; none for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        (self.path.as_os_str() != "-").then_some(&self.path)
    }

    /// A reader of the trace; none, and an error said, when nothing of it can be read.
    pub(crate) fn open(&self, diagnostics: &mut Diagnostics) -> Option<TraceReader<Box<dyn Read>>> {
        self.source()
            .map(TraceReader::new)
            .map_err(|error| diagnostics.unusable(&self.name(), &format_args!("can't be read: {error}")))
            .ok()
    }

    fn source(&self) -> io::Result<Box<dyn Read>> {
        match self.path() {
            None => decompressed(io::stdin().lock()),
            Some(path) => decompressed(File::open(path)?),
        }
    }
}

/// The source without its compression. A compressed one has to give something, or its end: of one that is cut off before
/// that, nothing can be read.
fn decompressed(source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut source = Decompressed::new(source)?;
    if source.compression().is_none() {
        return Ok(Box::new(source));
    }
    let mut start = Vec::new();
    source.by_ref().take(1).read_to_end(&mut start)?;
    Ok(Box::new(io::Cursor::new(start).chain(source)))
}
