//! How the types of the standard library are written.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cove_trace::testing::assert_conforms;
use cove_trace::{TraceValue, ValueCapture, value_to_json};

#[track_caller]
fn assert_written(value: &(impl TraceValue + ?Sized), expected: &str) {
    assert_conforms(value);
    assert_eq!(value_to_json(value, ValueCapture::Full), expected);
}

#[test]
fn leaves() {
    assert_written(&(), r#"{"type":"unit"}"#);
    assert_written(&true, r#"{"type":"bool","value":true}"#);
    assert_written(&i8::MIN, r#"{"type":"int","value":-128}"#);
    assert_written(&i16::MIN, r#"{"type":"int","value":-32768}"#);
    assert_written(&i32::MIN, r#"{"type":"int","value":-2147483648}"#);
    assert_written(&i64::MIN, r#"{"type":"int","value":-9223372036854775808}"#);
    assert_written(&u8::MAX, r#"{"type":"int","value":255}"#);
    assert_written(&u16::MAX, r#"{"type":"int","value":65535}"#);
    assert_written(&u32::MAX, r#"{"type":"int","value":4294967295}"#);
    assert_written(&0.1_f32, r#"{"type":"float","value":0.10000000149011612}"#);
    assert_written(&0.1_f64, r#"{"type":"float","value":0.1}"#);
    assert_written(&Duration::from_micros(3), r#"{"type":"duration","ns":3000}"#);
    assert_written("a\n", r#"{"type":"string","value":"a\n"}"#);
}

#[test]
fn pointers_and_owners_are_written_as_their_contents() {
    let text = r#"{"type":"string","value":"x"}"#;
    assert_written(&String::from("x"), text);
    assert_written(&Box::<str>::from("x"), text);
    assert_written(&Rc::<str>::from("x"), text);
    assert_written(&Arc::<str>::from("x"), text);
    assert_written(&Cow::Borrowed("x"), text);
    assert_written(&Cow::<str>::Owned("x".into()), text);
    let shared: Rc<dyn TraceValue> = Rc::new("x");
    assert_written(&shared, text);
}

#[test]
fn an_option_is_written_as_its_value_or_as_unit() {
    assert_written(&None::<i64>, r#"{"type":"unit"}"#);
    assert_written(&Some(1), r#"{"type":"int","value":1}"#);
    assert_written(&Some(None::<i64>), r#"{"type":"unit"}"#);
    assert_written(
        &Some(vec![Some(true), None]),
        r#"{"type":"array","items":[{"type":"bool","value":true},{"type":"unit"}]}"#,
    );
}

#[test]
fn slices_are_arrays_and_tuples_are_tuples() {
    let array = r#"{"type":"array","items":[{"type":"int","value":1},{"type":"int","value":2}]}"#;
    assert_written(&[1, 2][..], array);
    assert_written(&[1, 2], array);
    assert_written(&vec![1, 2], array);
    assert_written(&Box::<[u8]>::from([1, 2]), array);
    assert_written(&[(); 0], r#"{"type":"array","items":[]}"#);

    let items =
        |items: &[&str]| format!(r#"{{"type":"enum","name":"@Tuple","case":"items","payload":[{}]}}"#, items.join(","));
    let (int, text) = (r#"{"type":"int","value":1}"#, r#"{"type":"string","value":"x"}"#);
    let (bool, unit) = (r#"{"type":"bool","value":false}"#, r#"{"type":"unit"}"#);
    assert_written(&(1,), &items(&[int]));
    assert_written(&(1, "x", false), &items(&[int, text, bool]));
    assert_written(&(1, "x", false, ()), &items(&[int, text, bool, unit]));
}
