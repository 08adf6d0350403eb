//! Records every host call, task and collection of an interpreter's run as JSON Lines, and reads, checks and replays
//! it.
//!
//! A runtime that embeds this crate records each run without the program's help: its tasks, each call of the host API
//! with capability, arguments, result and wait, its heap collections, and how it ended. People read such a trace to
//! debug and to audit. A replay answers the program's host calls from it.
//!
//! Recording is cheap enough to be always on. Each thread encodes events into a buffer of its own, and an event
//! allocates nothing. A failure of the trace never reaches the program. The reader is strict, reports errors by line,
//! column and byte, and streams in constant memory.
//!
//! # Writing
//!
//! An interpreter implements [`TraceValue`] on its own values and passes them as they are. The standard library's
//! scalars, strings, sequences, tuples and pointers implement it already.
//!
//! ```
//! use std::borrow::Cow;
//! use std::time::Instant;
//! use cove_trace::{
//!     CallSite, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, RunOutcome, TraceEvent,
//!     TraceHeader, TraceSink, TraceValue, ValueCapture, ValueWriter,
//! };
//!
//! // The interpreter's own value type.
//! enum Value {
//!     Unit,
//!     Text(String),
//! }
//!
//! impl TraceValue for Value {
//!     fn type_name(&self) -> Cow<'_, str> {
//!         match self {
//!             Value::Unit => "Unit".into(),
//!             Value::Text(_) => "String".into(),
//!         }
//!     }
//!
//!     fn write(&self, out: ValueWriter<'_>) {
//!         match self {
//!             Value::Unit => out.unit(),
//!             Value::Text(text) => out.string(text),
//!         }
//!     }
//! }
//!
//! // The one place through which host calls go.
//! fn print(sink: &dyn TraceSink, argument: &Value) -> Value {
//!     // Without a trace, the clock is not read.
//!     let started = sink.is_recording().then(Instant::now);
//!     let result = Value::Unit; // Call the host here.
//!     if let Some(started) = started {
//!         sink.record(&TraceEvent::HostCall(HostCall {
//!             task: cove_trace::ENTRY_TASK,
//!             site: CallSite::new("console", "print", "console.write"),
//!             wait: started.elapsed(),
//!             granted: true,
//!             args: &[RecordedValue::Live(argument)],
//!             outcome: Some(HostOutcome::Value(RecordedValue::Live(&result))),
//!         }));
//!     }
//!     result
//! }
//!
//! # let path = std::env::temp_dir().join(format!("cove-trace-lib-{}.jsonl", std::process::id()));
//! let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "greet.cove");
//! let sink = JsonlSink::builder(&header).create(&path)?;
//! print(&sink, &Value::Text("hello".into()));
//! sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
//! assert_eq!(sink.dropped(), 0);
//! # let trace = std::fs::read_to_string(&path)?;
//! # std::fs::remove_file(&path)?;
//! # let call = trace.lines().nth(1).unwrap_or_default();
//! # assert!(call.starts_with(
//! #     r#"{"event":"host_call","task":0,"module":"console","op":"print","capability":"console.write","wait_ns":"#,
//! # ));
//! # assert!(call.ends_with(concat!(
//! #     r#","granted":true,"args":[{"type":"string","value":"hello"}],"outcome":{"kind":"value","value":"#,
//! #     r#"{"type":"unit"}}}"#,
//! # )));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A [`JsonlSink`] writes each event when it happens, to a new file ([`create`](JsonlSinkBuilder::create)), an open
//! file ([`open_file`](JsonlSinkBuilder::open_file)), or any writer ([`open`](JsonlSinkBuilder::open)). With the
//! feature `mmap`, `create_mapped` writes to a mapped file, without a system call per event. Its
//! [builder](JsonlSinkBuilder) can also add a buffer and limits. [`RingSink`] keeps the last events in memory, to be
//! dumped when a run fails. [`TeeSink`] feeds two sinks. [`NullSink`] records nothing. A sink of your own encodes
//! events with [`with_line`] or [`encode_event`].
//!
//! With [`ValueCapture::Redacted`] a trace can be shared: it keeps only the type name of each value.
//!
//! The page [`integrating`] is a guide to all the steps and decisions, and to signals and forks.
//!
//! # Reading
//!
//! A reader returns the same [`TraceEvent`]. You can match on it, compare it and record it again.
//!
//! ```
//! use cove_trace::{TraceEvent, TraceReader};
//!
//! # let file = concat!(
//! #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
//! #     r#"{"event":"host_call","task":0,"module":"env","op":"get","capability":"env.read","wait_ns":9,"#,
//! #     r#""granted":false,"args":[],"outcome":null}"#, "\n",
//! # ).as_bytes();
//! let mut reader = TraceReader::new(file);
//! let mut refused = 0;
//! while let Some(event) = reader.next_event()? {
//!     if let TraceEvent::HostCall(call) = event && !call.granted {
//!         refused += 1;
//!     }
//! }
//! assert_eq!(refused, 1);
//! # Ok::<(), cove_trace::ReadError>(())
//! ```
//!
//! An error has line, column and byte, and says what was expected there and what was found. Call `next_event` again to
//! go on with the next line. [`TraceReader::events`] is an iterator of owned events, which is easier and slower.
//!
//! # Replaying
//!
//! A [`Replay`] takes the place of the host and answers each call with the recorded result. See the module [`replay`].
//!
//! ```
//! use cove_trace::replay::{Answer, Verdict};
//! use cove_trace::{CallSite, ENTRY_TASK, Replay, RunOutcome, Value};
//!
//! # let file = concat!(
//! #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
//! #     r#"{"event":"host_call","task":0,"module":"clock","op":"now","capability":"clock","wait_ns":9,"#,
//! #     r#""granted":true,"args":[],"outcome":{"kind":"value","value":{"type":"int","value":7}}}"#, "\n",
//! #     r#"{"event":"run_ended","outcome":"success","message":null}"#, "\n",
//! # ).as_bytes();
//! let replay = Replay::open(file)?;
//! let answer = replay.call(ENTRY_TASK, CallSite::new("clock", "now", "clock"), &[])?;
//! assert_eq!(answer, Answer::Value(Value::Int(7)));
//! assert_eq!(replay.finish(RunOutcome::Success, None).verdict, Verdict::Reproduced);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Keeping values
//!
//! Every value in a trace can be read, but not every value can be replayed. [`RecordedValue`] is a value as a trace
//! holds it: borrowed, and possibly redacted or opaque in parts. [`Value`] is owned, `Send` and complete, with its
//! parts in a `Vec`. [`RecordedValue::to_value`] makes one, or reports which part is missing. The module [`owned`] has
//! events that own their contents.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | (none) | | `itoa`, `ryu`, `zmij`, `memchr`, `smallvec`, `bumpalo`, `indexmap`, `simdutf8`; on Unix `libc` |
//! | `summary` | by `cli` | the module `summary`, the figures of a run: `serde`, `unicode-width` |
//! | `diff` | by `cli` | the module `diff`, two runs compared: `serde` |
//! | `cli` | yes | the command `cove-trace`: `clap` and its companions, `serde_json`, small crates |
//! | `compress` | yes | gzip and zstd in [`compress`]: `flate2` on `zlib-rs`, and `zstd`, which needs a C compiler |
//! | `mmap` | | `MappedFile`, on Unix: `memmap2` |
//! | `arbitrary` | | `Arbitrary` for the owned types: `arbitrary` |
//!
//! Use `default-features = false` in a runtime.
//!
//! Unsafe code is confined to the files that `tests/unsafe_files.rs` lists. The library never prints, and never panics
//! on a trace that it reads.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arbitrary")]
mod arbitrary;
mod arena;
mod call_guard;
pub mod check;
pub mod compress;
mod cost;
pub mod decode;
#[cfg(feature = "diff")]
pub mod diff;
pub mod display;
mod encode;
mod event;
#[cfg(feature = "__fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[doc = include_str!("integrating.md")]
pub mod integrating {}
mod line;
mod name_map;
mod names;
pub mod owned;
pub mod parallel;
pub mod reader;
pub mod redact;
pub mod replay;
pub mod sink;
#[cfg(feature = "summary")]
pub mod summary;
pub mod testing;
mod timing;
mod value;

