//! Compressed sources: everything before a fault is given, and the error says what the fault is.
#![cfg(feature = "compress")]
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

use std::io::{self, ErrorKind, Read, Write as _};

use cove_trace::compress::{Compression, Decompressed};
use zstd::zstd_safe::CParameter;

const CUT_OFF: (ErrorKind, &str) = (ErrorKind::UnexpectedEof, "data is cut off: it ends before its end mark");
const DAMAGED: (ErrorKind, &str) = (ErrorKind::InvalidData, "data is damaged");
const FOLLOWED: (ErrorKind, &str) = (ErrorKind::InvalidData, "data is followed by bytes that are not ");

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstandard_with(data: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for parameter in parameters {
        encoder.set_parameter(*parameter).unwrap();
    }
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(data: &[u8]) -> Vec<u8> {
    zstandard_with(data, &[CParameter::ChecksumFlag(true)])
}

type Compress = fn(&[u8]) -> Vec<u8>;

const FORMATS: [Compress; 2] = [gzip, zstandard];

/// Lines that compress to about half their length.
fn lines(len: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut noise = 1_u64;
    while text.len() < len {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        writeln!(text, "{{\"event\":\"task_cancelled\",\"id\":{}}}", noise >> 40).unwrap();
    }
    text
}

/// Reads to the end with a buffer of this length: the output, and the error if there is one.
fn read(source: impl Read, buffer_len: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut source = Decompressed::new(source).unwrap();
    let (mut output, mut error, mut buffer) = (Vec::new(), None, vec![0; buffer_len]);
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return (output, error),
            Ok(read) => {
                assert!(error.is_none(), "output after an error");
                output.extend(&buffer[..read]);
            }
            Err(next) => assert!(error.replace(next).is_none(), "two errors"),
        }
    }
}

