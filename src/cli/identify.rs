//! Tells a trace from other files, so that a file that is no trace is one sentence and not an error for each line.

use std::io::{self, Cursor, Read};

use cove_trace::TRACE_FORMAT_VERSION;
use cove_trace::decode::Decoder;

/// The number of lines at the beginning of a file of which one has to be a header or an event.
const LINES: usize = 1000;
/// The most bytes of these lines that are read.
const BYTES: usize = 4 * 1024 * 1024;

/// Returns a reader of all of `source`, or an error that says what it is instead of a trace.
///
/// Reads no further than the first line that is a header or an event, so a trace that is still being written is shown
/// without delay.
pub(crate) fn trace_from(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::new();
    match look(&mut source, &mut head) {
        Ok(None) => Ok(Box::new(Cursor::new(head).chain(source))),
        Ok(Some(what)) => Err(io::Error::new(io::ErrorKind::InvalidInput, what)),
        // The bytes before the error may be of use. The reader gets the error after them.
        Err(error) => Ok(Box::new(Cursor::new(head).chain(Broken(Some(error))))),
    }
}

/// Returns what `source` is if it is no trace. Appends the bytes that were read to `head`.
pub(crate) fn look(source: &mut impl Read, head: &mut Vec<u8>) -> io::Result<Option<String>> {
    let mut decoder = Decoder::new();
    let (mut lines, mut start, mut searched) = (0, 0, 0);
    let mut buffer = [0; 16 * 1024];
    let is_at_end = loop {
        while lines < LINES
            && let Some(at) = memchr::memchr(b'\n', &head[searched..])
        {
            let line = &head[start..searched + at];
            (start, searched, lines) = (searched + at + 1, searched + at + 1, lines + 1);
            if is_of_a_trace(&mut decoder, line) {
                return Ok(None);
            }
            if let Some(version) = version_of(line) {
                return Ok(Some(of_version(version)));
            }
        }
        searched = head.len();
        if lines >= LINES || head.len() >= BYTES {
            break false;
        }
        match source.read(&mut buffer) {
            Ok(0) => break true,
            Ok(read) => head.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    let rest = &head[start..];
    // The last line may have no newline, be cut off, or be longer than was read.
    let may_be_line = lines < LINES && (is_of_a_trace(&mut decoder, rest) || is_beginning(rest));
    if may_be_line || lines == 0 && !is_at_end {
        return Ok(None);
    }
    Ok(Some(version_of(rest).map_or_else(|| format!("not a trace: {}", described(head)), of_version)))
}

fn of_version(version: u64) -> String {
    format!("a trace of version {version}; this program reads version {TRACE_FORMAT_VERSION} and no other")
}

fn is_of_a_trace(decoder: &mut Decoder, line: &[u8]) -> bool {
    decoder.decode_event(line).is_ok() || decoder.decode_header(line).is_ok()
}

/// Whether a line that is cut off may have been a line of a trace.
fn is_beginning(line: &[u8]) -> bool {
    const START: &[u8] = br#"{"event":""#;
    line.starts_with(START) || (!line.is_empty() && START.starts_with(line))
}

/// Returns the version that a header states, if it is another one than this program reads.
fn version_of(line: &[u8]) -> Option<u64> {
    let header: serde_json::Value = serde_json::from_slice(line).ok()?;
    let version = header.get("version")?.as_u64()?;
    (header.get("event")? == "trace_header" && version != u64::from(TRACE_FORMAT_VERSION)).then_some(version)
}

/// Says what a file looks like.
fn described(head: &[u8]) -> String {
    const OTHERS: [(&[u8], &str); 7] = [
        (b"\xfd7zXZ\0", "it is xz data; decompress it with xz -dc"),
        (b"BZh", "it is bzip2 data; decompress it with bzip2 -dc"),
        (b"PK\x03\x04", "it is a ZIP archive; extract the trace first"),
        (b"\x04\x22\x4d\x18", "it is LZ4 data; decompress it with lz4 -dc"),
        (b"\xff\xfe", "it is UTF-16 text; convert it to UTF-8"),
        (b"\xfe\xff", "it is UTF-16 text; convert it to UTF-8"),
        (b"\x7fELF", "it is a program"),
    ];
    let named = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what);
    let text = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match (named, text) {
        (Some(what), _) => what.to_owned(),
        (None, None) => "it is empty; a trace begins with a trace_header".to_owned(),
        _ if head.get(1) == Some(&0) => "it is UTF-16 text or binary data".to_owned(),
        _ if head.contains(&0) => "it is binary data".to_owned(),
        (None, Some(b'{' | b'[')) => "it is JSON of another kind; a trace begins with a trace_header".to_owned(),
        _ => "it is text of another kind; a trace begins with a trace_header".to_owned(),
    }
}

/// Gives its error once, and then its end.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
