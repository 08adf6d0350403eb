//! The tokens of a line, on the slow path.

use super::error::{DecodeError, DecodeErrorKind, quoted};
use super::number::{self, Grammar};
use super::schema::Key;
use super::scratch::Scratch;
use super::simd::{self, Plain, UnescapeBuffer, up_to_quote};
use crate::arena::Arena;
use crate::cost::count_examined;

/// The result of the slow path. The error is boxed: it is rare, and most values that are passed up are small.
pub(super) type Decoded<T> = Result<T, Box<DecodeError>>;

/// A line that is being decoded. Methods without another name for it read the token at hand, the one at `at`.
pub(super) struct Lexer<'a, 's> {
    /// The line, up to the first byte that is not UTF-8.
    pub(super) text: &'a str,
    /// Whether `text` ends before a byte that is not UTF-8.
    pub(super) is_cut: bool,
    pub(super) at: usize,
    /// The number of values around the value at hand.
    pub(super) depth: usize,
    pub(super) arena: &'a Arena,
    pub(super) scratch: &'s mut Scratch<'a>,
    /// The number of objects in `scratch.skipped` that start before the one that was looked up last.
    pub(super) skipped_used: usize,
}

impl<'a, 's> Lexer<'a, 's> {
    pub(super) fn new(line: &'a [u8], arena: &'a Arena, scratch: &'s mut Scratch<'a>) -> Self {
        let (text, is_cut) = match simd::text(line) {
            Some(text) => (text, false),
            None => (line.utf8_chunks().next().map_or("", |chunk| chunk.valid()), true),
        };
        Self { text, is_cut, at: 0, depth: 0, arena, scratch, skipped_used: 0 }
    }

    /// Goes back to the start of the line.
    pub(super) fn restart(&mut self) {
        (self.at, self.depth, self.skipped_used) = (0, 0, 0);
        self.scratch.values.clear();
        self.scratch.fields.clear();
        self.scratch.skipped.clear();
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes()[self.at..]
    }

    /// Returns the byte at hand.
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

    #[inline]
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Decoded<()> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a colon and the white space around it.
    #[inline]
    pub(super) fn colon(&mut self) -> Decoded<()> {
        self.white_space();
        if self.peek() != Some(b':') {
            return Err(self.misplaced("`:`"));
        }
        self.at += 1;
        self.white_space();
        Ok(())
    }

    /// Passes the white space after the line's object.
    pub(super) fn end(&mut self) -> Decoded<()> {
        self.white_space();
        match self.peek() {
            None if self.is_cut => Err(self.end_of_text("the end of the line")),
            None => Ok(()),
            Some(_) => Err(self.fault(self.at, DecodeErrorKind::TrailingBytes, "the end of the line", self.found())),
        }
    }

