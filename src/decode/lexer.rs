//! The tokens of a line, and what to say when one is not what it should be.

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::scratch::Scratch;
use super::unescape::Room;
use super::{scan, string, utf8};
use crate::arena::Arena;
use crate::cost::count_examined;

/// The result of a step. The error is boxed: it is rare, and the values that are passed up are small.
pub(super) type Step<T> = Result<T, Box<DecodeError>>;

/// A line being taken apart.
pub(super) struct Lexer<'a, 's> {
    /// The line, as far as it is UTF-8.
    pub(super) text: &'a str,
    /// The line goes on after `text`, with a byte that is not UTF-8.
    goes_on: bool,
    pub(super) at: usize,
    pub(super) arena: &'a Arena,
    pub(super) scratch: &'s mut Scratch<'a>,
    /// How far the objects in `scratch.passed` were used again.
    pub(super) passed_used: usize,
}

impl<'a, 's> Lexer<'a, 's> {
    pub(super) fn new(line: &'a [u8], arena: &'a Arena, scratch: &'s mut Scratch<'a>) -> Self {
        let (text, goes_on) = match utf8::text(line) {
            Some(text) => (text, false),
            None => (valid_start(line), true),
        };
        Self { text, goes_on, at: 0, arena, scratch, passed_used: 0 }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Whether the line ends at hand, and not only as far as it is UTF-8.
    pub(super) fn at_end(&self) -> bool {
        self.at == self.text.len() && !self.goes_on
    }

    /// The byte at hand, if the text has not ended.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        count_examined(1);
        self.bytes().get(self.at).copied()
    }

    /// Passes JSON white space.
    #[inline]
    pub(super) fn white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Passes `byte`, which has to come next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Step<()> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// After the line's object: nothing but white space.
    pub(super) fn end(&mut self) -> Step<()> {
        self.white_space();
        match self.peek() {
            None if self.goes_on => Err(self.end_of_text("the end of the line")),
            None => Ok(()),
            Some(_) => Err(self.fault(self.at, DecodeErrorKind::TrailingBytes, "the end of the line", self.found())),
        }
    }

    /// A string: its text, borrowed from the line when it holds no escape.
    #[inline]
    pub(super) fn string(&mut self, expected: &'static str) -> Step<&'a str> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let start = self.at + 1;
        if let Some(plain) = self.plain_string() {
            return Ok(plain);
        }
        let literal = self.string_literal()?;
        if literal.clean == literal.raw.len() {
            return Ok(literal.raw);
        }
        let unescaped = Room::default().unescape(&self.bytes()[start..self.at], literal.clean, self.arena);
        // It is checked already.
        Ok(unescaped.map(|(text, _)| text).unwrap_or_default())
    }

    /// A string without escapes and without a fault, which most are. The opening quote is at hand.
    #[inline]
    fn plain_string(&mut self) -> Option<&'a str> {
        let plain = scan::up_to_quote(self.text, self.at + 1)?;
        self.at += plain.len() + 2;
        Some(plain)
    }

    /// Passes the string at hand, if it is right.
    #[inline]
    pub(super) fn pass_string(&mut self) -> Step<()> {
        match self.plain_string() {
            Some(_) => Ok(()),
            None => self.string_literal().map(drop),
        }
    }

    /// A string as it stands in the line, checked. The opening quote is at hand.
    #[inline(never)]
    fn string_literal(&mut self) -> Step<string::Literal<'a>> {
        match string::Literal::read(self.text, self.at + 1) {
            Ok(literal) => {
                self.at += literal.raw.len() + 2;
                Ok(literal)
            }
            Err(string::Fault::Ended) => Err(self.end_of_text("the rest of the string")),
            Err(string::Fault::ControlCharacter(at)) => Err(self.fault(
                at,
                DecodeErrorKind::Syntax,
                "no raw control character in a string",
                format!("the byte 0x{:02x}", self.bytes()[at]),
            )),
            Err(string::Fault::BadEscape(at)) => Err(self.fault(
                at,
                DecodeErrorKind::BadEscape,
                "an escape that JSON has",
                format!("{:?}", beginning(self.text.get(at..).unwrap_or_default(), ESCAPE)),
            )),
            Err(string::Fault::LoneSurrogate(at)) => Err(self.fault(
                at,
                DecodeErrorKind::LoneSurrogate,
                "both halves of a surrogate pair",
                format!("{:?}", beginning(self.text.get(at..).unwrap_or_default(), ESCAPE)),
            )),
        }
    }

    /// A run of letters and digits, as far as it goes.
    pub(super) fn word(&self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        count_examined(end);
        &rest[..end]
    }

    /// Passes the bare word `word` (`true`, `false`, `null`) if that is what comes next, whole.
    pub(super) fn take_word(&mut self, word: &'static str) -> bool {
        let found = self.word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

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
        if self.goes_on {
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
}

/// What comes before the first byte that is not UTF-8.
#[cold]
fn valid_start(line: &[u8]) -> &str {
    line.utf8_chunks().next().map_or("", |chunk| chunk.valid())
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
