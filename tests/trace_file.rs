//! `create_trace_file` and sinks that create a file make a new file, for its owner alone, which replaces an old one as
//! a whole or not at all.

mod common;

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use common::scratch_dir::ScratchDir;
use cove_trace::sink::FreshFile;
use cove_trace::{JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceSink, ValueCapture, create_trace_file};

/// The names in a directory, in order.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .expect("the directory is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("names are UTF-8"))
        .collect();
    names.sort();
    names
}

fn read_on(file: &mut File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).expect("the file can be read");
    text
}

#[test]
fn creates_a_file_and_no_other() {
    let directory = ScratchDir::new("creates");
    let path = directory.path().join("trace.jsonl");
    create_trace_file(&path).unwrap().write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
}

#[test]
fn a_reader_of_the_old_file_keeps_it_whole() {
    let directory = ScratchDir::new("old-reader");
    let path = directory.path().join("trace.jsonl");
    fs::write(&path, "the old trace").unwrap();
    let mut reader = File::open(&path).unwrap();
    create_trace_file(&path).unwrap().write_all(b"new").unwrap();
    assert_eq!(read_on(&mut reader), "the old trace");
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
}

#[test]
fn a_second_run_on_the_same_path_leaves_the_first_one_its_file() {
    let directory = ScratchDir::new("two-runs");
    let path = directory.path().join("trace.jsonl");
    let start = |entry: &str| {
        let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, entry);
        JsonlSink::new(create_trace_file(&path).unwrap(), &header).unwrap()
    };
    let header = |entry: &str| {
        let start = r#"{"event":"trace_header","version":4,"backend":"ast","values":"full","entry""#;
        format!("{start}:\"{entry}\",\"args\":[]}}\n")
    };
    let line = |id| format!("{{\"event\":\"task_cancelled\",\"id\":{id}}}\n");

    let first = start("first");
    let mut reader_of_first = File::open(&path).unwrap();
    first.record(&TraceEvent::TaskCancelled { id: 1 });
    let second = start("second");
    first.record(&TraceEvent::TaskCancelled { id: 2 });
    second.record(&TraceEvent::TaskCancelled { id: 3 });
    first.record(&TraceEvent::TaskCancelled { id: 4 });

    for sink in [first, second] {
        let finished = sink.finish();
        assert_eq!(finished.dropped, 0);
        assert!(finished.last_error.is_none());
    }
    assert_eq!(read_on(&mut reader_of_first), [header("first"), line(1), line(2), line(4)].concat());
    assert_eq!(fs::read_to_string(&path).unwrap(), header("second") + &line(3));
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
}

#[test]
fn runs_that_start_at_once_on_one_path_each_have_a_file() {
    let directory = ScratchDir::new("at-once");
    let path = directory.path().join("trace.jsonl");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    create_trace_file(&path).unwrap().write_all(b"whole").unwrap();
                }
            });
        }
    });
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
}

#[test]
fn a_directory_is_refused_and_left_alone() {
    let directory = ScratchDir::new("directory");
    let path = directory.path().join("trace.jsonl");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "kept").unwrap();
    assert_eq!(create_trace_file(&path).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(fs::read(path.join("inside")).unwrap(), b"kept");
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
}

