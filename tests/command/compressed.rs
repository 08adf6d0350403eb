//! Compressed traces: read as what is in them, or refused for what they are.

use std::io::Write as _;

use cove_trace::ValueCapture;

use crate::harness::{Run, run_on, run_on_stdin};
use crate::known_run::known_run;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(data: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

type Compress = fn(&[u8]) -> Vec<u8>;

const FORMATS: [(&str, Compress); 2] = [("gzip", gzip), ("zstd", zstandard)];

const EACH: [&[&str]; 4] = [&["summary"], &["summary", "--json"], &["cat"], &["check"]];

/// A trace that is long enough for several blocks of each format.
fn long_run() -> Vec<u8> {
    let run = known_run(ValueCapture::Full);
    let header = run.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut long = run[..header].to_vec();
    let mut noise = 1_u64;
    while long.len() < 600_000 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let function = format!("{noise:x}{:x}", noise.rotate_left(23));
        writeln!(long, "{{\"event\":\"entry_enter\",\"module\":\"m\",\"function\":\"{function}\"}}").unwrap();
    }
    long.extend(&run[header..]);
    long
}

#[cfg(feature = "compress")]
mod supported {
    use super::*;

    #[track_caller]
    fn assert_same(compressed: &[u8], plain: &[u8], what: &str) {
        for args in EACH {
            let (Run { code, stdout, stderr }, expected) = (run_on(compressed, args), run_on(plain, args));
            assert_eq!((code, stderr), (expected.code, expected.stderr), "{what} {args:?}");
            assert!(stdout == expected.stdout, "{what} {args:?}: {stdout}");
        }
    }

    #[test]
    fn a_compressed_trace_is_the_trace() {
        let run = long_run();
        for (format, compress) in FORMATS {
            assert_same(&compress(&run), &run, format);
            assert_same(&compress(b""), b"", format);
            assert_same(&compress(&run[..run.len() - 10]), &run[..run.len() - 10], "the trace in it is torn");
            let stdin = run_on_stdin(compress(&run), &["cat"]);
            assert_eq!((stdin.code, stdin.stdout.as_bytes()), (Some(0), &run[..]), "{format}");
        }
    }

    /// As `cat a.gz b.gz` makes it, cut in the middle of a line, with an empty part.
    #[test]
    fn several_members_are_one_trace() {
        let run = known_run(ValueCapture::Full);
        let (first, second) = run.split_at(run.len() / 2);
        for (format, compress) in FORMATS {
            let members = [compress(first), compress(b""), compress(second)].concat();
            assert_same(&members, &run, format);
        }
        let skippable = [&[0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstandard(&run)].concat();
        assert_same(&skippable, &run, "a frame to be skipped");
    }

    #[test]
    fn cut_off_data_is_said_and_what_is_before_is_given() {
        let run = long_run();
        for (format, compress) in FORMATS {
            let whole = compress(&run);
            let said = format!("error: the {format} data is cut off: it ends before its end mark\n");
            for cut in [whole.len() / 2, whole.len() * 3 / 4, whole.len() - 1] {
                let summary = run_on(&whole[..cut], &["summary", "--json"]);
                assert_eq!(summary.code, Some(1), "{format} {cut}");
                assert!(summary.stderr.ends_with(&said), "{format} {cut}: {}", summary.stderr);
                let figures: serde_json::Value = serde_json::from_str(&summary.stdout).unwrap();
                assert!(figures["events"].as_u64().unwrap() > 100, "{format} {cut}: {figures}");
                assert_eq!(figures["errors"], 1);
                let check = run_on(&whole[..cut], &["check"]);
                assert_eq!(check.code, Some(1), "{format} {cut}");
                assert!(check.stderr.contains(&said), "{format} {cut}: {}", check.stderr);
            }
            // Nothing to be had: no figures, either.
            for cut in [4, 5, 11] {
                let summary = run_on(&whole[..cut], &["summary"]);
                let expected = (Some(2), String::new(), format!("run.jsonl: error: can't be read: {}", &said[7..]));
                assert_eq!((summary.code, summary.stdout, summary.stderr), expected, "{format} {cut}");
            }
        }
    }

    #[test]
    fn damaged_data_is_said() {
        let run = long_run();
        for (format, compress) in FORMATS {
            let mut damaged = compress(&run);
            let middle = damaged.len() / 2;
            for byte in &mut damaged[middle..middle + 64] {
                *byte = !*byte;
            }
            let summary = run_on(&damaged, &["summary", "--json"]);
            assert_eq!(summary.code, Some(1), "{format}: {}", summary.stderr);
            assert!(summary.stderr.contains(&format!("error: the {format} data is ")), "{}", summary.stderr);
        }
        let mut damaged = gzip(&run);
        let sum = damaged.len() - 6;
        damaged[sum] ^= 1;
        let check = run_on(&damaged, &["check"]);
        assert_eq!(check.code, Some(1));
        assert!(
            check.stderr.contains("error: the gzip data is damaged; what was read from it before is not verified"),
            "{}",
            check.stderr
        );
        let cat = run_on(&damaged, &["cat"]);
        assert_eq!(cat.code, Some(1));
        assert!(cat.stdout.as_bytes() == run, "every line stands before the checksum");
    }

    #[test]
    fn padding_is_no_damage_and_other_data_behind_the_end_is_said() {
        let run = known_run(ValueCapture::Full);
        for (format, compress) in FORMATS {
            assert_same(&[&compress(&run)[..], &[0; 1000]].concat(), &run, format);
            let followed = run_on([&compress(&run)[..], b"other"].concat(), &["cat"]);
            assert_eq!((followed.code, followed.stdout.as_bytes()), (Some(1), &run[..]), "{format}");
            let said =
                format!("error: the {format} data is followed by bytes that are not {format}; they were not read\n");
            assert!(followed.stderr.ends_with(&said), "{}", followed.stderr);
        }
    }

    #[test]
    fn a_window_beyond_the_limit_is_not_called_damage() {
        let run = known_run(ValueCapture::Full);
        let large = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
        let refused = run_on(large, &["cat"]);
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""));
        assert!(refused.stderr.contains("can't be read: the zstd data needs a window of more than 128 MiB"));
        let later = run_on([&zstandard(&run)[..], &large].concat(), &["cat"]);
        assert_eq!((later.code, later.stdout.as_bytes()), (Some(1), &run[..]));
        assert!(later.stderr.contains("error: the zstd data needs a window of more than 128 MiB"), "{}", later.stderr);
    }

    /// A sample that is not part of the package: one byte is flipped in the last of nine lines.
    #[test]
    fn the_lines_before_a_flipped_byte_are_given() {
        let Ok(damaged) = std::fs::read("../shared/data/faults/gz-damaged.gz") else { return };
        let cat = run_on(damaged, &["cat"]);
        assert_eq!((cat.code, cat.stdout.lines().count()), (Some(1), 8), "{}", cat.stderr);
    }
}

#[cfg(not(feature = "compress"))]
#[test]
fn compressed_traces_are_refused_for_what_they_are() {
    for (format, compress) in FORMATS {
        for args in EACH {
            let refused = run_on(compress(&long_run()), args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
            let said = format!("it is compressed with {format}, which this build can't read; decompress it first");
            assert_eq!(refused.stderr, format!("run.jsonl: error: can't be read: {said}\n"));
        }
    }
    let refused = run_on_stdin(gzip(b""), &["check"]);
    assert_eq!(refused.code, Some(2));
}
