//! The events and the header of a trace, which writer and reader share.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use crate::names::{EventKind, RecordingBackend, RunOutcome, ValueCapture};
use crate::value::RecordedValue;

/// The version of the trace format that this crate writes, and the only one that it reads.
pub const TRACE_FORMAT_VERSION: u32 = 4;

/// The version of this crate: its `CARGO_PKG_VERSION` at build time.
pub const RUNTIME_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The task id of the run's entry. Spawned tasks never have this id.
pub const ENTRY_TASK: u64 = 0;

/// The header of a trace: its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceHeader {
    /// The kind of backend that recorded the run.
    pub backend: RecordingBackend,
    /// How much of each value the trace holds. A sink records values accordingly.
    pub values: ValueCapture,
    /// The program that was run: the name of a file, module or function.
    pub entry: String,
    /// The program's arguments. A redacted trace keeps only their number.
    pub args: Vec<String>,
}

impl TraceHeader {
    /// The text that replaces each of the program's arguments in a redacted trace.
    pub const REDACTED_ARG: &'static str = "<redacted>";

    /// Returns a header for a program without arguments.
    pub fn new(backend: RecordingBackend, values: ValueCapture, entry: impl Into<String>) -> Self {
        Self { backend, values, entry: entry.into(), args: Vec::new() }
    }

    /// Sets the program's arguments, such as [`std::env::args_os`]. Invalid Unicode in them is replaced by U+FFFD.
    #[must_use]
    pub fn with_args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args = args.into_iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
        self
    }
}

/// One recorded runtime event.
///
/// An event borrows its contents, so building one allocates nothing. A sink that keeps events encodes them or converts
/// them to [`OwnedEvent`](crate::owned::OwnedEvent)s. The reader returns this type too, so an event that was read can
/// be matched on, compared and recorded again.
///
/// An event may hold a [live value](RecordedValue::Live), which need not be `Send`, so an event is not `Send` either.
/// It is encoded on the thread that made it, and only the bytes cross to other threads. An interpreter writes a value
/// that must not cross a task boundary (a closure, a shared vector, a task handle) as an
/// [opaque](crate::ValueWriter::opaque).
///
/// Durations are written in whole nanoseconds and saturate at `u64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TraceEvent<'a> {
    /// A task was spawned.
    TaskSpawned {
        /// The task's id. It is unique in the run and never [`ENTRY_TASK`].
        id: u64,
        /// The task that spawned it, or `None` if it was not spawned by a task of the program.
        parent: Option<u64>,
        /// The name of the scope that waits for the task.
        scope: &'a str,
    },
    /// A task ran to its end.
    TaskCompleted {
        /// The task's id.
        id: u64,
        /// Time that the task spent running, without waits for the host.
        cpu: Duration,
    },
    /// A task was stopped before its end.
    TaskCancelled {
        /// The task's id.
        id: u64,
    },
    /// The program called the host.
    HostCall(HostCall<'a>),
    /// The entry function was entered.
    EntryEnter {
        /// The module of the entry function.
        module: &'a str,
        /// The name of the entry function.
        function: &'a str,
    },
    /// The entry function returned.
    EntryExit {
        /// The module of the entry function.
        module: &'a str,
        /// The name of the entry function.
        function: &'a str,
        /// Time that the entry spent running, without waits for the host.
        cpu: Duration,
        /// Time that the entry waited for the host.
        wait: Duration,
    },
    /// A task's heap was collected.
    ///
    /// These fields cannot express unknown values, so a runtime that does not count objects records no such events.
    HeapCollected {
        /// The task that owns the heap.
        task: u64,
        /// Objects allocated since the last collection.
        allocated: u64,
        /// Objects that the collection freed.
        freed: u64,
        /// Objects alive after the collection.
        live_objects: u64,
        /// Bytes that the live objects occupy.
        live_bytes: u64,
        /// How long the collection paused the task.
        pause: Duration,
    },
    /// Heap statistics of the whole run.
    HeapSummary(HeapSummary),
    /// The run ended. This is the last event of a trace.
    RunEnded {
        /// How the run ended.
        outcome: RunOutcome,
        /// A message about the end. A redacted trace keeps it unless it [comes from the
        /// program](RunOutcome::is_programs_own), so a runtime's own message must not quote values.
        message: Option<&'a str>,
    },
}

impl TraceEvent<'_> {
    /// Returns the kind of the event. Its [`as_str`](EventKind::as_str) is the name in the trace.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::TaskSpawned { .. } => EventKind::TaskSpawned,
            Self::TaskCompleted { .. } => EventKind::TaskCompleted,
            Self::TaskCancelled { .. } => EventKind::TaskCancelled,
            Self::HostCall(_) => EventKind::HostCall,
            Self::EntryEnter { .. } => EventKind::EntryEnter,
            Self::EntryExit { .. } => EventKind::EntryExit,
            Self::HeapCollected { .. } => EventKind::HeapCollected,
            Self::HeapSummary(_) => EventKind::HeapSummary,
            Self::RunEnded { .. } => EventKind::RunEnded,
        }
    }
}

/// A call of the Host API, recorded when it has returned.
///
/// The arguments are written in the state that they have then. An interpreter must either snapshot its arguments before
/// the call or not let the host mutate them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostCall<'a> {
    /// The calling task; [`ENTRY_TASK`] for the entry.
    pub task: u64,
    /// The operation that it called.
    pub site: CallSite<'a>,
    /// How long the task waited for the host.
    pub wait: Duration,
    /// Whether the task held the capability that the operation requires.
    pub granted: bool,
    /// The arguments, in order.
    pub args: &'a [RecordedValue<'a>],
    /// The outcome, or `None` if the call did not reach the host: it was refused, or granted but not dispatched.
    pub outcome: Option<HostOutcome<'a>>,
}

