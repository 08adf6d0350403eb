//! The run of a script, from its entry to its end.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cove_trace::{RunOutcome, Timing, TraceEvent, TraceSink};
use mlua::Lua;

use super::Ending;
use super::engine::{self, Engine};
use super::failure::Failure;
use super::host::Operation;
use super::modules::kv::Stores;
use super::replaying::Replaying;

/// A script.
#[derive(Clone)]
pub(crate) struct Program {
    /// Its file name.
    pub(super) file: String,
    pub(super) text: Vec<u8>,
}

/// Lua's name for the code with which a run begins.
const ENTRY: &str = "main chunk";

impl Program {
    /// Reads a script, and checks that it compiles.
    pub(crate) fn load(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = Self { file, text: fs::read(path)? };
        engine::compile(&Lua::new(), &program)?;
        Ok(program)
    }

    fn module(&self) -> &str {
        self.file.strip_suffix(".lua").unwrap_or(&self.file)
    }
}

/// The surroundings of a program.
pub(crate) struct Setup {
    /// The directory of its files.
    pub(crate) files: PathBuf,
    /// Its arguments.
    pub(crate) args: Vec<OsString>,
    /// The capabilities that it holds.
    pub(crate) granted: BTreeSet<String>,
    pub(crate) limits: Limits,
    /// The sink of the trace.
    pub(crate) sink: Arc<dyn TraceSink>,
    /// Answers host calls in a replay.
    pub(crate) replaying: Option<Rc<Replaying>>,
}

/// The limits of a run.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Instructions of Lua's virtual machine.
    pub(crate) instructions: u64,
    /// Bytes of memory.
    pub(crate) memory: usize,
    pub(crate) host_calls: u64,
    pub(crate) time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instructions: 1_000_000_000, memory: 256 << 20, host_calls: 1_000_000, time: Duration::from_secs(60) }
    }
}

/// A run, and the state that its host keeps.
pub(crate) struct Run {
    program: Program,
    setup: Setup,
    timing: Timing,
    stores: Stores,
    instructions: Cell<u64>,
    host_calls: Cell<u64>,
    last_handle: Cell<i64>,
    ending: OnceCell<Ending>,
}

impl Run {
    /// Runs `program` with a host of these `operations`, and records the run. Its end is recorded, however it ends.
    pub(crate) fn execute(program: Program, operations: Vec<Operation>, setup: Setup) -> Ending {
        let run = Rc::new(Self {
            program,
            setup,
            timing: Timing::start(),
            stores: Stores::default(),
            instructions: Cell::new(0),
            host_calls: Cell::new(0),
            last_handle: Cell::new(0),
            ending: OnceCell::new(),
        });
        let (sink, module) = (run.sink(), run.program.module());

        sink.record(&TraceEvent::EntryEnter { module, function: ENTRY });
        let engine = Engine::start(&run, operations).and_then(|engine| {
            engine.run(&run)?;
            Ok(engine)
        });
        if let Err(error) = &engine {
            run.stop(Ending::by_engine(error));
        }
        let timing = run.timing();
        sink.record(&TraceEvent::EntryExit { module, function: ENTRY, cpu: timing.cpu(), wait: timing.wait() });

        let ending = run.stop(Ending::SUCCESS);
        // An engine that did not start, or has no memory left, reports nothing.
        let heap = engine.and_then(|engine| engine.heap()).unwrap_or_default();
        sink.record(&TraceEvent::HeapSummary(heap));
        sink.record(&TraceEvent::RunEnded { outcome: ending.outcome, message: ending.message.as_deref() });
        ending
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn files(&self) -> &Path {
        &self.setup.files
    }

    pub(super) fn args(&self) -> &[OsString] {
        &self.setup.args
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.setup.limits
    }

    pub(super) fn replaying(&self) -> Option<&Replaying> {
        self.setup.replaying.as_deref()
    }

    pub(super) fn sink(&self) -> &dyn TraceSink {
        &self.setup.sink
    }

    /// The time spent in the script itself and in waiting for the host.
    pub(super) fn timing(&self) -> &Timing {
        &self.timing
    }

    pub(super) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Returns a number that no handle of this run has had.
    pub(super) fn next_handle(&self) -> i64 {
        add(&self.last_handle, 1)
    }

    /// Checks that the program holds the capability and has calls left.
    pub(super) fn admit(&self, operation: &Operation) -> Result<(), Failure> {
        if !self.setup.granted.contains(operation.site().capability()) {
            return Err(Failure::NotGranted);
        }
        if add(&self.host_calls, 1) > self.limits().host_calls {
            self.stop(Ending::new(RunOutcome::HostCalls, "too many host calls"));
        }
        if self.must_stop_after(0) { Err(Failure::Stopped) } else { Ok(()) }
    }

    /// Stops the run with `ending`, unless it was stopped before. Returns how it ends.
    pub(super) fn stop(&self, ending: Ending) -> Ending {
        self.ending.get_or_init(|| ending).clone()
    }

    /// Adds `instructions` to those run so far. Returns whether the script must stop.
    pub(super) fn must_stop_after(&self, instructions: u64) -> bool {
        if add(&self.instructions, instructions) > self.limits().instructions {
            self.stop(Ending::new(RunOutcome::Fuel, "too many instructions"));
        }
        if self.timing.elapsed() > self.limits().time {
            self.stop(Ending::new(RunOutcome::Deadline, "the time is up"));
        }
        self.ending.get().is_some()
    }
}

/// Adds to a count, and returns the sum.
fn add<N: Copy + std::ops::Add<Output = N>>(count: &Cell<N>, more: N) -> N {
    count.set(count.get() + more);
    count.get()
}
