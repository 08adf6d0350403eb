//! The sources of a reader's bytes.

use std::io::{self, Read};

/// A source of a trace: any [`Read`], a [`Slice`], or [`Pieces`]. This trait is sealed.
pub trait Source: sealed::Source {}

impl<S: sealed::Source> Source for S {}

/// A whole trace in memory, for example a mapped file. It is read in place.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'t>(pub(super) &'t [u8]);

/// A trace whose bytes are fed to the reader in pieces.
#[derive(Debug, Default)]
pub struct Pieces {
    pub(super) finished: bool,
}

pub(super) mod sealed {
    use std::io;

    pub trait Source {
        /// Returns the whole trace if it is in memory. Then `read` is not called.
        fn whole(&self) -> Option<&[u8]> {
            None
        }

        /// Returns whether more bytes may arrive after a read of zero bytes.
        fn is_open(&self) -> bool {
            false
        }

        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    }
}

impl<R: Read> sealed::Source for R {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Read::read(self, buffer)
    }
}

impl sealed::Source for Slice<'_> {
    fn whole(&self) -> Option<&[u8]> {
        Some(self.0)
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl sealed::Source for Pieces {
    fn is_open(&self) -> bool {
        !self.finished
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}
