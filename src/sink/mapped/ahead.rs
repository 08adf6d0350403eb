//! Prepares the next window of a mapped file before it is needed.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use super::memory::Window;
use super::signals::with_signals_blocked;
use crate::sink::backoff::is_lack_of_room;

/// The size of a window in bytes. Large enough that far fewer than one event in a thousand moves on to the next window,
/// and small enough that a window just prepared is still in the processor's cache. A killed process leaves four windows
/// of zeros after its last line at most.
const WINDOW: usize = 1024 * 1024;

/// How many windows wait in the channel, beside the one that the thread holds. With none, two threads that record would
/// wait for a third to wake up.
const WAITING: usize = 1;

/// The smallest size of a window, for a disk that is nearly full. A multiple of every page size.
const SMALLEST_WINDOW: usize = 64 * 1024;

/// Enough for the thread's few small frames. The platform's minimum is used if it is more.
const STACK: usize = 64 * 1024;

/// Opens the windows of a file, one after the other.
struct Windows {
    file: Arc<File>,
    /// The offset of the next window.
    end: u64,
    /// The size of the next window. It halves for lack of room and doubles after each success.
    len: usize,
}

impl Windows {
    fn open_next(&mut self) -> io::Result<Window> {
        loop {
            let error = match Window::open(&self.file, self.end, self.len) {
                Ok(window) => {
                    self.end += self.len as u64;
                    self.len = WINDOW.min(self.len * 2);
                    return Ok(window);
                }
                Err(error) => error,
            };
            // Gives back what was reserved before the disk was full. The first error is the one to report.
            let _ = self.file.set_len(self.end);
            if !is_lack_of_room(&error) || self.len == SMALLEST_WINDOW {
                return Err(error);
            }
            self.len /= 2;
        }
    }
}

/// The recording side of a thread that prepares windows and unmaps used ones.
pub(super) struct Ahead {
    ready: Receiver<io::Result<Window>>,
    requests: Sender<Request>,
    thread: JoinHandle<()>,
    /// Whether the thread reported an error, and so waits for a request.
    is_paused: bool,
}

enum Request {
    /// Unmap a full window.
    Unmap(Window),
    /// Try again after an error.
    Retry,
}

impl Ahead {
    /// Opens the first window of `file`, which is empty, and starts the thread for the others.
    pub(super) fn start(file: Arc<File>) -> io::Result<(Window, Self)> {
        let mut windows = Windows { file, end: 0, len: WINDOW };
        let first = windows.open_next()?;
        let (sender, ready) = mpsc::sync_channel(WAITING);
        let (requests, receiver) = mpsc::channel();
        let thread = thread::Builder::new().name("cove-trace-map".to_owned()).stack_size(STACK);
        let thread = with_signals_blocked(|| thread.spawn(move || prepare(&mut windows, &sender, &receiver)))??;
        Ok((first, Self { ready, requests, thread, is_paused: false }))
    }

    /// Returns the next window, which is prepared already or takes one attempt.
    pub(super) fn next_window(&mut self) -> io::Result<Window> {
        if !self.is_paused {
            match self.receive() {
                Ok(window) => return Ok(window),
                // The attempt may have been made long ago, so its error says nothing about now.
                Err(_) => self.is_paused = true,
            }
        }
        // Fails if the thread is gone; then so does receiving.
        let _ = self.requests.send(Request::Retry);
        let retried = self.receive();
        self.is_paused = retried.is_err();
        retried
    }

    fn receive(&self) -> io::Result<Window> {
        self.ready.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that maps the trace's file is gone")))
    }

    /// Has a full window unmapped.
    pub(super) fn give_back(&self, window: Window) {
        // If the thread is gone, the window is unmapped here.
        let _ = self.requests.send(Request::Unmap(window));
    }

    /// Ends the thread. The file does not grow after this.
    pub(super) fn stop(self) {
        let Self { ready, requests, thread, .. } = self;
        drop((ready, requests));
        // A panic of the thread leaves nothing else to do.
        let _ = thread.join();
    }
}

/// Prepares windows until the other side is gone. Pauses after an error until it is asked to try again.
fn prepare(windows: &mut Windows, ready: &SyncSender<io::Result<Window>>, requests: &Receiver<Request>) {
    loop {
        let window = windows.open_next();
        let is_paused = window.is_err();
        if ready.send(window).is_err() {
            return;
        }
        if is_paused {
            loop {
                match requests.recv() {
                    Ok(Request::Unmap(window)) => drop(window),
                    Ok(Request::Retry) => break,
                    Err(_) => return,
                }
            }
        } else {
            requests.try_iter().for_each(drop);
        }
    }
}
