//! How far the command has come, for a person who waits at a terminal.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cove_trace::parallel::ReadAt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nobody needs to be told about what is done sooner.
const PATIENCE: Duration = Duration::from_secs(1);

const STYLE: &str = "{bar:30} {percent}% of {total_bytes}";

/// The bar for the files that are read; none unless standard error is a terminal, and none in the first second.
#[derive(Clone, Default)]
pub(crate) struct Progress(Option<Arc<Shown>>);

struct Shown {
    since: Instant,
    /// The length of all files.
    len: AtomicU64,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// A file of this length is going to be read, too.
    pub(crate) fn begin(&mut self, len: u64) {
        if self.0.is_none() && io::stderr().is_terminal() {
            self.0 = Some(Arc::new(Shown {
                since: Instant::now(),
                len: AtomicU64::new(0),
                done: AtomicU64::new(0),
                bar: OnceLock::new(),
            }));
        }
        if let Some(shown) = &self.0 {
            let len = shown.len.fetch_add(len, Ordering::Relaxed) + len;
            if let Some(bar) = shown.bar.get() {
                bar.set_length(len);
            }
        }
    }

    /// So many bytes more are done.
    pub(crate) fn advance(&self, bytes: u64) {
        let Some(shown) = &self.0 else { return };
        let done = shown.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if shown.since.elapsed() >= PATIENCE {
            let len = shown.len.load(Ordering::Relaxed);
            shown.bar.get_or_init(|| bar(len)).set_position(done.min(len));
        }
    }

    /// Writes on standard error in the bar's place, which is drawn again below.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.0.as_ref().and_then(|shown| shown.bar.get()) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.0.as_ref().and_then(|shown| shown.bar.get()) {
            bar.finish_and_clear();
        }
    }
}

fn bar(len: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(STYLE).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::stderr_with_hz(10)).with_style(style)
}

/// A file that is read, with its progress.
pub(crate) struct Counted {
    pub(crate) file: File,
    pub(crate) progress: Progress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

impl ReadAt for Counted {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.file.read_at(buffer, offset)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