/// The outcome of a host call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HostOutcome<'a> {
    /// The operation's result.
    Value(RecordedValue<'a>),
    /// The host's error message. A redacted trace keeps it, so it must not quote values, as the error messages of many
    /// libraries do.
    Error(&'a str),
    /// The host declared that a trace cannot answer this operation, for example because it exits the process.
    NotRecordable,
}

impl<'a> HostOutcome<'a> {
    /// Returns whether the operation failed: with an error message, or by [throwing](crate::Thrown) a value.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Error(_) => true,
            Self::Value(value) => value.is_thrown(),
            Self::NotRecordable => false,
        }
    }

    /// Returns the value that the operation threw. `None` if it threw none, or if the value is redacted.
    #[must_use]
    pub fn thrown(&self) -> Option<RecordedValue<'a>> {
        match self {
            Self::Value(value) => value.thrown(),
            Self::Error(_) | Self::NotRecordable => None,
        }
    }

    /// Returns whether the call did not return: it panicked, or it was given up. A [`CallGuard`](crate::CallGuard)
    /// records it.
    #[must_use]
    pub fn never_returned(&self) -> bool {
        matches!(self, Self::Value(value) if value.is_never_returned())
    }
}

/// The operation that a host call invokes, and the capability that it requires.
///
/// An interpreter with a fixed set of operations can render each one's part of the line once, as a
/// [`RenderedCallSite`], instead of at each call. Both forms write the same bytes and compare equal.
#[derive(Clone, Copy)]
pub struct CallSite<'a>(Site<'a>);

#[derive(Clone, Copy)]
enum Site<'a> {
    Named { module: &'a str, op: &'a str, capability: &'a str },
    Rendered(&'a RenderedCallSite),
}

impl<'a> CallSite<'a> {
    /// Returns the site of the operation `op` of the host module `module`, which requires `capability`.
    #[must_use]
    pub const fn new(module: &'a str, op: &'a str, capability: &'a str) -> Self {
        Self(Site::Named { module, op, capability })
    }

    /// Returns the name of the host module.
    #[must_use]
    pub fn module(&self) -> &'a str {
        match self.0 {
            Site::Named { module, .. } => module,
            Site::Rendered(site) => &site.module,
        }
    }

    /// Returns the name of the operation.
    #[must_use]
    pub fn op(&self) -> &'a str {
        match self.0 {
            Site::Named { op, .. } => op,
            Site::Rendered(site) => &site.op,
        }
    }

    /// Returns the capability that the operation requires.
    #[must_use]
    pub fn capability(&self) -> &'a str {
        match self.0 {
            Site::Named { capability, .. } => capability,
            Site::Rendered(site) => &site.capability,
        }
    }

    /// Returns this site's part of the line, if it was rendered in advance.
    pub(crate) fn rendered(&self) -> Option<&'a [u8]> {
        match self.0 {
            Site::Named { .. } => None,
            Site::Rendered(site) => site.rendered.as_deref(),
        }
    }
}

impl PartialEq for CallSite<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.module(), self.op(), self.capability()) == (other.module(), other.op(), other.capability())
    }
}

impl Eq for CallSite<'_> {}

impl fmt::Debug for CallSite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSite")
            .field("module", &self.module())
            .field("op", &self.op())
            .field("capability", &self.capability())
            .finish()
    }
}

/// A [`CallSite`] whose part of the line is rendered in advance, when the interpreter registers the operation.
#[derive(Debug, Clone)]
pub struct RenderedCallSite {
    module: Box<str>,
    op: Box<str>,
    capability: Box<str>,
    /// `None` if there was no memory to render it. The site is then encoded for each call.
    rendered: Option<Box<[u8]>>,
}

impl RenderedCallSite {
    /// Combines `site` with `rendered`, its part of the line. The encoder, which renders it, implements
    /// [`RenderedCallSite::new`].
    pub(crate) fn keep(site: CallSite<'_>, rendered: Option<Vec<u8>>) -> Self {
        Self {
            module: site.module().into(),
            op: site.op().into(),
            capability: site.capability().into(),
            rendered: rendered.map(Into::into),
        }
    }

    /// Returns the site, for [`HostCall::site`].
    #[must_use]
    pub const fn site(&self) -> CallSite<'_> {
        CallSite(Site::Rendered(self))
    }
}

/// Heap statistics of a whole run. A value that the runtime does not know is `None`, and is written as `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapSummary {
    /// Number of collections.
    pub collections: u64,
    /// Objects alive at the end of the run.
    pub object_count: Option<u64>,
    /// Bytes allocated during the run.
    pub allocated_bytes: Option<u64>,
    /// Bytes that live objects occupy at the end of the run.
    pub live_bytes: Option<u64>,
    /// Maximum of the bytes that live objects occupied.
    pub peak_bytes: Option<u64>,
    /// Sum of all collection pauses.
    pub pause: Option<Duration>,
    /// Machine words allocated during the run.
    pub allocated_words: Option<u64>,
    /// Capacity of the heap in machine words.
    pub capacity_words: Option<u64>,
    /// Machine words that live objects occupy at the end of the run.
    pub live_words: Option<u64>,
}
