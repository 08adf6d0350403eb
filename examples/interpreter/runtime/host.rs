//! The one place that every host call goes through, and how the operations get into an engine.

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

/// What a host function answers.
pub(crate) type Answer = Result<Dynamic, Failure>;

/// An operation of the host.
pub(crate) struct Operation {
    /// Rendered once, when the operations are put together; every call's line starts from it.
    site: RenderedCallSite,
    /// What scripts call it, where that is not its name.
    alias: Option<&'static str>,
    arity: usize,
    /// Its arguments, in words.
    takes: &'static str,
    function: fn(&Arc<Task>, Args<'_>) -> Answer,
    /// What a call shows to the person at the terminal, if it does that.
    shows: Option<fn(Args<'_>) -> String>,
}

impl Operation {
    /// The operation `name` of `module`: it asks for `capability`, takes `arity` arguments and is done by `function`.
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

    /// The same operation, for scripts under another name: rhai reserves words that make good names for operations.
    pub(crate) fn called(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// The same operation, which takes these arguments, in words.
    pub(crate) fn taking(self, takes: &'static str) -> Self {
        Self { takes, ..self }
    }

    /// The same operation, which shows the person at the terminal what `shows` makes of its arguments.
    pub(crate) fn showing(self, shows: fn(Args<'_>) -> String) -> Self {
        Self { shows: Some(shows), ..self }
    }

    /// The same operation with no host behind it: calling it ends the process.
    pub(crate) fn unplugged(self) -> Self {
        Self { function: |_, _| process::abort(), ..self }
    }

    pub(crate) fn site(&self) -> CallSite<'_> {
        self.site.site()
    }

    pub(crate) fn takes(&self) -> &'static str {
        self.takes
    }

    /// Does what the operation does.
    pub(crate) fn perform(&self, task: &Arc<Task>, args: Args<'_>) -> Answer {
        (self.function)(task, args)
    }

    /// What a call with these arguments shows, if it shows something.
    pub(crate) fn shown(&self, args: Args<'_>) -> Option<String> {
        self.shows.map(|shows| shows(args))
    }
}

/// Makes a host call: checks that it may be made, runs the host's function, times the wait, and records all of it. In a replay
/// the trace is asked instead of the host.
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

/// The arguments of a host call. A host function can look at them and keep copies, no more.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [&'a mut Dynamic]);

impl<'a> Args<'a> {
    pub(crate) fn all(self) -> impl Iterator<Item = &'a Dynamic> {
        self.0.iter().map(|arg| &**arg)
    }

    /// The argument at `index`, whatever it is.
    pub(crate) fn any(self, index: usize) -> Result<&'a Dynamic, Failure> {
        self.0.get(index).map(|arg| &**arg).ok_or(Failure::Arguments)
    }

    /// The argument at `index`, which has to be a `T`.
    pub(crate) fn get<T: Clone + 'static>(self, index: usize) -> Result<T, Failure> {
        self.any(index)?.read_lock::<T>().map(|arg| arg.clone()).ok_or(Failure::Arguments)
    }
}

/// Gives the scripts that `engine` runs for `task` the operations of its run, each under the name of its module.
pub(crate) fn register(engine: &mut Engine, task: &Arc<Task>) {
    let mut modules: BTreeMap<&str, Module> = BTreeMap::new();
    for operation in task.run().operations() {
        let module = modules.entry(operation.site().module()).or_default();
        // Arguments of any type are let through to `call`, so that a call with wrong ones is in the trace, too.
        let parameters = vec![TypeId::of::<Dynamic>(); operation.arity];
        let function = {
            let (task, operation) = (Arc::clone(task), Arc::clone(operation));
            // A method is handed its first argument as it stands, where another function would be handed a clone.
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
