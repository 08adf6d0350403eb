//! A directory of traces as tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cove_trace::replay::suite::{Suite, TraceResult, UPDATE};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("suite-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        for (name, text) in files {
            fs::write(path.join(name), text).expect("a file");
        }
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn each_trace_has_its_result() {
    let directory = Directory::new("results", &[("b.jsonl", "bad"), ("a.jsonl", "good"), ("notes.txt", "bad")]);
    let suite = Suite::new(&directory.0).update(false);
    let results = suite.run(
        |path| if fs::read_to_string(path)? == "good" { Ok(()) } else { Err("it is bad".into()) },
        |_, _| panic!("nothing is recorded"),
    );
    let outcomes: Vec<_> = results.traces.iter().map(|(_, outcome)| outcome.clone()).collect();
    assert_eq!(outcomes, [TraceResult::Passed, TraceResult::Failed("it is bad".into())]);
    assert!(!results.passed());
    let (a, b) = (directory.0.join("a.jsonl"), directory.0.join("b.jsonl"));
    let expected = format!("passed  {}\nFAILED  {}\n\n{}:\nit is bad\n", a.display(), b.display(), b.display());
    assert_eq!(results.to_string(), expected);
}

#[test]
fn an_update_replaces_each_trace_that_could_be_recorded_again() {
    let directory = Directory::new("update", &[("a.jsonl", "old a"), ("b.jsonl", "old b")]);
    let results = Suite::new(&directory.0).update(true).run(
        |_| panic!("nothing is replayed"),
        |old, new| {
            fs::write(new, "new")?;
            if fs::read_to_string(old)? == "old b" { Err("the script is gone".into()) } else { Ok(()) }
        },
    );
    assert_eq!(results.traces[0].1, TraceResult::Updated);
    assert_eq!(results.traces[1].1, TraceResult::Failed("the script is gone".into()));
    assert_eq!(fs::read_to_string(directory.0.join("a.jsonl")).unwrap(), "new");
    assert_eq!(fs::read_to_string(directory.0.join("b.jsonl")).unwrap(), "old b");
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 2);
}

#[test]
fn a_suite_without_a_trace_fails() {
    let directory = Directory::new("empty", &[]);
    assert!(!Suite::new(&directory.0).run(|_| Ok(()), |_, _| Ok(())).passed());
    assert!(!Suite::new(directory.0.join("nowhere")).run(|_| Ok(()), |_, _| Ok(())).passed());
}

#[test]
#[should_panic(expected = "it is bad")]
fn a_failure_fails_the_test() {
    let directory = Directory::new("panic", &[("a.jsonl", "")]);
    Suite::new(&directory.0).update(false).run(|_| Err("it is bad".into()), |_, _| Ok(())).assert_passed();
}

/// Where the test below finds its directory.
const DIRECTORY: &str = "COVE_TRACE_TEST_DIRECTORY";

#[test]
#[ignore = "a part of the test below, in a process of its own"]
fn updates_what_the_environment_names() {
    let directory = std::env::var_os(DIRECTORY).expect("a directory");
    let results = Suite::new(directory).run(|_| Err("not reproduced".into()), |_, new| Ok(fs::write(new, "new")?));
    results.assert_passed();
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn an_update_is_asked_for_by_the_environment() {
    for (value, is_update) in [(None, false), (Some("0"), false), (Some(""), false), (Some("1"), true)] {
        let directory = Directory::new("environment", &[("a.jsonl", "old")]);
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--ignored", "--exact", "suite::updates_what_the_environment_names"]);
        command.env_remove(UPDATE).env(DIRECTORY, &directory.0);
        if let Some(value) = value {
            command.env(UPDATE, value);
        }
        let output = command.output().expect("it starts");
        assert!(String::from_utf8_lossy(&output.stdout).contains("running 1 test"), "{output:?}");
        assert_eq!(output.status.success(), is_update, "{value:?}: {output:?}");
        let text = fs::read_to_string(directory.0.join("a.jsonl")).unwrap();
        assert_eq!(text, if is_update { "new" } else { "old" });
    }
}
