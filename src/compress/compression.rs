//! The compression formats, and their detection.

use std::fmt;

/// The format of a compressed source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// RFC 1952; one member or several.
    Gzip,
    /// RFC 8878; one frame or several.
    Zstd,
}

impl Compression {
    /// The number of bytes that [`detect`](Self::detect) needs.
    pub const MAGIC_LEN: usize = 4;

    /// Detects the format from the first bytes of a source. Returns `None` for a trace that is not compressed.
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or a skippable frame, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Whether these are the first bytes of a member's magic number.
    #[cfg(feature = "compress")]
    pub(super) fn may_start_with(self, bytes: &[u8]) -> bool {
        let begins = |magic: &[u8]| magic.starts_with(bytes);
        match self {
            Self::Gzip => begins(&[0x1f, 0x8b]),
            Self::Zstd => {
                begins(&[0x28, 0xb5, 0x2f, 0xfd])
                    || bytes.first().is_some_and(|first| begins(&[0x50 | (first & 0x0f), 0x2a, 0x4d, 0x18]))
            }
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}
