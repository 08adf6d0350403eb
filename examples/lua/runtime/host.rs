//! The operations of a host, and their registration in an engine.

use std::process;
use std::rc::Rc;

use cove_trace::{CallSite, RenderedCallSite};
use mlua::{FromLua, Lua, MetaMethod, Table, UserDataFields, Value, Variadic};

use super::Run;
use super::call::call;
use super::failure::{Failure, Raised};
use super::modules::files::File;
use super::modules::kv::Store;

/// The result of a host function.
pub(crate) type Answer = Result<Value, Failure>;

/// Returns the bytes that a call prints.
pub(crate) type Shows = fn(Args<'_>) -> mlua::Result<Vec<u8>>;

/// An operation of the host.
pub(crate) struct Operation {
    /// Rendered once, when the operation is created. Each call copies it into its line.
    site: RenderedCallSite,
    /// A description of its arguments.
    pub(super) takes: &'static str,
    pub(super) function: fn(&Run, Args<'_>) -> Answer,
    /// The output of a call, if it prints something.
    pub(super) shows: Option<Shows>,
}

impl Operation {
    /// Creates the operation `name` of `module`. It needs `capability`, and calls `function`.
    pub(crate) fn new(module: &str, name: &str, capability: &str, function: fn(&Run, Args<'_>) -> Answer) -> Self {
        let site = RenderedCallSite::new(module, name, capability);
        Self { site, takes: "anything", function, shows: None }
    }

    /// Describes the arguments.
    pub(crate) fn taking(self, takes: &'static str) -> Self {
        Self { takes, ..self }
    }

    /// Declares that a call prints what `shows` returns for its arguments.
    pub(crate) fn showing(self, shows: Shows) -> Self {
        Self { shows: Some(shows), ..self }
    }

    /// Removes the host's function. A call aborts the process.
    pub(crate) fn unplugged(self) -> Self {
        Self { function: |_, _| process::abort(), ..self }
    }

    pub(crate) fn site(&self) -> CallSite<'_> {
        self.site.site()
    }
}

/// The arguments of a host call, and their engine.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    pub(crate) lua: &'a Lua,
    pub(crate) values: &'a [Value],
}

impl Args<'_> {
    /// Returns the argument at `index`, which must be a `T`.
    pub(crate) fn get<T: FromLua>(self, index: usize) -> Result<T, Failure> {
        let value = self.values.get(index).cloned().unwrap_or_default();
        T::from_lua(value, self.lua).map_err(|_| Failure::Arguments)
    }
}

/// Registers `operations` in `lua`, each in the table of its module. The operations are also methods of the module's
/// handles.
pub(crate) fn register(lua: &Lua, run: &Rc<Run>, operations: Vec<Operation>) -> mlua::Result<()> {
    for operation in operations {
        let (module, op) = (operation.site().module().to_owned(), operation.site().op().to_owned());
        let run = Rc::clone(run);
        let function = lua.create_function(move |lua, values: Variadic<Value>| {
            call(&run, &operation, Args { lua, values: &values })
        })?;
        module_table(lua, &module)?.raw_set(op, function)?;
    }
    add_methods::<File>(lua, "files")?;
    add_methods::<Store>(lua, "kv")
}

/// Returns the table of a module, and creates it if necessary.
fn module_table(lua: &Lua, module: &str) -> mlua::Result<Table> {
    if let Some(table) = lua.globals().raw_get(module)? {
        return Ok(table);
    }
    // The program may have computed the missing name, so the message does not contain it.
    let message = format!("{module} has no such operation");
    let missing = lua.create_function(move |_, _: Variadic<Value>| -> mlua::Result<()> {
        Err(Raised::Refusal(message.clone()).into())
    })?;
    let metatable = lua.create_table()?;
    metatable.raw_set(MetaMethod::Index.name(), missing)?;
    metatable.raw_set("__metatable", false)?;
    let table = lua.create_table()?;
    table.set_metatable(Some(metatable))?;
    lua.globals().raw_set(module, &table)?;
    Ok(table)
}

fn add_methods<Handle: 'static>(lua: &Lua, module: &str) -> mlua::Result<()> {
    let methods = module_table(lua, module)?;
    lua.register_userdata_type::<Handle>(|registry| registry.add_meta_field(MetaMethod::Index, methods))
}
