//! Run traces for language runtimes.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod arena;
pub mod check;
pub mod decode;
mod encode;
mod event;
mod names;
pub mod owned;
pub mod reader;
pub mod sink;
#[cfg(feature = "summary")]
pub mod summary;
mod timing;
mod value;

pub use arena::Arena;
pub use encode::{FieldWriter, ItemWriter, ValueWriter, encode_event, encode_header, value_to_json};
pub use event::{
    CallSite, ENTRY_TASK, HeapSummary, HostCall, HostOutcome, RUNTIME_VERSION, RenderedCallSite, TRACE_FORMAT_VERSION,
    TraceEvent, TraceHeader,
};
pub use names::{RecordingBackend, RunOutcome, UnknownName, ValueCapture};
pub use reader::{Position, ReadError, ReadErrorKind, TraceReader};
pub use sink::{JsonlSink, NullSink, TraceSink, create_trace_file};
pub use timing::Timing;
pub use value::{
    MAX_VALUE_DEPTH, NotReplayable, RecordedEnum, RecordedField, RecordedOpaque, RecordedResource, RecordedStruct,
    RecordedValue, TraceValue, Tree, Value, ValueField, Values,
};
