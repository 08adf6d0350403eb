//! Other spellings of the same JSON.

use super::json::{Node, Token};
use super::rng::Rng;

/// What a spelling varies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variation {
    pub(crate) key_order: bool,
    pub(crate) white_space: bool,
    pub(crate) escapes: bool,
    /// Of numbers that stand in a float's place.
    pub(crate) floats: bool,
}

impl Variation {
    pub(crate) const ALL: Self = Self { key_order: true, white_space: true, escapes: true, floats: true };
    pub(crate) const NONE: Self = Self { key_order: false, white_space: false, escapes: false, floats: false };
}

/// Some other spelling of `node`.
pub(crate) fn respell(node: &Node, variation: Variation, rng: &mut Rng) -> String {
    let mut speller = Speller { variation, rng, out: String::new() };
    speller.space();
    speller.node(node, false);
    speller.space();
    speller.out
}

struct Speller<'r> {
    variation: Variation,
    rng: &'r mut Rng,
    out: String,
}

impl Speller<'_> {
    fn space(&mut self) {
        if self.variation.white_space {
            for _ in 0..self.rng.below(3) {
                self.out.push(*self.rng.pick(&[' ', '\t', '\r']));
            }
        }
    }

    fn node(&mut self, node: &Node, float: bool) {
        match &node.token {
            Token::Null => self.out.push_str("null"),
            Token::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Token::Number { text, .. } if float && self.variation.floats => {
                let spelling = respell_number(text, self.rng);
                self.out.push_str(&spelling);
            }
            Token::Number { text, .. } => self.out.push_str(text),
            Token::String(text) => self.string(text),
            Token::Array(items, _) => self.list(['[', ']'], items, |speller, item| speller.node(item, false)),
            Token::Object(members, _) => {
                let mut order: Vec<_> = members.iter().collect();
                if self.variation.key_order {
                    self.rng.shuffle(&mut order);
                }
                let is_float = node.is_float();
                self.list(['{', '}'], order, |speller, member| {
                    speller.string(&member.key);
                    speller.space();
                    speller.out.push(':');
                    speller.space();
                    speller.node(member.value.as_ref().unwrap(), is_float);
                });
            }
            Token::PartOfString | Token::PartOfNumber => unreachable!("the line is whole"),
        }
    }

    fn list<T>(&mut self, brackets: [char; 2], items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.out.push(brackets[0]);
        self.space();
        for (index, it) in items.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
                self.space();
            }
            item(self, it);
            self.space();
        }
        self.out.push(brackets[1]);
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for char in text.chars() {
            let has_to = char < ' ' || char == '"' || char == '\\';
            if !has_to && (!self.variation.escapes || self.rng.one_in(2)) {
                self.out.push(char);
                continue;
            }
            let spellings = escapes(char, self.rng);
            let spelling = if self.variation.escapes { self.rng.pick(&spellings) } else { &spellings[0] };
            self.out.push_str(spelling);
        }
        self.out.push('"');
    }
}

impl Node {
    fn is_float(&self) -> bool {
        self.members().iter().any(|member| {
            member.key == "type"
                && matches!(member.value.as_ref().map(|value| &value.token), Some(Token::String(name)) if name == "float")
        })
    }
}

/// All escapes for a character, hexadecimal digits in a mix of cases.
pub(crate) fn escapes(char: char, rng: &mut Rng) -> Vec<String> {
    let mut escapes = Vec::new();
    let short = match char {
        '"' | '\\' | '/' => Some(char),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    escapes.extend(short.map(|short| format!("\\{short}")));
    let units = char.encode_utf16(&mut [0; 2]).to_vec();
    let hex = |digits: &str| units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>() + digits;
    escapes.push(hex(""));
    let mixed = hex("").chars().map(|c| if rng.one_in(2) && c != 'u' { c.to_ascii_uppercase() } else { c }).collect();
    escapes.push(mixed);
    escapes
}

/// Another spelling of the same real number: its digits and its exponent shifted against each other.
fn respell_number(number: &str, rng: &mut Rng) -> String {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap()),
        None => (number, 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // The number is `digits` times ten to the `exponent`.
    let mut digits = format!("{whole}{fraction}");
    let mut exponent = exponent - fraction.len() as i64;
    for _ in 0..rng.below(3) {
        digits.push('0');
        exponent -= 1;
    }
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let after_point = rng.below(digits.len() + 3);
    let padded = format!("{}{digits}", "0".repeat((after_point + 1).saturating_sub(digits.len())));
    let (whole, fraction) = padded.split_at(padded.len() - after_point);
    let exponent = exponent + after_point as i64;
    let mut spelling = format!("{sign}{whole}");
    if !fraction.is_empty() {
        spelling += &format!(".{fraction}");
    }
    if exponent != 0 || rng.one_in(2) {
        let plus = if exponent >= 0 { *rng.pick(&["", "+"]) } else { "" };
        spelling += &format!(
            "{}{plus}{}{}",
            rng.pick(&["e", "E"]),
            if exponent < 0 { "-" } else { "" },
            zero_padded(exponent.abs(), rng)
        );
    }
    spelling
}

/// An exponent may have leading zeros.
fn zero_padded(exponent: i64, rng: &mut Rng) -> String {
    format!("{}{exponent}", "0".repeat(rng.below(3)))
}
