//! Tests: every backend to escape a text that this machine has gives what the naive backend gives, and touches nothing but the text and
//! the room that it is bound to.
#![allow(unsafe_code)]

use super::super::tests::guarded::{Edge, Guarded};
use super::backends::{self, Backend};
use super::blocks::Block;
use super::{WIDE, bound};

pub(in crate::line) fn naive(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in text {
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(byte),
        }
    }
    out
}

/// All backends that this machine has.
fn all_ways() -> Vec<(&'static str, Backend)> {
    #[cfg(target_arch = "x86_64")]
    if !super::avx512::is_available() {
        say_once("SKIPPED: escaping with AVX-512 is not tested: no AVX-512 VBMI2 here");
    }
    let backends = backends::all();
    assert!(backends.len() >= 3, "a test of no backend would hold");
    backends
}

/// Also where a test that holds shows nothing of what it prints.
#[cfg(target_arch = "x86_64")]
fn say_once(what: &str) {
    use std::io::{self, Write as _};

    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| writeln!(io::stderr(), "{what}").expect("standard error is there"));
}

/// Where texts are read and written, with nothing beyond either.
struct Desk {
    backends: Vec<(&'static str, Backend)>,
    text: Guarded,
    out: Guarded,
}

impl Desk {
    fn new(longest: usize) -> Self {
        Self { backends: all_ways(), text: Guarded::new(longest), out: Guarded::new(bound(longest as u64) as usize) }
    }

    #[track_caller]
    fn assert_as_naive(&mut self, text: &[u8]) {
        let expected = naive(text);
        for &edge in Edge::ALL {
            let text = self.text.copy(edge, text);
            assert_written_as(&self.backends, text, &expected, self.out.lend(edge, bound(text.len() as u64) as usize));
        }
    }
}

#[track_caller]
fn assert_written_as(backends: &[(&str, Backend)], text: &[u8], expected: &[u8], out: &mut [u8]) {
    assert!(out.len() >= bound(text.len() as u64) as usize);
    for (name, backend) in backends {
        // So that a hole in what is written shows.
        out[..expected.len()].fill(0xf8);
        // SAFETY: `out` has as many bytes as the bound says.
        let written = unsafe { backend(text, out.as_mut_ptr()) };
        assert!(
            &out[..written] == expected,
            "{name}, on {}:\n{}\n{}",
            text.escape_ascii(),
            out[..written].escape_ascii(),
            expected.escape_ascii()
        );
    }
}

/// Lengths on either side of every border between one backend to look at a text and another.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=200).filter(|len| !cfg!(miri) || matches!(len, 0 | 1 | 3 | 4 | 7 | 8 | 15..=17 | 33 | 127..=129 | 200))
}

/// Lengths around the ends of the blocks of a text of several thousand bytes.
fn long_lengths() -> impl Iterator<Item = usize> {
    let ends = [256, 512, 1024, 4096].into_iter().flat_map(|end| end - 33..=end + 33);
    ends.chain([10_000]).filter(|_| !cfg!(miri))
}

const SPECIALS: [u8; 14] = [0, 1, 8, 0x19, 0x1f, b'"', b'\\', b'\n', b'\r', b'\t', 0x20, 0x7f, 0x80, 0xff];

/// A clean text is copied and no more: nothing in it is taken for what needs an escape, which would only take longer.
fn assert_sees_what_is_special<B: Block>() {
    let mut copy = [0; WIDE];
    for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 17 } else { 1 }) {
        let is_special = naive(&[byte]).len() > 1;
        for place in 0..16 {
            let mut text = [b'a'; WIDE];
            text[place] = byte;
            // SAFETY: no block is as long as these.
            let bytes = unsafe { B::copy(text.as_ptr(), copy.as_mut_ptr()) };
            assert_eq!(copy[..B::LEN], text[..B::LEN]);
            let is_inside = is_special && place < B::LEN;
            assert_eq!(B::special(bytes), u64::from(is_inside) << place, "{byte:#x} at {place}");
            assert_eq!(B::any_special(B::see(B::NOTHING_SEEN, bytes)), is_inside, "{byte:#x} at {place}");
            let words = std::array::from_fn(|index| u32::from_ne_bytes(*text[4 * index..].first_chunk().unwrap()));
            assert_eq!(B::any_special_in(words), is_special, "{byte:#x} at {place}");
        }
    }
}

