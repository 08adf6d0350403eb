//! Errors: what is wrong with a line, and where.

use std::borrow::Cow;
use std::fmt;

use super::lexer::Lexer;

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

impl Lexer<'_, '_> {
    /// The error for what is at hand when a value of another type has to stand here.
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

    /// The error for what is at hand when it can't stand here, whatever the schema: it is the syntax that is broken.
    #[cold]
    pub(super) fn misplaced(&self, expected: &'static str) -> Box<DecodeError> {
        let kind = match self.text[self.at..].chars().next() {
            None => return self.end_of_text(expected),
            Some('\u{feff}') => DecodeErrorKind::ByteOrderMark,
            Some(_) => DecodeErrorKind::Syntax,
        };
        self.fault(self.at, kind, expected, self.found())
    }

    /// Whether the text ends inside what could have become `true`, `false` or `null`.
    pub(super) fn ends_inside_a_word(&self) -> bool {
        let word = self.word();
        self.at + word.len() == self.text.len() && !word.is_empty() && WORDS.iter().any(|whole| whole.starts_with(word))
    }

    /// The error for a text that has ended too soon, or that can't go on as UTF-8.
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

    /// What is at hand, for a message.
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

/// The values that are bare words.
pub(super) const WORDS: [&str; 3] = ["true", "false", "null"];

/// Characters of a line that a message quotes at most.
const SHOWN: usize = 40;

/// Characters of the longest escape.
const ESCAPE: usize = "\\u0000".len();

/// `text` in quotes, control characters escaped, as far as a message shows it.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// `text`, as far as a message shows it.
pub(super) fn shortened(text: &str) -> String {
    let shown = beginning(text, SHOWN);
    if shown.len() < text.len() { format!("{shown}...") } else { shown.to_owned() }
}

/// The first characters of `text`.
fn beginning(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}
