//! Sources that give their bytes in unusual ways.

use std::io::{self, Read};

/// Gives at most so many bytes at a time.
pub(crate) struct Pieces<R> {
    pub(crate) inner: R,
    pub(crate) most: usize,
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.most);
        self.inner.read(&mut buffer[..len])
    }
}

/// So many copies of `unit`, made while they are read.
pub(crate) struct Repeated<'t> {
    unit: &'t [u8],
    left: u64,
}

impl<'t> Repeated<'t> {
    pub(crate) fn new(unit: &'t [u8], times: u64) -> Self {
        Self { unit, left: unit.len() as u64 * times }
    }
}

impl Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = (buffer.len() as u64).min(self.left) as usize;
        let mut filled = 0;
        while filled < wanted {
            let done = (self.left % self.unit.len() as u64) as usize;
            let from = (self.unit.len() - done) % self.unit.len();
            let len = (self.unit.len() - from).min(wanted - filled);
            buffer[filled..filled + len].copy_from_slice(&self.unit[from..from + len]);
            filled += len;
            self.left -= len as u64;
        }
        Ok(filled)
    }
}
