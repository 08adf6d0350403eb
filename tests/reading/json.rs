//! JSON by RFC 8259, parsed the plainest way there is: a recursive descent that keeps positions, and what it had when it
//! met the first byte that is wrong. For texts that do not [nest](nesting) deep.

use cove_trace::decode::DecodeErrorKind as Kind;

/// What is wrong, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) start: usize,
    /// One past its last byte, as far as it goes.
    pub(crate) end: usize,
    pub(crate) token: Token,
}

#[derive(Debug, Clone)]
pub(crate) enum Token {
    Null,
    Bool(bool),
    Number {
        /// As it is spelt.
        text: String,
        /// The text ends with it, so that more of its digits or of its exponent may be missing.
        may_go_on: bool,
    },
    String(String),
    /// `None` when the text breaks inside of it.
    Array(Vec<Node>, Option<Close>),
    Object(Vec<Member>, Option<Close>),
    /// One that the text breaks inside of.
    PartOfString,
    PartOfNumber,
}

/// Where a bracket is closed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Close(pub(crate) usize);

#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Where its opening quote is.
    pub(crate) quote: usize,
    pub(crate) key: String,
    /// `None` when the text breaks before it.
    pub(crate) value: Option<Node>,
}

/// A text taken apart as far as it goes.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) root: Option<Node>,
    pub(crate) broken: Option<Fault>,
}

pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let (text, end) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, Kind::UnexpectedEnd),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(), Kind::NotUtf8),
    };
    let mut parser = Parser { text, at: 0, end, broken: None };
    let root = parser.value();
    if parser.broken.is_none() {
        parser.white_space();
        if parser.at < text.len() {
            parser.breaks(parser.at, Kind::TrailingBytes);
        } else if end == Kind::NotUtf8 {
            parser.ends();
        }
    }
    Parsed { root, broken: parser.broken }
}

/// How deep brackets stand inside of each other, up to the first byte that is wrong. What follows that may be counted too.
pub(crate) fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.iter();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match (in_string, byte) {
            (_, b'"') => in_string = !in_string,
            (true, b'\\') => drop(bytes.next()),
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A text that is known to be right.
pub(crate) fn parse_valid(text: &str) -> Node {
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.broken, None, "{text}");
    parsed.root.unwrap()
}

impl Node {
    pub(crate) fn members(&self) -> &[Member] {
        match &self.token {
            Token::Object(members, _) => members,
            _ => &[],
        }
    }

