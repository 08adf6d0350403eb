//! Every backend that this machine supports writes what the naive implementation writes, reads only the text, and
//! stores only within its bound.
#![allow(unsafe_code)]

use super::super::tests::guarded::{Edge, Guarded};
use super::backends::{self, Backend};
use super::blocks::{Block, WIDE};
use super::bound;

/// The reference implementation.
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

/// Lists the backends that this machine supports, and reports once if AVX-512 is missing.
fn all_backends() -> Vec<(&'static str, Backend)> {
    #[cfg(target_arch = "x86_64")]
    if !super::avx512::is_available() {
        print_once("SKIPPED: escaping with AVX-512 is not tested: no AVX-512 VBMI2 here");
    }
    let backends = backends::all();
    assert!(backends.len() >= 3, "too few backends to compare");
    backends
}

/// Writes to standard error, even if the test harness captures the output of passing tests.
#[cfg(target_arch = "x86_64")]
fn print_once(message: &str) {
    use std::io::{self, Write as _};

    static PRINTED: std::sync::Once = std::sync::Once::new();
    PRINTED.call_once(|| writeln!(io::stderr(), "{message}").expect("standard error is writable"));
}

/// All backends, with guarded memory for the text and the output.
struct Fixture {
    backends: Vec<(&'static str, Backend)>,
    text: Guarded,
    out: Guarded,
}

impl Fixture {
    fn new(longest: usize) -> Self {
        Self {
            backends: all_backends(),
            text: Guarded::new(longest),
            out: Guarded::new(bound(longest as u64) as usize),
        }
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
        // A byte that escaping never writes reveals gaps in the output.
        out[..expected.len()].fill(0xf8);
        // SAFETY: `out` has at least `bound` bytes.
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

/// Lengths on both sides of each length at which the code takes another path.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=200).filter(|len| !cfg!(miri) || matches!(len, 0 | 1 | 3 | 4 | 7 | 8 | 15..=17 | 33 | 127..=129 | 200))
}

/// Lengths around block boundaries of long texts.
fn long_lengths() -> impl Iterator<Item = usize> {
    let ends = [256, 512, 1024, 4096].into_iter().flat_map(|end| end - 33..=end + 33);
    ends.chain([10_000]).filter(|_| !cfg!(miri))
}

const SPECIALS: [u8; 14] = [0, 1, 8, 0x19, 0x1f, b'"', b'\\', b'\n', b'\r', b'\t', 0x20, 0x7f, 0x80, 0xff];

/// Checks that no byte is misclassified. A false positive would not change the output, only take longer.
fn assert_classifies<B: Block>() {
    let mut copy = [0; WIDE];
    for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 17 } else { 1 }) {
        let is_special = naive(&[byte]).len() > 1;
        for place in 0..16 {
            let mut text = [b'a'; WIDE];
            text[place] = byte;
            // SAFETY: both are longer than a block.
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
fn blocks_classify_every_byte() {
    assert_classifies::<super::swar::Block>();
    #[cfg(target_arch = "x86_64")]
    assert_classifies::<super::sse2::Block>();
    #[cfg(target_arch = "aarch64")]
    assert_classifies::<super::neon::Block>();
}

#[test]
fn every_special_byte_at_every_position_of_every_length() {
    let mut fixture = Fixture::new(200);
    for len in lengths() {
        let mut text = vec![b'a'; len];
        fixture.assert_as_naive(&text);
        for position in (0..len).step_by(if cfg!(miri) { 29 } else { 1 }) {
            for byte in SPECIALS.into_iter().skip(if cfg!(miri) { 4 } else { 0 }) {
                text[position] = byte;
                fixture.assert_as_naive(&text);
            }
            text[position] = b'a';
        }
    }
}

#[test]
fn every_byte_beside_every_other() {
    let mut fixture = Fixture::new(130);
    let firsts = (0..=u8::MAX).filter(|byte| !cfg!(miri) || matches!(byte, 0x0a | 0x1f | 0x22));
    for first in firsts {
        for second in (0..=u8::MAX).step_by(if cfg!(miri) { 31 } else { 1 }) {
            for len in [2, 3, 4, 8, 16, 130] {
                let mut text = vec![b'a'; len];
                text[len / 2 - 1] = first;
                text[len / 2] = second;
                fixture.assert_as_naive(&text);
            }
        }
    }
}

#[test]
fn nothing_but_specials() {
    let mut fixture = Fixture::new(200);
    for byte in SPECIALS {
        for len in lengths().filter(|len| !cfg!(miri) || matches!(len, 15 | 17 | 129)) {
            fixture.assert_as_naive(&vec![byte; len]);
        }
    }
}

/// Draws a text in which `sixteenths` of 16 bytes are from [`SPECIALS`].
fn mixture(len: usize, sixteenths: u64, random: &mut u64) -> Vec<u8> {
    let mut draw = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *random >> 32
    };
    // Three texts of four only have specials with an escape of two characters.
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
    let mut fixture = Fixture::new(10_000);
    let mut random = 1;
    let lengths = (0..400).chain(long_lengths());
    for len in lengths.step_by(if cfg!(miri) { 29 } else { 1 }) {
        for sixteenths in if cfg!(miri) { 5..6 } else { 0..17 } {
            fixture.assert_as_naive(&mixture(len, sixteenths, &mut random));
        }
    }
}

#[test]
fn one_special_byte_at_every_position_of_a_block_of_a_long_text() {
    let mut fixture = Fixture::new(10_000);
    for len in long_lengths().step_by(5) {
        for position in (0..len).step_by(61) {
            for byte in [b'\n', 0x1b] {
                let mut text = vec![b'a'; len];
                text[position] = byte;
                fixture.assert_as_naive(&text);
            }
        }
    }
}

/// Guarded memory ends at a page boundary, so its alignment depends on the length. This test covers all alignments.
#[test]
fn every_alignment() {
    #[repr(align(64))]
    struct Aligned<const N: usize>([u8; N]);

    let mut text = Aligned([0; 64 + 600]);
    for (byte, in_turn) in text.0.iter_mut().zip(b"plain text with \"quotes\"\n".iter().cycle()) {
        *byte = *in_turn;
    }
    let mut out = Aligned([0; 64 + bound(600) as usize]);
    let backends = all_backends();
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
