//! Numbers, in each place where one may stand.

use cove_trace::decode::DecodeErrorKind as Kind;
use cove_trace::owned::{OwnedEvent, OwnedValue};

use crate::reading::expect::{assert_accepted, assert_refused};

fn in_a_u64s_place(number: &str) -> String {
    format!(r#"{{"event":"task_cancelled","id":{number}}}"#)
}

fn in_a_u64_or_nulls_place(number: &str) -> String {
    format!(r#"{{"event":"task_spawned","id":1,"parent":{number},"scope":""}}"#)
}

fn call_with(value: &str) -> String {
    format!(
        r#"{{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":5,"granted":true,"args":[{value}],"outcome":null}}"#
    )
}

fn in_an_i64s_place(number: &str) -> String {
    call_with(&format!(r#"{{"type":"int","value":{number}}}"#))
}

fn in_a_durations_place(number: &str) -> String {
    call_with(&format!(r#"{{"type":"duration","ns":{number}}}"#))
}

fn in_a_resources_place(number: &str) -> String {
    call_with(&format!(r#"{{"type":"resource","name":"","id":{number}}}"#))
}

fn in_a_floats_place(number: &str) -> String {
    call_with(&format!(r#"{{"type":"float","value":{number}}}"#))
}

const UNSIGNED: [fn(&str) -> String; 2] = [in_a_u64s_place, in_a_u64_or_nulls_place];
const SIGNED: [fn(&str) -> String; 3] = [in_an_i64s_place, in_a_durations_place, in_a_resources_place];

fn only_arg(event: OwnedEvent) -> OwnedValue {
    match event {
        OwnedEvent::HostCall(mut call) if call.args.len() == 1 => call.args.remove(0),
        event => panic!("{event:?}"),
    }
}

fn decoded_float(number: &str) -> f64 {
    match only_arg(assert_accepted(&in_a_floats_place(number))) {
        OwnedValue::Float(float) => float,
        value => panic!("{value:?}"),
    }
}

#[test]
fn whole_numbers_of_64_bits() {
    for number in [0, 1, 10, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, u64::MAX / 2 + 1, u64::MAX] {
        assert_eq!(assert_accepted(&in_a_u64s_place(&number.to_string())), OwnedEvent::TaskCancelled { id: number });
        assert_eq!(
            assert_accepted(&in_a_u64_or_nulls_place(&number.to_string())),
            OwnedEvent::TaskSpawned { id: 1, parent: Some(number), scope: String::new() }
        );
    }
    for number in [0, 1, -1, (1 << 53) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN] {
        match only_arg(assert_accepted(&in_an_i64s_place(&number.to_string()))) {
            OwnedValue::Int(found) => assert_eq!(found, number),
            value => panic!("{value:?}"),
        }
        match only_arg(assert_accepted(&in_a_durations_place(&number.to_string()))) {
            OwnedValue::Duration { ns } => assert_eq!(ns, number),
            value => panic!("{value:?}"),
        }
    }
    assert!(matches!(only_arg(assert_accepted(&in_an_i64s_place("-0"))), OwnedValue::Int(0)));
}

#[test]
fn whole_numbers_beyond_64_bits_or_not_whole() {
    let huge = "9".repeat(10_000);
    for place in UNSIGNED {
        for number in [
            "18446744073709551616",
            "99999999999999999999",
            "100000000000000000000",
            "-1",
            "-0",
            "-18446744073709551615",
            "1.0",
            "0.0",
            "1.5",
            "1e0",
            "1e1",
            "1E1",
            "1e+1",
            "1e-1",
            "0e0",
            "1.0e1",
            "10e-1",
            "1e400",
            "-1e400",
            "1e-400",
            &huge,
        ] {
            assert_refused(&place(&format!("‸{number}")), Kind::OutOfRange);
        }
    }
    for place in SIGNED {
        for number in [
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "-0.0",
            "1.0",
            "-1.0",
            "1e0",
            "-1e1",
            "1E0",
            "-0e0",
            "1.0e1",
            "10e-1",
            "1e400",
            "-1e400",
            "1e-400",
            &huge,
            &format!("-{huge}"),
        ] {
            assert_refused(&place(&format!("‸{number}")), Kind::OutOfRange);
        }
    }
}

/// What RFC 8259 does not know as a number, wherever it stands.
#[test]
fn what_is_no_number_of_json() {
    for place in UNSIGNED.into_iter().chain(SIGNED).chain([in_a_floats_place as fn(&str) -> String]) {
        for number in [
            "01",
            "00",
            "-01",
            "-00",
            "007",
            "0123456789012345678901",
            "1.",
            "-1.",
            "1.e1",
            "1.e",
            "0.",
            "1e",
            "1e+",
            "1e-",
            "1E",
            "-",
            "1.5e",
            "0x1",
            "0b1",
            "0o7",
            "1_000",
            "1__0",
            "1.5.2",
            "1..5",
            "1e5.0",
            "1e5e5",
            "1-1",
            "1+1",
            "--1",
            "-+1",
            "-e1",
            "-.5",
            "1u64",
            "1f",
            "1f64",
            "1n",
            "0e",
            "-Infinity",
            "-NaN",
            "1.5_0",
            "1e1_0",
            "١",
            "-١",
        ] {
            assert_refused(&place(&format!("‸{number}")), Kind::Syntax);
        }
        for number in [
            ".5", "+1", "+", ".", "NaN", "nan", "Infinity", "inf", "e1", "E1", "x1", "_1", "\\u0031", "½", "'1'", "$1",
            "#1", "(1)", "px",
        ] {
            assert_refused(&place(&format!("‸{number}")), Kind::Syntax);
        }
    }
    // Where the number is over, and what comes then is wrong.
    for (number, kind) in
        [("1 ‸1", Kind::Syntax), ("1‸\"\"", Kind::Syntax), ("1‸é", Kind::Syntax), ("1‸:1", Kind::Syntax)]
    {
        assert_refused(&in_a_u64s_place(number), kind);
        assert_refused(&in_a_floats_place(number), kind);
    }
}

#[test]
fn floats_of_every_spelling() {
    for (number, expected) in [
        ("0", 0.0),
        ("-0", -0.0),
        ("-0.0", -0.0),
        ("-0e0", -0.0),
        ("-0.000e-5", -0.0),
        ("0e999999999999999999999", 0.0),
        ("-0E+99999", -0.0),
        ("1", 1.0),
        ("-7", -7.0),
        ("1E2", 100.0),
        ("1e+2", 100.0),
        ("1e02", 100.0),
        ("1e-000002", 0.01),
        ("100e-2", 1.0),
        ("1.50", 1.5),
        ("9007199254740992", 9_007_199_254_740_992.0),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("9007199254740993.00000000000000000001", 9_007_199_254_740_994.0),
        ("18446744073709551616", 18_446_744_073_709_551_616.0),
        ("2.2250738585072014e-308", f64::MIN_POSITIVE),
        ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
        ("4.9406564584124654e-324", f64::from_bits(1)),
        ("2.4703282292062328e-324", f64::from_bits(1)),
        ("1.7976931348623157e308", f64::MAX),
        ("1.7976931348623158e308", f64::MAX),
        ("179769313486231580793e288", f64::MAX),
        ("0.1", 0.1),
        ("0.30000000000000004", 0.300_000_000_000_000_04),
        ("123456789012345678901234567890", 1.234_567_890_123_456_8e29),
    ] {
        let found = decoded_float(number);
        assert_eq!(found.to_bits(), f64::to_bits(expected), "{number}: {found:?}");
    }
}

#[test]
fn a_float_that_underflows_is_zero() {
    let long = format!("0.{}1", "0".repeat(1_000_000));
    for number in
        ["1e-400", "2.4703282292062327e-324", "1e-4294967296", "1e-99999999999999999999", "0.1e-2147483648", &long]
    {
        assert_eq!(decoded_float(number).to_bits(), 0);
        assert_eq!(decoded_float(&format!("-{number}")).to_bits(), (-0.0_f64).to_bits());
    }
}

#[test]
fn a_float_that_overflows_is_refused() {
    let long = format!("1{}", "0".repeat(1_000_000));
    for number in [
        "1e400",
        "1.7976931348623159e308",
        "1e309",
        "1e4294967296",
        "1e99999999999999999999",
        "0.1e2147483648",
        "10e308",
        &long,
        &format!("{long}.0"),
    ] {
        assert_refused(&in_a_floats_place(&format!("‸{number}")), Kind::OutOfRange);
        assert_refused(&in_a_floats_place(&format!("‸-{number}")), Kind::OutOfRange);
    }
}

#[test]
fn long_numbers_that_are_of_ordinary_size() {
    let zeros = "0".repeat(100_000);
    let nines = "9".repeat(100_000);
    assert_eq!(decoded_float(&format!("1.{zeros}")), 1.0);
    assert_eq!(decoded_float(&format!("1.5{zeros}e10")), 1.5e10);
    assert_eq!(decoded_float(&format!("0.{nines}")), 1.0);
    assert_eq!(decoded_float(&format!("1{zeros}e-100000")), 1.0);
    assert_eq!(decoded_float(&format!("0.{zeros}1e100001")), 1.0);
    assert_eq!(decoded_float(&format!("1e{zeros}1")), 10.0);
    // Half-way between two floats, but for a digit far behind.
    assert_eq!(decoded_float(&format!("9007199254740993.{zeros}")), 9_007_199_254_740_992.0);
    assert_eq!(decoded_float(&format!("9007199254740993.{zeros}1")), 9_007_199_254_740_994.0);
}
