//! The enumerations of the format, each with the names that its members have in a trace.

use std::fmt;
use std::str::FromStr;

/// The error of parsing a name that the enumeration does not have.
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
            /// All members, in the order of the format.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The names of [`ALL`](Self::ALL), quoted and separated by commas, for error messages.
            pub(crate) const EXPECTED: &'static str = closed_set!(@list $( $name )+);

            /// Returns the member's name in a trace.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// Returns the member with exactly this name.
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
    /// The kind of backend that recorded a run.
    #[non_exhaustive]
    RecordingBackend, "backend" {
        /// A tree-walking interpreter.
        Ast = "ast",
        /// A virtual machine.
        Vm = "vm",
    }
}

closed_set! {
    /// How much of the arguments and results of host calls a trace records.
    ///
    /// A redacted trace is meant to be shared. It still contains the names of modules, operations, capabilities,
    /// scopes, entries and functions, all numbers, the host's error messages, and the closing message of a run that the
    /// runtime (not the program) ended. Such messages can contain names, such as the path in "no such file".
    ValueCapture, "value capture" {
        /// Records values completely, so that the run can be replayed.
        Full = "full",
        /// Records only the type name of each argument and result.
        Redacted = "redacted",
    }
}

closed_set! {
    /// The kind of an event: its `event` key in a trace. The header is not an event.
    #[non_exhaustive]
    EventKind, "event" {
        /// A task was spawned.
        TaskSpawned = "task_spawned",
        /// A task ran to its end.
        TaskCompleted = "task_completed",
        /// A task was stopped before its end.
        TaskCancelled = "task_cancelled",
        /// The program called the host.
        HostCall = "host_call",
        /// The entry function was entered.
        EntryEnter = "entry_enter",
        /// The entry function returned.
        EntryExit = "entry_exit",
        /// A task's heap was collected.
        HeapCollected = "heap_collected",
        /// Heap statistics of the whole run.
        HeapSummary = "heap_summary",
        /// The run ended.
        RunEnded = "run_ended",
    }
}

closed_set! {
    /// How a run ended.
    #[non_exhaustive]
    RunOutcome, "run outcome" {
        /// The program's entry returned a result.
        Success = "success",
        /// The program's entry returned an error.
        Error = "error",
        /// An invariant was violated, for example by a failed assertion or a division by zero.
        Invariant = "invariant",
        /// The Host API refused a call: a capability not granted, an unknown operation, or invalid arguments.
        HostBoundary = "host_boundary",
        /// The run reached the host's limit on work or memory.
        Fuel = "fuel",
        /// The run reached the host's limit on time.
        Deadline = "deadline",
        /// The host cancelled the run.
        Cancelled = "cancelled",
        /// The run reached the host's limit on nested calls.
        CallDepth = "call_depth",
        /// The run reached the host's limit on the number of host calls.
        HostCalls = "host_calls",
        /// The run reached the host's limit on concurrent tasks.
        Concurrency = "concurrency",
    }
}

impl RunOutcome {
    /// Returns whether the program itself determined this outcome, rather than the runtime or the host. The closing
    /// message of such a run comes from the program, so a redacted trace omits it.
    #[must_use]
    pub const fn is_programs_own(self) -> bool {
        matches!(self, Self::Success | Self::Error)
    }
}
