//! The value encoding, shape by shape: what stands around the parts of a value.

use super::buffer::Part;
use super::parts::{Either, Finite, Tail};

pub(super) fn unit() -> impl Part {
    br#"{"type":"unit"}"#
}

pub(super) fn bool(value: bool) -> impl Part {
    Either { yes: value, parts: (br#"{"type":"bool","value":true}"#, br#"{"type":"bool","value":false}"#) }
}

pub(super) fn int(value: i64) -> impl Part {
    (br#"{"type":"int","value":"#, value, b"}")
}

pub(super) fn float(value: Finite) -> impl Part {
    (br#"{"type":"float","value":"#, value, b"}")
}

pub(super) fn duration(ns: i64) -> impl Part {
    (br#"{"type":"duration","ns":"#, ns, b"}")
}

pub(super) fn string(text: &str) -> impl Part + use<'_> {
    (br#"{"type":"string","value":""#, text, b"\"}")
}

pub(super) fn array_start() -> impl Part {
    br#"{"type":"array","items":["#
}

pub(super) fn enum_start<'a>(name: &'a str, case: &'a str) -> impl Part + use<'a> {
    // What most host calls come back with is known as a whole.
    Either {
        yes: name == "Result" && case == "Ok",
        parts: (ok_start(), (br#"{"type":"enum","name":""#, name, br#"","case":""#, case, br#"","payload":["#)),
    }
}

pub(super) fn ok_start() -> impl Part {
    br#"{"type":"enum","name":"Result","case":"Ok","payload":["#
}

pub(super) fn struct_start(name: &str) -> impl Part + use<'_> {
    (br#"{"type":"struct","name":""#, name, br#"","fields":["#)
}

/// What ends an array, an enum or a struct.
pub(super) fn container_end() -> impl Part {
    b"]}"
}

pub(super) fn field_start(name: &str) -> impl Part + use<'_> {
    (br#"{"name":""#, name, br#"","value":"#)
}

/// What ends the last field of a struct.
pub(super) const FIELD_END: Tail = Tail::new(b"}");

/// What ends any other field.
pub(super) const FIELD_END_AND_NEXT: Tail = Tail::new(b"},");

pub(super) fn resource<'a>(name: &'a str, id: i64) -> impl Part + use<'a> {
    (br#"{"type":"resource","name":""#, name, br#"","id":"#, id, b"}")
}

pub(super) fn redacted(of: &str) -> impl Part + use<'_> {
    (br#"{"type":"redacted","of":""#, of, b"\"}")
}

pub(super) fn opaque<'a>(of: &'a str, shown: &'a str) -> impl Part + use<'a> {
    (opaque_start(of), shown, opaque_end())
}

pub(super) fn opaque_start(of: &str) -> impl Part + use<'_> {
    (br#"{"type":"opaque","of":""#, of, br#"","shown":""#)
}

pub(super) fn opaque_end() -> impl Part {
    b"\"}"
}

/// What is shown of a float that JSON has no number for.
pub(super) fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}
