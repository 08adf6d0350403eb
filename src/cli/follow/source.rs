//! A file that is still being written, as a source that waits for more.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How long to wait before looking again whether there is more.
const PAUSE: Duration = Duration::from_millis(50);

/// How often to look again before what is odd but may pass is taken for what it is: a file that was replaced in the middle of
/// a line, bytes behind others that are not written yet.
const PATIENCE: u32 = 20;

/// So many of the bytes handed out last are looked at again, to learn whether the file was cut short and written anew.
const REMEMBERED: usize = 256;

/// What becomes of a file: for whoever follows it.
pub(crate) trait Watcher {
    /// All there is was handed out. Gives whether to wait for more.
    fn caught_up(&self) -> bool;

    /// Something that a person should know of the file.
    fn note(&self, message: &str);
}

/// A file under a name, read as it grows.
///
/// It ends, as a source, when the file is cut short or another takes its place; reading on then begins with the first byte of
/// what is there now. It does not end for a file that is not there, which is waited for. Bytes that were laid out ahead of their
/// writer (NUL, up to the end) are not there yet.
pub(crate) struct FollowedFile<'a, W> {
    path: &'a Path,
    watcher: W,
    open: Option<OpenFile>,
    /// Whether it was said that the file is not there.
    said_missing: bool,
    ended: bool,
}

struct OpenFile {
    file: File,
    handed_out: u64,
    /// The last bytes that were handed out.
    remembered: Vec<u8>,
    /// How often something odd was seen in a row.
    odd: u32,
}

/// What there is behind the bytes that were handed out.
enum Next {
    /// So many bytes.
    Bytes(usize),
    /// None yet.
    Nothing,
    /// The file is not the one that was read before: it is shorter, or holds other bytes.
    CutShort,
    /// A pipe or a device that has come to its end.
    End,
}

impl<'a, W: Watcher> FollowedFile<'a, W> {
    /// The file at `path`, which need not be there yet. Opens nothing.
    pub(crate) fn new(path: &'a Path, watcher: W) -> Self {
        Self { path, watcher, open: None, said_missing: false, ended: false }
    }

    /// Whether nothing more will come: the watcher did not want to wait, or it was no file and has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    fn wait(&mut self) -> bool {
        self.ended = !self.watcher.caught_up();
        if !self.ended {
            thread::sleep(PAUSE);
        }
        !self.ended
    }

    /// Opens the file, if it is there.
    fn open(&mut self) -> io::Result<bool> {
        match File::open(self.path) {
            Ok(file) => {
                if self.said_missing {
                    self.watcher.note("it is there now");
                    self.said_missing = false;
                }
                self.open = Some(OpenFile { file, handed_out: 0, remembered: Vec::new(), odd: 0 });
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.say_missing("not there yet; waiting for it");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn say_missing(&mut self, message: &str) {
        if !self.said_missing {
            self.said_missing = true;
            self.watcher.note(message);
        }
    }

    /// Whether another file stands under the name by now, and the old one has had its time to end its last line.
    fn is_replaced(&mut self) -> io::Result<bool> {
        let Some(open) = &mut self.open else { return Ok(false) };
        let there = match fs::metadata(self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.say_missing("no longer there; waiting for more of it, or for another");
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        if is_same_file(&there, &open.file.metadata()?) {
            return Ok(false);
        }
        if open.remembered.last().is_some_and(|last| *last != b'\n') && open.odd < PATIENCE {
            open.odd += 1;
            return Ok(false);
        }
        Ok(true)
    }
}

impl<W: Watcher> Read for FollowedFile<'_, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Reading on after an error would be the same error again.
        self.read_or_wait(buffer).inspect_err(|_| self.ended = true)
    }
}

impl<W: Watcher> FollowedFile<'_, W> {
    /// Reads what there is, waiting until there is something; nothing at an end.
    fn read_or_wait(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended {
            if self.open.is_none() && !self.open()? {
                self.wait();
                continue;
            }
            let Some(open) = &mut self.open else { continue };
            match open.next(buffer)? {
                Next::Bytes(count) => return Ok(count),
                Next::End => self.ended = true,
                Next::CutShort => {
                    self.watcher.note("cut short; beginning again with what is there now");
                    self.open = None;
                    return Ok(0);
                }
                Next::Nothing if self.is_replaced()? => {
                    self.watcher.note("replaced; beginning again with the new file");
                    self.said_missing = false;
                    self.open = None;
                    return Ok(0);
                }
                Next::Nothing => {
                    self.wait();
                }
            }
        }
        Ok(0)
    }
}

impl OpenFile {
    fn next(&mut self, buffer: &mut [u8]) -> io::Result<Next> {
        let metadata = self.file.metadata()?;
        if !metadata.is_file() {
            let read = self.file.read(buffer)?;
            return Ok(if read == 0 { Next::End } else { Next::Bytes(read) });
        }
        self.file.seek(SeekFrom::Start(self.handed_out))?;
        let read = self.file.read(buffer)?;
        // Looked at after reading: what was read may be of a file written anew meanwhile.
        if !self.holds_what_it_held()? {
            return Ok(Next::CutShort);
        }
        let there = self.written(&buffer[..read]);
        if there == 0 {
            return Ok(Next::Nothing);
        }
        self.handed_out += there as u64;
        self.remember(&buffer[..there]);
        Ok(Next::Bytes(there))
    }

    /// How many of the bytes are written: those before the first NUL. When there are others behind it for long, nobody is going
    /// to fill the gap, and all up to the last of them are.
    fn written(&mut self, bytes: &[u8]) -> usize {
        let first_nul = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        let last_written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        if first_nul > 0 || last_written == 0 {
            return first_nul;
        }
        self.odd += 1;
        if self.odd > PATIENCE { last_written } else { 0 }
    }

    fn remember(&mut self, bytes: &[u8]) {
        self.odd = 0;
        self.remembered.extend_from_slice(&bytes[bytes.len().saturating_sub(REMEMBERED)..]);
        let forgotten = self.remembered.len().saturating_sub(REMEMBERED);
        self.remembered.drain(..forgotten);
    }

    /// Whether the bytes handed out last still stand where they stood.
    fn holds_what_it_held(&mut self) -> io::Result<bool> {
        let mut held = [0; REMEMBERED];
        let held = &mut held[..self.remembered.len()];
        self.file.seek(SeekFrom::Start(self.handed_out - held.len() as u64))?;
        match self.file.read_exact(held) {
            Ok(()) => Ok(held == &self.remembered[..]),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Nothing tells files apart here. One that takes another's place is known by its content alone.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}
