//! What happens to a source below a decompressor, which has an error of its own for all of it.

use std::io::{self, BufRead, BufReader, Read};

use super::compression::Compression;

const CHUNK: usize = 64 * 1024;

/// A buffered source that remembers how it ended.
pub(super) struct Watched<R>(BufReader<Ending<R>>);

struct Ending<R> {
    source: R,
    ended: bool,
    failed: Option<io::Error>,
}

impl<R: Read> Watched<R> {
    pub(super) fn new(source: R) -> Self {
        Self(BufReader::with_capacity(CHUNK, Ending { source, ended: false, failed: None }))
    }

    /// What is behind the error of a decompressor: one of the source, its end, or damage.
    pub(super) fn explain(&mut self, compression: Compression, error: &io::Error) -> io::Error {
        let Ending { ended, failed, .. } = self.0.get_mut();
        match failed.take() {
            Some(failed) => failed,
            None if *ended => io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the {compression} data is cut off: it ends before its end mark"),
            ),
            None => io::Error::new(io::ErrorKind::InvalidData, format!("the {compression} data is damaged: {error}")),
        }
    }
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.source.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                self.ended = true;
                Ok(0)
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
            other => other,
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> BufRead for Watched<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}
