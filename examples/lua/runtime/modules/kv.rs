//! `kv`: stores of keys and values, which live as long as the run. Keys and values are bytes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{LuaString, Table, UserDataRef, Value};

use crate::runtime::Run;
use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("kv", "open", "kv.read", open).taking("the name of a store, and a user with a password"),
        Operation::new("kv", "get", "kv.read", get).taking("a store, and a key"),
        Operation::new("kv", "keys", "kv.read", keys).taking("a store, and what keys begin with"),
        Operation::new("kv", "put", "kv.write", put).taking("a store, a key, and a value"),
        Operation::new("kv", "delete", "kv.write", delete).taking("a store, and a key"),
        Operation::new("kv", "close", "kv.read", close).taking("a store"),
    ]
}

/// All stores of a run, by name.
#[derive(Default)]
pub(crate) struct Stores(RefCell<BTreeMap<Vec<u8>, Rc<Contents>>>);

struct Contents {
    /// The user who opened it first. No other user may open it.
    user: Vec<u8>,
    password: Vec<u8>,
    values: RefCell<BTreeMap<Vec<u8>, Vec<u8>>>,
}

/// A store that a script has opened.
pub(crate) struct Store {
    id: i64,
    contents: Rc<Contents>,
    closed: Cell<bool>,
}

impl Store {
    /// Creates the handle of a recorded store, which is empty.
    pub(crate) fn replayed(id: i64) -> Self {
        let contents = Contents { user: Vec::new(), password: Vec::new(), values: RefCell::default() };
        Self { id, contents: Rc::new(contents), closed: Cell::new(false) }
    }

    /// The host's number for it.
    pub(crate) fn id(&self) -> i64 {
        self.id
    }
}

/// `kv.open(name, { user = ..., password = ... })`: opens a store. It belongs to the user who opens it first.
fn open(run: &Run, args: Args<'_>) -> Answer {
    let name = bytes(args, 0)?;
    let credentials = args.get::<Table>(1)?;
    let credential = |field| match credentials.raw_get::<LuaString>(field) {
        Ok(text) => Ok(text.as_bytes().to_vec()),
        Err(_) => Err(Failure::Arguments),
    };
    let (user, password) = (credential("user")?, credential("password")?);

    let mut stores = run.stores().0.borrow_mut();
    let contents = stores.entry(name).or_insert_with(|| {
        Rc::new(Contents { user: user.clone(), password: password.clone(), values: RefCell::default() })
    });
    if (&contents.user, &contents.password) != (&user, &password) {
        return Err(Failure::error("wrong user or password"));
    }
    let store = Store { id: run.next_handle(), contents: Rc::clone(contents), closed: Cell::new(false) };
    Ok(Value::UserData(args.lua.create_any_userdata(store)?))
}

/// `kv.get(store, key)`: returns the value of a key, or nil.
fn get(_: &Run, args: Args<'_>) -> Answer {
    let (contents, key) = (store(args)?, bytes(args, 1)?);
    match contents.values.borrow().get(&key) {
        Some(value) => Ok(Value::String(args.lua.create_string(value)?)),
        None => Ok(Value::Nil),
    }
}

/// `kv.keys(store, prefix)`: returns all keys that begin with `prefix`, sorted.
fn keys(_: &Run, args: Args<'_>) -> Answer {
    let (contents, prefix) = (store(args)?, bytes(args, 1)?);
    let values = contents.values.borrow();
    let keys = values.keys().filter(|key| key.starts_with(&prefix));
    let keys = keys.map(|key| args.lua.create_string(key)).collect::<mlua::Result<Vec<_>>>()?;
    Ok(Value::Table(args.lua.create_sequence_from(keys)?))
}

/// `kv.put(store, key, value)`: sets the value of a key.
fn put(_: &Run, args: Args<'_>) -> Answer {
    let (contents, key, value) = (store(args)?, bytes(args, 1)?, bytes(args, 2)?);
    contents.values.borrow_mut().insert(key, value);
    Ok(Value::Nil)
}

/// `kv.delete(store, key)`: removes a key. Returns whether it had a value.
fn delete(_: &Run, args: Args<'_>) -> Answer {
    let (contents, key) = (store(args)?, bytes(args, 1)?);
    Ok(Value::Boolean(contents.values.borrow_mut().remove(&key).is_some()))
}

/// `kv.close(store)`: closes a store. Does nothing if it is closed.
fn close(_: &Run, args: Args<'_>) -> Answer {
    args.get::<UserDataRef<Store>>(0)?.closed.set(true);
    Ok(Value::Nil)
}

/// Returns the contents of the store in the first argument.
fn store(args: Args<'_>) -> Result<Rc<Contents>, Failure> {
    let store = args.get::<UserDataRef<Store>>(0)?;
    if store.closed.get() { Err(Failure::error("the store is closed")) } else { Ok(Rc::clone(&store.contents)) }
}

fn bytes(args: Args<'_>, index: usize) -> Result<Vec<u8>, Failure> {
    Ok(args.get::<LuaString>(index)?.as_bytes().to_vec())
}
