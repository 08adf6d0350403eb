//! No fragment stores past its bound. Each is written to guarded memory of exactly that size, and put into lines with
//! and without that much room.
#![allow(unsafe_code)]

use std::time::Duration;

use super::super::buffer::{Buffer, Fragment, PIECEWISE, Stop};
use super::super::escape::tests::naive;
use super::super::fragment::{Either, Finite, Raw};
use super::guarded::{Edge, Guarded};

/// The largest bound of any fragment here that is written at once.
const MOST: usize = 64 * 1024;

/// A byte that no fragment here writes. It reveals gaps in the output.
const NOTHING_WRITTEN: u8 = 0xf8;

struct Output(Guarded);

impl Output {
    fn new() -> Self {
        Self(Guarded::new(MOST))
    }

    #[track_caller]
    fn assert_written(&mut self, fragment: impl Fragment, expected: impl AsRef<[u8]>) {
        let bound = fragment.bound() as usize;
        for &edge in Edge::ALL {
            let out = self.0.lend(edge, bound);
            out.fill(NOTHING_WRITTEN);
            let start = out.as_mut_ptr();
            // SAFETY: there are `bound` bytes.
            let end = unsafe { fragment.write(start) };
            let written = end.addr() - start.addr();
            assert!(written <= bound, "{written} bytes, but the bound is {bound}");
            let (found, expected) = (&out[..written], expected.as_ref());
            assert!(found == expected, "{}, not {}", found.escape_ascii(), expected.escape_ascii());
        }
    }
}

/// Texts whose escaped form is as long as possible, as short as possible, and in between.
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
    String::from_utf8(naive(text.as_bytes())).expect("escaped text is UTF-8")
}

const INTEGERS: [u64; 14] = [
    0,
    9,
    10,
    99,
    12_345,
    99_999_999,
    100_000_000,
    999_999_999_999_999,
    9_999_999_999_999_999,
    10_000_000_000_000_000,
    99_999_999_999_999_999,
    i64::MAX as u64,
    10_000_000_000_000_000_000,
    u64::MAX,
];

fn finite(number: f64) -> Finite {
    Finite::new(number).expect("the number is finite")
}

#[test]
fn numbers_and_words() {
    let mut output = Output::new();
    for number in INTEGERS {
        output.assert_written(number, number.to_string());
        output.assert_written(Some(number), number.to_string());
        output.assert_written(Duration::from_nanos(number), number.to_string());
        for number in [number.cast_signed(), number.wrapping_neg().cast_signed()] {
            output.assert_written(number, number.to_string());
        }
    }
    output.assert_written(None::<u64>, "null");
    output.assert_written(Duration::MAX, u64::MAX.to_string());
    for (yes, expected) in [(true, "7"), (false, "[")] {
        output.assert_written(Either { yes, fragments: (7_u64, b"[") }, expected);
    }
    output.assert_written(b"", "");
    output.assert_written(br#"{"event":"#, r#"{"event":"#);
}

#[test]
fn floats_are_formatted_like_ryu() {
    let mut output = Output::new();
    let mut assert_written = |number: f64| {
        let expected = ryu::Buffer::new().format_finite(number).to_owned();
        output.assert_written(finite(number), expected);
    };
    // The longest text, and both sides of each border between two algorithms.
    for number in [0.0, 1.0, 0.1, 1.5e-7, 1e16, 1e-5, 5e-324, 2.225_073_858_507_201_4e-308, f64::MIN_POSITIVE, f64::MAX]
    {
        for number in [number, number.next_up(), number.next_down()].into_iter().filter(|number| number.is_finite()) {
            assert_written(number);
            assert_written(-number);
        }
    }
    let mut bits = 1_u64;
    for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        if number.is_finite() {
            assert_written(number);
        }
        // Floats that are written without an exponent.
        let fraction = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        for power in [-6, -5, -3, 0, 1, 9, 15, 17] {
            assert_written(fraction * 10_f64.powi(power));
        }
    }
}

#[test]
fn strings_and_raw_text() {
    let mut output = Output::new();
    for len in (0..=200).filter(|len| !cfg!(miri) || len % 23 == 0) {
        for text in texts(len) {
            output.assert_written(text.as_str(), escaped(&text));
            output.assert_written(Raw(text.as_bytes()), &text);
        }
    }
}

#[test]
fn tuples() {
    let mut output = Output::new();
    for len in (0..=40).chain([63, 64, 65, 127, 128, 129, 200]).filter(|len| !cfg!(miri) || len % 13 == 0) {
        for text in texts(len) {
            let written = escaped(&text);
            let text = text.as_str();
            output.assert_written((text, text), format!("{written}{written}"));
            output.assert_written((b"\"", text, b"\"}\n"), format!("\"{written}\"}}\n"));
            output.assert_written(
                (
                    (b"[", u64::MAX),
                    (text, Raw(text.as_bytes())),
                    (i64::MIN, Either { yes: false, fragments: (b"true", b"false") }, finite(-f64::MAX)),
                ),
                format!("[{}{written}{text}{}false{:?}", u64::MAX, i64::MIN, -f64::MAX),
            );
            output.assert_written(
                (text, text, text, text, text, text, text, text, text, text, text, text, None::<u64>),
                written.repeat(12) + "null",
            );
        }
    }
}