/// Asserts that the source gives this output and then an error of this kind, whatever the length of the buffer.
#[track_caller]
fn assert_fault(source: &[u8], output: &[u8], (kind, says): (ErrorKind, &str)) {
    for buffer_len in [1, 7, 1 << 20] {
        let (read, error) = read(source, buffer_len);
        let error = error.expect("there is a fault");
        assert!(read == output, "{} bytes, {error}", read.len());
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[track_caller]
fn assert_clean(source: &[u8], output: &[u8]) {
    for buffer_len in [1, 7, 1 << 20] {
        let (read, error) = read(source, buffer_len);
        assert!(error.is_none() && read == output, "{error:?}");
    }
}

/// Changes each byte of a member behind the magic number, and asserts that the output is the same with all lengths of the
/// buffer, and holds what another decoder gives if it is asked for single bytes, which get lost with an error one at most.
fn assert_nothing_is_lost_by_a_changed_byte<D: Read>(
    whole: &[u8],
    magic_len: usize,
    decoder: impl Fn(Box<dyn Read>) -> D,
) {
    for place in magic_len..whole.len() {
        let mut damaged = whole.to_vec();
        damaged[place] ^= 0x10;
        let mut decoder = decoder(Box::new(io::Cursor::new(damaged.clone())));
        let (mut expected, mut byte) = (Vec::new(), [0]);
        while decoder.read(&mut byte).is_ok_and(|read| read > 0) {
            expected.push(byte[0]);
        }
        let [small, middle, large] = [1, 100, 1 << 20].map(|buffer_len| read(&damaged[..], buffer_len).0);
        assert!(small == middle && middle == large, "byte {place}");
        assert!(large.starts_with(&expected) && large.len() - expected.len() <= 1, "byte {place}");
    }
}

#[test]
fn any_changed_byte_costs_nothing_that_stands_before_it() {
    let text = lines(3_000);
    assert_nothing_is_lost_by_a_changed_byte(&gzip(&text), 2, flate2::read::MultiGzDecoder::new);
    let small_blocks = [CParameter::TargetCBlockSize(1340), CParameter::ChecksumFlag(true)];
    assert_nothing_is_lost_by_a_changed_byte(&zstandard_with(&text, &small_blocks), 4, |source| {
        zstd::Decoder::new(source).unwrap()
    });
}

#[test]
fn damage_in_a_later_zstd_block_costs_no_earlier_one() {
    const BLOCK: usize = 128 * 1024;
    let text = lines(3 * BLOCK + 1000);
    let whole = zstandard(&text);
    let mut last_block = whole.clone();
    // In front of the checksum.
    let place = whole.len() - 5;
    last_block[place - 10..=place].fill(0xff);
    assert_fault(&last_block, &text[..3 * BLOCK], DAMAGED);
    let mut checksum = whole;
    *checksum.last_mut().unwrap() ^= 1;
    assert_fault(&checksum, &text, DAMAGED);
}

#[test]
fn damaged_checksums_and_lengths() {
    let text = lines(1000);
    let whole = gzip(&text);
    for place in whole.len() - 8..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        assert_fault(&damaged, &text, DAMAGED);
        assert_fault(&[&whole[..], &damaged].concat(), &text.repeat(2), DAMAGED);
    }
}

#[test]
fn cut_anywhere() {
    let text = lines(1000);
    for compress in FORMATS {
        let whole = compress(&text);
        for cut in Compression::MAGIC_LEN..whole.len() {
            let (_, error) = read(&whole[..cut], 100);
            assert_eq!(error.unwrap().kind(), CUT_OFF.0, "{cut}");
        }
        for cut in 1..whole.len() {
            let two = [&whole[..], &whole[..cut]].concat();
            let (output, error) = read(&two[..], 100);
            assert!(output.starts_with(&text), "{cut}");
            assert_eq!(error.unwrap().kind(), CUT_OFF.0, "{cut}");
        }
        assert_fault(&whole[..whole.len() - 1], &text, CUT_OFF);
    }
}

#[test]
fn joined_and_padded() {
    let text = lines(200_000);
    for compress in FORMATS {
        let whole = compress(&text);
        let joined = [compress(b""), whole.clone(), compress(b"x"), compress(b"")].concat();
        assert_clean(&joined, &[&text[..], b"x"].concat());
        for padding in [1, 3, 512, 100_000] {
            assert_clean(&[&whole[..], &vec![0; padding]].concat(), &text);
        }
    }
    let skippable = [&[0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstandard(&text)].concat();
    assert_clean(&skippable, &text);
}

#[test]
fn other_bytes_behind_the_end() {
    let text = lines(1000);
    for compress in FORMATS {
        let whole = compress(&text);
        for garbage in [&b"garbage"[..], b"g", b"\0\0g", b"\x1fgarbage", b"\x28\xb5garbage", b"\n"] {
            let followed = [&whole[..], garbage].concat();
            assert_fault(&followed, &text, FOLLOWED);
        }
    }
    assert_fault(&[gzip(&text), zstandard(&text)].concat(), &text, FOLLOWED);
    assert_fault(&[zstandard(&text), gzip(&text)].concat(), &text, FOLLOWED);
}

#[test]
fn what_is_not_supported_is_no_damage() {
    let text = lines(200_000);
    let window = (ErrorKind::InvalidData, "the zstd data needs a window of more than 128 MiB");
    // A frame header: magic number, descriptor, window descriptor for 2 GiB; and an empty last block.
    let large = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    assert_fault(&large, b"", window);
    assert_fault(&[&zstandard(&text)[..], &large].concat(), &text, window);
    let largest = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00];
    assert_clean(&largest, b"");

    // The same with a small window and the dictionary 7.
    let dictionary = (ErrorKind::InvalidData, "the zstd data was compressed with a dictionary");
    let with_dictionary = [0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, 0x07, 0x01, 0x00, 0x00];
    assert_fault(&with_dictionary, b"", dictionary);
    assert_fault(&[&zstandard(&text)[..], &with_dictionary].concat(), &text, dictionary);
}

/// A source of which every other read fails.
struct Failing<'s> {
    source: &'s [u8],
    fails: bool,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fails = !self.fails;
        if self.fails {
            return Err(ErrorKind::WouldBlock.into());
        }
        let len = buffer.len().min(100);
        self.source.read(&mut buffer[..len])
    }
}

#[test]
fn an_error_of_the_source_comes_after_what_precedes_it_and_is_not_the_end() {
    let text = lines(20_000);
    for compress in FORMATS {
        let compressed = compress(&text);
        // Detection needs the first four bytes in one piece.
        let (start, rest) = compressed.split_at(4);
        for buffer_len in [1, 100, 1 << 20] {
            let mut source = Decompressed::new(start.chain(Failing { source: rest, fails: true })).unwrap();
            let (mut output, mut errors, mut buffer) = (Vec::<u8>::new(), 0, vec![0; buffer_len]);
            loop {
                match source.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => output.extend(&buffer[..read]),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::WouldBlock);
                        errors += 1;
                    }
                }
            }
            assert!(output == text && errors > 10, "{errors} errors");
        }
    }
}
