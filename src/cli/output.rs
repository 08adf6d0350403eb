//! Standard output, locked once and written in large pieces.

use std::io::{self, BufWriter, StdoutLock, Write};

const CAPACITY: usize = 64 * 1024;

/// What the command gives. Has to be flushed at the end, to learn whether all of it got out.
pub(crate) struct Output {
    writer: BufWriter<StdoutLock<'static>>,
    colored: bool,
}

impl Output {
    /// Whether what is written may have colours in it.
    pub(crate) fn is_colored(&self) -> bool {
        self.colored
    }

    /// Whether nobody can read it any more: a pipe whose other end was closed. Known without writing to it.
    #[cfg(unix)]
    pub(crate) fn is_closed(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let mut stream = [PollFd::new(self.writer.get_ref(), PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut stream, Some(&at_once)).is_ok() && stream[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }

    /// Not known here before the next write.
    #[cfg(not(unix))]
    pub(crate) fn is_closed(&self) -> bool {
        false
    }

    pub(crate) fn set_colored(&mut self, colored: bool) {
        self.colored = colored;
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { writer: BufWriter::with_capacity(CAPACITY, io::stdout().lock()), colored: false }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
