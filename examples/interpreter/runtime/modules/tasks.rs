//! `tasks`: functions of the script that run concurrently, each on its own thread.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use cove_trace::{RunOutcome, TraceEvent};
use rhai::{Dynamic, EvalAltResult, FnPtr, ImmutableString};

use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::task::Task;
use crate::runtime::{Ending, engine};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("tasks", "spawn", "tasks", 2, spawn)
            .called("start")
            .taking("the name of a scope, and a function"),
        Operation::new("tasks", "wait", "tasks", 1, wait).taking("a task"),
        Operation::new("tasks", "cancel", "tasks", 1, cancel).taking("a task"),
    ]
}

type TaskResult = Result<Dynamic, Box<EvalAltResult>>;

/// A script's handle to a task that it spawned.
#[derive(Clone)]
pub(crate) struct Spawned {
    task: Arc<Task>,
    /// `None` once someone has waited for the task.
    thread: Arc<Mutex<Option<JoinHandle<TaskResult>>>>,
}

impl Spawned {
    /// Waits for the task and returns its result. `None` if someone has waited for it before.
    pub(crate) fn join(&self) -> Option<TaskResult> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(thread.join().unwrap_or_else(|_| Err(engine::panicked())))
    }
}

impl fmt::Display for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.task.id())
    }
}

/// `tasks::start(scope, function)`: starts a task that runs `function`, with copies of its captured variables.
fn spawn(parent: &Arc<Task>, args: Args<'_>) -> Answer {
    let scope = args.get::<ImmutableString>(0)?;
    let function = with_copies(args.get::<FnPtr>(1)?);
    let run = parent.run();
    if !run.take_a_place() {
        let ending = run.stop(Ending::new(RunOutcome::Concurrency, "too many tasks at a time"));
        return Err(Failure::stopped("too many tasks at a time", ending));
    }

    let task = Arc::new(Task::spawned_by(parent));
    // Recorded before the thread starts, so that it precedes all events of the task.
    run.sink().record(&TraceEvent::TaskSpawned { id: task.id(), parent: Some(parent.id()), scope: &scope });
    if let Some(replaying) = run.replaying() {
        replaying.spawned(&task, parent, &scope);
    }
    let thread = thread::Builder::new().name(format!("task {}", task.id())).stack_size(STACK);
    let work = {
        let task = Arc::clone(&task);
        move || work(&task, &function)
    };
    match thread.spawn(work) {
        Ok(thread) => {
            let handle = Spawned { task, thread: Arc::new(Mutex::new(Some(thread))) };
            run.keep(handle.clone());
            Ok(Dynamic::from(handle))
        }
        Err(error) => {
            run.sink().record(&TraceEvent::TaskCancelled { id: task.id() });
            run.leave_a_place();
            Err(Failure::error(error.kind().to_string()))
        }
    }
}

/// Enough for the deepest calls of a script in a debug build, in bytes.
const STACK: usize = 16 << 20;

/// Copies the captured variables of a function. rhai shares them between closures, but tasks share nothing.
fn with_copies(mut function: FnPtr) -> FnPtr {
    for captured in function.iter_curry_mut() {
        captured.deep_scan(|part| {
            if part.is_shared() {
                *part = part.flatten_clone();
            }
        });
    }
    function
}

/// The work of a task's thread.
fn work(task: &Arc<Task>, function: &FnPtr) -> TaskResult {
    let run = task.run();
    let result = engine::run(task, |engine, ast| function.call(engine, ast, ())).map(Dynamic::flatten);
    match &result {
        // An error that no script can catch ends the run, unless it is the cancellation of this task.
        Err(error) if !error.unwrap_inner().is_catchable() => {
            run.sink().record(&TraceEvent::TaskCancelled { id: task.id() });
            if !task.is_cancelled() {
                run.stop(Ending::from(&**error));
            }
        }
        _ => run.sink().record(&TraceEvent::TaskCompleted { id: task.id(), cpu: task.timing().cpu() }),
    }
    run.leave_a_place();
    result
}

/// `tasks::wait(task)`: returns or throws what the task's function returned or threw.
fn wait(_: &Arc<Task>, args: Args<'_>) -> Answer {
    match args.get::<Spawned>(0)?.join() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) if error.unwrap_inner().is_catchable() => {
            Err(Failure::Error { said: "the task failed".into(), raise: error })
        }
        Some(Err(_)) => Err(Failure::error("the task was cancelled")),
        None => Err(Failure::error("the task was waited for before")),
    }
}

/// `tasks::cancel(task)`: stops a task and all that it spawned, each at its next step.
fn cancel(_: &Arc<Task>, args: Args<'_>) -> Answer {
    args.get::<Spawned>(0)?.task.cancel();
    Ok(Dynamic::UNIT)
}
