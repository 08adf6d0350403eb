//! The errors of decoding, and how the slow path words them.

use std::borrow::Cow;
use std::fmt;

use super::lexer::Lexer;

/// The first fault of a line, with its position.
///
/// It is displayed as `expected A, found B`. Control characters quoted from the line are escaped.
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
    /// The line ends inside the event. Offset: one past the last byte.
    UnexpectedEnd,
    /// Invalid UTF-8. Offset: the first invalid byte.
    NotUtf8,
    /// A byte order mark, which JSON does not allow.
    ByteOrderMark,
    /// Invalid JSON: a bare word, a missing comma, a malformed number, a raw control character in a string. Offset: the
    /// token, or the byte in a string.
    Syntax,
    /// An escape that JSON does not have. Offset: its backslash.
    BadEscape,
    /// An escape for half a surrogate pair. Offset: its backslash.
    LoneSurrogate,
    /// Text after the event's object. Offset: its first byte.
    TrailingBytes,
    /// Values nested deeper than [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH). Offset: the object.
    TooDeep,
    /// A value of another type than the schema's. Offset: its first byte.
    WrongType,
    /// A number outside its range, or one that is not whole. Offset: its first byte.
    OutOfRange,
    /// A key that the object does not have. Offset: its opening quote.
    UnknownKey,
    /// A repeated key. Offset: the opening quote of the second one.
    RepeatedKey,
    /// A missing key. Offset: the closing brace of its object.
    MissingKey,
    /// A name outside a closed set. Offset: its opening quote.
    UnknownName,
    /// A trace of another format version.
    UnsupportedVersion,
    /// An event in the place of the header.
    NoHeader,
    /// A header in the place of an event.
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

    /// Returns the offset of the fault in the line, in bytes from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the kind of fault.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Returns what the schema requires at the offset.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns what was found at the offset.
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

impl Lexer<'_, '_> {
    /// Returns the error for the token at hand where the schema requires a value of another type.
    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Box<DecodeError> {
        let is_value = match self.peek() {
            Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9') => true,
            _ => WORDS.contains(&self.word()),
        };
        if is_value {
            self.fault(self.at, DecodeErrorKind::WrongType, expected, self.found())
        } else if self.ends_inside_a_word() {
            self.end_of_text(expected)
        } else {
            self.misplaced(expected)
        }
    }

    /// Returns the error for the token at hand where JSON does not allow it.
    #[cold]
    pub(super) fn misplaced(&self, expected: &'static str) -> Box<DecodeError> {
        let kind = match self.text[self.at..].chars().next() {
            None => return self.end_of_text(expected),
            Some('\u{feff}') => DecodeErrorKind::ByteOrderMark,
            Some(_) => DecodeErrorKind::Syntax,
        };
        self.fault(self.at, kind, expected, self.found())
    }

    /// Returns whether the text ends inside a possible `true`, `false` or `null`.
    pub(super) fn ends_inside_a_word(&self) -> bool {
        let word = self.word();
        self.at + word.len() == self.text.len() && !word.is_empty() && WORDS.iter().any(|whole| whole.starts_with(word))
    }

    /// Returns the error for a text that ends too soon, or before a byte that is not UTF-8.
    #[cold]
    pub(super) fn end_of_text(&self, expected: &'static str) -> Box<DecodeError> {
        if self.is_cut {
            self.fault(self.text.len(), DecodeErrorKind::NotUtf8, "UTF-8", "a byte that can't be part of it")
        } else {
            self.fault(self.text.len(), DecodeErrorKind::UnexpectedEnd, expected, "the end of the line")
        }
    }

    #[cold]
    pub(super) fn fault(
        &self,
        at: usize,
        kind: DecodeErrorKind,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Box<DecodeError> {
        Box::new(DecodeError::new(at, kind, expected, found))
    }

    /// Describes the token at hand for a message.
    pub(super) fn found(&self) -> String {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            return "the end of the line".into();
        };
        match first {
            '{' => "an object".into(),
            '[' => "an array".into(),
            '"' => {
                let literal = rest[1..].split('"').next().unwrap_or_default();
                format!("the string {}", quoted(literal))
            }
            '-' | '0'..='9' => format!("the number {}", shortened(self.number_run())),
            '\u{feff}' => "a byte order mark".into(),
            _ if self.word().is_empty() => format!("{:?}", beginning(rest, 1)),
            _ => shortened(self.word()),
        }
    }

    #[cold]
    pub(super) fn end_of_string(&self) -> Box<DecodeError> {
        self.end_of_text("the rest of the string")
    }

    #[cold]
    pub(super) fn bad_escape(&self, at: usize) -> Box<DecodeError> {
        self.fault(at, DecodeErrorKind::BadEscape, "an escape that JSON has", self.shown_escape(at))
    }

    #[cold]
    pub(super) fn lone_surrogate(&self, at: usize) -> Box<DecodeError> {
        self.fault(at, DecodeErrorKind::LoneSurrogate, "both halves of a surrogate pair", self.shown_escape(at))
    }

    fn shown_escape(&self, at: usize) -> String {
        format!("{:?}", beginning(&self.text[at..], ESCAPE))
    }

    #[cold]
    pub(super) fn out_of_range(&self, start: usize, expected: &'static str, token: &str) -> Box<DecodeError> {
        self.fault(start, DecodeErrorKind::OutOfRange, expected, format!("the number {}", shortened(token)))
    }
}

/// The values that JSON writes as words.
pub(super) const WORDS: [&str; 3] = ["true", "false", "null"];

/// The maximum number of characters that a message quotes.
const SHOWN: usize = 40;

/// The number of characters of the longest escape.
const ESCAPE: usize = "\\u0000".len();

/// Returns `text` in quotes, shortened, with control characters escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// Returns `text`, cut after `SHOWN` characters.
pub(super) fn shortened(text: &str) -> String {
    let shown = beginning(text, SHOWN);
    if shown.len() < text.len() { format!("{shown}...") } else { shown.to_owned() }
}

/// Returns the first `count` characters of `text`.
fn beginning(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}