#[test]
fn blocks_see_what_is_special_and_nothing_else() {
    assert_sees_what_is_special::<super::swar::Block>();
    #[cfg(target_arch = "x86_64")]
    assert_sees_what_is_special::<super::sse2::Block>();
    #[cfg(target_arch = "aarch64")]
    assert_sees_what_is_special::<super::neon::Block>();
}

#[test]
fn every_special_byte_at_every_position_of_every_length() {
    let mut desk = Desk::new(200);
    for len in lengths() {
        let mut text = vec![b'a'; len];
        desk.assert_as_naive(&text);
        for position in (0..len).step_by(if cfg!(miri) { 29 } else { 1 }) {
            for byte in SPECIALS.into_iter().skip(if cfg!(miri) { 4 } else { 0 }) {
                text[position] = byte;
                desk.assert_as_naive(&text);
            }
            text[position] = b'a';
        }
    }
}

#[test]
fn every_byte_beside_every_other() {
    let mut desk = Desk::new(130);
    let firsts = (0..=u8::MAX).filter(|byte| !cfg!(miri) || matches!(byte, 0x0a | 0x1f | 0x22));
    for first in firsts {
        for second in (0..=u8::MAX).step_by(if cfg!(miri) { 31 } else { 1 }) {
            for len in [2, 3, 4, 8, 16, 130] {
                let mut text = vec![b'a'; len];
                text[len / 2 - 1] = first;
                text[len / 2] = second;
                desk.assert_as_naive(&text);
            }
        }
    }
}

#[test]
fn nothing_but_specials() {
    let mut desk = Desk::new(200);
    for byte in SPECIALS {
        for len in lengths().filter(|len| !cfg!(miri) || matches!(len, 15 | 17 | 129)) {
            desk.assert_as_naive(&vec![byte; len]);
        }
    }
}

/// Bytes of which as many sixteenths as asked for are special in one backend or another.
fn mixture(len: usize, sixteenths: u64, random: &mut u64) -> Vec<u8> {
    let mut draw = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *random >> 32
    };
    // Mostly only those that have an escape of two characters.
    let kinds = if draw() % 4 == 0 { SPECIALS.len() } else { 5 };
    (0..len)
        .map(|_| match draw() {
            drawn if drawn >> 28 < sixteenths => SPECIALS[(5 + drawn as usize % kinds) % SPECIALS.len()],
            drawn => b'a' + drawn as u8 % 26,
        })
        .collect()
}

#[test]
fn many_mixtures() {
    let mut desk = Desk::new(10_000);
    let mut random = 1;
    let lengths = (0..400).chain(long_lengths());
    for len in lengths.step_by(if cfg!(miri) { 29 } else { 1 }) {
        for sixteenths in if cfg!(miri) { 5..6 } else { 0..17 } {
            desk.assert_as_naive(&mixture(len, sixteenths, &mut random));
        }
    }
}

/// Alone in a longer text, at every place of a block.
#[test]
fn one_special_byte_in_a_long_text() {
    let mut desk = Desk::new(10_000);
    for len in long_lengths().step_by(5) {
        for position in (0..len).step_by(61) {
            for byte in [b'\n', 0x1b] {
                let mut text = vec![b'a'; len];
                text[position] = byte;
                desk.assert_as_naive(&text);
            }
        }
    }
}

/// What lies at the edge of a page is aligned as its length says, so that this is tried apart.
#[test]
fn every_alignment() {
    #[repr(align(64))]
    struct Aligned<const N: usize>([u8; N]);

    let mut text = Aligned([0; 64 + 600]);
    for (byte, in_turn) in text.0.iter_mut().zip(b"plain text with \"quotes\"\n".iter().cycle()) {
        *byte = *in_turn;
    }
    let mut out = Aligned([0; 64 + bound(600) as usize]);
    let backends = all_ways();
    let step = if cfg!(miri) { 13 } else { 1 };
    for text_start in (0..64).step_by(step) {
        for len in [1, 3, 7, 15, 16, 40, 130, 200, 600].into_iter().filter(|len| !cfg!(miri) || *len < 200) {
            let text = &text.0[text_start..text_start + len];
            let expected = naive(text);
            for out_start in (0..64).step_by(step) {
                assert_written_as(&backends, text, &expected, &mut out.0[out_start..]);
            }
        }
    }
}
