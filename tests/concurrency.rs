//! Many threads record into one sink: every line is whole, every event is there once and in the order of its thread,
//! and no thread encodes under the lock.

mod common;

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use common::print_call;
use common::scratch_dir::ScratchDir;
use cove_trace::{
    JsonlSink, RecordedValue, RecordingBackend, TraceEvent, TraceHeader, TraceSink, TraceValue, ValueCapture,
    ValueWriter, create_trace_file,
};

const THREADS: usize = 16;
const EVENTS: usize = 10_000;

fn header() -> TraceHeader {
    TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove")
}

/// The length of an event's text: mostly short, and 64 KiB for every 200th.
const fn text_len(thread: usize, event: usize) -> usize {
    if (event + thread).is_multiple_of(200) { 64 * 1024 } else { event % 50 }
}

/// A letter for each thread, to detect parts of another thread's line.
fn letter(thread: usize) -> char {
    char::from(b'a' + u8::try_from(thread).expect("there are few threads"))
}

#[test]
fn sixteen_threads_write_whole_lines_to_one_file() {
    let directory = ScratchDir::new("concurrency");
    let path = directory.path().join("trace.jsonl");
    let sink = JsonlSink::new(create_trace_file(&path).unwrap(), &header()).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let sink = &sink;
            scope.spawn(move || {
                let text = String::from(letter(thread)).repeat(64 * 1024);
                for event in 0..EVENTS {
                    let number = i64::try_from(thread * EVENTS + event).expect("it is small");
                    let text = RecordedValue::String(&text[..text_len(thread, event)]);
                    sink.record(&print_call(&[RecordedValue::Int(number), text], None));
                }
            });
        }
    });
    let finished = sink.finish();
    assert_eq!(finished.dropped, 0);
    assert!(finished.last_error.is_none());

    let file = fs::read_to_string(&path).unwrap();
    assert!(file.ends_with('\n'));
    let mut lines = file.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with(r#"{"event":"trace_header","#) && header.ends_with('}'));
    let mut next = [0; THREADS];
    for line in lines {
        let (number, text) = numbered_text(line).unwrap_or_else(|| panic!("not whole: {line}"));
        let (thread, event) = (number / EVENTS, number % EVENTS);
        assert_eq!(event, next[thread], "thread {thread}: an event is missing, twice there or out of order");
        next[thread] += 1;
        assert_eq!(text.len(), text_len(thread, event), "event {event} of thread {thread}");
        assert_eq!(text.trim_start_matches(letter(thread)), "", "event {event} of thread {thread}");
        if event % 100 == 0 {
            let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(parsed["args"][0]["value"], number);
            assert_eq!(parsed["args"][1]["value"], text);
        }
    }
    assert_eq!(next, [EVENTS; THREADS]);
}

/// Returns the number and the text of a whole line.
fn numbered_text(line: &str) -> Option<(usize, &str)> {
    let line = line.strip_prefix(concat!(
        r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","#,
        r#""wait_ns":5,"granted":true,"args":[{"type":"int","value":"#,
    ))?;
    let (number, line) = line.split_once(r#"},{"type":"string","value":""#)?;
    let text = line.strip_suffix(r#""}],"outcome":null}"#)?;
    Some((number.parse().ok()?, text))
}

/// A writer that reports its first event and then blocks until it is released.
struct Stuck {
    arrived: Sender<()>,
    go_on: Receiver<()>,
    header_is_out: bool,
}

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.header_is_out, true) {
            // Fails after the first event, when the receiver is gone.
            let _ = self.arrived.send(());
            let _ = self.go_on.recv();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value that reports when it is encoded.
struct Signals(Sender<()>);

impl TraceValue for Signals {
    fn type_name(&self) -> Cow<'_, str> {
        "Signals".into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        self.0.send(()).expect("the test waits for it");
        out.unit();
    }
}

#[test]
fn a_slow_writer_stops_no_other_thread_from_encoding() {
    const SOON: Duration = Duration::from_secs(20);
    let (arrived, writer_arrived) = mpsc::channel();
    let (release, go_on) = mpsc::channel();
    let (encoding, value_is_encoded) = mpsc::channel();
    let sink = JsonlSink::new(Stuck { arrived, go_on, header_is_out: false }, &header()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| sink.record(&TraceEvent::TaskCancelled { id: 1 }));
        let is_stuck = writer_arrived.recv_timeout(SOON);
        scope.spawn(|| {
            let value = Signals(encoding);
            sink.record(&print_call(&[RecordedValue::Live(&value)], None));
        });
        let was_encoded = value_is_encoded.recv_timeout(SOON);
        // Comes before the assertions: a blocked thread would keep the scope from ending.
        drop(release);
        assert!(is_stuck.is_ok(), "the first thread never got to the writer");
        assert!(was_encoded.is_ok(), "the second thread waits for the writer before it encodes");
    });
    assert_eq!(sink.dropped(), 0);
}