/// Puts `fragment` twice into a line that is not empty, and that has no room, some, or enough.
#[track_caller]
fn assert_put(fragment: impl Fragment, expected: &str) {
    for room in [0, 1 + expected.len() / 2, fragment.bound() as usize] {
        let mut line = Vec::with_capacity(1 + room);
        line.push(b'>');
        let mut line = Buffer::append_to(line, usize::MAX);
        assert!(line.put(fragment) && line.put(fragment));
        let written = String::from_utf8(line.into_bytes()).expect("lines are UTF-8");
        // `assert_eq!` would print megabytes.
        assert!(written == format!(">{expected}{expected}"), "{} bytes, not {}", written.len(), 1 + 2 * expected.len());
    }
}

/// The length from which a string's bound exceeds [`PIECEWISE`].
const LONG: usize = PIECEWISE as usize / 6;

#[test]
fn long_strings_are_written_like_short_ones() {
    let borders = LONG - 16..=LONG + 2;
    let pieces = [13, 14, 16].into_iter().flat_map(|power| (1 << power) - 1..=(1 << power) + 1);
    let under_miri = LONG + 1;
    for len in borders.chain(pieces).chain([40 * LONG]).filter(|len| !cfg!(miri) || *len == under_miri) {
        for text in texts(len).into_iter().skip(if cfg!(miri) { 3 } else { 0 }) {
            let written = escaped(&text);
            let text = text.as_str();
            assert_put(text, &written);
            assert_put((b"\"", text, b"\"}"), &format!("\"{written}\"}}"));
            assert_put((text, ((1_u64, text), b"true")), &format!("{written}1{written}true"));
            assert_put((7_u64, Raw(text.as_bytes()), "\n"), &format!("7{text}\\n"));
        }
    }
}

#[test]
fn a_long_string_does_not_reserve_its_worst_case() {
    let text = "a".repeat(if cfg!(miri) { LONG + 1 } else { 64 * LONG });
    let text = text.as_str();
    let puts: [fn(&mut Buffer, &str); 3] = [
        |line, text| _ = line.put(text),
        |line, text| _ = line.put(Either { yes: true, fragments: (b"", text) }),
        |line, text| (0..2).for_each(|_| _ = line.put((b"\"", text, b"\"", Raw(text.as_bytes())))),
    ];
    for put in puts {
        let mut line = Buffer::append_to(Vec::new(), usize::MAX);
        put(&mut line, text);
        let line = line.into_bytes();
        // Growing a vector doubles its capacity.
        assert!(line.capacity() <= 2 * line.len() + 64 * 1024, "{} bytes for {}", line.capacity(), line.len());
    }
}

#[test]
fn the_limit_is_exact_to_the_byte() {
    let long = "a\n".repeat(if cfg!(miri) { 8 } else { LONG });
    for text in ["", "a", "\n", "a longer text of a name and more", &long] {
        let written = escaped(text);
        let whole = format!("[{written}]7true");
        for (limit, fits) in [(whole.len(), true), (whole.len() - 1, false), (0, false), (usize::MAX, true)] {
            for capacity in [0, 1, whole.len() + 1, 8 * whole.len() + 200] {
                let mut line = Vec::with_capacity(capacity);
                line.push(b'>');
                let mut line = Buffer::append_to(line, limit);
                let is_put = line.put((b"[", text, b"]")) && line.put((7_u64, b"true"));
                assert_eq!((is_put, line.stopped()), (fits, (!fits).then_some(Stop::TooLong)), "{limit} {text:?}");
                if fits && limit < usize::MAX {
                    assert!(!line.put(b"."), "the line is full");
                } else if !fits {
                    assert!(!line.put(b"."), "a stopped line takes nothing");
                    line.resume(1);
                    assert_eq!(line.put(b"x"), limit > 0);
                    assert_eq!(line.into_bytes(), if limit > 0 { &b">x"[..] } else { b">" });
                    continue;
                }
                assert_eq!(line.into_bytes(), format!(">{whole}").into_bytes());
            }
        }
    }
}

#[test]
fn a_failed_reservation_stops_the_line() {
    /// A fragment whose bound is nearly the whole address space.
    #[derive(Clone, Copy)]
    struct Huge;
    // SAFETY: stores nothing.
    unsafe impl Fragment for Huge {
        fn bound(self) -> u64 {
            isize::MAX as u64
        }
        unsafe fn write(self, to: *mut u8) -> *mut u8 {
            to
        }
    }
    let mut line = Buffer::append_to(Vec::new(), usize::MAX);
    assert!(line.put(b"before"));
    assert!(!line.put(Huge));
    assert_eq!(line.stopped(), Some(Stop::OutOfMemory));
    assert!(!line.put(b"after"));
    assert_eq!(line.into_bytes(), b"before");
}

#[test]
fn a_comma_is_only_dropped_behind_an_item() {
    let mut line = Buffer::append_to(Vec::new(), usize::MAX);
    line.put(b"[");
    let start = line.len();
    line.drop_trailing_comma(start);
    line.put(b"1,");
    line.drop_trailing_comma(start);
    assert_eq!(line.into_bytes(), b"[1");
}
