//! `console`: the terminal.

use std::io::{self, Write};

use mlua::Value;

use crate::runtime::Run;
use crate::runtime::failure::Failure;
use crate::runtime::host::{Answer, Args, Operation};
use crate::runtime::shown::Shown;

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::new("console", "print", "console", print).showing(line)]
}

/// `console.print(...)`: prints a line to standard output.
fn print(_: &Run, args: Args<'_>) -> Answer {
    io::stdout().lock().write_all(&line(args)?).map_err(|error| Failure::error(error.kind().to_string()))?;
    Ok(Value::Nil)
}

fn line(args: Args<'_>) -> mlua::Result<Vec<u8>> {
    let mut line = Vec::new();
    for (index, value) in args.values.iter().enumerate() {
        if index > 0 {
            line.push(b'\t');
        }
        match args.lua.coerce_string(value.clone())? {
            Some(text) => line.extend_from_slice(&text.as_bytes()),
            None => line.extend_from_slice(Shown(value).to_string().as_bytes()),
        }
    }
    line.push(b'\n');
    Ok(line)
}
