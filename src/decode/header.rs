//! The header, which has no fast path: a trace has one, and its strings are owned.

use super::error::DecodeErrorKind;
use super::lexer::{Decoded, Lexer};
use super::object::{initial, read_object};
use super::schema::{HeaderKind, Key, LineKind, header};
use crate::event::{TRACE_FORMAT_VERSION, TraceHeader};
use crate::names::{RecordingBackend, ValueCapture};

impl<'a> Lexer<'a, '_> {
    /// Reads a line that has to be the header.
    pub(super) fn header_line(&mut self) -> Decoded<TraceHeader> {
        let (kind, name) = self.line_kind()?;
        let LineKind::Event(kind) = kind else {
            let header = self.header()?;
            self.end()?;
            return Ok(header);
        };
        let misplaced = self.fault(name, DecodeErrorKind::NoHeader, "a trace_header first", "an event");
        let fault = self.event(kind).and_then(|_| self.end()).err();
        Err(fault.filter(|fault| fault.offset < name).unwrap_or(misplaced))
    }

    pub(super) fn header(&mut self) -> Decoded<TraceHeader> {
        self.check_version()?;
        macro_rules! read_header {
            (
                ;
                $kind:ident $name:literal { $($($member:ident)+: $read:ident($($key:ident)+)),* } => $result:expr;
            ) => {
                read_object!(self, HeaderKind::$kind.shape(), {
                    $($($member)+: $read($($key)+)),*
                } => Ok($result))
            };
        }
        header!(read_header)
    }

    /// Rejects a header of another version before the rest of it is read, because its other keys are unknown. A header
    /// that is not JSON is left to the reading that follows.
    fn check_version(&mut self) -> Decoded<()> {
        let start = self.at;
        let expected = format!("trace format version {TRACE_FORMAT_VERSION}, the only one that this build reads");
        if let Some(version) = self.find(Key::Version) {
            self.at = version;
            let found = self.found();
            if self.pass_value().is_ok() && self.text[version..self.at] != *TRACE_FORMAT_VERSION.to_string() {
                return Err(self.fault(version, DecodeErrorKind::UnsupportedVersion, expected, found));
            }
        } else if self.pass_value().is_ok() {
            let found = "a header that has no version";
            return Err(self.fault(self.at - 1, DecodeErrorKind::UnsupportedVersion, expected, found));
        }
        self.at = start;
        Ok(())
    }

    /// Reads the version, which was checked.
    fn version(&mut self) -> Decoded<u64> {
        self.unsigned()
    }

    fn backend(&mut self) -> Decoded<RecordingBackend> {
        self.member_of("a backend", RecordingBackend::EXPECTED, RecordingBackend::parse)
    }

    fn capture(&mut self) -> Decoded<ValueCapture> {
        self.member_of("a value capture", ValueCapture::EXPECTED, ValueCapture::parse)
    }

    fn strings(&mut self) -> Decoded<Vec<String>> {
        let start = self.at;
        // They are counted first: a vector that grows takes three times the memory.
        let count = self.each_string(|_| {})?;
        self.at = start;
        let mut strings = Vec::with_capacity(count);
        self.each_string(|text| strings.push(text.to_owned()))?;
        Ok(strings)
    }

    /// Passes an array of strings to `visit`, and returns their number.
    fn each_string(&mut self, mut visit: impl FnMut(&str)) -> Decoded<usize> {
        self.expect(b'[', "an array of strings")?;
        let (mut count, mut is_first) = (0, true);
        while self.next_item(&mut is_first)? {
            visit(self.text()?);
            count += 1;
        }
        Ok(count)
    }
}