    /// Returns whether another item of an array follows, and passes the comma before it or the closing bracket.
    #[inline]
    pub(super) fn next_item(&mut self, is_first: &mut bool) -> Decoded<bool> {
        self.white_space();
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                return Ok(false);
            }
            _ if std::mem::take(is_first) => return Ok(true),
            Some(b',') => self.at += 1,
            _ => return Err(self.misplaced("`,` or `]`")),
        }
        self.white_space();
        if self.peek() == Some(b']') {
            return Err(self.misplaced("another item"));
        }
        Ok(true)
    }

    /// Passes a key. Returns `None` if no object has such a key.
    #[inline(always)]
    pub(super) fn key(&mut self) -> Decoded<Option<Key>> {
        match Key::at_start(self.rest()) {
            Some((key, len)) => {
                self.at += len;
                Ok(Some(key))
            }
            None => self.unusual_key(),
        }
    }

    #[inline(never)]
    fn unusual_key(&mut self) -> Decoded<Option<Key>> {
        if self.peek() != Some(b'"') {
            return Err(self.misplaced("a key"));
        }
        self.string("a key").map(Key::parse)
    }

    /// Reads a string. It borrows from the line unless it holds an escape.
    #[inline]
    pub(super) fn string(&mut self, expected: &'static str) -> Decoded<&'a str> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        if let Some(plain) = self.plain_string() {
            return Ok(plain);
        }
        let start = self.at + 1;
        let clean = self.pass_checked_string()?;
        let unescaped = UnescapeBuffer::default().unescape(&self.bytes()[start..self.at], clean, self.arena);
        Ok(unescaped.map(|(text, _)| text).expect("the string was checked"))
    }

    /// Passes a string if it is valid.
    #[inline]
    pub(super) fn pass_string(&mut self) -> Decoded<()> {
        match self.plain_string() {
            Some(_) => Ok(()),
            None => self.pass_checked_string().map(drop),
        }
    }

    /// Reads a string without escapes and faults. The opening quote is at hand.
    #[inline]
    fn plain_string(&mut self) -> Option<&'a str> {
        let plain = up_to_quote(self.text, self.at + 1)?;
        self.at += plain.len() + 2;
        Some(plain)
    }

    /// Passes a string if it is valid. Returns the number of bytes before its first escape. The opening quote is at
    /// hand.
    #[inline(never)]
    fn pass_checked_string(&mut self) -> Decoded<usize> {
        let bytes = self.bytes();
        let start = self.at + 1;
        let clean = Plain::text(&bytes[start..]).len();
        let mut at = start + clean;
        loop {
            match bytes.get(at) {
                None => return Err(self.end_of_string()),
                Some(b'"') => break,
                Some(b'\\') => at += self.escape_len(at)?,
                Some(byte) => {
                    let expected = "no raw control character in a string";
                    return Err(self.fault(at, DecodeErrorKind::Syntax, expected, format!("the byte 0x{byte:02x}")));
                }
            }
            at += Plain::text(&bytes[at..]).len();
        }
        self.at = at + 1;
        Ok(clean)
    }

    /// Returns the length of the escape whose backslash is at `at`. A surrogate pair is one escape.
    fn escape_len(&self, at: usize) -> Decoded<usize> {
        match self.bytes().get(at + 1) {
            None => Err(self.end_of_string()),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') => match self.code_unit(at)? {
                0xd800..0xdc00 => self.check_low_surrogate(at).map(|()| 12),
                0xdc00..0xe000 => Err(self.lone_surrogate(at)),
                _ => Ok(6),
            },
            Some(_) => Err(self.bad_escape(at)),
        }
    }

    /// Returns the number in the `\uXXXX` whose backslash is at `at`.
    fn code_unit(&self, at: usize) -> Decoded<u32> {
        let mut unit = 0;
        for index in at + 2..at + 6 {
            let byte = self.bytes().get(index).ok_or_else(|| self.end_of_string())?;
            unit = unit << 4 | char::from(*byte).to_digit(16).ok_or_else(|| self.bad_escape(at))?;
        }
        Ok(unit)
    }

    /// Checks that the low half of a surrogate pair follows the high half at `at`. The text may end inside it only if
    /// its beginning could be one.
    fn check_low_surrogate(&self, at: usize) -> Decoded<()> {
        let fits = |index: usize, byte: u8| match index {
            0 => byte == b'\\',
            1 => byte == b'u',
            2 => matches!(byte, b'd' | b'D'),
            3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
            _ => byte.is_ascii_hexdigit(),
        };
        for index in 0..6 {
            match self.bytes().get(at + 6 + index) {
                None => return Err(self.end_of_string()),
                Some(byte) if !fits(index, *byte) => return Err(self.lone_surrogate(at)),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the letters and digits at hand.
    pub(super) fn word(&self) -> &'a str {
        let len = self.rest().iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(self.rest().len());
        count_examined(len);
        &self.text[self.at..self.at + len]
    }

    /// Passes `word`, one of [`WORDS`], if it is at hand.
    pub(super) fn take_word(&mut self, word: &'static str) -> bool {
        let found = self.word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn bool(&mut self) -> Decoded<bool> {
        let is_true = self.take_word("true");
        if is_true || self.take_word("false") { Ok(is_true) } else { Err(self.unexpected("true or false")) }
    }

    /// Reads a name of a closed set.
    pub(super) fn member_of<T>(
        &mut self,
        set: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Decoded<T> {
        let start = self.at;
        let name = self.string(set)?;
        parse(name).ok_or_else(|| {
            self.fault(start, DecodeErrorKind::UnknownName, format!("{set}: one of {expected}"), quoted(name))
        })
    }

    pub(super) fn unsigned(&mut self) -> Decoded<u64> {
        self.integer(number::unsigned, UNSIGNED)
    }

    pub(super) fn unsigned_or_null(&mut self) -> Decoded<Option<u64>> {
        if self.take_null() { Ok(None) } else { self.integer(number::unsigned, UNSIGNED_OR_NULL).map(Some) }
    }

    pub(super) fn signed(&mut self) -> Decoded<i64> {
        self.integer(number::signed, SIGNED)
    }

    #[inline]
    fn integer<N>(&mut self, parse: impl Fn(&'a [u8]) -> Option<(N, &'a [u8])>, expected: &'static str) -> Decoded<N> {
        match parse(self.rest()) {
            Some((number, rest)) if !rest.first().is_some_and(number::is_part) => {
                count_examined(self.rest().len() - rest.len());
                self.at = self.text.len() - rest.len();
                Ok(number)
            }
            _ => {
                let start = self.at;
                let token = self.number(expected)?;
                Err(self.out_of_range(start, expected, token))
            }
        }
    }

    pub(super) fn float(&mut self) -> Decoded<f64> {
        if let Some((number, len)) = self.short_float() {
            self.at += len;
            return Ok(number);
        }
        let start = self.at;
        let token = self.number(FLOAT)?;
        match number::parse_float(token) {
            Some(number) => Ok(number),
            // The rest of a negative exponent may be missing.
            None if self.at == self.text.len() && !self.is_cut => Err(self.end_of_text("the rest of the number")),
            None => Err(self.out_of_range(start, FLOAT, token)),
        }
    }

    /// Passes a number of any kind.
    pub(super) fn pass_number(&mut self) -> Decoded<()> {
        match self.short_float() {
            Some((_, len)) => {
                self.at += len;
                Ok(())
            }
            None => self.number("a value").map(drop),
        }
    }

    /// Returns the number at hand and its length, unless it is long or wrong.
    #[inline]
    fn short_float(&self) -> Option<(f64, usize)> {
        let (number, rest) = number::short_float(self.rest())?;
        let len = self.rest().len() - rest.len();
        count_examined(len);
        (!rest.first().is_some_and(number::is_part)).then_some((number, len))
    }

    /// Passes a number and returns its token.
    fn number(&mut self, expected: &'static str) -> Decoded<&'a str> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected(expected));
        }
        let token = self.number_run();
        match number::grammar(token.as_bytes()) {
            Grammar::Number => {
                self.at += token.len();
                Ok(token)
            }
            Grammar::Begun if self.at + token.len() == self.text.len() => {
                Err(self.end_of_text("the rest of the number"))
            }
            Grammar::Begun | Grammar::Wrong => {
                Err(self.fault(self.at, DecodeErrorKind::Syntax, "a number as JSON writes it", self.found()))
            }
        }
    }

    /// Returns everything at hand that could be meant as one number.
    pub(super) fn number_run(&self) -> &'a str {
        &self.text[self.at..self.at + number::run_len(self.rest())]
    }

    pub(super) fn take_null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.take_word("null")
    }
}

const UNSIGNED: &str = "a whole number from 0 to 18446744073709551615";
const UNSIGNED_OR_NULL: &str = "null or a whole number from 0 to 18446744073709551615";
const SIGNED: &str = "a whole number from -9223372036854775808 to 9223372036854775807";
const FLOAT: &str = "a number that a 64-bit float can hold";
