//! JSON numbers, by RFC 8259 and by the range that the schema gives them.

use super::error::DecodeErrorKind;
use super::lexer::{Lexer, Step};

const UNSIGNED: &str = "a whole number from 0 to 18446744073709551615";
const UNSIGNED_OR_NULL: &str = "null or a whole number from 0 to 18446744073709551615";
const SIGNED: &str = "a whole number from -9223372036854775808 to 9223372036854775807";
const FLOAT: &str = "a number that a 64-bit float can hold";

impl<'a> Lexer<'a, '_> {
    pub(super) fn unsigned(&mut self) -> Step<u64> {
        self.integer(UNSIGNED)
    }

    pub(super) fn unsigned_or_null(&mut self) -> Step<Option<u64>> {
        if self.take_word("null") {
            return Ok(None);
        }
        self.integer(UNSIGNED_OR_NULL).map(Some)
    }

    pub(super) fn signed(&mut self) -> Step<i64> {
        self.integer(SIGNED)
    }

    fn integer<N: std::str::FromStr>(&mut self, expected: &'static str) -> Step<N> {
        let start = self.at;
        let token = self.number(expected)?;
        // What is a number by RFC 8259 and neither overflows nor has a sign that the type lacks, Rust reads too; a
        // fraction or an exponent it does not.
        token.parse().map_err(|_| {
            let found = format!("the number {}", &token[..token.len().min(40)]);
            self.fault(start, DecodeErrorKind::OutOfRange, expected, found)
        })
    }

    pub(super) fn float(&mut self) -> Step<f64> {
        let start = self.at;
        let token = self.number(FLOAT)?;
        match token.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            // More of a negative exponent may have been to come.
            _ if self.at_end() => Err(self.end_of_text("the rest of the number")),
            _ => {
                let found = format!("the number {}", &token[..token.len().min(40)]);
                Err(self.fault(start, DecodeErrorKind::OutOfRange, FLOAT, found))
            }
        }
    }

    /// A number's token, checked against the grammar.
    pub(super) fn number(&mut self, expected: &'static str) -> Step<&'a str> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected(expected));
        }
        let run = self.number_run();
        match grammar(run.as_bytes()) {
            Grammar::Number => {
                self.at += run.len();
                Ok(run)
            }
            Grammar::Begun if self.at + run.len() == self.text.len() => Err(self.end_of_text("the rest of the number")),
            Grammar::Begun | Grammar::Wrong => {
                Err(self.fault(self.at, DecodeErrorKind::Syntax, "a number as JSON writes it", self.found()))
            }
        }
    }

    /// Everything that someone could have meant as one number.
    pub(super) fn number_run(&self) -> &'a str {
        let rest = &self.text[self.at..];
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        &rest[..rest.bytes().position(|byte| !part(byte)).unwrap_or(rest.len())]
    }
}

enum Grammar {
    Number,
    /// The beginning of a number.
    Begun,
    Wrong,
}

/// Holds a token against `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
fn grammar(token: &[u8]) -> Grammar {
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    rest = match rest {
        [] => return Grammar::Begun,
        [b'0', rest @ ..] => rest,
        _ => match digits(rest) {
            Some(rest) => rest,
            None => return Grammar::Wrong,
        },
    };
    if let [b'.', fraction @ ..] = rest {
        rest = match (fraction, digits(fraction)) {
            ([], _) => return Grammar::Begun,
            (_, Some(rest)) => rest,
            (_, None) => return Grammar::Wrong,
        };
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        rest = match (exponent, digits(exponent)) {
            ([], _) => return Grammar::Begun,
            (_, Some(rest)) => rest,
            (_, None) => return Grammar::Wrong,
        };
    }
    if rest.is_empty() { Grammar::Number } else { Grammar::Wrong }
}

/// What follows a run of digits, if there is one.
fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    (end > 0).then(|| &bytes[end..])
}
