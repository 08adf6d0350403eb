//! Keys looked up by their text: one load of sixteen bytes and one probe of a table.

use super::schema::Key;
use super::simd::string_ends_and_high;
use crate::cost::count_examined;

/// An entry of the table, which is indexed by a hash of the text.
#[derive(Clone, Copy)]
struct Entry {
    /// The key and its closing quote, as a little-endian number.
    text: u128,
    key: Key,
}

const ENTRIES: usize = 128;

static TABLE: [Entry; ENTRIES] = {
    // Never matches: lookups are zero-padded after the quote.
    let mut table = [Entry { text: u128::MAX, key: Key::Id }; ENTRIES];
    let mut index = 0;
    while index < Key::ALL.len() {
        let key = Key::ALL[index];
        let name = key.name().as_bytes();
        let mut text = (b'"' as u128) << (8 * name.len());
        let mut at = 0;
        while at < name.len() {
            text |= (name[at] as u128) << (8 * at);
            at += 1;
        }
        let entry = &mut table[hash(text)];
        assert!(entry.text == u128::MAX, "two keys have one hash: find another factor");
        *entry = Entry { text, key };
        index += 1;
    }
    table
};

#[inline(always)]
const fn hash(text: u128) -> usize {
    let mixed = text as u64 ^ (text >> 64) as u64;
    (mixed.wrapping_mul(0x8055_ca81_9a4a_31b5) >> 57) as usize
}

/// For each index, a mask of the bytes up to it.
static UP_TO: [u128; 16] = {
    let mut masks = [0; 16];
    let mut last = 0;
    while last < 16 {
        masks[last] = u128::MAX >> (8 * (15 - last));
        last += 1;
    }
    masks
};

impl Key {
    /// Finds the key that `bytes` begin with, in quotes and without escapes. Returns the length with the quotes, too.
    #[inline(always)]
    pub(super) fn at_start(bytes: &[u8]) -> Option<(Self, usize)> {
        let [b'"', rest @ ..] = bytes else { return None };
        let text = match rest.first_chunk::<16>() {
            Some(text) => *text,
            None => {
                let mut text = [0; 16];
                text[..rest.len()].copy_from_slice(rest);
                text
            }
        };
        count_examined(text.len());
        let (ends, _) = string_ends_and_high(&text);
        let len = ends.trailing_zeros() as usize;
        let word = u128::from_le_bytes(text) & UP_TO.get(len)?;
        let entry = &TABLE[hash(word)];
        (entry.text == word).then_some((entry.key, len + 2))
    }

    /// Finds the key of this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|key| key.name() == name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_known_by_all_of_its_bytes() {
        for expected in Key::ALL {
            let name = expected.name();
            assert_eq!(Key::at_start(format!("\"{name}\":0").as_bytes()), Some((*expected, name.len() + 2)));
            assert_eq!(Key::parse(name), Some(*expected));
            for wrong in [format!("\"{name}"), format!("{name}\":0"), format!("\"{name}\\\":0")] {
                assert_eq!(Key::at_start(wrong.as_bytes()), None, "{wrong}");
            }
            for at in 0..name.len() {
                let (before, after) = name.split_at(at);
                let shorter = format!("{before}{}", &after[1..]);
                let is_another = Key::ALL.iter().any(|key| key.name() == shorter);
                assert_eq!(Key::at_start(format!("\"{shorter}\":0").as_bytes()).is_some(), is_another, "{shorter}");
                for byte in ["x", "\0", "é"] {
                    assert_eq!(Key::at_start(format!("\"{before}{byte}{after}\":0").as_bytes()), None);
                    assert_eq!(Key::at_start(format!("\"{before}{byte}{}\":0", &after[1..]).as_bytes()), None);
                }
            }
        }
        for none in ["", "\"", "\"\":0", "\"\0\":0", "\"allocated_bytesandmore\":0"] {
            assert_eq!(Key::at_start(none.as_bytes()), None, "{none}");
        }
    }
}
