//! Tests: no part of a line stores past its bound. Each is written where exactly as many bytes can be touched, and whole
//! rows of them into a line that has exactly that much room.
#![allow(unsafe_code)]

use std::time::Duration;

use super::buffer::{Buffer, LONG, Part};
use super::escape::tests::naive;
use super::guarded::{Edge, Guarded};
use super::parts::{Either, Finite, Rendered, Tail};

/// The most that any part of these tests is bound to, written at once.
const MOST: usize = 32 * 1024;

/// A byte that no part here writes, so that a hole in what was written shows.
const NOTHING_WRITTEN: u8 = 0xf8;

struct Paper(Guarded);

impl Paper {
    fn new() -> Self {
        Self(Guarded::new(MOST))
    }

    #[track_caller]
    fn assert_written(&mut self, part: impl Part, expected: impl AsRef<[u8]>) {
        let bound = part.bound();
        for &edge in Edge::ALL {
            let out = self.0.lend(edge, bound);
            out.fill(NOTHING_WRITTEN);
            let start = out.as_mut_ptr();
            // SAFETY: there are `bound` bytes.
            let end = unsafe { part.write(start) };
            let written = end.addr() - start.addr();
            assert!(written <= bound, "{written} bytes, but at most {bound} were promised");
            let (found, expected) = (&out[..written], expected.as_ref());
            assert!(found == expected, "{}, not {}", found.escape_ascii(), expected.escape_ascii());
        }
    }
}

/// Texts that take as many bytes as they can, that take none too many, and that are mixed.
fn texts(len: usize) -> [String; 4] {
    let mixed = "a\"é\u{1}\\ \n\u{10ffff}".chars().cycle();
    let mixed = mixed.scan(0, |taken, character| {
        *taken += character.len_utf8();
        (*taken <= len).then_some(character)
    });
    let mut mixed: String = mixed.collect();
    mixed.extend(std::iter::repeat_n('\u{1f}', len - mixed.len()));
    ["\u{1}".repeat(len), "a".repeat(len), "\"".repeat(len), mixed]
}

fn escaped(text: &str) -> String {
    String::from_utf8(naive(text.as_bytes())).expect("an escaped text is a text")
}

const INTEGERS: [u64; 12] = [
    0,
    9,
    10,
    99,
    12_345,
    99_999_999,
    100_000_000,
    999_999_999_999_999,
    10_000_000_000_000_000,
    i64::MAX as u64,
    10_000_000_000_000_000_000,
    u64::MAX,
];

fn finite(number: f64) -> Finite {
    Finite::new(number).expect("the number is finite")
}

#[test]
fn numbers_and_words() {
    let mut paper = Paper::new();
    for number in INTEGERS {
        paper.assert_written(number, number.to_string());
        paper.assert_written(Some(number), number.to_string());
        paper.assert_written(Duration::from_nanos(number), number.to_string());
        for number in [number.cast_signed(), number.wrapping_neg().cast_signed()] {
            paper.assert_written(number, number.to_string());
        }
    }
    paper.assert_written(None::<u64>, "null");
    paper.assert_written(Duration::MAX, u64::MAX.to_string());
    for (yes, expected) in [(true, "7"), (false, "[")] {
        paper.assert_written(Either { yes, parts: (7_u64, b"[") }, expected);
    }
    for (tail, expected) in [(Tail::NONE, ""), (Tail::COMMA, ","), (Tail::new(b"]}}\n"), "]}}\n")] {
        paper.assert_written(tail, expected);
    }
    paper.assert_written(b"", "");
    paper.assert_written(br#"{"event":"#, r#"{"event":"#);
}

#[test]
fn floats() {
    let mut paper = Paper::new();
    let mut assert_written = |number: f64| {
        let expected = ryu::Buffer::new().format_finite(number).to_owned();
        paper.assert_written(finite(number), expected);
    };
    // The longest spelling of all among them, and one for each way to write a number out.
    for number in [0.0, 1.0, 0.1, 1.5e-7, 1e16, 1e-5, 5e-324, 2.225_073_858_507_201_4e-308, f64::MIN_POSITIVE, f64::MAX]
    {
        assert_written(number);
        assert_written(-number);
    }
    let mut bits = 1_u64;
    for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        if number.is_finite() {
            assert_written(number);
        }
    }
}

