//! Positions in a trace, and the extent of a part.

/// A position in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The physical line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
    /// The byte offset in the file.
    pub offset: u64,
}

/// The extent of a part of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The number of physical lines, including blank and faulty ones and an unterminated last one.
    pub lines: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl Extent {
    pub(crate) fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.bytes += more.bytes;
    }
}
