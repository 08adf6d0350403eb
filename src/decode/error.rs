//! What is wrong with a line, and where.

use std::borrow::Cow;
use std::fmt;

/// Why a line is not an event, and at which of its bytes that shows.
///
/// Printed as `expected A, found B`; what is quoted from the line has its control characters escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    pub(crate) offset: usize,
    pub(crate) kind: DecodeErrorKind,
    pub(crate) expected: Cow<'static, str>,
    pub(crate) found: Cow<'static, str>,
}

/// The kinds of fault a line can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The line ends before the event does. Blamed is one past the last byte.
    UnexpectedEnd,
    /// A byte that can't be part of UTF-8. Blamed is the first such byte.
    NotUtf8,
    /// A byte order mark, which JSON does not allow.
    ByteOrderMark,
    /// Something that RFC 8259 refuses: a bare word, a missing comma, a number it does not know, a raw control
    /// character in a string. Blamed is the token, in a string the byte.
    Syntax,
    /// An escape that JSON does not have. Blamed is its backslash.
    BadEscape,
    /// An escape for half a surrogate pair. Blamed is its backslash.
    LoneSurrogate,
    /// Something after the event's object. Blamed is its first byte.
    TrailingBytes,
    /// Values nested deeper than [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH). Blamed is the object that goes too far.
    TooDeep,
    /// A value of another type than the schema's. Blamed is its first byte.
    WrongType,
    /// A number outside its range, or not a whole one. Blamed is its first byte.
    OutOfRange,
    /// A key that the object does not have. Blamed is its opening quote.
    UnknownKey,
    /// A key given twice. Blamed is the second one's opening quote.
    RepeatedKey,
    /// A key that is not given. Blamed is the closing brace of the object that lacks it.
    MissingKey,
    /// A name outside a closed set. Blamed is its opening quote.
    UnknownName,
    /// A trace of another format version.
    UnsupportedVersion,
    /// An event where the header has to stand.
    NoHeader,
    /// A header where only events may stand.
    SecondHeader,
}

impl DecodeError {
    pub(crate) fn new(
        offset: usize,
        kind: DecodeErrorKind,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { offset, kind, expected: expected.into(), found: found.into() }
    }

    /// The byte that is blamed, counted from the line's first, which is 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The kind of fault.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// What the schema asks for at that place.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What stands there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for DecodeError {}
