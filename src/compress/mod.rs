//! Reading compressed traces.
//!
//! Compression is detected by the first bytes of a source and not by its name, so that it works for standard input,
//! too.

#[cfg(feature = "compress")]
mod codec;
mod compression;
#[cfg(feature = "compress")]
mod members;

use std::fmt;
use std::io::{self, Cursor, Read};

pub use self::compression::Compression;
#[cfg(feature = "compress")]
use self::members::Members;

/// Any source, decompressed if it is compressed, and unchanged if not.
///
/// Several gzip members or zstd frames are read as one text. Zeros after the last one are padding and are ignored.
/// Memory is constant: 100 KiB for gzip; for zstd, the window that a frame declares, at most 128 MiB.
///
/// # Errors
///
/// [`read`](Read::read) returns an error after all data that was decompressed before it, and then the end:
///
/// | kind | meaning |
/// |---|---|
/// | [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) | The data is cut off. |
/// | [`InvalidData`](io::ErrorKind::InvalidData) | The data is damaged, is followed by other bytes, or needs a larger window or a dictionary. |
///
/// Checksums follow the data, so data before an error is not verified. zstd decompresses blocks of up to 128 KiB;
/// nothing is returned of a damaged block.
///
/// An error of the source is returned unchanged, and reading can go on after it.
///
/// ```
/// use cove_trace::TraceReader;
/// use cove_trace::compress::Decompressed;
///
/// let trace = br#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#;
/// let mut reader = TraceReader::new(Decompressed::new(&trace[..])?);
/// assert!(reader.header()?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decompressed<R> {
    compression: Option<Compression>,
    decoder: Decoder<R>,
}

/// A source with the bytes that were read from it for detection put back.
type Rewound<R> = io::Chain<Cursor<Vec<u8>>, R>;

enum Decoder<R> {
    Plain(Rewound<R>),
    #[cfg(feature = "compress")]
    Compressed(Box<Members<R>>),
}

impl<R: Read> Decompressed<R> {
    /// Detects the compression by the first bytes of the source.
    ///
    /// # Errors
    ///
    /// Those of the source. For a source that is compressed, when this build lacks the feature `compress`
    /// ([`Unsupported`](io::ErrorKind::Unsupported)).
    pub fn new(mut source: R) -> io::Result<Self> {
        let mut start = Vec::with_capacity(Compression::MAGIC_LEN);
        source.by_ref().take(Compression::MAGIC_LEN as u64).read_to_end(&mut start)?;
        let compression = Compression::detect(&start);
        let whole = Cursor::new(start).chain(source);
        let decoder = match compression {
            None => Decoder::Plain(whole),
            Some(compression) => Decoder::of(compression, whole)?,
        };
        Ok(Self { compression, decoder })
    }

    /// The compression of the source, if it is compressed.
    #[must_use]
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

#[cfg(feature = "compress")]
impl<R: Read> Decoder<R> {
    fn of(compression: Compression, source: Rewound<R>) -> io::Result<Self> {
        Ok(Self::Compressed(Box::new(Members::new(compression, source)?)))
    }
}

#[cfg(not(feature = "compress"))]
impl<R> Decoder<R> {
    fn of(compression: Compression, _: Rewound<R>) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("it is compressed with {compression}, which this build can't read; decompress it first"),
        ))
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoder {
            Decoder::Plain(source) => source.read(buffer),
            #[cfg(feature = "compress")]
            Decoder::Compressed(members) => members.read(buffer),
        }
    }
}

impl<R> fmt::Debug for Decompressed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressed").field("compression", &self.compression).finish_non_exhaustive()
    }
}
