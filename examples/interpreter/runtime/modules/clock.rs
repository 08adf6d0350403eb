//! `clock`: the time, and waiting for it.

use std::sync::Arc;
use std::time::Duration;

use rhai::{Dynamic, INT};

use crate::runtime::failure::{Failure, WOKEN};
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::task::Task;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("clock", "elapsed", "clock", 0, elapsed),
        Operation::new("clock", "sleep", "clock", 1, sleep).taking("a number of milliseconds"),
    ]
}

/// `clock::elapsed()`: returns the time since the run began.
fn elapsed(task: &Arc<Task>, _: Args<'_>) -> Answer {
    Ok(Dynamic::from(task.run().elapsed()))
}

/// `clock::sleep(milliseconds)`.
fn sleep(task: &Arc<Task>, args: Args<'_>) -> Answer {
    let milliseconds = u64::try_from(args.get::<INT>(0)?).map_err(|_| Failure::Arguments)?;
    task.sleep(Duration::from_millis(milliseconds)).map_err(|ending| Failure::stopped(WOKEN, ending))?;
    Ok(Dynamic::UNIT)
}
