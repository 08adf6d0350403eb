//! Standard output, locked once and written in large pieces.

use std::io::{self, BufWriter, StdoutLock, Write};

const CAPACITY: usize = 64 * 1024;

/// What the command gives. Has to be flushed at the end, to learn whether all of it got out.
pub(crate) struct Output(BufWriter<StdoutLock<'static>>);

impl Default for Output {
    fn default() -> Self {
        Self(BufWriter::with_capacity(CAPACITY, io::stdout().lock()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
