//! The rhai engine, without any way around the host, and the run of a task's script on it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cove_trace::RunOutcome;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicBlobPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, Dynamic, Engine, EvalAltResult, NativeCallContext};

use super::task::Task;
use super::value::Shown;
use super::{Ending, Limits, host};

/// Runs `script` as the work of `task`.
pub(crate) fn run(
    task: &Arc<Task>,
    script: impl FnOnce(&Engine, &AST) -> Result<Dynamic, Box<EvalAltResult>>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut engine = language(task.run().limits());
        host::register(&mut engine, task);
        let watched = Arc::clone(task);
        engine.on_progress(move |operations| {
            // Often enough to be prompt, and rarely enough that the clock costs little.
            if operations % 64 == 0 { watched.must_stop().map(Dynamic::from) } else { None }
        });
        script(&engine, task.run().script())
    }))
    .unwrap_or_else(|_| Err(panicked()))
}

/// The error for a panic of the host or of rhai itself. No script can catch it.
pub(crate) fn panicked() -> Box<EvalAltResult> {
    Ending::new(RunOutcome::Invariant, "a panic in the host").raise()
}

/// Returns a rhai engine that cannot read a clock, sleep, print or load a file without the host: it has all standard
/// packages but `LanguageCorePackage` and `BasicTimePackage`, and neither `import` nor `eval`.
pub(crate) fn language(limits: &Limits) -> Engine {
    let mut engine = Engine::new_raw();
    for package in [
        ArithmeticPackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicMathPackage::new().as_shared_module(),
        BasicStringPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicBlobPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
        BasicIteratorPackage::new().as_shared_module(),
        BasicFnPackage::new().as_shared_module(),
    ] {
        engine.register_global_module(package);
    }
    engine
        .disable_symbol("import")
        .disable_symbol("eval")
        .set_max_operations(limits.operations)
        .set_max_call_levels(limits.call_depth)
        // rhai's own default differs between debug and release builds.
        .set_max_expr_depths(64, 64)
        .register_fn("to_string", |value: Dynamic| Shown(&value).to_string())
        .register_fn("assert", assert);
    engine
}

/// `assert(holds)`: ends the run if `holds` is false. No script can catch it.
fn assert(context: NativeCallContext, holds: bool) -> Result<(), Box<EvalAltResult>> {
    if holds {
        return Ok(());
    }
    Err(Ending::new(RunOutcome::Invariant, format!("a failed assertion, {}", context.call_position())).raise())
}
