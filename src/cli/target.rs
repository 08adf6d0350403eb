//! Where a command writes a trace: a file that is whole or not there, or standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use cove_trace::create_trace_file;

use crate::diagnostics::Diagnostics;
use crate::output::Output;

/// A trace on its way out. A file is made when there is something to write, and gets its name when it is whole: whatever ends
/// the command before that (a full disk, say), what stood under the name stays, and nothing that looks whole is left.
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

    /// Gives the file its name, and the name back to be said. None when nothing was written, or to standard output, of which
    /// the rest is not flushed here.
    pub(crate) fn finish(&mut self) -> Result<Option<String>, Stop> {
        let (Some(path), Some(file)) = (self.path, self.file.take()) else { return Ok(None) };
        file.finish(path).map_err(Stop::File)?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }
}

/// A file that is not whole yet, under a name of its own that says so. Removed unless it is finished; what a killed command
/// leaves keeps that name.
struct Unfinished {
    writer: BufWriter<File>,
    beside: PathBuf,
    /// The name that is kept free for it, if nothing stood there.
    reserved: Option<PathBuf>,
}

impl Unfinished {
    fn create(path: &Path, existing: Existing) -> io::Result<Self> {
        if existing == Existing::Kept {
            reserve(path)?;
        } else {
            refuse_unless_regular(path)?;
        }
        let reserved = (existing == Existing::Kept).then(|| path.to_owned());
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".unfinished-{}", std::process::id()));
        let beside = path.with_file_name(name);
        match create_trace_file(&beside) {
            Ok(file) => Ok(Self { writer: BufWriter::new(file), beside, reserved }),
            Err(error) => {
                reserved.iter().for_each(|path| remove(path));
                Err(error)
            }
        }
    }

    fn finish(mut self, path: &Path) -> io::Result<()> {
        self.writer.flush()?;
        // Some file systems say only now that there is no room.
        self.writer.get_ref().sync_data()?;
        fs::rename(&self.beside, path)?;
        self.reserved = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.beside);
        self.reserved.iter().for_each(|path| remove(path));
    }
}

/// The error that counts is the one that led here; a name left behind says nothing more.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Makes an empty file under a name that nothing stands under, for its owner alone.
fn reserve(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::Error::new(error.kind(), "something of that name is there already, and stays as it is"))
        }
        Err(error) => Err(error),
    }
}

fn refuse_unless_regular(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() => Ok(()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "what stands under that name is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
