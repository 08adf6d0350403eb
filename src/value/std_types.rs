//! `TraceValue` for types of the standard library, so that an interpreter can write a field such as `Option<Rc<str>>`
//! or `Vec<i64>` as it is.
//!
//! Of the integer types, those with a lossless conversion to `i64` are covered. A wider one has no single right form:
//! the interpreter chooses whether to write it as a string, a float, or an opaque.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::type_names;
use super::writer::{TraceValue, ValueWriter};

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
    FLOAT: f64 => |value, out| out.float(*value);
    FLOAT: f32 => |value, out| out.float((*value).into());
    DURATION: Duration => |value, out| out.duration(*value);
    STRING: str => |value, out| out.string(value);
}

/// Written as an array of its items. Bytes, too, are written as an array of integers; [`ValueWriter::bytes`] writes
/// them as a string.
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

/// Implements `TraceValue` for tuples, which are written as arrays.
macro_rules! tuples {
    ($( ($( $item:ident ),+) )+) => { $(
        impl<$( $item: TraceValue ),+> TraceValue for ($( $item, )+) {
            fn type_name(&self) -> Cow<'_, str> {
                type_names::ARRAY.into()
            }

            #[inline]
            #[allow(non_snake_case, reason = "each item is bound to the name of its type parameter")]
            fn write(&self, out: ValueWriter<'_>) {
                let ($( $item, )+) = self;
                out.array(|items| {
                    $( items.item($item); )+
                });
            }
        }
    )+ };
}

tuples! { (A) (A, B) (A, B, C) (A, B, C, D) }
