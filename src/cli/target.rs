//! Where a command writes a trace: a file that is whole or not there, or standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use cove_trace::sink::FreshFile;

use crate::diagnostics::Diagnostics;
use crate::output::Output;

/// A trace on its way out. A file is made when there is something to write, and gets its name when it is whole:
/// whatever ends the command before that (a full disk, say), what stood under the name stays, and nothing that looks
/// whole is left.
pub(crate) struct Target<'a> {
    /// The file to write; none for standard output.
    path: Option<&'a Path>,
    existing: Existing,
    file: Option<Unfinished>,
    output: &'a mut Output,
}

/// What becomes of a file that stands under the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The new one takes its place.
    Replaced,
    /// It stays, and nothing is written.
    Kept,
}

/// Why no more of a trace is written.
pub(crate) enum Stop {
    /// Standard output gave an error.
    Output(io::Error),
    /// The file to write gave an error.
    File(io::Error),
}

impl Stop {
    /// Says it, if it is about the file at `path`. Gives the error of standard output on.
    pub(crate) fn said(self, path: Option<&Path>, diagnostics: &mut Diagnostics) -> io::Result<()> {
        match self {
            Self::Output(error) => Err(error),
            Self::File(error) => {
                let path = path.unwrap_or(Path::new("-"));
                diagnostics.unusable(&path.to_string_lossy(), &format_args!("can't be written: {error}"));
                Ok(())
            }
        }
    }
}

impl<'a> Target<'a> {
    /// The file at `path`, or standard output for none. Makes nothing yet.
    pub(crate) fn new(path: Option<&'a Path>, existing: Existing, output: &'a mut Output) -> Self {
        Self { path, existing, file: None, output }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let Some(path) = self.path else { return self.output.write_all(bytes).map_err(Stop::Output) };
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(Unfinished::create(path, self.existing).map_err(Stop::File)?),
        };
        file.writer.write_all(bytes).map_err(Stop::File)
    }

    /// Gives the file its name, and the name back to be said. None when nothing was written, or to standard output, of
    /// which the rest is not flushed here.
    pub(crate) fn finish(&mut self) -> Result<Option<String>, Stop> {
        let (Some(path), Some(file)) = (self.path, self.file.take()) else { return Ok(None) };
        file.finish().map_err(Stop::File)?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }
}

/// A file that is not complete. It is removed unless it is finished.
struct Unfinished {
    writer: BufWriter<FreshFile>,
    reserved: Reserved,
}

impl Unfinished {
    fn create(path: &Path, existing: Existing) -> io::Result<Self> {
        let reserved = match existing {
            Existing::Kept => Reserved::create(path)?,
            Existing::Replaced => Reserved(None),
        };
        Ok(Self { writer: BufWriter::new(FreshFile::create(path)?), reserved })
    }

    fn finish(self) -> io::Result<()> {
        let Self { writer, mut reserved } = self;
        let file = writer.into_inner().map_err(IntoInnerError::into_error)?;
        // Some file systems report a lack of room only here.
        file.file().sync_data()?;
        file.persist()?;
        reserved.0 = None;
        Ok(())
    }
}

/// A name that an empty file keeps free. The file is removed when this is dropped.
struct Reserved(Option<PathBuf>);

impl Reserved {
    /// Creates the file, for its owner alone. Fails if something has that name.
    fn create(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(_) => Ok(Self(Some(path.to_owned()))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(io::Error::new(error.kind(), "something of that name is there already, and stays as it is"))
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that led here is the one to report; that the file remains adds nothing.
            let _ = fs::remove_file(path);
        }
    }
}
