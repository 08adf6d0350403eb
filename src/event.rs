//! The vocabulary of a trace, shared by its writer and its reader.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use crate::names::{EventKind, RecordingBackend, RunOutcome, ValueCapture};
use crate::value::RecordedValue;

/// The version of the trace format that this build writes, and the only one it reads.
pub const TRACE_FORMAT_VERSION: u32 = 4;

/// The version of this crate that a program ran against: `CARGO_PKG_VERSION` at build time, and nothing more than that.
pub const RUNTIME_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The task id of the run's entry. The entry is not a spawned task, so it takes the one id that a run never hands out.
pub const ENTRY_TASK: u64 = 0;

/// What a trace declares about itself before its first event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceHeader {
    /// Which backend produced the recording.
    pub backend: RecordingBackend,
    /// How much of each value the trace holds. A sink records by this.
    pub values: ValueCapture,
    /// What was run: a file, a module, a function.
    pub entry: String,
    /// The program's arguments. A redacted trace keeps only how many there were.
    pub args: Vec<String>,
}

impl TraceHeader {
    /// What a redacted trace writes in the place of each of the program's arguments.
    pub const REDACTED_ARG: &'static str = "<redacted>";

    /// A header for a program that was given no arguments.
    pub fn new(backend: RecordingBackend, values: ValueCapture, entry: impl Into<String>) -> Self {
        Self { backend, values, entry: entry.into(), args: Vec::new() }
    }

    /// The same header with these arguments, such as [`std::env::args_os`]. What is not Unicode in them is replaced by
    /// U+FFFD.
    #[must_use]
    pub fn with_args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args = args.into_iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
        self
    }
}

/// One recorded runtime event.
///
/// An event borrows everything it names: building one allocates nothing, and a sink that wants to keep it turns it into
/// bytes or into an [`OwnedEvent`](crate::owned::OwnedEvent). Writer and reader share this type, so what was read can be
/// matched on, compared and recorded again.
///
/// An event may hold a [live value](RecordedValue::Live), which need not be `Send`, so an event is not `Send` either: it
/// is encoded on the thread that made it, and only the bytes cross to other threads. A value that a task boundary would
/// not let pass (a closure, a shared vector, a task handle) is written by its owner as one
/// [opaque](crate::ValueWriter::opaque).
///
/// Durations are written as whole nanoseconds; one longer than `u64::MAX` of them is written as `u64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TraceEvent<'a> {
    /// A task came to be.
    TaskSpawned {
        /// Its id, never [`ENTRY_TASK`] and never one that the run used before.
        id: u64,
        /// The task that spawned it; none when no task of the program did.
        parent: Option<u64>,
        /// The scope that waits for it.
        scope: &'a str,
    },
    /// A task ran to its end.
    TaskCompleted {
        /// Its id.
        id: u64,
        /// Time spent in the task itself, waits for the host not counted.
        cpu: Duration,
    },
    /// A task was stopped before its end.
    TaskCancelled {
        /// Its id.
        id: u64,
    },
    /// The program called its host.
    HostCall(HostCall<'a>),
    /// The program's entry began.
    EntryEnter {
        /// The module of the entry function.
        module: &'a str,
        /// The entry function.
        function: &'a str,
    },
    /// The program's entry ended.
    EntryExit {
        /// The module of the entry function.
        module: &'a str,
        /// The entry function.
        function: &'a str,
        /// Time spent in the entry itself, waits for the host not counted.
        cpu: Duration,
        /// Time that the entry waited for the host.
        wait: Duration,
    },
    /// A collection of one task's heap. A runtime that does not count objects records none: its figures have no place for
    /// what is not known.
    HeapCollected {
        /// The task whose heap it was.
        task: u64,
        /// Objects allocated since the last collection.
        allocated: u64,
        /// Objects that this collection freed.
        freed: u64,
        /// Objects alive after it.
        live_objects: u64,
        /// Bytes that those take.
        live_bytes: u64,
        /// How long it held the task up.
        pause: Duration,
    },
    /// The heap's figures over the whole run.
    HeapSummary(HeapSummary),
    /// The run ended. The last event of a trace.
    RunEnded {
        /// How.
        outcome: RunOutcome,
        /// What was said about it. A redacted trace keeps it unless the program itself said it, so a runtime's own message
        /// must not quote values.
        message: Option<&'a str>,
    },
}

impl TraceEvent<'_> {
    /// What kind of event it is: the name that stands in a trace is its [`as_str`](EventKind::as_str).
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

