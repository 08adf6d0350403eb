//! Many bytes at a time: the ends of strings, UTF-8 and escapes.

mod block;
mod scan;
mod unescape;

pub(super) use self::block::{Native, WIDE, string_ends_and_high};
pub(super) use self::scan::{Plain, up_to_quote};
pub(super) use self::unescape::UnescapeBuffer;
use crate::cost::count_examined;

/// Returns the text that `bytes` are, if they are UTF-8.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    count_examined(bytes.len());
    simdutf8::basic::from_utf8(bytes).ok()
}
