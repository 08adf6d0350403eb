//! Unescapes strings into a buffer.
//!
//! A block of bytes is stored unchanged, and the same load finds its quotes, backslashes and control characters. The
//! character that an escape stands for then overwrites the escape, and the following block is stored behind it. No load
//! depends on a previous store.
//!
//! Invariant: no more bytes are written than were read, because no character is longer than its escape. So the buffer
//! has room for every block that can be read.
#![allow(unsafe_code)]

use std::mem::{self, MaybeUninit};
use std::slice;

#[cfg(target_arch = "x86_64")]
use super::block::{Avx2, has_avx2};
use super::block::{Native, WIDE, Wide};
use super::scan::Plain;
use super::text;
use crate::arena::Arena;
use crate::cost::count_examined;

/// A buffer for the unescaped strings of one line. The first escape allocates it for the whole rest of the line.
#[derive(Default)]
pub(in crate::decode) struct UnescapeBuffer<'a>(&'a mut [MaybeUninit<u8>]);

/// Maps the byte after a backslash to the byte that the escape stands for, or to zero if the escape is longer or wrong.
static SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 0x8;
    table[b'f' as usize] = 0xc;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

impl<'a> UnescapeBuffer<'a> {
    /// Unescapes the string that `line` begins with, after its opening quote. Its first `clean` bytes are known to be
    /// plain. Returns the text and what follows the closing quote, or `None` if the string is invalid.
    pub(in crate::decode) fn unescape(
        &mut self,
        line: &'a [u8],
        clean: usize,
        arena: &'a Arena,
    ) -> Option<(&'a str, &'a [u8])> {
        if self.0.len() < line.len() {
            self.0 = arena.uninit(line.len());
        }
        let room = mem::take(&mut self.0);
        let mut copy = Copy { line, read: 0, to: room.as_mut_ptr().cast(), written: 0 };
        copy.plain(clean);
        let whole = copy.string();
        let Copy { read, written, .. } = copy;
        let (used, left) = room.split_at_mut(written);
        // This is still at least as long as the rest of the line.
        self.0 = left;
        whole?;
        // SAFETY: these bytes were written, and `split_at_mut` makes this the only reference to them.
        let used = unsafe { slice::from_raw_parts(used.as_ptr().cast::<u8>(), used.len()) };
        // An escape stands for whole characters, so they complete no invalid sequence beside them.
        Some((text(used)?, &line[read..]))
    }
}

/// A string that is being copied. `to` has room for all of `line`, and `written <= read`.
struct Copy<'a> {
    line: &'a [u8],
    read: usize,
    to: *mut u8,
    written: usize,
}

impl Copy<'_> {
    /// Copies `len` bytes. Panics if there are fewer.
    #[inline(always)]
    fn plain(&mut self, len: usize) {
        let plain = &self.line[self.read..self.read + len];
        // SAFETY: the slice has these bytes, and because no more was written than read, `to` has room for them.
        unsafe { self.to.add(self.written).copy_from_nonoverlapping(plain.as_ptr(), len) };
        self.read += len;
        self.written += len;
    }

    /// Passes an escape of `len` bytes and writes the character that it stands for. Panics if there are fewer bytes.
    #[inline(always)]
    fn meaning<const N: usize>(&mut self, meaning: [u8; N], len: usize) {
        assert!(N <= len && len <= self.line.len() - self.read);
        // SAFETY: it is no longer than the escape, which is read now, so `to` has room for it.
        unsafe { self.to.add(self.written).cast::<[u8; N]>().write(meaning) };
        self.read += len;
        self.written += N;
    }

    /// Copies the string and passes its closing quote.
    #[inline]
    fn string(&mut self) -> Option<()> {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the machine has AVX2.
            return unsafe { self.string_by_avx2() };
        }
        // SAFETY: every machine has the instructions of `Native`.
        unsafe { self.string_by::<Native>() }
    }

    /// # Safety
    ///
    /// The machine must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn string_by_avx2(&mut self) -> Option<()> {
        // SAFETY: the caller guarantees it.
        unsafe { self.string_by::<Avx2>() }
    }

    /// # Safety
    ///
    /// The machine must have the instructions of `W`.
    #[inline(always)]
    unsafe fn string_by<W: Wide>(&mut self) -> Option<()> {
        // A whole block is stored behind each escape.
        while self.line.len() - self.read >= 2 * WIDE {
            // SAFETY: the caller guarantees it.
            if unsafe { self.block::<W>() }? {
                return Some(());
            }
        }
        loop {
            self.plain(Plain::text(&self.line[self.read..]).len());
            match *self.line.get(self.read)? {
                b'"' => {
                    self.read += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    /// Copies the next block, and the whole of an escape that begins in it. At least two blocks must be left. Returns
    /// whether the string ended, and passes the closing quote.
    ///
    /// # Safety
    ///
    /// The machine must have the instructions of `W`.
    #[inline(always)]
    unsafe fn block<W: Wide>(&mut self) -> Option<bool> {
        let end = self.read + WIDE;
        // SAFETY: the caller guarantees it.
        let mut ends = unsafe { W::load(self.store()) }.string_ends();
        while ends != 0 {
            let clean = ends.trailing_zeros() as usize;
            ends = ends >> clean >> 1;
            self.read += clean;
            self.written += clean;
            let before = self.read;
            match self.line[self.read] {
                b'\\' => self.escape()?,
                b'"' => {
                    self.read += 1;
                    return Some(true);
                }
                _ => return None,
            }
            if self.read >= end {
                return Some(false);
            }
            ends >>= self.read - before - 1;
            self.store();
        }
        self.written += end - self.read;
        self.read = end;
        Some(false)
    }

    /// Stores the next `WIDE` bytes without passing them. Panics if there are fewer.
    #[inline(always)]
    fn store(&mut self) -> &[u8; WIDE] {
        // A block is one step.
        count_examined(1);
        let (block, _) = self.line[self.read..].split_first_chunk::<WIDE>().expect("they are there");
        // SAFETY: the slice has these bytes, and because no more was written than read, `to` has room for them.
        unsafe { self.to.add(self.written).cast::<[u8; WIDE]>().write(*block) };
        block
    }

    /// Passes an escape and writes the character that it stands for.
    #[inline(always)]
    fn escape(&mut self) -> Option<()> {
        match SIMPLE[usize::from(*self.line.get(self.read + 1)?)] {
            0 => {
                let (character, len) = unicode(&self.line[self.read..])?;
                let mut bytes = [0; 4];
                match *character.encode_utf8(&mut bytes).as_bytes() {
                    [a] => self.meaning([a], len),
                    [a, b] => self.meaning([a, b], len),
                    [a, b, c] => self.meaning([a, b, c], len),
                    _ => self.meaning(bytes, len),
                }
            }
            byte => self.meaning([byte], 2),
        }
        Some(())
    }
}

/// Returns the character of the `\uXXXX`, or of the surrogate pair, at the start of `bytes`, and the escape's length.
#[cold]
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let (scalar, len) = match unit(bytes)? {
        high @ 0xd800..0xdc00 => {
            let low = unit(&bytes[6..]).filter(|low| (0xdc00..0xe000).contains(low))?;
            (0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12)
        }
        scalar => (scalar, 6),
    };
    // A low surrogate is not a character.
    Some((char::from_u32(scalar)?, len))
}

/// Returns the number in the `\uXXXX` at the start of `bytes`.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}
