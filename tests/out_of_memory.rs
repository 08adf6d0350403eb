//! Where memory runs out, an event is lost and said to be lost. No line is damaged, and the program goes on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cove_trace::{
    CallSite, EncodeOptions, HostCall, JsonlSink, RecordedValue, RecordingBackend, RenderedCallSite, RingSink,
    TraceEvent, TraceHeader, TraceSink, ValueCapture, encode_event, encode_header, value_to_json, with_line,
};

thread_local! {
    /// Larger allocations of this thread are refused.
    static LARGEST: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The largest allocation that this thread asked for.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// Refuses what is larger than the thread's limit.
struct Refusing;

fn is_refused(size: usize) -> bool {
    ASKED.set(ASKED.get().max(size));
    size > LARGEST.get()
}

// SAFETY: the system's allocator does all of it, or null says that there is no memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs `code` while no allocation of more than `bytes` bytes succeeds.
fn with_at_most<R>(bytes: usize, code: impl FnOnce() -> R) -> R {
    LARGEST.set(bytes);
    let result = code();
    LARGEST.set(usize::MAX);
    result
}

/// Runs `code` and returns its result with the size of the largest allocation that it asked for.
fn largest_of<R>(code: impl FnOnce() -> R) -> (R, usize) {
    ASKED.set(0);
    let result = code();
    (result, ASKED.get())
}

const CANCELLED: TraceEvent<'static> = TraceEvent::TaskCancelled { id: 1 };
const LONG: usize = 1 << 20;

fn call<'a>(site: CallSite<'a>, args: &'a [RecordedValue<'a>]) -> TraceEvent<'a> {
    TraceEvent::HostCall(HostCall { task: 0, site, wait: Duration::ZERO, granted: true, args, outcome: None })
}

fn header(entry: &str) -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, entry)
}

#[test]
fn a_line_without_memory_leaves_the_buffer_as_it_was() {
    let mut out = b"before\n".to_vec();
    assert!(!with_at_most(0, || encode_event(&CANCELLED, ValueCapture::Full, &mut out)));
    let header = header(&"e".repeat(LONG));
    assert!(!with_at_most(LONG, || encode_header(&header, &mut out)));
    assert_eq!(out, b"before\n");
    assert!(encode_header(&header, &mut out));
}

#[test]
fn a_line_without_memory_is_not_handed_out() {
    assert_eq!(with_at_most(0, || with_line(&CANCELLED, ValueCapture::Full, <[u8]>::len)), None);
    assert!(with_line(&CANCELLED, ValueCapture::Full, <[u8]>::len).is_some());
}

#[test]
fn a_site_that_there_was_no_memory_to_render_is_encoded_for_each_call() {
    // Rendered, each character takes six bytes.
    let module = "\u{1}".repeat(LONG);
    let site = with_at_most(2 * LONG, || RenderedCallSite::new(&module, "get", "net"));
    let mut lines = [Vec::new(), Vec::new()];
    assert!(encode_event(&call(site.site(), &[]), ValueCapture::Full, &mut lines[0]));
    assert!(encode_event(&call(CallSite::new(&module, "get", "net"), &[]), ValueCapture::Full, &mut lines[1]));
    assert!(lines[0] == lines[1], "the site of a call is damaged");
}

#[test]
fn a_sink_counts_the_events_that_there_was_no_memory_for() {
    let text = "t".repeat(LONG);
    let args = [RecordedValue::String(&text)];
    let event = call(CallSite::new("http", "get", "net"), &args);
    let file = JsonlSink::new(Vec::new(), &header("main")).expect("the header is written");
    let ring = RingSink::new(1024, &header("main"));
    with_at_most(LONG / 2, || {
        file.record(&event);
        file.record(&CANCELLED);
        ring.record(&event);
        ring.record(&CANCELLED);
    });
    assert_eq!((file.dropped(), ring.dropped()), (1, 1));
    assert_eq!(file.finish().dropped, 1);
}

#[test]
fn a_sink_is_refused_without_memory_for_its_header() {
    let header = header(&"e".repeat(LONG));
    let Err(error) = with_at_most(LONG / 2, || JsonlSink::new(std::io::sink(), &header)) else {
        panic!("a sink without a header");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
}

#[test]
fn a_long_part_of_a_line_is_not_allocated_beyond_the_limit_of_the_line() {
    let text = "z".repeat(32 * LONG);
    let rendered = RenderedCallSite::new(&text, "get", "net");
    let args = [RecordedValue::String(&text)];
    let short = EncodeOptions::new(ValueCapture::Full).line_limit(1000);
    let events = [
        call(rendered.site(), &[]),
        call(CallSite::new(&text, "get", "net"), &[]),
        call(CallSite::new("http", "get", "net"), &args),
    ];
    for event in events {
        let (_, largest) = largest_of(|| encode_event(&event, short, &mut Vec::new()));
        assert!(largest < 64 * 1024, "{largest} bytes for a line of at most 1000");
    }
}

#[test]
fn a_thread_keeps_no_large_buffer_after_a_panic() {
    let text = "z".repeat(2 * LONG);
    let args = [RecordedValue::String(&text)];
    let event = call(CallSite::new("http", "get", "net"), &args);
    let unwound = catch_unwind(AssertUnwindSafe(|| with_line(&event, ValueCapture::Full, |_| panic!("the caller's"))));
    assert!(unwound.is_err());
    let (length, largest) = largest_of(|| with_line(&event, ValueCapture::Full, <[u8]>::len));
    assert!(length > Some(2 * LONG));
    assert!(largest > 2 * LONG, "the buffer of the line before was kept");
}

#[test]
fn values_beyond_the_limit_of_a_line_are_compared_whole() {
    let [a, b] = ["a", "b"].map(|end| "t".repeat(cove_trace::LINE_LIMIT) + end);
    assert_ne!(RecordedValue::String(&a), RecordedValue::String(&b));
    assert_ne!(RecordedValue::Redacted { of: &a }, RecordedValue::Redacted { of: &b });
    assert!(value_to_json(&RecordedValue::Redacted { of: &a }, ValueCapture::Full).contains(&a));
}
