//! `files`: the files in one directory. Their contents are bytes, as all text in Lua.

use std::cell::RefCell;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use mlua::{LuaString, UserDataRef, Value};

use crate::runtime::Run;
use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("files", "list", "files.read", list).taking("the name of a folder"),
        Operation::new("files", "read", "files.read", read).taking("the name of a file"),
        Operation::new("files", "open", "files.read", open).taking("the name of a file"),
        Operation::new("files", "line", "files.read", line).taking("a file"),
        Operation::new("files", "close", "files.read", close).taking("a file"),
        Operation::new("files", "write", "files.write", write).taking("the name of a file, and what is to be in it"),
    ]
}

/// A file that a script has opened.
pub(crate) struct File {
    id: i64,
    /// `None` once it is closed.
    lines: RefCell<Option<BufReader<fs::File>>>,
}

impl File {
    /// Creates the handle of a recorded file, without a file.
    pub(crate) fn replayed(id: i64) -> Self {
        Self { id, lines: RefCell::default() }
    }

    /// The host's number for it.
    pub(crate) fn id(&self) -> i64 {
        self.id
    }
}

/// `files.list(folder)`: returns the names of the files in a folder, sorted.
fn list(run: &Run, args: Args<'_>) -> Answer {
    let folder = args.get::<String>(0)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(resolve(run, &folder)?).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        if entry.file_type().map_err(failure)?.is_file() {
            names.push(Path::new(&folder).join(entry.file_name()).to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(Value::Table(args.lua.create_sequence_from(names)?))
}

/// `files.read(name)`: returns the contents of a file.
fn read(run: &Run, args: Args<'_>) -> Answer {
    let name = args.get::<String>(0)?;
    let bytes = fs::read(resolve(run, &name)?).map_err(failure)?;
    Ok(Value::String(args.lua.create_string(bytes)?))
}

/// `files.open(name)`: opens a file, to read it line by line.
fn open(run: &Run, args: Args<'_>) -> Answer {
    let name = args.get::<String>(0)?;
    let file = fs::File::open(resolve(run, &name)?).map_err(failure)?;
    let file = File { id: run.next_handle(), lines: RefCell::new(Some(BufReader::new(file))) };
    Ok(Value::UserData(args.lua.create_any_userdata(file)?))
}

/// `files.line(file)`: returns the next line, or nil at the end.
fn line(_: &Run, args: Args<'_>) -> Answer {
    let file = args.get::<UserDataRef<File>>(0)?;
    let mut line = Vec::new();
    let mut lines = file.lines.borrow_mut();
    let lines = lines.as_mut().ok_or_else(|| Failure::error("the file is closed"))?;
    if lines.read_until(b'\n', &mut line).map_err(failure)? == 0 {
        return Ok(Value::Nil);
    }
    Ok(Value::String(args.lua.create_string(line.strip_suffix(b"\n").unwrap_or(&line))?))
}

/// `files.close(file)`: closes a file. Does nothing if it is closed.
fn close(_: &Run, args: Args<'_>) -> Answer {
    args.get::<UserDataRef<File>>(0)?.lines.take();
    Ok(Value::Nil)
}

/// `files.write(name, bytes)`: creates or replaces a file.
fn write(run: &Run, args: Args<'_>) -> Answer {
    let name = args.get::<String>(0)?;
    let bytes = args.get::<LuaString>(1)?;
    fs::write(resolve(run, &name)?, bytes.as_bytes()).map_err(failure)?;
    Ok(Value::Nil)
}

/// Returns the path of a file. It cannot lead out of the directory.
fn resolve(run: &Run, name: &str) -> Result<PathBuf, Failure> {
    let name = Path::new(name);
    if name.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(run.files().join(name))
    } else {
        Err(Failure::error("a name that leads out of the files"))
    }
}

/// Converts an error. The message must not contain the path, which is an argument.
fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::error("no such file"),
        kind => Failure::error(kind.to_string()),
    }
}
