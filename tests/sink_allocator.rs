//! An allocator that records an event into the sink that allocates does not wait for itself.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cove_trace::{JsonlSink, RecordingBackend, RingSink, TraceEvent, TraceHeader, TraceSink, ValueCapture};

/// The sinks that the allocator records into.
static SINKS: OnceLock<[Box<dyn TraceSink>; 2]> = OnceLock::new();

thread_local! {
    /// Whether the allocator records on this thread.
    static IS_TRACED: Cell<bool> = const { Cell::new(false) };
    /// How many events the allocator recorded.
    static RECORDED: Cell<u64> = const { Cell::new(0) };
}

/// Records each allocation of a traced thread, but not those of the recording itself.
struct Tracing;

fn trace() {
    if IS_TRACED.replace(false) {
        for sink in SINKS.get().expect("the sinks are there") {
            sink.record(&TraceEvent::TaskCancelled { id: 1 });
        }
        RECORDED.set(RECORDED.get() + 1);
        IS_TRACED.set(true);
    }
}

// SAFETY: the system's allocator does all of it. What is recorded meanwhile does not use the memory.
unsafe impl GlobalAlloc for Tracing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        trace();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        trace();
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Tracing = Tracing;

/// Takes the header, and fails at every later call.
struct Failing(bool);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            Err(io::Error::other("an error that has to be allocated"))
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_allocator_that_records_does_not_wait_for_itself() {
    let header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
    let sinks: [Box<dyn TraceSink>; 2] = [
        Box::new(JsonlSink::new(Failing(false), &header).expect("the header is written")),
        // Has no room for any event, so that each is an error.
        Box::new(RingSink::new(1, &header)),
    ];
    assert!(SINKS.set(sinks).is_ok());
    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        IS_TRACED.set(true);
        for sink in SINKS.get().expect("the sinks are there") {
            for id in 0..10 {
                sink.record(&TraceEvent::TaskCancelled { id });
            }
        }
        IS_TRACED.set(false);
        done.send(RECORDED.get()).expect("the test waits");
    });
    let recorded = wait.recv_timeout(Duration::from_secs(20)).expect("recording comes to an end");
    assert!(recorded > 20, "only {recorded} allocations");
}
