//! The Lua engine: the language without any way around the host, and how a script runs on it.

use std::rc::Rc;

use cove_trace::HeapSummary;
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, StdLib, Value, Variadic, VmState};

use super::ending::Judge;
use super::failure::Raised;
use super::host::{self, Operation};
use super::run::Program;
use super::{Ending, Run};

/// Lua with the operations of a host. Of its library, nothing that reads a clock, a file or the process.
pub(super) struct Engine {
    lua: Lua,
    /// How many collections came to their end so far.
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

    /// Runs the script of `run` to its end. What it ends with, if it is an error, is decided where it was raised.
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
            // Of all errors, only this one does not come before the judge.
            run.stop(Ending::out_of_memory());
        }
        Ok(())
    }

    /// What Lua says of its heap. It does not count objects, and of its pauses it says nothing; so no single collection is
    /// recorded, and most of this stays unknown.
    pub(super) fn heap(&self) -> mlua::Result<HeapSummary> {
        // The limits were the script's.
        self.lua.remove_global_hook();
        self.lua.set_memory_limit(0)?;
        // What is alive is known once what is dead is gone.
        self.lua.gc_collect()?;
        Ok(HeapSummary {
            collections: self.collections.call(())?,
            live_bytes: u64::try_from(self.lua.used_memory()).ok(),
            ..HeapSummary::default()
        })
    }
}

/// Compiles a script: its text, that is, and never the bytecode that Lua would take without a check.
pub(super) fn compile(lua: &Lua, program: &Program) -> mlua::Result<Function> {
    lua.load(&*program.text).set_name(format!("@{}", program.file)).set_mode(ChunkMode::Text).into_function()
}

/// How many instructions run between two looks at the limits.
const STEP: u32 = 1_000;

/// Looks at the limits of `run` at every so many instructions, of this coroutine and those that it will create.
fn watch(lua: &Lua, run: &Rc<Run>, every: u32) -> mlua::Result<()> {
    let watched = Rc::clone(run);
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(every), move |lua, _| {
        if !watched.must_stop_after(u64::from(every)) {
            return Ok(VmState::Continue);
        }
        // A script may catch this. From here on, the next instruction outside of what caught it raises it again.
        watch(lua, &watched, 1)?;
        Err(Raised::Stopped.into())
    })
}
