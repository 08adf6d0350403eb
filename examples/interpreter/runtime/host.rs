//! The one function through which all host calls go, and the registration of operations in an engine.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_trace::{CallSite, HostCall, HostOutcome, LiveArgs, RecordedValue, RenderedCallSite, TraceEvent};
use rhai::plugin::RhaiFunc;
use rhai::{Dynamic, Engine, EvalAltResult, FuncRegistration, Module};

use super::failure::Failure;
use super::task::Task;
use super::value::Traced;

/// The result of a host function.
pub(crate) type Answer = Result<Dynamic, Failure>;

/// An operation of the host.
pub(crate) struct Operation {
    /// Rendered once, when the operation is created. Each call copies it into its line.
    site: RenderedCallSite,
    /// Its name in scripts, if that differs.
    alias: Option<&'static str>,
    arity: usize,
    /// A description of its arguments.
    takes: &'static str,
    function: fn(&Arc<Task>, Args<'_>) -> Answer,
    /// The output of a call, if it prints something.
    shows: Option<fn(Args<'_>) -> String>,
}

impl Operation {
    /// Creates the operation `name` of `module`. It needs `capability`, takes `arity` arguments, and calls `function`.
    pub(crate) fn new(
        module: &str,
        name: &str,
        capability: &str,
        arity: usize,
        function: fn(&Arc<Task>, Args<'_>) -> Answer,
    ) -> Self {
        let site = RenderedCallSite::new(module, name, capability);
        Self { site, alias: None, arity, takes: "no such arguments", function, shows: None }
    }

    /// Sets another name for scripts, because rhai reserves some words.
    pub(crate) fn called(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// Describes the arguments.
    pub(crate) fn taking(self, takes: &'static str) -> Self {
        Self { takes, ..self }
    }

    /// Declares that a call prints what `shows` returns for its arguments.
    pub(crate) fn showing(self, shows: fn(Args<'_>) -> String) -> Self {
        Self { shows: Some(shows), ..self }
    }

    /// Removes the host's function. A call aborts the process.
    pub(crate) fn unplugged(self) -> Self {
        Self { function: |_, _| process::abort(), ..self }
    }

    pub(crate) fn site(&self) -> CallSite<'_> {
        self.site.site()
    }

    pub(crate) fn takes(&self) -> &'static str {
        self.takes
    }

    /// Runs the host's function.
    pub(crate) fn perform(&self, task: &Arc<Task>, args: Args<'_>) -> Answer {
        (self.function)(task, args)
    }

    /// Returns what a call with these arguments prints, if it prints something.
    pub(crate) fn shown(&self, args: Args<'_>) -> Option<String> {
        self.shows.map(|shows| shows(args))
    }
}

/// Makes a host call: checks whether it is allowed, runs the host's function, measures the wait, and records the call.
/// In a replay, the trace answers instead of the host.
fn call(task: &Arc<Task>, operation: &Operation, args: &[&mut Dynamic]) -> Result<Dynamic, Box<EvalAltResult>> {
    let sink = task.run().sink();
    // Without a trace, the clock is not read.
    let started = sink.is_recording().then(Instant::now);
    let answer = catch_unwind(AssertUnwindSafe(|| {
        if let Some(replaying) = task.run().replaying() {
            return replaying.answer(task, operation, Args(args));
        }
        task.run().admit(operation)?;
        operation.perform(task, Args(args))
    }))
    .unwrap_or_else(|panic| Err(Failure::Panic(panic)));
    if let Some(started) = started {
        let granted = !matches!(answer, Err(Failure::NotGranted));
        // A refused call does not wait for the host.
        let wait = if granted { started.elapsed() } else { Duration::ZERO };
        task.timing().add_wait(wait);
        // The event borrows this wrapper, so it gets a name.
        let result = answer.as_ref().map(Traced);
        // A host function can only read its arguments, so they are still as the script passed them.
        LiveArgs::with(args.iter().map(|arg| Traced(arg)), |args| {
            sink.record(&TraceEvent::HostCall(HostCall {
                task: task.id(),
                site: operation.site(),
                wait,
                granted,
                args,
                outcome: match &result {
                    Ok(value) => Some(HostOutcome::Value(RecordedValue::Live(value))),
                    Err(failure) => failure.outcome(),
                },
            }));
        });
    }
    answer.map_err(|failure| failure.raise(operation))
}

/// The arguments of a host call. A host function can only read and clone them.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [&'a mut Dynamic]);

impl<'a> Args<'a> {
    pub(crate) fn all(self) -> impl Iterator<Item = &'a Dynamic> {
        self.0.iter().map(|arg| &**arg)
    }

    /// Returns the argument at `index`, of any type.
    pub(crate) fn any(self, index: usize) -> Result<&'a Dynamic, Failure> {
        self.0.get(index).map(|arg| &**arg).ok_or(Failure::Arguments)
    }

    /// Returns the argument at `index`, which must be a `T`.
    pub(crate) fn get<T: Clone + 'static>(self, index: usize) -> Result<T, Failure> {
        self.any(index)?.read_lock::<T>().map(|arg| arg.clone()).ok_or(Failure::Arguments)
    }
}

/// Registers the operations of the run in the engine of `task`, each under the name of its module.
pub(crate) fn register(engine: &mut Engine, task: &Arc<Task>) {
    let mut modules: BTreeMap<&str, Module> = BTreeMap::new();
    for operation in task.run().operations() {
        let module = modules.entry(operation.site().module()).or_default();
        // `call` gets arguments of any type, so that calls with wrong arguments are recorded, too.
        let parameters = vec![TypeId::of::<Dynamic>(); operation.arity];
        let function = {
            let (task, operation) = (Arc::clone(task), Arc::clone(operation));
            // A method gets its first argument itself; any other function gets a clone.
            RhaiFunc::Method {
                func: Arc::new(move |_, args| call(&task, &operation, args)),
                has_context: false,
                is_pure: true,
                is_volatile: true,
            }
        };
        let name = operation.alias.unwrap_or(operation.site().op());
        FuncRegistration::new(name).set_into_module_raw(module, parameters, function);
    }
    for (name, module) in modules {
        engine.register_static_module(name, module.into());
    }
}
