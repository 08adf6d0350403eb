//! Strings that hold escapes: what they mean is written to memory of their line's own.
//!
//! A block of bytes is stored as it is, and a bit for each quote, backslash and control character is taken from the
//! same load. What an escape stands for is written over it, and what follows it in the block is stored again behind
//! that: no later step waits for a load of an earlier one.
//!
//! Whoever changes this: nothing is ever written further than what was read, because whatever an escape stands for is
//! no longer than the escape. So a block that is there to be read has its room to be written.
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

/// Memory for the strings of one line. It is taken from the arena when the first escape is met, once and for all the
/// rest of the line.
#[derive(Default)]
pub(in crate::decode) struct UnescapeBuffer<'a>(&'a mut [MaybeUninit<u8>]);

/// For each byte behind a backslash, the byte that the two of them stand for. Zero where it is not as simple as that.
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
    /// The meaning of the string whose content `line` begins with, and what follows its closing quote. The first
    /// `clean` bytes of it are known to be plain. `None` when something is wrong with it.
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
        // What is left is still as long as what is left of the line.
        self.0 = left;
        whole?;
        // SAFETY: so many bytes were written there, and nobody else has this memory.
        let used = unsafe { slice::from_raw_parts(used.as_ptr().cast::<u8>(), used.len()) };
        // What is not UTF-8 on one side of an escape is not UTF-8 beside what that stands for either.
        Some((text(used)?, &line[read..]))
    }
}

/// A string on its way from the line to where it is kept. `to` has room for all of `line`, and `written <= read`.
struct Copy<'a> {
    line: &'a [u8],
    read: usize,
    to: *mut u8,
    written: usize,
}

impl Copy<'_> {
    /// Copies `len` bytes as they stand. Panics where they are not there.
    #[inline(always)]
    fn plain(&mut self, len: usize) {
        let plain = &self.line[self.read..self.read + len];
        // SAFETY: they are there to read, and since no more was written than read, there is room for them.
        unsafe { self.to.add(self.written).copy_from_nonoverlapping(plain.as_ptr(), len) };
        self.read += len;
        self.written += len;
    }

    /// Writes what stands for an escape of `len` bytes, which are not passed yet. Panics where they are not there.
    #[inline(always)]
    fn meaning<const N: usize>(&mut self, meaning: [u8; N], len: usize) {
        assert!(N <= len && len <= self.line.len() - self.read);
        // SAFETY: no longer than what is read for it.
        unsafe { self.to.add(self.written).cast::<[u8; N]>().write(meaning) };
        self.read += len;
        self.written += N;
    }

    /// Copies up to the closing quote, which is passed too.
    #[inline]
    fn string(&mut self) -> Option<()> {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: there is AVX2.
            return unsafe { self.string_by_avx2() };
        }
        // SAFETY: this is what every machine has.
        unsafe { self.string_by::<Native>() }
    }

    /// # Safety
    ///
    /// The machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn string_by_avx2(&mut self) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { self.string_by::<Avx2>() }
    }

    /// # Safety
    ///
    /// The machine has what `W` asks for.
    #[inline(always)]
    unsafe fn string_by<W: Wide>(&mut self) -> Option<()> {
        // What is stored again behind an escape is a whole block.
        while self.line.len() - self.read >= 2 * WIDE {
            // SAFETY: the caller's promise.
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

    /// Copies the next block, at least two of which are left, and an escape that begins in it. Whether the closing
    /// quote was in it; it is passed too.
    ///
    /// # Safety
    ///
    /// The machine has what `W` asks for.
    #[inline(always)]
    unsafe fn block<W: Wide>(&mut self) -> Option<bool> {
        let end = self.read + WIDE;
        // SAFETY: the caller's promise.
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

    /// Stores the next `WIDE` bytes without passing them. Panics where they are not there.
    #[inline(always)]
    fn store(&mut self) -> &[u8; WIDE] {
        // As one step, which it is.
        count_examined(1);
        let (block, _) = self.line[self.read..].split_first_chunk::<WIDE>().expect("they are there");
        // SAFETY: they are there to read, and since no more was written than read, there is room for them.
        unsafe { self.to.add(self.written).cast::<[u8; WIDE]>().write(*block) };
        block
    }

    /// Writes what the escape at hand stands for.
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

/// The character that the `\uXXXX`, or two of them, at the start of `bytes` stands for, and how long that is.
#[cold]
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let (scalar, len) = match unit(bytes)? {
        high @ 0xd800..0xdc00 => {
            let low = unit(&bytes[6..]).filter(|low| (0xdc00..0xe000).contains(low))?;
            (0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12)
        }
        scalar => (scalar, 6),
    };
    // The low half of a pair is no character.
    Some((char::from_u32(scalar)?, len))
}

/// The number in the `\uXXXX` that `bytes` begins with.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}
