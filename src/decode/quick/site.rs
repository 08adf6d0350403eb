//! Call sites met before: a run calls few operations, and each of them often.
#![allow(unsafe_code)]

use super::super::block::{Native, WIDE};
use super::Quick;
use crate::event::CallSite;

/// Call sites that were met, each in the place that its text tells, where the last one stays. Empty until there is one.
#[derive(Debug, Default)]
pub(in super::super) struct Sites(Vec<Site>);

/// How many places there are.
const PLACES: usize = 64;

/// How a call site stands in a line, from behind the module's opening quote to the capability's closing one, without
/// escapes.
#[derive(Debug, Clone)]
struct Site {
    text: [u8; WIDE],
    /// Of the text, at most [`WIDE`] and never none.
    len: usize,
    /// Of the module, the operation and the capability.
    names: [usize; 3],
}

const OP: &[u8; 7] = br#","op":""#;
const CAPABILITY: &[u8; 15] = br#","capability":""#;

impl<'a> Quick<'a, '_> {
    /// The call site. The quote before its module is passed.
    #[inline(always)]
    pub(super) fn site(&mut self) -> Option<CallSite<'a>> {
        if let Some(text) = self.rest.first_chunk::<WIDE>()
            && let Some(site) = self.sites.0.get(place(text))
            && Native::new(text).differing(Native::new(&site.text)) << (WIDE - site.len) == 0
        {
            self.rest = &self.rest[site.len..];
            return Some(site.in_line(text));
        }
        self.new_site()
    }

    fn new_site(&mut self) -> Option<CallSite<'a>> {
        let line = self.rest;
        let module = self.name()?;
        self.fixed(OP)?;
        let op = self.name()?;
        self.fixed(CAPABILITY)?;
        let capability = self.name()?;
        self.sites.remember(&line[..line.len() - self.rest.len()], line, [module, op, capability].map(str::len));
        Some(CallSite::new(module, op, capability))
    }
}

impl Sites {
    /// Takes note of the call site that `line` begins with, if it is short enough and its names stand in `text` as they are.
    fn remember(&mut self, text: &[u8], line: &[u8], names: [usize; 3]) {
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
    /// What is true of every line that it is compared with, and so can stand where there is no other.
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

    /// Behind the closing quote of the capability.
    fn end(&self) -> usize {
        self.capability_start() + self.names[2] + 1
    }

    /// The names where they stand in a text that begins as this one.
    #[inline(always)]
    fn in_line<'a>(&self, text: &'a [u8; WIDE]) -> CallSite<'a> {
        let name = |start: usize, len: usize| {
            let name = &text[start..start + len];
            // SAFETY: the same bytes as those of a name that was read.
            unsafe { str::from_utf8_unchecked(name) }
        };
        let [module, op, capability] = self.names;
        CallSite::new(name(0, module), name(self.op_start(), op), name(self.capability_start(), capability))
    }
}

/// The place for a text. It depends on no more than the shortest call site and what follows every one have together.
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
    use crate::decode::{Quick, Scratch};

    /// A line with a call site that was there before is not taken apart again.
    #[test]
    fn call_sites_are_remembered_in_places_of_their_own() {
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
