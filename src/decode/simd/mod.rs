//! Many bytes at a time: the ends of strings, UTF-8 and escapes. All unsafe code of the decoder stands here.

mod block;
mod prefetch;
mod scan;
mod unescape;
mod utf8;

pub(super) use self::block::{Native, WIDE, string_ends_and_high};
pub(super) use self::prefetch::prefetch_after;
pub(super) use self::scan::{Plain, up_to_quote};
pub(super) use self::unescape::UnescapeBuffer;
pub(super) use self::utf8::text;
