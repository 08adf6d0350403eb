//! Many bytes at a time: the ends of strings, UTF-8 and escapes.

mod block;
mod scan;
mod unescape;

pub(super) use self::block::{Native, WIDE, string_ends_and_high};
pub(super) use self::scan::{Plain, text, up_to_quote};
pub(super) use self::unescape::UnescapeBuffer;
