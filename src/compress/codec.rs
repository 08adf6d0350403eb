//! The decompressors behind one interface, which reports the output that precedes an error.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

use super::compression::Compression;

/// The base-2 logarithm of gzip's window.
const GZIP_WINDOW_BITS: u8 = 15;

/// The length of the header of a zstd block.
const BLOCK_HEADER: usize = 3;

/// Decompresses one gzip member or zstd frame after the other.
pub(super) enum Codec {
    Gzip(Box<Decompress>),
    Zstd {
        context: DCtx<'static>,
        /// The number of bytes to pass in the next step.
        wanted: usize,
    },
}

/// The result of one step of decompression.
pub(super) struct Step {
    /// Bytes consumed of the input.
    pub(super) read: usize,
    /// Bytes written to the output. They are valid after an error, too.
    pub(super) written: usize,
    pub(super) then: Then,
}

/// What follows a step.
pub(super) enum Then {
    /// More steps.
    GoOn,
    /// The next member.
    MemberEnded,
    Failed(io::Error),
}

impl Codec {
    pub(super) fn new(compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(Decompress::new_gzip(GZIP_WINDOW_BITS))),
            Compression::Zstd => {
                let context = DCtx::try_create().ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
                Self::Zstd { context, wanted: BLOCK_HEADER }
            }
        })
    }

    pub(super) fn compression(&self) -> Compression {
        match self {
            Self::Gzip(_) => Compression::Gzip,
            Self::Zstd { .. } => Compression::Zstd,
        }
    }

    /// Decompresses some of the input. If that fills `output`, more output may be pending: then the next step must have
    /// no input.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Gzip(gzip) => step_gzip(gzip, input, output),
            Self::Zstd { context, wanted } => step_zstd(context, wanted, input, output),
        }
    }
}

fn step_gzip(gzip: &mut Decompress, input: &[u8], output: &mut [u8]) -> Step {
    let (read_before, written_before) = (gzip.total_in(), gzip.total_out());
    let result = gzip.decompress(input, output, FlushDecompress::None);
    // Neither is longer than its buffer.
    let read = (gzip.total_in() - read_before) as usize;
    let written = (gzip.total_out() - written_before) as usize;
    let then = match result {
        Ok(Status::Ok | Status::BufError) => Then::GoOn,
        Ok(Status::StreamEnd) => {
            gzip.reset(true);
            Then::MemberEnded
        }
        // zlib-rs does not always keep the reason.
        Err(_) => Then::Failed(damaged("the gzip data is damaged")),
    };
    Step { read, written, then }
}

/// Decompresses at most one block. A call of zstd that fails does not tell how much it has written, so a block and what
/// follows it are never passed in the same call.
fn step_zstd(context: &mut DCtx<'static>, wanted: &mut usize, input: &[u8], output: &mut [u8]) -> Step {
    let mut input = InBuffer::around(&input[..input.len().min(*wanted)]);
    let mut output = OutBuffer::around(output);
    let then = match context.decompress_stream(&mut output, &mut input) {
        Ok(0) => {
            *wanted = BLOCK_HEADER;
            Then::MemberEnded
        }
        Ok(hint) => {
            // zstd asks for what it needs next, and for the header of the block behind that.
            *wanted = if hint > BLOCK_HEADER { hint - BLOCK_HEADER } else { hint };
            Then::GoOn
        }
        Err(code) => Then::Failed(zstd_error(code)),
    };
    Step { read: input.pos(), written: output.pos(), then }
}

fn zstd_error(code: usize) -> io::Error {
    const WINDOW: usize = ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge as usize;
    const DICTIONARY: usize = ZSTD_ErrorCode::ZSTD_error_dictionary_wrong as usize;
    const MEMORY: usize = ZSTD_ErrorCode::ZSTD_error_memory_allocation as usize;
    // zstd returns the negated code.
    match code.wrapping_neg() {
        WINDOW => io::Error::new(
            io::ErrorKind::InvalidData,
            "the zstd data needs a window of more than 128 MiB, which is the limit; decompress it first with zstd -d --long=31",
        ),
        DICTIONARY => io::Error::new(
            io::ErrorKind::InvalidData,
            "the zstd data was compressed with a dictionary, which is not supported; decompress it first with zstd -d -D DICTIONARY",
        ),
        MEMORY => io::ErrorKind::OutOfMemory.into(),
        _ => damaged(&format!("the zstd data is damaged: {}", get_error_name(code))),
    }
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{problem}; what was read from it before is not verified"))
}
