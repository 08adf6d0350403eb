//! Compressed traces, read as they are.
//!
//! A source is known to be compressed by its first bytes and not by its name, so that standard input is, too.

mod compression;
#[cfg(feature = "compress")]
mod watched;

use std::fmt;
use std::io::{self, Cursor, Read};

pub use self::compression::Compression;
#[cfg(feature = "compress")]
use self::watched::Watched;

/// Any source, decompressed if it is compressed, and as it is if not.
///
/// Data that is cut off is an error of kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), damaged data one of kind
/// [`InvalidData`](io::ErrorKind::InvalidData); what stands before is given first. Memory is constant: some 100 KiB for gzip; for
/// zstd the window that a frame asks for, of which more than 128 MiB are refused.
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

/// A source whose first bytes were looked at.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

enum Decoder<R> {
    Plain(Whole<R>),
    #[cfg(feature = "compress")]
    Gzip(Box<flate2::bufread::MultiGzDecoder<Watched<Whole<R>>>>),
    #[cfg(feature = "compress")]
    Zstd(Box<zstd::Decoder<'static, Watched<Whole<R>>>>),
}

impl<R: Read> Decompressed<R> {
    /// Looks at the first bytes of the source.
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

    /// How the source is compressed, if it is.
    #[must_use]
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

#[cfg(feature = "compress")]
impl<R: Read> Decoder<R> {
    fn of(compression: Compression, source: Whole<R>) -> io::Result<Self> {
        let source = Watched::new(source);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(flate2::bufread::MultiGzDecoder::new(source))),
            Compression::Zstd => Self::Zstd(Box::new(zstd::Decoder::with_buffer(source)?)),
        })
    }
}

#[cfg(not(feature = "compress"))]
impl<R> Decoder<R> {
    fn of(compression: Compression, _: Whole<R>) -> io::Result<Self> {
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
            Decoder::Gzip(gzip) => gzip.read(buffer).map_err(|error| gzip.get_mut().explain(Compression::Gzip, &error)),
            #[cfg(feature = "compress")]
            Decoder::Zstd(zstd) => zstd.read(buffer).map_err(|error| zstd.get_mut().explain(Compression::Zstd, &error)),
        }
    }
}

impl<R> fmt::Debug for Decompressed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressed").field("compression", &self.compression).finish_non_exhaustive()
    }
}
