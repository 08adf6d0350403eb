//! The closed sets of the format: the names a trace may use where the schema lists them.

use std::fmt;
use std::str::FromStr;

/// A name that is not in the closed set it was parsed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName {
    set: &'static str,
    expected: &'static str,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}, expected one of {}", self.set, self.expected)
    }
}

impl std::error::Error for UnknownName {}

macro_rules! closed_set {
    (
        $(#[$meta:meta])*
        $type:ident, $what:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $name:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $( $(#[$variant_meta])* $variant, )+
        }

        impl $type {
            /// Every member of the set, in the format's order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The names of [`ALL`](Self::ALL), as one text for a message.
            pub(crate) const EXPECTED: &'static str = closed_set!(@list $( $name )+);

            /// The name that stands in a trace.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// The member of that exact name, if there is one.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $( $name => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                Self::parse(name).ok_or(UnknownName { set: $what, expected: Self::EXPECTED })
            }
        }
    };
    (@list $first:literal $( $rest:literal )*) => {
        concat!("\"", $first, "\"" $( , ", \"", $rest, "\"" )*)
    };
}

closed_set! {
    /// Which backend produced a recording.
    #[non_exhaustive]
    RecordingBackend, "backend" {
        /// A tree-walking interpreter.
        Ast = "ast",
        /// A virtual machine.
        Vm = "vm",
    }
}

closed_set! {
    /// How much of a host call's arguments and results a trace records.
    ///
    /// A redacted trace is the form to share. What still stands in it: module, operation, capability, scope, entry and
    /// function names, every figure, a host's error messages, and the closing message of a run that the runtime (not
    /// the program) ended. Those messages can name things, such as a path in "no such file".
    ValueCapture, "value capture" {
        /// Every value whole, so that the run can be replayed.
        Full = "full",
        /// Of every argument and result, the name of its type and nothing else.
        Redacted = "redacted",
    }
}

closed_set! {
    /// What an event of a trace says happened: its `event` key. The header is none of them.
    #[non_exhaustive]
    EventKind, "event" {
        /// A task came to be.
        TaskSpawned = "task_spawned",
        /// A task ran to its end.
        TaskCompleted = "task_completed",
        /// A task was stopped before its end.
        TaskCancelled = "task_cancelled",
        /// The host was called.
        HostCall = "host_call",
        /// An entry function was entered.
        EntryEnter = "entry_enter",
        /// An entry function was left.
        EntryExit = "entry_exit",
        /// A heap was collected.
        HeapCollected = "heap_collected",
        /// The heap's figures over the run.
        HeapSummary = "heap_summary",
        /// The run came to its end.
        RunEnded = "run_ended",
    }
}

closed_set! {
    /// How a run ended.
    #[non_exhaustive]
    RunOutcome, "run outcome" {
        /// The program's own answer: its entry returned.
        Success = "success",
        /// The program's own answer: its entry returned an error.
        Error = "error",
        /// A broken invariant: a failed assertion, a division by zero.
        Invariant = "invariant",
        /// The Host API refused: a capability not granted, no such operation, arguments not admitted.
        HostBoundary = "host_boundary",
        /// The host's limit on work done, or on memory.
        Fuel = "fuel",
        /// The host's limit on time.
        Deadline = "deadline",
        /// The host stopped the run.
        Cancelled = "cancelled",
        /// The host's limit on nested calls.
        CallDepth = "call_depth",
        /// The host's limit on the number of host calls.
        HostCalls = "host_calls",
        /// The host's limit on tasks at a time.
        Concurrency = "concurrency",
    }
}

impl RunOutcome {
    /// Whether the program itself gave this answer, rather than the runtime or the host. Such a run's closing message
    /// was built by the program, so a redacted trace leaves it out.
    #[must_use]
    pub const fn is_programs_own(self) -> bool {
        matches!(self, Self::Success | Self::Error)
    }
}
