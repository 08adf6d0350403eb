//! `TraceValue` for types of the standard library, so that an interpreter can write a field such as `Option<Rc<str>>`
//! or `Vec<i64>` as it is.
//!
//! Values without a shape in the format are written by the rules of [`conventions`](super::conventions).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::writer::{TraceValue, ValueWriter};
use super::{conventions, type_names};

macro_rules! leaves {
    ($( $type_name:ident: $( $type:ty ),+ => |$value:ident, $out:ident| $write:expr; )+) => { $( $(
        impl TraceValue for $type {
            fn type_name(&self) -> Cow<'_, str> {
                type_names::$type_name.into()
            }

            #[inline]
            fn write(&self, $out: ValueWriter<'_>) {
                let $value = self;
                $write
            }
        }
    )+ )+ };
}

leaves! {
    UNIT: () => |_value, out| out.unit();
    BOOL: bool => |value, out| out.bool(*value);
    INT: i64 => |value, out| out.int(*value);
    INT: i8, i16, i32, u8, u16, u32 => |value, out| out.int((*value).into());
    // No target has more than 64 bits.
    INT: isize => |value, out| out.int(*value as i64);
    INT: u64 => |value, out| out.unsigned(*value);
    INT: usize => |value, out| out.unsigned(*value as u64);
    INT: i128 => |value, out| out.int128(*value);
    FLOAT: f64 => |value, out| out.exact_float(*value);
    FLOAT: f32 => |value, out| out.exact_float((*value).into());
    DURATION: Duration => |value, out| out.duration(*value);
    STRING: str => |value, out| out.string(value);
    STRING: char => |value, out| out.string(value.encode_utf8(&mut [0; 4]));
}

/// Written as an array of its items. Bytes, too, are written as an array of integers;
/// [`ValueWriter::byte_string`] writes them as a string.
impl<T: TraceValue> TraceValue for [T] {
    fn type_name(&self) -> Cow<'_, str> {
        type_names::ARRAY.into()
    }

    #[inline]
    fn write(&self, out: ValueWriter<'_>) {
        out.array(|items| items.extend(self));
    }
}

/// `None` is written as the unit value, and `Some(value)` as `value`, as a dynamic language writes its nil. So `None`
/// and `Some(())` look the same in a trace; where they must not, write an [enum](ValueWriter::enum_case).
impl<T: TraceValue> TraceValue for Option<T> {
    fn type_name(&self) -> Cow<'_, str> {
        match self {
            None => type_names::UNIT.into(),
            Some(value) => value.type_name(),
        }
    }

    #[inline]
    fn write(&self, out: ValueWriter<'_>) {
        match self {
            None => out.unit(),
            Some(value) => value.write(out),
        }
    }
}

/// Implements `TraceValue` for types that are written as the value that they own or point to.
macro_rules! forward {
    ($( [$( $generics:tt )*] $type:ty => |$value:ident| $target:expr; )+) => { $(
        impl<$( $generics )*> TraceValue for $type {
            fn type_name(&self) -> Cow<'_, str> {
                let $value = self;
                $target.type_name()
            }

            #[inline]
            fn write(&self, out: ValueWriter<'_>) {
                let $value = self;
                $target.write(out);
            }
        }
    )+ };
}

forward! {
    [T: TraceValue + ?Sized] Box<T> => |value| (**value);
    [T: TraceValue + ?Sized] Rc<T> => |value| (**value);
    [T: TraceValue + ?Sized] Arc<T> => |value| (**value);
    [T: TraceValue + ToOwned + ?Sized] Cow<'_, T> => |value| (**value);
    [] String => |value| value.as_str();
    [T: TraceValue] Vec<T> => |value| value.as_slice();
    [T: TraceValue, const N: usize] [T; N] => |value| value.as_slice();
}

/// Implements `TraceValue` for tuples.
macro_rules! tuples {
    ($( ($( $item:ident ),+) )+) => { $(
        impl<$( $item: TraceValue ),+> TraceValue for ($( $item, )+) {
            fn type_name(&self) -> Cow<'_, str> {
                conventions::TUPLE.into()
            }

            #[inline]
            #[allow(non_snake_case, reason = "each item is bound to the name of its type parameter")]
            fn write(&self, out: ValueWriter<'_>) {
                let ($( $item, )+) = self;
                out.tuple(|items| {
                    $( items.item($item); )+
                });
            }
        }
    )+ };
}

tuples! { (A) (A, B) (A, B, C) (A, B, C, D) }

impl<K: TraceValue, V: TraceValue> TraceValue for BTreeMap<K, V> {
    fn type_name(&self) -> Cow<'_, str> {
        conventions::MAP.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.map(|entries| entries.extend(self));
    }
}

impl<T: TraceValue> TraceValue for BTreeSet<T> {
    fn type_name(&self) -> Cow<'_, str> {
        conventions::SET.into()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.set(|items| items.extend(self));
    }
}

macro_rules! ranges {
    ($( [$( $generics:tt )*] $type:ty => |$range:ident| $method:ident($start:expr, $end:expr); )+) => { $(
        impl<$( $generics )*> TraceValue for $type {
            fn type_name(&self) -> Cow<'_, str> {
                conventions::RANGE.into()
            }

            fn write(&self, out: ValueWriter<'_>) {
                let $range = self;
                out.$method($start, $end);
            }
        }
    )+ };
}

ranges! {
    [T: TraceValue] Range<T> => |range| range(&range.start, &range.end);
    [T: TraceValue] RangeFrom<T> => |range| range(&range.start, &());
    [T: TraceValue] RangeTo<T> => |range| range(&(), &range.end);
    [] RangeFull => |_range| range(&(), &());
    [T: TraceValue] RangeInclusive<T> => |range| range_inclusive(range.start(), range.end());
    [T: TraceValue] RangeToInclusive<T> => |range| range_inclusive(&(), &range.end);
}
