//! The next window of a mapped file, made ready before it is needed.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use super::memory::Window;

/// How much of a file is mapped at a time: so much that far fewer than one event in a thousand has to move on to the next,
/// and so little that a window just made ready is still in the processor's cache. What a process that is killed leaves
/// behind its last line is four of these at most.
const WINDOW: usize = 1024 * 1024;

/// Windows that wait to be asked for, beside the one that the thread has in hand. With none, two threads that record have
/// to wait for a third to wake up.
const WAITING: usize = 1;

/// On a disk that is nearly full windows get as small as this. A multiple of every page size there is.
const SMALLEST_WINDOW: usize = 64 * 1024;

/// Opens the windows of a file, one after the other.
struct Windows {
    file: Arc<File>,
    /// Where the next one begins.
    end: u64,
}

impl Windows {
    fn open_next(&mut self) -> io::Result<Window> {
        let mut len = WINDOW;
        loop {
            let error = match Window::open(&self.file, self.end, len) {
                Ok(window) => {
                    self.end += len as u64;
                    return Ok(window);
                }
                Err(error) => error,
            };
            // What was set aside before the disk was full is for others, and for a smaller window. The error that counts
            // is the first.
            let _ = self.file.set_len(self.end);
            if !is_lack_of_room(&error) || len == SMALLEST_WINDOW {
                return Err(error);
            }
            len /= 2;
        }
    }
}

pub(super) fn is_lack_of_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// A thread that has the next window ready when it is asked for, and takes back the old ones.
pub(super) struct Ahead {
    ready: Receiver<io::Result<Window>>,
    used: Sender<Window>,
    thread: JoinHandle<()>,
}

impl Ahead {
    /// The first window of `file`, which is empty, and the thread that makes the others.
    pub(super) fn start(file: Arc<File>) -> io::Result<(Window, Self)> {
        let mut windows = Windows { file, end: 0 };
        let first = windows.open_next()?;
        let (sender, ready) = mpsc::sync_channel(WAITING);
        let (used, returned) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("cove-trace-map".to_owned())
            .spawn(move || make_ready(&mut windows, &sender, &returned))?;
        Ok((first, Self { ready, used, thread }))
    }

    /// The window after the last one.
    pub(super) fn next_window(&self) -> io::Result<Window> {
        // An error that waited, or that the thread had in hand, may be old, and the disk have room again.
        for _ in 0..=WAITING {
            if let Ok(window) = self.receive() {
                return Ok(window);
            }
        }
        self.receive()
    }

    fn receive(&self) -> io::Result<Window> {
        self.ready.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that maps the trace's file is gone")))
    }

    /// Takes back a window that is full.
    pub(super) fn give_back(&self, window: Window) {
        // When the thread is gone, the window is unmapped here.
        let _ = self.used.send(window);
    }

    /// Ends the thread. The file does not grow any more after this.
    pub(super) fn stop(self) {
        let Self { ready, used, thread } = self;
        drop((ready, used));
        // It has no code that panics; if it does, it is just as gone.
        let _ = thread.join();
    }
}

fn make_ready(windows: &mut Windows, ready: &SyncSender<io::Result<Window>>, returned: &Receiver<Window>) {
    // Ends when nobody waits for windows any more.
    while ready.send(windows.open_next()).is_ok() {
        returned.try_iter().for_each(drop);
    }
}
