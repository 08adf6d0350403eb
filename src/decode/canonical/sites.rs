//! A cache of call sites. A run calls few operations, and most of them often.
#![allow(unsafe_code)]

use crate::decode::simd::{Native, WIDE};

/// A direct-mapped cache of call sites, indexed by a hash of their text. Empty until the first one is added.
#[derive(Debug, Default)]
pub(in crate::decode) struct Sites(Vec<Site>);

/// The number of entries.
const ENTRIES: usize = 64;

/// The text of a call site without escapes, from after the module's opening quote to the capability's closing one.
#[derive(Debug, Clone)]
struct Site {
    text: [u8; WIDE],
    /// The length of the text, 1 to [`WIDE`].
    len: usize,
    /// The offsets and lengths of the module, the operation and the capability.
    names: [(usize, usize); 3],
}

impl Sites {
    /// Finds the call site that `line` begins with, after the opening quote of its module. Returns its names and the
    /// rest of the line.
    #[inline(always)]
    pub(super) fn find<'a>(&self, line: &'a [u8]) -> Option<([&'a str; 3], &'a [u8])> {
        let text = line.first_chunk::<WIDE>()?;
        let site = self.0.get(index(text))?;
        let is_same = Native::new(text).differing(Native::new(&site.text)) << (WIDE - site.len) == 0;
        is_same.then(|| (site.in_line(text), &line[site.len..]))
    }

    /// Caches the call site that `line` begins with, if it is short enough and has no escape. `len` is the length of
    /// its text, and `names` are the offsets of its names and the names.
    pub(super) fn insert(&mut self, line: &[u8], len: usize, names: [(usize, &str); 3]) {
        let is_borrowed = |(start, name): (usize, &str)| line[start..].as_ptr() == name.as_ptr();
        let Some(text) = line.first_chunk::<WIDE>().filter(|_| len <= WIDE && names.into_iter().all(is_borrowed))
        else {
            return;
        };
        let site = Site { text: *text, len, names: names.map(|(start, name)| (start, name.len())) };
        if self.0.is_empty() {
            // A placeholder that matches only its own text.
            self.0.resize(ENTRIES, site.clone());
        }
        self.0[index(text)] = site;
    }
}

#[cfg(test)]
impl Sites {
    /// Returns the number of different call sites.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|site| &site.text[..site.len]).collect::<std::collections::BTreeSet<_>>().len()
    }
}

impl Site {
    /// Borrows the names from a line that begins with this text.
    #[inline(always)]
    fn in_line<'a>(&self, text: &'a [u8; WIDE]) -> [&'a str; 3] {
        self.names.map(|(start, len)| {
            let name = &text[start..start + len];
            // SAFETY: the bytes equal those of a name that was validated.
            unsafe { str::from_utf8_unchecked(name) }
        })
    }
}

/// Returns the index for a text. It depends only on bytes of the call site and of the key that follows it.
#[inline(always)]
fn index(text: &[u8; WIDE]) -> usize {
    let (words, _) = text.as_chunks::<8>();
    let mixed = [17, 31, 47]
        .iter()
        .zip(&words[1..])
        .fold(u64::from_le_bytes(words[0]), |mixed, (turn, word)| mixed ^ u64::from_le_bytes(*word).rotate_left(*turn));
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}
