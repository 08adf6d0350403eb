//! The traces that the command line names.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use cove_trace::TraceReader;

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

/// How compressed files begin.
const COMPRESSED: [(&[u8], &str); 2] = [(b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd")];

impl Input {
    /// The name to show. What is not Unicode in it is replaced.
    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// A reader of the trace; none, and an error said, when nothing of it can be read.
    pub(crate) fn open(&self, diagnostics: &mut Diagnostics) -> Option<TraceReader<Box<dyn Read>>> {
        self.source()
            .map(TraceReader::new)
            .map_err(|error| diagnostics.unusable(&self.name(), &format_args!("can't be read: {error}")))
            .ok()
    }

    fn source(&self) -> io::Result<Box<dyn Read>> {
        if self.path.as_os_str() == "-" {
            uncompressed(io::stdin().lock())
        } else {
            uncompressed(File::open(&self.path)?)
        }
    }
}

/// Refuses a source whose first bytes say that it is compressed: as a trace, every part of it would be an error.
fn uncompressed(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let longest = COMPRESSED.iter().map(|(magic, _)| magic.len() as u64).max().unwrap_or(0);
    let mut start = Vec::new();
    source.by_ref().take(longest).read_to_end(&mut start)?;
    match COMPRESSED.iter().find(|(magic, _)| start.starts_with(magic)) {
        Some((_, format)) => Err(io::Error::other(format!("it is compressed with {format}; decompress it first"))),
        None => Ok(Box::new(Cursor::new(start).chain(source))),
    }
}
