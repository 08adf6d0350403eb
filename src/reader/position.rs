//! Positions in a trace, and the extent of a part.

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Physical lines, from 1.
    pub line: u64,
    /// Bytes in the line, from 1.
    pub column: u64,
    /// Bytes in the file, from 0.
    pub offset: u64,
}

/// The part of a trace that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Physical lines, blank and broken ones included, and an unterminated last one.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Extent {
    pub(crate) fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.bytes += more.bytes;
    }
}
