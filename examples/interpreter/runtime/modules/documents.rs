//! `documents`: the files in one directory.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Dynamic, ImmutableString};

use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::task::Task;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new("documents", "list", "documents.read", 1, list).taking("the name of a folder"),
        Operation::new("documents", "read", "documents.read", 1, read).taking("the name of a document"),
        Operation::new("documents", "open", "documents.read", 1, open).taking("the name of a document"),
        Operation::new("documents", "line", "documents.read", 1, line).taking("a document"),
        Operation::new("documents", "write", "documents.write", 2, write).taking("the name of a document, and a text"),
    ]
}

/// A document that a script has opened.
#[derive(Clone)]
pub(crate) struct Document {
    id: i64,
    /// `None` in a replay.
    lines: Option<Arc<Mutex<BufReader<File>>>>,
}

impl Document {
    /// Creates the handle of a recorded document, without a file.
    pub(crate) fn replayed(id: i64) -> Self {
        Self { id, lines: None }
    }

    /// The host's number for it.
    pub(crate) fn id(&self) -> i64 {
        self.id
    }
}

/// `documents::list(folder)`: returns the names of the documents in a folder, sorted.
fn list(task: &Arc<Task>, args: Args<'_>) -> Answer {
    let folder = args.get::<ImmutableString>(0)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(resolve(task, &folder)?).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        if entry.file_type().map_err(failure)?.is_file() {
            names.push(Path::new(folder.as_str()).join(entry.file_name()).to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names.into_iter().map(Dynamic::from).collect::<Vec<_>>().into())
}

/// `documents::read(name)`: returns the text of a document.
fn read(task: &Arc<Task>, args: Args<'_>) -> Answer {
    let name = args.get::<ImmutableString>(0)?;
    Ok(fs::read_to_string(resolve(task, &name)?).map_err(failure)?.into())
}

/// `documents::open(name)`: opens a document, to read it line by line.
fn open(task: &Arc<Task>, args: Args<'_>) -> Answer {
    static NUMBER: AtomicI64 = AtomicI64::new(1);
    let name = args.get::<ImmutableString>(0)?;
    let file = File::open(resolve(task, &name)?).map_err(failure)?;
    let lines = Some(Arc::new(Mutex::new(BufReader::new(file))));
    Ok(Dynamic::from(Document { id: NUMBER.fetch_add(1, Ordering::Relaxed), lines }))
}

/// `documents::line(document)`: returns the next line, or `()` at the end.
fn line(_: &Arc<Task>, args: Args<'_>) -> Answer {
    let document = args.get::<Document>(0)?;
    let lines = document.lines.ok_or_else(|| Failure::error("a document of another run"))?;
    let mut line = String::new();
    let read = lines.lock().unwrap_or_else(PoisonError::into_inner).read_line(&mut line).map_err(failure)?;
    if read == 0 {
        return Ok(Dynamic::UNIT);
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line.into())
}

/// `documents::write(name, text)`: creates or replaces a document.
fn write(task: &Arc<Task>, args: Args<'_>) -> Answer {
    let name = args.get::<ImmutableString>(0)?;
    let text = args.get::<ImmutableString>(1)?;
    fs::write(resolve(task, &name)?, text.as_str()).map_err(failure)?;
    Ok(Dynamic::UNIT)
}

/// Returns the path of a document. It cannot lead out of the directory.
fn resolve(task: &Arc<Task>, name: &str) -> Result<PathBuf, Failure> {
    let name = Path::new(name);
    if name.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(task.run().documents().join(name))
    } else {
        Err(Failure::error("a name that leads out of the documents"))
    }
}

/// Converts an error. The message must not contain the path, which is an argument.
fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::error("no such document"),
        kind => Failure::error(kind.to_string()),
    }
}