pub use arena::Arena;
pub use call_guard::{CallArgs, CallGuard, Snapshot};
pub use encode::{EncodeOptions, encode_event, encode_header, with_line};
pub use event::{
    CallSite, ENTRY_TASK, HeapSummary, HostCall, HostOutcome, RUNTIME_VERSION, RenderedCallSite, TRACE_FORMAT_VERSION,
    TraceEvent, TraceHeader,
};
pub use line::LINE_LIMIT;
pub use names::{EventKind, RecordingBackend, RunOutcome, UnknownName, ValueCapture};
pub use reader::{Position, ReadError, ReadErrorKind, TracePart, TraceReader};
pub use replay::Replay;
#[cfg(all(feature = "mmap", unix))]
pub use sink::MappedFile;
pub use sink::{
    DumpOnPanic, FilterSink, Finished, JsonlSink, JsonlSinkBuilder, NullSink, RingSink, TeeSink, TraceSink,
    create_trace_file,
};
pub use timing::Timing;
pub use value::{
    EntryWriter, FieldWriter, ItemWriter, LiveArgs, MAX_VALUE_DEPTH, NotReplayable, RecordedEnum, RecordedField,
    RecordedOpaque, RecordedResource, RecordedStruct, RecordedValue, Thrown, TraceValue, Value, ValueWriter,
    value_to_json,
};
