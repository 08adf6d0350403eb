//! Where a reader's bytes come from.

use std::io::{self, Read};

/// A source of a trace: anything that can be [read](Read) from, a [`Slice`], or [`Pieces`]. Closed: what a source does is the
/// reader's own business.
pub trait Source: sealed::Source {}

impl<S: sealed::Source> Source for S {}

/// A whole trace in memory: a file that was loaded or mapped. It is read where it is, and nothing of it is copied.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'t>(pub(super) &'t [u8]);

/// A trace whose bytes arrive in pieces, which the reader is given one by one.
#[derive(Debug, Default)]
pub struct Pieces {
    pub(super) finished: bool,
}

pub(super) mod sealed {
    use std::io;

    pub trait Source {
        /// All of it, if it is in memory. Then nothing is read.
        fn whole(&self) -> Option<&[u8]> {
            None
        }

        /// Whether more may come after a read that gave nothing.
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
