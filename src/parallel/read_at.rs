//! Sources that several threads can read at once.

#[cfg(any(unix, windows))]
use std::fs::File;
use std::io::{self, Read};

/// A source that several threads can read at once, at any offset.
pub trait ReadAt: Sync {
    /// Reads bytes at `offset` into `buffer`, and returns their number, as [`Read::read`] does. 0 is the end of the
    /// source.
    ///
    /// # Errors
    ///
    /// Returns the errors of the source.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }
}

#[cfg(windows)]
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        rest.read(buffer)
    }
}

/// A source as a stream, from an offset on.
pub(super) struct Stretch<'f, F: ?Sized> {
    pub(super) file: &'f F,
    pub(super) offset: u64,
}

impl<F: ReadAt + ?Sized> Read for Stretch<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}
