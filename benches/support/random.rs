//! A seeded random number generator (`SplitMix64`) and the texts drawn from it.

use std::time::Duration;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number in `low..high`.
    pub fn between(&mut self, low: u64, high: u64) -> usize {
        (low + self.below(high - low)) as usize
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A number of at most `bits` bits. Every length in bits is equally likely.
    pub fn magnitude(&mut self, bits: u32) -> u64 {
        let bits = self.below(u64::from(bits) + 1) as u32;
        self.next().checked_shr(64 - bits).unwrap_or(0)
    }

    /// A duration of 0 to 10^8 nanoseconds, of any magnitude.
    pub fn wait(&mut self) -> Duration {
        let digits = 10_u64.pow(self.below(7) as u32 + 2);
        Duration::from_nanos(self.below(digits))
    }

    /// About `len` bytes of text: lines of words, one word in forty quoted.
    pub fn prose<W: AsRef<str>>(&mut self, words: &[W], len: usize) -> String {
        let (mut text, mut column) = (String::with_capacity(len + 16), 0);
        while text.len() < len {
            let word = self.pick(words).as_ref();
            let quoted = self.below(40) == 0;
            let before = text.len();
            if quoted {
                text.push('"');
            }
            text.push_str(word);
            if quoted {
                text.push('"');
            }
            column += text.len() - before + 1;
            text.push(if column > 72 { '\n' } else { ' ' });
            if column > 72 {
                column = 0;
            }
        }
        while text.len() > len {
            text.pop();
        }
        text
    }
}
