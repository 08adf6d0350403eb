//! The same lines in other spellings: keys in other orders, spaces between tokens.

use serde_json::Value;

/// The order of an object's keys.
#[derive(Clone, Copy)]
pub enum Order {
    /// By name.
    Sorted,
    /// By name, descending.
    Reversed,
    /// At random in each object.
    Shuffled,
}

/// The white space between tokens.
#[derive(Clone, Copy)]
pub struct Spacing {
    /// After an opening bracket and before a closing one.
    pub inside: &'static str,
    pub comma: &'static str,
    pub colon: &'static str,
}

/// No white space.
pub const TIGHT: Spacing = Spacing { inside: "", comma: ",", colon: ":" };
/// A space after commas and colons.
pub const SPACED: Spacing = Spacing { inside: "", comma: ", ", colon: ": " };
/// Spaces wherever they are allowed.
pub const WIDE: Spacing = Spacing { inside: "  ", comma: " ,  ", colon: " : " };

pub fn lines(text: &[u8], order: Order, spacing: Spacing) -> Vec<u8> {
    let mut speller = Speller { order, spacing, random: 1, out: String::with_capacity(text.len() * 5 / 4) };
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        speller.spell(&serde_json::from_slice(line).expect("valid JSON"));
        speller.out.push('\n');
    }
    speller.out.into_bytes()
}

struct Speller {
    order: Order,
    spacing: Spacing,
    random: u64,
    out: String,
}

impl Speller {
    fn spell(&mut self, json: &Value) {
        match json {
            Value::Array(items) => self.list(["[", "]"], items, Self::spell),
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                match self.order {
                    Order::Sorted => {}
                    Order::Reversed => members.reverse(),
                    Order::Shuffled => members.sort_by_cached_key(|_| self.random()),
                }
                self.list(["{", "}"], members, |speller, (key, value)| {
                    speller.out += &format!("{key:?}{}", speller.spacing.colon);
                    speller.spell(value);
                });
            }
            scalar => self.out += &scalar.to_string(),
        }
    }

    fn list<T>(&mut self, brackets: [&str; 2], items: impl IntoIterator<Item = T>, item: impl Fn(&mut Self, T)) {
        self.out += brackets[0];
        self.out += self.spacing.inside;
        for (index, it) in items.into_iter().enumerate() {
            if index > 0 {
                self.out += self.spacing.comma;
            }
            item(self, it);
        }
        self.out += self.spacing.inside;
        self.out += brackets[1];
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 32
    }
}