#[test]
fn a_missing_directory_is_an_error() {
    let directory = ScratchDir::new("missing");
    let missing = directory.path().join("missing").join("trace.jsonl");
    assert_eq!(create_trace_file(missing).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(create_trace_file("").is_err());
    assert!(names(directory.path()).is_empty());
}

#[test]
fn a_name_that_no_file_can_have_is_an_error_and_leaves_nothing_behind() {
    let directory = ScratchDir::new("impossible");
    let file = directory.path().join("file");
    fs::write(&file, "kept").unwrap();
    for name in
        ["too long ".repeat(1_000), "nul\0".to_owned(), "file/below".to_owned(), "new/".to_owned(), "..".to_owned()]
    {
        assert!(create_trace_file(directory.path().join(&name)).is_err(), "{name:?}");
    }
    assert_eq!(names(directory.path()), ["file"]);
    assert_eq!(fs::read(&file).unwrap(), b"kept");
}

#[test]
fn a_sink_creates_its_file_with_the_header_in_it() {
    let directory = ScratchDir::new("sink-creates");
    let path = directory.path().join("trace.jsonl");
    fs::write(&path, "the old trace").unwrap();
    let mut reader = File::open(&path).unwrap();
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
    let sink = JsonlSink::builder(&header).create(&path).unwrap();
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
    sink.record(&TraceEvent::TaskCancelled { id: 1 });
    assert_eq!(sink.finish().dropped, 0);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    assert_eq!(read_on(&mut reader), "the old trace");
}

#[test]
#[cfg(unix)]
fn the_temporary_name_fits_where_the_final_one_does() {
    let directory = ScratchDir::new("long-name");
    for length in [242, 255] {
        let path = directory.path().join("n".repeat(length));
        create_trace_file(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

/// An error names the file: the user of a program may not know where it creates one.
#[test]
#[cfg(unix)]
fn every_error_has_the_path_and_keeps_its_kind() {
    let directory = ScratchDir::new("paths-in-errors");
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("directory")).unwrap();
    fs::write(path("file"), "kept").unwrap();
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
    for (name, kind) in [
        ("directory", ErrorKind::InvalidInput),
        ("missing/trace.jsonl", ErrorKind::NotFound),
        ("file/trace.jsonl", ErrorKind::NotADirectory),
        (&"n".repeat(256), ErrorKind::InvalidFilename),
    ] {
        let path = path(name);
        let errors = [
            create_trace_file(&path).unwrap_err(),
            JsonlSink::builder(&header).create(&path).unwrap_err(),
            #[cfg(feature = "mmap")]
            cove_trace::MappedFile::create(&path).unwrap_err(),
            #[cfg(feature = "mmap")]
            JsonlSink::builder(&header).create_mapped(&path).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), kind, "{error}");
            let start = format!("cannot create the trace {}: ", path.display());
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }
    assert_eq!(names(directory.path()), ["directory", "file"]);
}

#[test]
fn a_buffer_beyond_all_memory_is_an_error() {
    let directory = ScratchDir::new("huge-buffer");
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "main.cove");
    let error =
        JsonlSink::builder(&header).buffer(usize::MAX).create(directory.path().join("trace.jsonl")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(names(directory.path()).is_empty());
}

#[test]
fn a_fresh_file_has_its_name_only_once_it_is_complete() {
    let directory = ScratchDir::new("fresh");
    let path = directory.path().join("trace.jsonl");
    fs::write(&path, "old").unwrap();
    let mut fresh = FreshFile::create(&path).unwrap();
    fresh.write_all(b"new").unwrap();
    fresh.flush().unwrap();
    assert_eq!(fresh.file().metadata().unwrap().len(), 3);
    assert_eq!(names(directory.path()).len(), 2);
    drop(fresh);
    assert_eq!(names(directory.path()), ["trace.jsonl"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");

    let mut fresh = FreshFile::create(&path).unwrap();
    fresh.write_all(b"new").unwrap();
    fresh.persist().unwrap().write_all(b"er").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"newer");

    // A directory that appears at the name meanwhile stays.
    let fresh = FreshFile::create(directory.path().join("taken")).unwrap();
    fs::create_dir(directory.path().join("taken")).unwrap();
    assert!(fresh.persist().is_err());
    assert_eq!(names(directory.path()), ["taken", "trace.jsonl"]);
}

#[cfg(unix)]
mod unix {
    use std::env;
    use std::fs::Permissions;
    use std::io;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("the file is there").permissions().mode() & 0o7777
    }

    /// The environment variable with the path at which a child process creates a file.
    const CREATE_AT: &str = "COVE_TRACE_TEST_CREATE_AT";

    #[test]
    #[ignore = "runs in processes of its own, started by only_its_owner_can_open_it"]
    fn create_where_the_environment_says() {
        if let Some(path) = env::var_os(CREATE_AT) {
            create_trace_file(path).unwrap();
        }
    }

    #[test]
    fn only_its_owner_can_open_it() {
        let directory = ScratchDir::new("permissions");
        let path = directory.path().join("trace.jsonl");
        for umask in ["000", "022", "077", "0277", "0777"] {
            for before in [None, Some(0o644), Some(0o666), Some(0o400)] {
                if let Some(before) = before {
                    fs::write(&path, "old").unwrap();
                    fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
                }
                // A umask applies to a whole process, so each one gets a process of its own.
                let created = Command::new("sh")
                    .args(["-c", "umask \"$1\" && shift && exec \"$@\"", "sh", umask])
                    .arg(env::current_exe().unwrap())
                    .args(["--exact", "unix::create_where_the_environment_says", "--ignored"])
                    .env(CREATE_AT, &path)
                    .output()
                    .unwrap();
                let context = format!("umask {umask}, before {before:?}: {created:?}");
                assert!(created.status.success(), "{context}");
                assert_eq!(mode(&path), 0o600, "{context}");
                assert_eq!(fs::read(&path).unwrap(), b"", "{context}");
                assert_eq!(names(directory.path()), ["trace.jsonl"], "{context}");
                fs::remove_file(&path).unwrap();
            }
        }
    }

    #[test]
    fn another_hard_link_to_the_old_file_is_left_alone() {
        let directory = ScratchDir::new("hard-link");
        let path = directory.path().join("trace.jsonl");
        let other = directory.path().join("other");
        fs::write(&other, "kept").unwrap();
        fs::set_permissions(&other, Permissions::from_mode(0o644)).unwrap();
        fs::hard_link(&other, &path).unwrap();
        create_trace_file(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"kept");
        assert_eq!(mode(&other), 0o644);
        assert_eq!(fs::metadata(&other).unwrap().nlink(), 1);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["other", "trace.jsonl"]);
    }

    #[test]
    fn a_symbolic_link_is_refused_and_left_alone() {
        let directory = ScratchDir::new("symbolic-link");
        let victim = directory.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        fs::set_permissions(&victim, Permissions::from_mode(0o644)).unwrap();
        let path = directory.path().join("trace.jsonl");
        for target in
            [victim.as_path(), Path::new("victim"), Path::new("nowhere"), Path::new("trace.jsonl"), directory.path()]
        {
            symlink(target, &path).unwrap();
            assert_eq!(create_trace_file(&path).unwrap_err().kind(), ErrorKind::InvalidInput, "{target:?}");
            assert_eq!(fs::read_link(&path).unwrap(), target);
            assert_eq!(names(directory.path()), ["trace.jsonl", "victim"]);
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert_eq!(mode(&victim), 0o644);
    }

    #[test]
    fn what_is_no_file_is_refused_and_left_alone() {
        let directory = ScratchDir::new("no-file");
        let fifo = directory.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // Opening a FIFO without a reader would block.
        assert_eq!(create_trace_file(&fifo).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());

        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(create_trace_file(&socket).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());

        assert_eq!(create_trace_file("/dev/null").unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        assert_eq!(names(directory.path()), ["fifo", "socket"]);
    }

    #[test]
    fn a_directory_that_takes_no_files_is_an_error() {
        let directory = ScratchDir::new("read-only");
        let place = directory.path().join("place");
        fs::create_dir(&place).unwrap();
        let path = place.join("trace.jsonl");
        fs::write(&path, "kept").unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o500)).unwrap();
        if fs::write(place.join("probe"), "").is_ok() {
            writeln!(io::stderr(), "SKIPPED: a read-only directory stops nobody here (running as root?)").unwrap();
        } else {
            assert_eq!(create_trace_file(&path).unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert_eq!(names(&place), ["trace.jsonl"]);
        }
        assert_eq!(fs::read(&path).unwrap(), b"kept");
        fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
    }

    /// Not even root can create a file there.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_place_of_the_kernels_is_an_error() {
        assert!(create_trace_file("/proc/trace.jsonl").is_err());
    }
}
