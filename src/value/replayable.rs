//! Values that are whole and owned: what a replay gives back to a program.

use std::borrow::Cow;
use std::fmt;

use super::{TraceValue, type_names};
use super::ValueWriter;

/// An owned value with no part missing: what may cross a task boundary, and so what a replay can give back to a program
/// in place of the host.
///
/// Made from a [`RecordedValue`](super::RecordedValue) with [`to_value`](super::RecordedValue::to_value), which refuses
/// what is redacted or opaque and says where. Two values are equal when a full trace writes the same bytes for both, which
/// compares floats by their bits. Dropping, comparing and printing one is safe however deep it nests; cloning recurses.
#[derive(Clone)]
pub enum Value {
    /// The value that says nothing.
    Unit,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; finite when it comes from a trace.
    Float(f64),
    /// A span of time.
    Duration {
        /// Nanoseconds.
        ns: i64,
    },
    /// A text.
    String(String),
    /// Values in a row.
    Array(Values<Value>),
    /// One case of an enumeration.
    Enum {
        /// The name of the enumeration.
        name: String,
        /// The name of the case.
        case: String,
        /// What the case carries.
        payload: Values<Value>,
    },
    /// Named values.
    Struct {
        /// The name of the struct.
        name: String,
        /// Its fields, in order.
        fields: Values<ValueField<Value>>,
    },
    /// A handle on something that the host holds.
    Resource {
        /// The name of the kind of resource.
        name: String,
        /// The host's number for it.
        id: i64,
    },
}

/// One field of a struct, owned.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueField<V> {
    /// The field's name.
    pub name: String,
    /// What it holds.
    pub value: V,
}

/// The parts of an owned value, in order: a `Vec` whose drop does not recurse, so that a value nested a hundred thousand
/// deep can be dropped on a small stack.
#[derive(Clone)]
pub struct Values<T: Tree>(Vec<T>);

/// What can stand in a [`Values`]: a value, or a field that holds one.
pub trait Tree: Sized {
    #[doc(hidden)]
    type Value: Tree<Value = Self::Value>;

    /// The value itself, out of what it stands in.
    #[doc(hidden)]
    fn into_value(self) -> Self::Value;

    /// Moves the parts of this value to `pending`.
    #[doc(hidden)]
    fn move_parts(&mut self, pending: &mut Vec<Self::Value>);
}

impl<V: Tree<Value = V>> Tree for ValueField<V> {
    type Value = V;

    fn into_value(self) -> V {
        self.value
    }

    fn move_parts(&mut self, pending: &mut Vec<V>) {
        self.value.move_parts(pending);
    }
}

impl<T: Tree> Values<T> {
    /// The parts, as a plain `Vec`.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }

    /// Moves the parts to `pending`, each as the value it is.
    pub(crate) fn move_to(&mut self, pending: &mut Vec<T::Value>) {
        pending.extend(self.0.drain(..).map(T::into_value));
    }
}

impl<T: Tree> Drop for Values<T> {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        for part in &mut self.0 {
            part.move_parts(&mut pending);
        }
        while let Some(mut value) = pending.pop() {
            value.move_parts(&mut pending);
        }
    }
}

impl<T: Tree> std::ops::Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Tree> Default for Values<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Tree> From<Vec<T>> for Values<T> {
    fn from(parts: Vec<T>) -> Self {
        Self(parts)
    }
}

impl<T: Tree> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        Self(parts.into_iter().collect())
    }
}

impl<T: Tree> IntoIterator for Values<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'v, T: Tree> IntoIterator for &'v Values<T> {
    type Item = &'v T;
    type IntoIter = std::slice::Iter<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Gives an owned value type what it shares with the other: how it is written, compared, printed and taken apart. The ten
/// shapes that both have stand here; a type that has more gives the arms for them.
macro_rules! owned_tree {
    ($type:ident {
        $( $more:pat => { name: $more_name:expr, write: |$out:ident| $more_write:expr } )*
    }) => {
        impl TraceValue for $type {
            #[allow(unused_variables, reason = "an arm is given once for both methods")]
            fn type_name(&self) -> Cow<'_, str> {
                Cow::Borrowed(match self {
                    Self::Unit => type_names::UNIT,
                    Self::Bool(_) => type_names::BOOL,
                    Self::Int(_) => type_names::INT,
                    Self::Float(_) => type_names::FLOAT,
                    Self::Duration { .. } => type_names::DURATION,
                    Self::String(_) => type_names::STRING,
                    Self::Array(_) => type_names::ARRAY,
                    Self::Enum { name, .. } | Self::Struct { name, .. } | Self::Resource { name, .. } => name,
                    $( $more => $more_name, )*
                })
            }

            fn write(&self, out: ValueWriter<'_>) {
                match self {
                    Self::Unit => out.unit(),
                    Self::Bool(value) => out.bool(*value),
                    Self::Int(value) => out.int(*value),
                    Self::Float(value) => out.float(*value),
                    Self::Duration { ns } => out.duration_ns(*ns),
                    Self::String(text) => out.string(text),
                    Self::Array(values) => out.array(|items| items.extend(values)),
                    Self::Enum { name, case, payload } => out.enum_case(name, case, |items| items.extend(payload)),
                    Self::Struct { name, fields: values } => out.structure(name, |fields| {
                        for field in values {
                            fields.field(&field.name, &field.value);
                        }
                    }),
                    Self::Resource { name, id } => out.resource(name, *id),
                    $( $more => { let $out = out; $more_write } )*
                }
            }
        }

        impl $crate::value::Tree for $type {
            type Value = Self;

            fn into_value(self) -> Self {
                self
            }

            fn move_parts(&mut self, pending: &mut Vec<Self>) {
                match self {
                    Self::Array(values) | Self::Enum { payload: values, .. } => values.move_to(pending),
                    Self::Struct { fields, .. } => fields.move_to(pending),
                    _ => {}
                }
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                $crate::value_to_json(self, $crate::ValueCapture::Full)
                    == $crate::value_to_json(other, $crate::ValueCapture::Full)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$crate::value_to_json(self, $crate::ValueCapture::Full))
            }
        }
    };
}
pub(crate) use owned_tree;

owned_tree!(Value {});

/// Why a recorded value can't be replayed: the first part of it that is missing, and what stands there instead.
///
/// Printed as `args[1].fields.token: redacted String`, below the path that the caller gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReplayable {
    pub(crate) path: String,
    pub(crate) what: &'static str,
    pub(crate) of: String,
}

impl NotReplayable {
    /// The path of the missing part from the value it was looked for in, such as `.items[3].fields.token`; empty when the
    /// value itself is what is missing.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The name of the missing part's type.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.of
    }

    /// The same, seen from a value that holds this one at `prefix`, such as `args[1]`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.path.insert_str(0, prefix);
        self
    }
}

impl fmt::Display for NotReplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.strip_prefix('.').unwrap_or(&self.path);
        let path = if path.is_empty() { "the value itself" } else { path };
        write!(f, "{path}: {} {}", self.what, self.of)
    }
}

impl std::error::Error for NotReplayable {}
