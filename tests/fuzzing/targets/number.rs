//! Any bits as a number, and any text that looks like one: held to the standard library, both ways.

use cove_trace::decode::{DecodeErrorKind, Decoder};
use cove_trace::{RecordedValue, TraceEvent, ValueCapture, value_to_json};

use super::lines::line;
use super::reading::json::{self, Token};

pub(crate) fn check(data: &[u8]) {
    let mut bits = [0; 8];
    let len = data.len().min(8);
    bits[..len].copy_from_slice(&data[..len]);
    let bits = u64::from_le_bytes(bits);
    // Of every length, and close to where the length changes.
    for number in [bits, bits >> (bits % 64), 10_u64.pow((bits % 20) as u32).wrapping_add(bits >> 56).wrapping_sub(128)]
    {
        unsigned(number);
        signed(number.cast_signed());
        float(f64::from_bits(number));
        float(number as f64);
    }
    spelt(data.get(8..).unwrap_or_default());
}

fn unsigned(number: u64) {
    let written = line(&TraceEvent::TaskCancelled { id: number }, ValueCapture::Full);
    assert_eq!(String::from_utf8_lossy(&written), format!("{{\"event\":\"task_cancelled\",\"id\":{number}}}\n"));
    assert_eq!(Decoder::new().decode_event(&written), Ok(TraceEvent::TaskCancelled { id: number }));
}

fn signed(number: i64) {
    for (value, expected) in [
        (RecordedValue::Int(number), format!(r#"{{"type":"int","value":{number}}}"#)),
        (RecordedValue::Duration { ns: number }, format!(r#"{{"type":"duration","ns":{number}}}"#)),
    ] {
        let written = value_to_json(&value, ValueCapture::Full);
        assert_eq!(written, expected);
        assert_eq!(Decoder::new().decode_value(written.as_bytes()), Ok(value));
    }
}

fn float(number: f64) {
    let written = value_to_json(&RecordedValue::Float(number), ValueCapture::Full);
    if !number.is_finite() {
        let shown = if number.is_nan() { "NaN".to_owned() } else { number.to_string() };
        assert_eq!(written, format!(r#"{{"type":"opaque","of":"Float","shown":"{shown}"}}"#));
        return;
    }
    let spelling = written.strip_prefix(r#"{"type":"float","value":"#).and_then(|rest| rest.strip_suffix('}'));
    let spelling = spelling.expect("a float");
    assert_eq!(spelling.parse().map(f64::to_bits), Ok(number.to_bits()), "{spelling}");
    is_shortest_and_closest(spelling, number);
    let mut decoder = Decoder::new();
    match decoder.decode_value(written.as_bytes()) {
        Ok(RecordedValue::Float(read)) => assert_eq!(read.to_bits(), number.to_bits(), "{spelling}"),
        other => panic!("{spelling}: {other:?}"),
    }
}

/// As few digits as the standard library needs, and the same ones. Where the number stands halfway between two that are
/// equally short, either will do.
fn is_shortest_and_closest(spelling: &str, number: f64) {
    let (found, standard) = (digits_and_exponent(spelling), digits_and_exponent(&format!("{number:e}")));
    if found == standard {
        return;
    }
    // Every finite float ends within so many digits.
    let (exact, _) = digits_and_exponent(&format!("{number:.800e}"));
    let (lower, upper) = (found.0.clone().min(standard.0.clone()), found.0.clone().max(standard.0.clone()));
    assert_eq!(exact, lower.clone() + "5", "{spelling}, {number:e}");
    let next = lower.parse::<u64>().expect("at most 17 digits") + 1;
    assert_eq!((next.to_string(), found.1), (upper, standard.1), "{spelling}, {number:e}");
}

/// The digits from the first to the last that is not zero, and the power of ten that the last of them counts.
fn digits_and_exponent(spelling: &str) -> (String, i64) {
    let (mantissa, exponent) = spelling.split_once('e').unwrap_or((spelling, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_end_matches('0');
    let dropped = digits.len() - significant.len();
    let exponent = exponent.parse::<i64>().expect("an exponent") - fraction.len() as i64 + dropped as i64;
    match significant.trim_start_matches('0') {
        "" => ("0".to_owned(), 0),
        digits => (digits.to_owned(), exponent),
    }
}

/// A text of nothing but what numbers are made of, in the places where numbers stand.
fn spelt(data: &[u8]) {
    const PARTS: &[u8; 16] = b"0123456789.eE+-0";
    let text: String = data.iter().map(|byte| char::from(PARTS[usize::from(byte % 16)])).collect();
    let is_number = matches!(
        json::parse(text.as_bytes()),
        json::Parsed { root: Some(json::Node { token: Token::Number { .. }, .. }), broken: None }
    );
    as_integer(&text, is_number);
    as_float(&text, is_number);
}

fn as_integer(text: &str, is_number: bool) {
    let value = format!(r#"{{"type":"int","value":{text}}}"#);
    let mut decoder = Decoder::new();
    let decoded = decoder.decode_value(value.as_bytes());
    let expected = if is_number { text.parse::<i64>().ok() } else { None };
    match (decoded, expected) {
        (Ok(found), Some(expected)) => assert_eq!(found, RecordedValue::Int(expected), "{text}"),
        (Err(error), None) => {
            let kind = if is_number { DecodeErrorKind::OutOfRange } else { DecodeErrorKind::Syntax };
            assert_eq!(error.kind(), kind, "{text}");
        }
        (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
    }
}

fn as_float(text: &str, is_number: bool) {
    let mut decoder = Decoder::new();
    let value = format!(r#"{{"type":"float","value":{text}}}"#);
    let decoded = decoder.decode_value(value.as_bytes());
    let expected = is_number.then(|| text.parse::<f64>().expect("what JSON admits Rust does too"));
    match (decoded, expected) {
        (Ok(RecordedValue::Float(found)), Some(expected)) => {
            assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        }
        (Err(error), Some(number)) => {
            assert_eq!(error.kind(), DecodeErrorKind::OutOfRange, "{text}");
            assert!(number.is_infinite(), "{text}");
        }
        (Err(error), None) => assert_eq!(error.kind(), DecodeErrorKind::Syntax, "{text}"),
        (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
    }
}
