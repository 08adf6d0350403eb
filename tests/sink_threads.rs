//! Threads that come and go leave nothing of a sink's memory behind. Live bytes are counted by a global allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cove_trace::{JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture};

/// Bytes that are allocated and not yet given back.
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: the system's allocator does all of it; that it is counted changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts lines.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn memory_is_flat_after_threads_that_come_and_go() {
    const THREADS: u64 = 64;
    const EVENTS: u64 = 50;
    const WAVES: u64 = 20;
    /// Far less than what one buffer for each thread of one wave would be.
    const SLACK: usize = 16 * 1024;

    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let owned_sink = JsonlSink::new(Counter(0), &header).unwrap();
    let sink = &owned_sink;
    let scope = &"x".repeat(4000);
    let wave = || {
        // All of them are there at once.
        let all_recorded = &Barrier::new(THREADS as usize);
        thread::scope(|running| {
            let threads: Vec<_> = (0..THREADS)
                .map(|id| {
                    running.spawn(move || {
                        for _ in 0..EVENTS {
                            sink.record(&TraceEvent::TaskSpawned { id, parent: None, scope });
                        }
                        all_recorded.wait();
                    })
                })
                .collect();
            // A scope ends once their work is done; only this waits for what they do as they end.
            threads.into_iter().for_each(|thread| thread.join().expect("the thread ends well"));
        });
    };
    wave();
    let before = LIVE.load(Ordering::Relaxed);
    (1..WAVES).for_each(|_| wave());
    let after = LIVE.load(Ordering::Relaxed);
    assert!(after <= before + SLACK, "{before} bytes after the first wave, {after} after the last");
    let finished = owned_sink.finish();
    assert_eq!((finished.dropped, finished.writer.0), (0, 1 + WAVES * THREADS * EVENTS));
}
