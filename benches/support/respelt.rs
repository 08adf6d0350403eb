//! The same lines as another program would write them: keys sorted, spaces after commas and colons.

use std::io::{self, Write};

use serde::Serialize as _;
use serde_json::ser::Formatter;

pub fn lines(text: &[u8]) -> Vec<u8> {
    let mut respelt = Vec::with_capacity(text.len() * 5 / 4);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let json: serde_json::Value = serde_json::from_slice(line).expect("valid JSON");
        json.serialize(&mut serde_json::Serializer::with_formatter(&mut respelt, Spaced)).expect("JSON is JSON");
        respelt.push(b'\n');
    }
    respelt
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
