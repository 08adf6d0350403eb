//! A compressed source: gzip members or zstd frames, one after the other.

use std::io::{self, BufRead as _, BufReader, Read};

use smallvec::SmallVec;

use super::Rewound;
use super::codec::{Codec, Step, Then};
use super::compression::Compression;

const CHUNK: usize = 64 * 1024;

/// Reads the members of a compressed source as one text. An error is given after all output that precedes it.
pub(super) struct Members<R> {
    source: BufReader<Rewound<R>>,
    codec: Codec,
    place: Place,
    /// Whether the codec may have output for which there was no room.
    may_hold_output: bool,
}

/// Where the next byte of the source is expected to stand.
enum Place {
    /// In the magic number of a member. The codec was given these bytes of it.
    Magic(SmallVec<[u8; Compression::MAGIC_LEN]>),
    /// In a member, behind its magic number.
    Member,
    /// In the zeros behind the last member.
    Padding,
    /// Nowhere: this error is due.
    Failed(io::Error),
    /// Nowhere.
    End,
}

impl<R: Read> Members<R> {
    pub(super) fn new(compression: Compression, source: Rewound<R>) -> io::Result<Self> {
        Ok(Self {
            source: BufReader::with_capacity(CHUNK, source),
            codec: Codec::new(compression)?,
            place: Place::Magic(SmallVec::new()),
            may_hold_output: false,
        })
    }

    /// Passes a byte that stands where a member may begin.
    fn pass_magic(&mut self, mut seen: SmallVec<[u8; Compression::MAGIC_LEN]>, buffer: &mut [u8]) -> io::Result<()> {
        let compression = self.codec.compression();
        match self.source.fill_buf()?.first() {
            None if seen.is_empty() => self.place = Place::End,
            None => self.place = Place::Failed(cut_off(compression)),
            Some(0) if seen.is_empty() => self.place = Place::Padding,
            Some(byte) => {
                seen.push(*byte);
                if !compression.may_start_with(&seen) {
                    self.place = Place::Failed(followed_by_other_bytes(compression));
                    return Ok(());
                }
                let is_complete = Compression::detect(&seen).is_some();
                self.place = if is_complete { Place::Member } else { Place::Magic(seen) };
                // No codec writes anything yet.
                self.decompress(1, buffer)?;
            }
        }
        Ok(())
    }

    /// Passes zeros.
    fn pass_padding(&mut self) -> io::Result<()> {
        let bytes = self.source.fill_buf()?;
        self.place = match bytes {
            [] => Place::End,
            _ if bytes.iter().all(|byte| *byte == 0) => Place::Padding,
            _ => Place::Failed(followed_by_other_bytes(self.codec.compression())),
        };
        let len = bytes.len();
        self.source.consume(len);
        Ok(())
    }

    /// Decompresses at most `limit` bytes, and gives the number of bytes written to `buffer`. 0 is not the end.
    fn decompress(&mut self, limit: usize, buffer: &mut [u8]) -> io::Result<usize> {
        // The source is asked for more when all pending output is given, and not before: it may fail.
        let input = if self.may_hold_output { &[] } else { self.source.fill_buf()? };
        if input.is_empty() && !self.may_hold_output {
            self.place = Place::Failed(cut_off(self.codec.compression()));
            return Ok(0);
        }
        let Step { read, written, then } = self.codec.step(&input[..input.len().min(limit)], buffer);
        self.source.consume(read);
        self.may_hold_output = written == buffer.len() && matches!(then, Then::GoOn);
        match then {
            Then::GoOn => {}
            Then::MemberEnded => self.place = Place::Magic(SmallVec::new()),
            Then::Failed(error) => self.place = Place::Failed(error),
        }
        Ok(written)
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match &self.place {
                Place::Magic(seen) => self.pass_magic(seen.clone(), buffer)?,
                Place::Member => {
                    let written = self.decompress(usize::MAX, buffer)?;
                    if written > 0 {
                        return Ok(written);
                    }
                }
                Place::Padding => self.pass_padding()?,
                Place::Failed(_) | Place::End => {
                    return match std::mem::replace(&mut self.place, Place::End) {
                        Place::Failed(error) => Err(error),
                        _ => Ok(0),
                    };
                }
            }
        }
    }
}

fn cut_off(compression: Compression) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("the {compression} data is cut off: it ends before its end mark"),
    )
}

fn followed_by_other_bytes(compression: Compression) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the {compression} data is followed by bytes that are not {compression}; they were not read"),
    )
}