    /// The items of an array; of anything else, none.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.token {
            Token::Array(items, _) => items,
            _ => &[],
        }
    }

    /// This node and all below it.
    pub(crate) fn all(&self) -> Vec<&Node> {
        let mut all = vec![self];
        match &self.token {
            Token::Array(items, _) => all.extend(items.iter().flat_map(Node::all)),
            Token::Object(members, _) => {
                all.extend(members.iter().filter_map(|m| m.value.as_ref()).flat_map(Node::all));
            }
            _ => {}
        }
        all
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// What it is when the text ends too soon.
    end: Kind,
    broken: Option<Fault>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn breaks(&mut self, offset: usize, kind: Kind) {
        self.broken = Some(Fault { offset, kind });
    }

    fn ends(&mut self) {
        self.breaks(self.text.len(), self.end);
    }

    /// What is at hand can't stand there.
    fn misplaced(&mut self) {
        match self.next() {
            None => self.ends(),
            Some('\u{feff}') => self.breaks(self.at, Kind::ByteOrderMark),
            Some(_) => self.breaks(self.at, Kind::Syntax),
        }
    }

    fn white_space(&mut self) {
        while let Some(' ' | '\t' | '\r' | '\n') = self.next() {
            self.at += 1;
        }
    }

    fn take(&mut self, char: char) -> bool {
        let there = self.next() == Some(char);
        if there {
            self.at += char.len_utf8();
        }
        there
    }

    /// The value at hand. `None`, or a part of one, when the text breaks in it.
    fn value(&mut self) -> Option<Node> {
        self.white_space();
        let start = self.at;
        let token = match self.next() {
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('"') => self.string().map_or(Token::PartOfString, Token::String),
            Some('-' | '0'..='9') => self.number(),
            _ => self.word()?,
        };
        Some(Node { start, end: self.at, token })
    }

    fn word(&mut self) -> Option<Token> {
        let word: String = self.rest().chars().take_while(char::is_ascii_alphanumeric).collect();
        let words = [("null", Token::Null), ("true", Token::Bool(true)), ("false", Token::Bool(false))];
        if let Some((_, token)) = words.iter().find(|(name, _)| *name == word) {
            self.at += word.len();
            return Some(token.clone());
        }
        let may_become_one = !word.is_empty() && words.iter().any(|(name, _)| name.starts_with(&word));
        if may_become_one && word.len() == self.rest().len() {
            self.ends();
        } else {
            self.misplaced();
        }
        None
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`, over all that someone could have meant as one number.
    fn number(&mut self) -> Token {
        let start = self.at;
        let run: String =
            self.rest().chars().take_while(|c| c.is_ascii_alphanumeric() || "+-._".contains(*c)).collect();
        // Each part of the grammar takes what it can.
        let mut rest = run.strip_prefix('-').unwrap_or(&run);
        let mut whole = true;
        if let Some(after) = rest.strip_prefix('0') {
            rest = after;
        } else {
            whole &= take_digits(&mut rest);
        }
        if whole && let Some(after) = rest.strip_prefix('.') {
            rest = after;
            whole &= take_digits(&mut rest);
        }
        if whole && let Some(after) = rest.strip_prefix(['e', 'E']) {
            rest = after.strip_prefix(['+', '-']).unwrap_or(after);
            whole &= take_digits(&mut rest);
        }
        if whole && rest.is_empty() {
            self.at += run.len();
            let may_go_on = self.at == self.text.len() && self.end == Kind::UnexpectedEnd;
            return Token::Number { text: run, may_go_on };
        }
        if !whole && rest.is_empty() && start + run.len() == self.text.len() {
            self.ends();
        } else {
            self.breaks(start, Kind::Syntax);
        }
        Token::PartOfNumber
    }

    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            match self.next() {
                None => {
                    self.ends();
                    return None;
                }
                Some('"') => {
                    self.at += 1;
                    return Some(string);
                }
                Some('\\') => string.push(self.escape()?),
                Some(char) if char < ' ' => {
                    self.breaks(self.at, Kind::Syntax);
                    return None;
                }
                Some(char) => {
                    string.push(char);
                    self.at += char.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let char = match self.rest().chars().nth(1) {
            None => {
                self.ends();
                return None;
            }
            Some(char @ ('"' | '\\' | '/')) => char,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(),
            Some(_) => {
                self.breaks(self.at, Kind::BadEscape);
                return None;
            }
        };
        self.at += 2;
        Some(char)
    }

    fn unicode_escape(&mut self) -> Option<char> {
        self.follows(0, r"\uXXXX", Kind::BadEscape)?;
        let high = self.unit(0);
        let scalar = match high {
            0xd800..0xdc00 => {
                // The low half: D, then C to F (spelt Y here), then two digits.
                self.follows(6, r"\uDYXX", Kind::LoneSurrogate)?;
                let low = self.unit(6);
                self.at += 6;
                0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00)
            }
            0xdc00..0xe000 => {
                self.breaks(self.at, Kind::LoneSurrogate);
                return None;
            }
            scalar => scalar,
        };
        self.at += 6;
        char::from_u32(scalar)
    }

    /// Holds what stands `skip` bytes on to `pattern`, one byte after the other.
    fn follows(&mut self, skip: usize, pattern: &str, otherwise: Kind) -> Option<()> {
        for (index, wanted) in pattern.bytes().enumerate() {
            let Some(byte) = self.rest().as_bytes().get(skip + index) else {
                self.ends();
                return None;
            };
            let fits = match wanted {
                b'X' => byte.is_ascii_hexdigit(),
                b'D' => b"dD".contains(byte),
                b'Y' => b"cdefCDEF".contains(byte),
                itself => *byte == itself,
            };
            if !fits {
                self.breaks(self.at, otherwise);
                return None;
            }
        }
        Some(())
    }

    fn unit(&self, skip: usize) -> u32 {
        u32::from_str_radix(&self.rest()[skip + 2..skip + 6], 16).unwrap()
    }

    fn array(&mut self) -> Token {
        self.at += 1;
        let mut items = Vec::new();
        self.white_space();
        if self.take(']') {
            return Token::Array(items, Some(Close(self.at - 1)));
        }
        loop {
            items.extend(self.value());
            if self.broken.is_some() {
                return Token::Array(items, None);
            }
            self.white_space();
            if self.take(']') {
                return Token::Array(items, Some(Close(self.at - 1)));
            }
            if !self.take(',') {
                self.misplaced();
                return Token::Array(items, None);
            }
        }
    }

    fn object(&mut self) -> Token {
        self.at += 1;
        let mut members = Vec::new();
        self.white_space();
        if self.take('}') {
            return Token::Object(members, Some(Close(self.at - 1)));
        }
        loop {
            self.member(&mut members);
            if self.broken.is_some() {
                return Token::Object(members, None);
            }
            self.white_space();
            if self.take('}') {
                return Token::Object(members, Some(Close(self.at - 1)));
            }
            if !self.take(',') {
                self.misplaced();
                return Token::Object(members, None);
            }
        }
    }

    fn member(&mut self, members: &mut Vec<Member>) {
        self.white_space();
        let quote = self.at;
        if self.next() != Some('"') {
            return self.misplaced();
        }
        let Some(key) = self.string() else { return };
        self.white_space();
        let colon = self.take(':');
        if !colon {
            self.misplaced();
        }
        let value = if colon { self.value() } else { None };
        members.push(Member { quote, key, value });
    }
}

/// Takes a run of digits off the front; whether there is one.
fn take_digits(text: &mut &str) -> bool {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let taken = rest.len() < text.len();
    *text = rest;
    taken
}
