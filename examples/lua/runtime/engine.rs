//! The Lua engine, without any way around the host, and the run of a script on it.

use std::rc::Rc;

use cove_trace::HeapSummary;
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, StdLib, Value, Variadic, VmState};

use super::ending::Judge;
use super::failure::Raised;
use super::host::{self, Operation};
use super::run::Program;
use super::{Ending, Run};

/// Lua with the operations of a host, and without the library functions that access clocks, files or the process.
pub(super) struct Engine {
    lua: Lua,
    /// Returns the number of completed collections.
    collections: Function,
}

impl Engine {
    pub(super) fn start(run: &Rc<Run>, operations: Vec<Operation>) -> mlua::Result<Self> {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        host::register(&lua, run, operations)?;
        let collections = lua.load(include_str!("prelude.lua")).set_name("=prelude").eval()?;
        Ok(Self { lua, collections })
    }

    /// Runs the script of `run` to its end. An error is judged where it is raised.
    pub(super) fn run(&self, run: &Rc<Run>) -> mlua::Result<()> {
        let lua = &self.lua;
        let script = compile(lua, run.program())?;
        let judge = {
            let (run, judge) = (Rc::clone(run), Judge::new(lua)?);
            lua.create_function(move |lua, thrown: Value| {
                run.stop(judge.ending(lua, &thrown));
                Ok(())
            })?
        };
        let args = run.args().iter().map(|arg| lua.create_string(arg.as_encoded_bytes()));
        let args = args.collect::<mlua::Result<Variadic<_>>>()?;
        let protected: Function = lua.globals().get("xpcall")?;
        watch(lua, run, STEP)?;
        lua.set_memory_limit(run.limits().memory)?;
        let (succeeded, _): (bool, Value) = protected.call((script, judge, args))?;
        if !succeeded {
            // The only error for which Lua does not call the judge.
            run.stop(Ending::out_of_memory());
        }
        Ok(())
    }

    /// Returns what Lua reports about its heap. It reports neither objects nor pauses, so single collections are not
    /// recorded and most figures are unknown.
    pub(super) fn heap(&self) -> mlua::Result<HeapSummary> {
        // The limits apply to the script only.
        self.lua.remove_global_hook();
        self.lua.set_memory_limit(0)?;
        // After a collection, only live bytes are left.
        self.lua.gc_collect()?;
        Ok(HeapSummary {
            collections: self.collections.call(())?,
            live_bytes: u64::try_from(self.lua.used_memory()).ok(),
            ..HeapSummary::default()
        })
    }
}

/// Compiles a script from text. Lua would load bytecode without validation.
pub(super) fn compile(lua: &Lua, program: &Program) -> mlua::Result<Function> {
    lua.load(&*program.text).set_name(format!("@{}", program.file)).set_mode(ChunkMode::Text).into_function()
}

/// The number of instructions between two checks of the limits.
const STEP: u32 = 1_000;

/// Checks the limits of `run` after every `every` instructions, in this coroutine and those that it creates.
fn watch(lua: &Lua, run: &Rc<Run>, every: u32) -> mlua::Result<()> {
    let watched = Rc::clone(run);
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(every), move |lua, _| {
        if !watched.must_stop_after(u64::from(every)) {
            return Ok(VmState::Continue);
        }
        // A script may catch this. From now on, every instruction raises it again.
        watch(lua, &watched, 1)?;
        Err(Raised::Stopped.into())
    })
}
