//! The keys of events and of what is in them, each known at one look at sixteen bytes.

use super::Quick;
use crate::cost::count_examined;
use crate::decode::block::string_ends_and_high;

/// A key of an event, an outcome, a value or a field. Those of the same kind of value stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Key {
    Id,
    Task,
    Parent,
    WaitNs,
    CpuNs,
    PauseNs,
    Allocated,
    Freed,
    LiveObjects,
    LiveBytes,
    Collections,
    ObjectCount,
    AllocatedBytes,
    PeakBytes,
    AllocatedWords,
    CapacityWords,
    LiveWords,
    Module,
    Op,
    Capability,
    Function,
    Scope,
    Event,
    Granted,
    Args,
    Outcome,
    Message,
    Kind,
    Type,
    Value,
    Ns,
    Name,
    Of,
    Case,
    Shown,
    Items,
    Payload,
    Fields,
}

const KEYS: [(&str, Key); 38] = [
    ("id", Key::Id),
    ("task", Key::Task),
    ("parent", Key::Parent),
    ("wait_ns", Key::WaitNs),
    ("cpu_ns", Key::CpuNs),
    ("pause_ns", Key::PauseNs),
    ("allocated", Key::Allocated),
    ("freed", Key::Freed),
    ("live_objects", Key::LiveObjects),
    ("live_bytes", Key::LiveBytes),
    ("collections", Key::Collections),
    ("object_count", Key::ObjectCount),
    ("allocated_bytes", Key::AllocatedBytes),
    ("peak_bytes", Key::PeakBytes),
    ("allocated_words", Key::AllocatedWords),
    ("capacity_words", Key::CapacityWords),
    ("live_words", Key::LiveWords),
    ("module", Key::Module),
    ("op", Key::Op),
    ("capability", Key::Capability),
    ("function", Key::Function),
    ("scope", Key::Scope),
    ("event", Key::Event),
    ("granted", Key::Granted),
    ("args", Key::Args),
    ("outcome", Key::Outcome),
    ("message", Key::Message),
    ("kind", Key::Kind),
    ("type", Key::Type),
    ("value", Key::Value),
    ("ns", Key::Ns),
    ("name", Key::Name),
    ("of", Key::Of),
    ("case", Key::Case),
    ("shown", Key::Shown),
    ("items", Key::Items),
    ("payload", Key::Payload),
    ("fields", Key::Fields),
];

/// Keys of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeySet(u64);

impl KeySet {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) const fn of(keys: &[Key]) -> Self {
        let mut set = Self::EMPTY;
        let mut index = 0;
        while index < keys.len() {
            set.insert(keys[index]);
            index += 1;
        }
        set
    }

    /// Whether it was not in the set yet.
    #[inline(always)]
    pub(super) const fn insert(&mut self, key: Key) -> bool {
        let before = self.0;
        self.0 |= 1 << key as u8;
        before != self.0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn contains(self, key: Key) -> bool {
        self.0 & 1 << key as u8 != 0
    }

    pub(super) const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// A key in the place that its text tells.
#[derive(Clone, Copy)]
struct Entry {
    /// The key and its closing quote, as a little-endian number.
    text: u128,
    key: Key,
}

const PLACES: usize = 64;

static ENTRIES: [Entry; PLACES] = {
    // What is looked up has no such byte behind a quote.
    let nobody = Entry { text: u128::MAX, key: Key::Id };
    let mut entries = [nobody; PLACES];
    let mut index = 0;
    while index < KEYS.len() {
        let (name, key) = KEYS[index];
        assert!(key as usize == index, "in their order");
        let mut text = (b'"' as u128) << (8 * name.len());
        let mut at = 0;
        while at < name.len() {
            text |= (name.as_bytes()[at] as u128) << (8 * at);
            at += 1;
        }
        assert!(entries[place(text)].text == u128::MAX, "each key has a place of its own: look for another factor");
        entries[place(text)] = Entry { text, key };
        index += 1;
    }
    entries
};

#[inline(always)]
const fn place(text: u128) -> usize {
    let mixed = text as u64 ^ (text >> 64) as u64;
    (mixed.wrapping_mul(0x266f_ab99_08b5_93b9) >> 58) as usize
}

/// The bits of the first bytes, up to the one at that index.
static UP_TO: [u128; 16] = {
    let mut masks = [0; 16];
    let mut last = 0;
    while last < 16 {
        masks[last] = u128::MAX >> (8 * (15 - last));
        last += 1;
    }
    masks
};

impl Quick<'_, '_> {
    /// The key that comes next, which must not be one of `given`, and is one of them then; it is passed, with its colon
    /// and the space around that.
    #[inline(always)]
    pub(super) fn key(&mut self, given: &mut KeySet) -> Option<Key> {
        let [b'"', rest @ ..] = self.rest else { return None };
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
        let entry = &ENTRIES[place(word)];
        if entry.text != word || !given.insert(entry.key) {
            return None;
        }
        self.rest = &rest[len + 1..];
        if self.rest.first() != Some(&b':') {
            self.white_space();
        }
        self.fixed(b":")?;
        self.white_space();
        Some(entry.key)
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYS, KeySet};
    use crate::arena::Arena;
    use crate::decode::quick::{Quick, Sites};
    use crate::decode::scratch::Scratch;
    use crate::decode::unescape::Room;

    #[test]
    fn a_key_is_known_by_all_of_its_bytes() {
        let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
        let mut key = |line: &str| {
            let (room, sites, kept) = (Room::default(), &mut sites, &mut kept);
            let mut quick = Quick { rest: line.as_bytes(), arena: &arena, room, sites, scratch: None, kept };
            quick.key(&mut KeySet::EMPTY.clone()).filter(|_| quick.rest == b"0")
        };
        for (name, expected) in KEYS {
            assert_eq!(key(&format!("\"{name}\":0")), Some(expected));
            assert_eq!(key(&format!("\"{name}\"\t :\r\n 0")), Some(expected));
            for wrong in [format!("\"{name}"), format!("{name}\":0"), format!("\"{name}\"0"), format!("\"{name}\\\":0")]
            {
                assert_eq!(key(&wrong), None, "{wrong}");
            }
            for at in 0..name.len() {
                let (before, after) = name.split_at(at);
                let shorter = format!("{before}{}", &after[1..]);
                let is_another = KEYS.iter().any(|(name, _)| *name == shorter);
                assert_eq!(key(&format!("\"{shorter}\":0")).is_some(), is_another, "{shorter}");
                for byte in ["x", "\0", "\"", "é"] {
                    assert_eq!(key(&format!("\"{before}{byte}{after}\":0")), None);
                    assert_eq!(key(&format!("\"{before}{byte}{}\":0", &after[1..])), None);
                }
            }
        }
        for none in ["", "\"", "\"\":0", "\"\0\":0", "\"allocated_bytesandmore\":0"] {
            assert_eq!(key(none), None, "{none}");
        }
    }
}