/// One call of the Host API, recorded once it is over.
///
/// The arguments are written as they are then. An interpreter whose host functions take or change their arguments keeps
/// what it has to say about them until the call is over, or lets its host functions only read them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostCall<'a> {
    /// The task that called; [`ENTRY_TASK`] for the entry.
    pub task: u64,
    /// What it called.
    pub site: CallSite<'a>,
    /// How long the task waited for the host.
    pub wait: Duration,
    /// Whether the task held the capability that the operation asks for.
    pub granted: bool,
    /// The arguments, in order.
    pub args: &'a [RecordedValue<'a>],
    /// What came back; `None` when the call never reached the host (it was refused, or granted and not dispatched).
    pub outcome: Option<HostOutcome<'a>>,
}

/// What a host call produced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HostOutcome<'a> {
    /// The operation's result.
    Value(RecordedValue<'a>),
    /// The host's refusal, in its own words. A redacted trace keeps it, so it must not quote values: the error texts of
    /// many libraries do.
    Error(&'a str),
    /// The operation can't be answered from a trace (leaving the process, say). The host decides that about its
    /// operation, and the caller passes it on.
    NotRecordable,
}

/// The operation that a host call asks for, and the capability it takes.
///
/// An interpreter whose operations are fixed renders each one's part of the line once, as a [`RenderedCallSite`], and
/// saves that work on every call. Both ways write the same bytes and compare equal.
#[derive(Clone, Copy)]
pub struct CallSite<'a>(Site<'a>);

#[derive(Clone, Copy)]
enum Site<'a> {
    Named { module: &'a str, op: &'a str, capability: &'a str },
    Rendered(&'a RenderedCallSite),
}

impl<'a> CallSite<'a> {
    /// The operation `op` of host module `module`, guarded by `capability`.
    #[must_use]
    pub const fn new(module: &'a str, op: &'a str, capability: &'a str) -> Self {
        Self(Site::Named { module, op, capability })
    }

    /// The host module.
    #[must_use]
    pub fn module(&self) -> &'a str {
        match self.0 {
            Site::Named { module, .. } => module,
            Site::Rendered(site) => &site.module,
        }
    }

    /// The operation.
    #[must_use]
    pub fn op(&self) -> &'a str {
        match self.0 {
            Site::Named { op, .. } => op,
            Site::Rendered(site) => &site.op,
        }
    }

    /// The capability that the operation asks for.
    #[must_use]
    pub fn capability(&self) -> &'a str {
        match self.0 {
            Site::Named { capability, .. } => capability,
            Site::Rendered(site) => &site.capability,
        }
    }

    /// The part of a line that this site has already in its written form.
    pub(crate) fn rendered(&self) -> Option<&'a [u8]> {
        match self.0 {
            Site::Named { .. } => None,
            Site::Rendered(site) => Some(&site.rendered),
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

/// A [`CallSite`] whose part of the line was rendered once, when the interpreter registered the operation.
#[derive(Debug, Clone)]
pub struct RenderedCallSite {
    module: Box<str>,
    op: Box<str>,
    capability: Box<str>,
    rendered: Box<[u8]>,
}

impl RenderedCallSite {
    /// Keeps `site` beside `rendered`, its part of the line. [`RenderedCallSite::new`] stands with the encoder, which
    /// alone knows how to render one.
    pub(crate) fn keep(site: CallSite<'_>, rendered: Vec<u8>) -> Self {
        Self {
            module: site.module().into(),
            op: site.op().into(),
            capability: site.capability().into(),
            rendered: rendered.into(),
        }
    }

    /// The site as a [`HostCall`] takes it.
    #[must_use]
    pub const fn site(&self) -> CallSite<'_> {
        CallSite(Site::Rendered(self))
    }
}

/// The heap's figures over a whole run. What a runtime does not know is `None`, and written as `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapSummary {
    /// Collections that ran.
    pub collections: u64,
    /// Objects alive at the end.
    pub object_count: Option<u64>,
    /// Bytes allocated over the run.
    pub allocated_bytes: Option<u64>,
    /// Bytes alive at the end.
    pub live_bytes: Option<u64>,
    /// The most bytes that were alive at a time.
    pub peak_bytes: Option<u64>,
    /// All pauses together.
    pub pause: Option<Duration>,
    /// Machine words allocated over the run.
    pub allocated_words: Option<u64>,
    /// Machine words that the heap has room for.
    pub capacity_words: Option<u64>,
    /// Machine words alive at the end.
    pub live_words: Option<u64>,
}