#[test]
fn texts_and_what_was_rendered_before() {
    let mut paper = Paper::new();
    for len in (0..=200).filter(|len| !cfg!(miri) || len % 23 == 0) {
        for text in texts(len) {
            paper.assert_written(text.as_str(), escaped(&text));
            paper.assert_written(Rendered(text.as_bytes()), &text);
        }
    }
}

#[test]
fn rows() {
    let mut paper = Paper::new();
    for len in (0..=40).chain([63, 64, 65, 127, 128, 129, 200]).filter(|len| !cfg!(miri) || len % 13 == 0) {
        for text in texts(len) {
            let written = escaped(&text);
            let text = text.as_str();
            paper.assert_written((text, text), format!("{written}{written}"));
            paper.assert_written((b"\"", text, b"\"}\n"), format!("\"{written}\"}}\n"));
            paper.assert_written(
                (
                    (b"[", u64::MAX),
                    (text, Rendered(text.as_bytes())),
                    (i64::MIN, Either { yes: false, parts: (b"true", b"false") }, finite(-f64::MAX)),
                ),
                format!("[{}{written}{text}{}false{:?}", u64::MAX, i64::MIN, -f64::MAX),
            );
            paper.assert_written(
                (text, text, text, text, text, text, text, text, text, text, text, text, None::<u64>),
                written.repeat(12) + "null",
            );
        }
    }
}

/// A part put into a line gives the same, whatever room the line has.
#[track_caller]
fn assert_put(part: impl Part, expected: &str) {
    for room in [0, part.bound()] {
        let mut line = Vec::with_capacity(1 + room);
        line.push(b'>');
        let mut line = Buffer::append_to(line);
        line.put(part);
        line.put(part);
        let written = String::from_utf8(line.into_bytes()).expect("lines are UTF-8");
        // Not `assert_eq`: nobody reads megabytes.
        assert!(written == format!(">{expected}{expected}"), "{} bytes, not {}", written.len(), 1 + 2 * expected.len());
    }
}

/// Around the length from which a text is no longer written at once, alone or with others; around the pieces in which it is
/// written then; and far beyond.
#[test]
fn texts_are_written_alike_on_either_side_of_what_counts_as_long() {
    let borders = LONG - 8..=LONG + 2;
    let pieces = [13, 14, 16].into_iter().flat_map(|power| (1 << power) - 1..=(1 << power) + 1);
    let under_miri = LONG + 1;
    for len in borders.chain(pieces).chain([40 * LONG]).filter(|len| !cfg!(miri) || *len == under_miri) {
        for text in texts(len).into_iter().skip(if cfg!(miri) { 3 } else { 0 }) {
            let written = escaped(&text);
            let text = text.as_str();
            assert_put(text, &written);
            assert_put((b"\"", text, b"\"}"), &format!("\"{written}\"}}"));
            assert_put((text, ((1_u64, text), b"true")), &format!("{written}1{written}true"));
            assert_put((7_u64, Rendered(text.as_bytes()), "\n"), &format!("7{text}\\n"));
            if !cfg!(miri) {
                assert_put(
                    (text, b",", text, b",", text, b",", text, b",", text, b",", text, b","),
                    &format!("{written},").repeat(6),
                );
            }
        }
    }
}

#[test]
fn a_long_text_is_not_given_the_room_that_it_could_need_at_worst() {
    let text = "a".repeat(if cfg!(miri) { LONG + 1 } else { 64 * LONG });
    let text = text.as_str();
    // Alone, with others, and behind what took room already.
    let rows: [fn(&mut Buffer, &str); 3] = [
        |line, text| line.put(text),
        |line, text| line.put(Either { yes: true, parts: (b"", text) }),
        |line, text| (0..2).for_each(|_| line.put((b"\"", text, b"\"", Rendered(text.as_bytes())))),
    ];
    for put in rows {
        let mut line = Buffer::append_to(Vec::new());
        put(&mut line, text);
        let line = line.into_bytes();
        // A vector that grows doubles.
        assert!(line.capacity() <= 2 * line.len() + 64 * 1024, "{} bytes for {}", line.capacity(), line.len());
    }
}
