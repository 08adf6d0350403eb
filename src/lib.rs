//! Run traces for language runtimes.
//!
//! A runtime that embeds this crate records what every run did, without the program's help: tasks, each call of the Host
//! API with its capability, arguments, result and wait, heap collections, and how the run ended. The trace is JSON Lines
//! with a versioned header. People read it to debug and to audit; a replay feeds it back to the program in place of the
//! host.
//!
//! The write side is made to be left on: events are encoded by hand straight into a buffer that each thread keeps, nothing
//! is allocated per event, and nothing that goes wrong with a trace ever reaches the traced program. The read side is
//! strict, says where a file is wrong to the byte, and streams in constant memory.
//!
//! # Writing
//!
//! An interpreter implements [`TraceValue`] on its own values and hands them over as they are.
//!
//! ```
//! use std::borrow::Cow;
//! use std::time::Duration;
//! use cove_trace::{
//!     CallSite, HostCall, HostOutcome, JsonlSink, RecordedValue, RecordingBackend, RunOutcome, TraceEvent, TraceHeader,
//!     TraceSink, TraceValue, ValueCapture, ValueWriter,
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
//! let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "greet.cove");
//! let sink = JsonlSink::new(Vec::new(), &header)?;
//!
//! // The one place through which host calls go.
//! let (argument, result) = (Value::Text("hello".into()), Value::Unit);
//! sink.record(&TraceEvent::HostCall(HostCall {
//!     task: cove_trace::ENTRY_TASK,
//!     site: CallSite::new("console", "println", "console.write"),
//!     wait: Duration::from_nanos(800),
//!     granted: true,
//!     args: &[RecordedValue::Live(&argument)],
//!     outcome: Some(HostOutcome::Value(RecordedValue::Live(&result))),
//! }));
//! sink.record(&TraceEvent::RunEnded { outcome: RunOutcome::Success, message: None });
//!
//! let finished = sink.finish();
//! assert_eq!(finished.dropped, 0);
//! # assert_eq!(String::from_utf8_lossy(&finished.writer).lines().nth(1), Some(concat!(
//! #     r#"{"event":"host_call","task":0,"module":"console","op":"println","capability":"console.write","wait_ns":800,"#,
//! #     r#""granted":true,"args":[{"type":"string","value":"hello"}],"outcome":{"kind":"value","value":{"type":"unit"}}}"#,
//! # )));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Where a trace goes is the sink's business. [`JsonlSink`] writes each event as it happens, to any writer: with feature
//! `mmap`, `MappedFile` is one that takes no system call for it. [`RingSink`] keeps the last events in memory, for a dump
//! when a run went wrong. [`TeeSink`] feeds two sinks, [`NullSink`] none.
//!
//! The page [`integrating`] goes from nothing to a recorded run, with the decisions to be taken on the way. A real run writes
//! to the file that [`create_trace_file`] makes. [`ValueCapture::Redacted`] records the form to share:
//! of every value, its type's name.
//!
//! # Reading
//!
//! What the reader gives back is the same [`TraceEvent`]. It can be matched on, compared and recorded again.
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
//! An error says line, column and byte, what was expected there and what was found; reading goes on with the next line
//! when it is asked to.
//!
//! # Replaying
//!
//! A [`Replay`] stands in the place of the host and answers each call with what the recorded run got. The module
//! [`replay`] has the whole of it.
//!
//! ```
//! use cove_trace::replay::{Answer, Verdict};
//! use cove_trace::{CallSite, ENTRY_TASK, Replay, RunOutcome, Value};
//!
//! # let file = concat!(
//! #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
//! #     r#"{"event":"host_call","task":0,"module":"clock","op":"now","capability":"clock","wait_ns":9,"granted":true,"#,
//! #     r#""args":[],"outcome":{"kind":"value","value":{"type":"int","value":7}}}"#, "\n",
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
//! Everything in a trace is readable; not everything can be replayed. [`RecordedValue`] is what a trace holds, borrowed and
//! perhaps redacted or opaque in parts. [`Value`] is owned, `Send` and whole; [`RecordedValue::to_value`] makes one, or says
//! which part is missing. The module [`owned`] has events that own what they hold.
//!
//! # Costs and features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | (none) | | the library: `itoa`, `ryu`, `memchr`, `smallvec`, `bumpalo` |
//! | `summary` | by `cli` | `summary`, a run's figures as a type: `serde`, `unicode-width` |
//! | `diff` | by `cli` | `diff`, two runs compared: `serde` |
//! | `cli` | yes | the command `cove-trace`: `clap` and its companions, `serde_json`, small crates |
//! | `mmap` | | `MappedFile`, on Unix: `memmap2`, `libc` |
//! | `compress` | yes | gzip and zstd in [`compress`]: `flate2` on `zlib-rs`, `zstd`; five crates, and a C compiler |
//! | `arbitrary` | | `Arbitrary` for the owned forms: `arbitrary` |
//!
//! Use `default-features = false` in a runtime.
//!
//! Unsafe code stands in few files, which `tests/unsafe_files.rs` names. The library never prints, and never panics on
//! what it reads.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arbitrary")]
mod arbitrary;
mod arena;
pub mod check;
pub mod compress;
pub mod decode;
#[cfg(feature = "diff")]
pub mod diff;
mod encode;
mod event;
#[cfg(feature = "__fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[doc = include_str!("integrating.md")]
pub mod integrating {}
mod line;
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
mod work;

pub use arena::Arena;
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
pub use sink::{JsonlSink, NullSink, RingSink, TeeSink, TraceSink, create_trace_file};
pub use timing::Timing;
pub use value::{
    FieldWriter, ItemWriter, LiveArgs, MAX_VALUE_DEPTH, NotReplayable, RecordedEnum, RecordedField, RecordedOpaque,
    RecordedResource, RecordedStruct, RecordedValue, TraceValue, Value, ValueWriter, value_to_json,
};
