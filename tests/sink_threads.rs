//! Threads that end give back the memory that a sink used on them. A global allocator counts live bytes.
#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use cove_trace::{JsonlSink, RecordingBackend, RingSink, TraceEvent, TraceHeader, TraceSink, ValueCapture};

/// Bytes that are allocated and not freed.
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is forwarded to the system's allocator.
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

const THREADS: u64 = 64;
const EVENTS: u64 = 20;
const WAVES: u64 = 20;
/// Far less than one buffer for each thread of a wave.
const SLACK: usize = 16 * 1024;

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
}

/// Starts waves of threads that record and end. Asserts that no more memory is in use after the last wave than after
/// the first.
#[track_caller]
fn assert_flat(sink: &dyn TraceSink) {
    // Bytes are counted for the whole process, so one test runs at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let scope = &"x".repeat(4000);
    let wave = || {
        // Keeps all threads of a wave alive until each has recorded.
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
            // Only `join` waits for the destructors of thread locals; a scope does not.
            threads.into_iter().for_each(|thread| thread.join().expect("the thread ends well"));
        });
    };
    wave();
    let before = LIVE.load(Ordering::Relaxed);
    (1..WAVES).for_each(|_| wave());
    let after = LIVE.load(Ordering::Relaxed);
    assert!(after <= before + SLACK, "{before} bytes after the first wave, {after} after the last");
}

#[test]
fn memory_is_flat_after_threads_that_come_and_go() {
    let sink = JsonlSink::new(Counter(0), &header()).unwrap();
    assert_flat(&sink);
    let finished = sink.finish();
    assert_eq!((finished.dropped, finished.writer.0), (0, 1 + WAVES * THREADS * EVENTS));
}

#[test]
fn memory_is_flat_with_a_buffer() {
    let sink = JsonlSink::builder(&header()).buffer(64 * 1024).open(Counter(0)).unwrap();
    assert_flat(&sink);
    let finished = sink.finish();
    assert_eq!((finished.dropped, finished.writer.0), (0, 1 + WAVES * THREADS * EVENTS));
}

#[test]
fn memory_is_flat_over_a_ring() {
    let ring = RingSink::new(256 * 1024, &header());
    assert_flat(&ring);
    let mut dump = Vec::new();
    ring.dump(&mut dump).unwrap();
    let held = dump.iter().filter(|byte| **byte == b'\n').count() as u64 - 1;
    assert_eq!((ring.dropped(), ring.overwritten() + held), (0, WAVES * THREADS * EVENTS));
}

/// Hundreds of windows are mapped and unmapped.
#[test]
#[cfg(all(feature = "mmap", target_os = "linux"))]
fn memory_is_flat_over_a_mapped_file() {
    let directory = common::scratch_dir::ScratchDir::new("mapped-come-and-go");
    let path = directory.path().join("trace.jsonl");
    let file = cove_trace::MappedFile::create(&path).unwrap();
    assert!(file.is_mapped());
    let sink = JsonlSink::new(file, &header()).unwrap();
    assert_flat(&sink);
    let finished = sink.finish();
    finished.writer.close().unwrap();
    assert_eq!(finished.dropped, 0);
    let lines = std::fs::read(&path).unwrap().iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(lines, 1 + WAVES * THREADS * EVENTS);
}
