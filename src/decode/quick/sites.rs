//! A cache of call sites: a run calls few operations, and each of them often.
#![allow(unsafe_code)]

use crate::decode::block::{Native, WIDE};
use crate::event::CallSite;

/// A direct-mapped cache of call sites, indexed by a hash of their text. Empty until the first one is added.
#[derive(Debug, Default)]
pub(in crate::decode) struct Sites(Vec<Site>);

/// The number of entries.
const PLACES: usize = 64;

/// The text of a call site without escapes, from after the module's opening quote to the capability's closing one.
#[derive(Debug, Clone)]
struct Site {
    text: [u8; WIDE],
    /// The length of the text, 1 to [`WIDE`].
    len: usize,
    /// The lengths of the module, the operation and the capability.
    names: [usize; 3],
}

pub(super) const OP: &[u8; 7] = br#","op":""#;
pub(super) const CAPABILITY: &[u8; 15] = br#","capability":""#;

impl Sites {
    /// Finds the call site that `line` begins with, after the opening quote of its module. Returns it with the rest of
    /// the line.
    #[inline(always)]
    pub(super) fn find<'a>(&self, line: &'a [u8]) -> Option<(CallSite<'a>, &'a [u8])> {
        let text = line.first_chunk::<WIDE>()?;
        let site = self.0.get(place(text))?;
        let is_same = Native::new(text).differing(Native::new(&site.text)) << (WIDE - site.len) == 0;
        is_same.then(|| (site.in_line(text), &line[site.len..]))
    }

    /// Caches the call site that `line` begins with, if it is short enough and has no escape. `text` is its text in
    /// `line`, and `names` are the lengths of its names.
    pub(super) fn remember(&mut self, text: &[u8], line: &[u8], names: [usize; 3]) {
        let site = Site { text: [0; WIDE], len: text.len(), names };
        let Some(start) = line.first_chunk::<WIDE>().filter(|_| text.len() <= WIDE && site.end() == text.len()) else {
            return;
        };
        if self.0.is_empty() {
            self.0.resize(PLACES, Site::EMPTY);
        }
        self.0[place(start)] = Site { text: *start, ..site };
    }
}

impl Site {
    /// Placeholder: three empty names, so a match is still correct.
    const EMPTY: Self = {
        let mut text = [0; WIDE];
        let (start, _) = text.split_at_mut(25);
        start.copy_from_slice(br#"","op":"","capability":"""#);
        Self { text, len: 25, names: [0; 3] }
    };

    fn op_start(&self) -> usize {
        self.names[0] + 1 + OP.len()
    }

    fn capability_start(&self) -> usize {
        self.op_start() + self.names[1] + 1 + CAPABILITY.len()
    }

    /// The offset after the closing quote of the capability.
    fn end(&self) -> usize {
        self.capability_start() + self.names[2] + 1
    }

    /// Borrows the names from a line that begins with this text.
    #[inline(always)]
    fn in_line<'a>(&self, text: &'a [u8; WIDE]) -> CallSite<'a> {
        let name = |start: usize, len: usize| {
            let name = &text[start..start + len];
            // SAFETY: the bytes equal those of a name that was validated.
            unsafe { str::from_utf8_unchecked(name) }
        };
        let [module, op, capability] = self.names;
        CallSite::new(name(0, module), name(self.op_start(), op), name(self.capability_start(), capability))
    }
}

/// Returns the index for a text. It depends only on as many bytes as the shortest call site and its continuation have.
#[inline(always)]
fn place(text: &[u8; WIDE]) -> usize {
    let (words, _) = text.as_chunks::<8>();
    let mixed = [17, 31, 47]
        .iter()
        .zip(&words[1..])
        .fold(u64::from_le_bytes(words[0]), |mixed, (turn, word)| mixed ^ u64::from_le_bytes(*word).rotate_left(*turn));
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::decode::quick::Quick;
    use crate::decode::scratch::Scratch;

    #[test]
    fn call_sites_are_cached_at_their_own_index() {
        let (arena, mut sites, mut kept) = (Arena::new(), Sites::default(), Scratch::default());
        let text = |number: usize| format!(r#"module{number}","op":"read","capability":"documents.read""#);
        for number in 0..32 {
            let site = text(number);
            let line = format!(
                r#"{{"event":"host_call","task":1,"module":"{site},"wait_ns":5,"granted":true,"args":[],"outcome":null}}"#
            );
            assert!(Quick::decode_event(line.as_bytes(), &arena, &mut sites, &mut kept).is_some());
            let behind = format!("{site},\"wait_ns\":5,\"granted\":true");
            let remembered = &sites.0[place(behind.as_bytes().first_chunk().unwrap())];
            assert_eq!(&remembered.text[..remembered.len], site.as_bytes());
            let names = remembered.in_line(behind.as_bytes().first_chunk().unwrap());
            assert_eq!(
                (names.module(), names.op(), names.capability()),
                (&*format!("module{number}"), "read", "documents.read")
            );
        }
        let taken = sites.0.iter().filter(|site| site.len > Site::EMPTY.len).count();
        assert!(taken > 16, "32 call sites share {taken} places");
    }
}
