//! `env`: the process in which the script runs.

use std::sync::Arc;

use cove_trace::RunOutcome;
use rhai::{Dynamic, INT, ImmutableString};

use crate::runtime::Ending;
use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::task::Task;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("env", "args", "env.read", 0, args),
        Operation::new("env", "get", "env.read", 1, get).taking("the name of a variable"),
        Operation::new("env", "exit", "env.exit", 1, exit).taking("a status"),
    ]
}

/// `env::args()`: returns the program's arguments.
fn args(task: &Arc<Task>, _: Args<'_>) -> Answer {
    Ok(task.run().args().iter().map(|arg| Dynamic::from(arg.clone())).collect::<Vec<_>>().into())
}

/// `env::get(name)`: returns an environment variable, or `()` if it is not set.
fn get(_: &Arc<Task>, args: Args<'_>) -> Answer {
    let name = args.get::<ImmutableString>(0)?;
    Ok(std::env::var_os(name.as_str()).map_or(Dynamic::UNIT, |value| value.to_string_lossy().into_owned().into()))
}

/// `env::exit(status)`: ends the program and all tasks. It returns nothing that could be replayed.
fn exit(task: &Arc<Task>, args: Args<'_>) -> Answer {
    let ending = match args.get::<INT>(0)? {
        0 => Ending::SUCCESS,
        status => Ending::new(RunOutcome::Error, format!("exit status {status}")),
    };
    Err(Failure::NotRecordable(task.run().stop(ending)))
}
