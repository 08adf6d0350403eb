//! A file that is still being written, as a source that waits for more.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

use cove_trace::compress::Compression;
use cove_trace::parallel::ReadAt as _;

/// How long to wait before looking again whether there is more.
const PAUSE: Duration = Duration::from_millis(50);

/// How often to look again before what is odd but may pass is taken for what it is: a file that was replaced in the
/// middle of a line, bytes behind others that are not written yet.
const PATIENCE: u32 = 20;

/// How far to look behind bytes that are not written, each time: so much, and in pieces of so much.
const PROBED: u64 = 1024 * 1024;
const PROBE: usize = 16 * 1024;

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
/// It ends, as a source, when the file is cut short or another takes its place; reading on then begins with the first
/// byte of what is there now. It does not end for a file that is not there, which is waited for. Bytes that were laid
/// out ahead of their writer (NUL, up to the end) are not there yet.
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
    /// There is nothing but NUL from the bytes handed out up to here, as far as was looked.
    probed: u64,
    /// Where something stands behind NUL bytes, if that was found.
    behind_gap: Option<u64>,
    /// Up to here nobody is going to write what is not written.
    given_up: u64,
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
                self.open = Some(OpenFile::new(file));
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
    fn new(file: File) -> Self {
        let (handed_out, probed, given_up) = (0, 0, 0);
        Self { file, handed_out, remembered: Vec::new(), odd: 0, probed, behind_gap: None, given_up }
    }

    fn next(&mut self, buffer: &mut [u8]) -> io::Result<Next> {
        let metadata = self.file.metadata()?;
        if !metadata.is_file() {
            let read = self.file.read(buffer)?;
            if self.handed_out == 0 {
                refuse_compressed(&buffer[..read])?;
            }
            self.handed_out += read as u64;
            return Ok(if read == 0 { Next::End } else { Next::Bytes(read) });
        }
        self.file.seek(SeekFrom::Start(self.handed_out))?;
        let read = self.file.read(buffer)?;
        // Looked at after reading: what was read may be of a file written anew meanwhile.
        if !self.holds_what_it_held()? {
            return Ok(Next::CutShort);
        }
        if self.handed_out == 0 {
            refuse_compressed(&buffer[..read])?;
            if read < Compression::MAGIC_LEN {
                return Ok(Next::Nothing);
            }
        }
        let there = self.written(&buffer[..read])?;
        if there == 0 {
            return Ok(Next::Nothing);
        }
        self.handed_out += there as u64;
        self.remember(&buffer[..there]);
        Ok(Next::Bytes(there))
    }

    /// How many of the bytes are written: those before the first NUL. When there are others behind it for long, nobody
    /// is going to fill the gap, and its bytes are what they are.
    fn written(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let given_up = usize::try_from(self.given_up.saturating_sub(self.handed_out)).unwrap_or(usize::MAX);
        if given_up > 0 {
            return Ok(bytes.len().min(given_up));
        }
        let first_nul = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        if first_nul > 0 || bytes.is_empty() {
            return Ok(first_nul);
        }
        if self.behind_gap.is_none() {
            self.probe()?;
        }
        if let Some(end) = self.behind_gap {
            self.odd += 1;
            if self.odd > PATIENCE {
                self.given_up = end;
            }
        }
        Ok(0)
    }

    /// Looks for something behind the NUL bytes that come next, some way on from where it looked before, and from the
    /// beginning again after the file's end.
    fn probe(&mut self) -> io::Result<()> {
        let mut bytes = [0; PROBE];
        let from = self.probed.max(self.handed_out);
        self.probed = from;
        while self.probed < from + PROBED {
            let read = self.file.read_at(&mut bytes, self.probed)?;
            if read == 0 {
                self.probed = self.handed_out;
                break;
            }
            if let Some(found) = bytes[..read].iter().position(|byte| *byte != 0) {
                self.behind_gap = Some(self.probed + found as u64);
                break;
            }
            self.probed += read as u64;
        }
        Ok(())
    }

    fn remember(&mut self, bytes: &[u8]) {
        self.odd = 0;
        self.probed = 0;
        self.behind_gap = None;
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

/// What is compressed comes in blocks and not in lines.
fn refuse_compressed(start: &[u8]) -> io::Result<()> {
    match Compression::detect(start) {
        None => Ok(()),
        Some(compression) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "it is compressed with {compression}, and can't be followed; cove-trace timeline reads what is there"
            ),
        )),
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
