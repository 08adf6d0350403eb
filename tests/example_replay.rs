//! The examples' replays as processes: the same output and exit code with no host, and reports of what an edit changes.
#![cfg(feature = "cli")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::example::Example;
use common::scratch_dir::ScratchDir;
use cove_trace::TraceReader;
use cove_trace::diff::Diff;
use cove_trace::replay::suite::{Results, Suite, TraceResult};

const INTERPRETER: Example = Example("interpreter");
const EXAMPLES: [Example; 2] = [INTERPRETER, Example("lua")];

/// Runs the example in the package's directory, where paths below `examples` lead to its scripts on every machine.
fn example(example: Example, args: &[&Path]) -> Output {
    Command::new(example.executable())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .expect("the example runs")
}

fn record(example_to_run: Example, script: &Path, trace: &Path) -> Output {
    example(example_to_run, &[Path::new("--trace"), trace, script])
}

fn replay(example_to_run: Example, trace: &Path) -> Output {
    example(example_to_run, &[Path::new("replay"), trace])
}

/// What the script itself wrote to standard output, sorted: tasks fall between each other as they like.
fn script_lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (script, _) = text.split_once("\nThe run ended: ").expect("the end of the run");
    let mut lines: Vec<_> = script.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn scripts(example: Example) -> Vec<PathBuf> {
    let entries = fs::read_dir(example.file("scripts")).expect("the scripts");
    entries.map(|entry| entry.expect("a script").path()).collect()
}

#[test]
fn a_replay_shows_the_same_and_ends_the_same_with_no_host() {
    for example in EXAMPLES {
        for script in scripts(example) {
            let scratch = ScratchDir::new(&format!("replay-{}", example.0));
            let trace = scratch.path().join("run.jsonl");
            let recorded = record(example, &script, &trace);
            // Nothing that it read is there any more.
            let replayed = replay(example, &trace);
            let stdout = String::from_utf8_lossy(&replayed.stdout);
            assert_eq!(replayed.status.code(), recorded.status.code(), "{}: {stdout}", script.display());
            assert_eq!(script_lines(&replayed), script_lines(&recorded), "{}", script.display());
            assert!(stdout.contains("\nReplayed: As recorded, to the end: "), "{stdout}");
        }
    }
}

/// Records a script, replaces a part of it, and replays the trace with what it is then.
fn replay_edited(name: &str, script: &str, from: &str, to: &str) -> String {
    let scratch = ScratchDir::new(&format!("replay-edited-{name}"));
    let text = fs::read_to_string(INTERPRETER.file("scripts").join(script)).expect("the script");
    let (path, trace) = (scratch.path().join(script), scratch.path().join("run.jsonl"));
    fs::write(&path, &text).expect("a copy");
    record(INTERPRETER, &path, &trace);
    assert!(text.contains(from), "{script} has no {from}");
    fs::write(&path, text.replace(from, to)).expect("an edited copy");
    let output = replay(INTERPRETER, &trace);
    assert_eq!(output.status.code(), Some(4));
    let stdout = String::from_utf8(output.stdout).expect("text");
    stdout.split_once("\nReplayed: ").expect("a report").1.to_owned()
}

#[test]
fn an_edited_argument_is_reported() {
    let report = replay_edited("argument", "backup.rhai", "${name}.copy", "${name}.bak");
    let expected = r#"the entry called documents.write with other arguments than recorded

  where     call 3 of the entry, call 3 of the trace, line 5
  differs   args[0]
  recorded  "stock/chain.txt.copy"
  actual    "stock/chain.txt.bak"

  before it, as recorded:
    call 1, line 3: documents.list("stock") -> ["stock/chain.txt", "stock/lantern.txt", "stock/nails.txt", "stock/pain…
    call 2, line 4: documents.read("stock/chain.txt") -> "item   anchor chain, 8 mm\nunit   metre\ncount  120\nprice  640\n"

"#;
    assert_eq!(report, expected);
}

#[test]
fn a_call_that_was_left_out_is_reported() {
    let report = replay_edited("left-out", "inventory.rhai", "console::log(`${order.name}: ${problem}`);", "");
    let expected = r#"the entry called documents.read where console.log was recorded

  where     call 9 of the entry, call 9 of the trace, line 11
  recorded  console.log("compass: no such document")
  actual    documents.read("stock/paint.txt")

  before it, as recorded:
    call 7, line 9: console.log("lantern: 2 of 2 (piece), 7 left") -> ()
    call 8, line 10: documents.read("stock/compass.txt") -> error: no such document

"#;
    assert_eq!(report, expected);
}

#[test]
fn a_call_that_was_put_in_is_reported() {
    let cancel = "    tasks::cancel(clock);\n";
    let report = replay_edited("put-in", "word_count.rhai", cancel, &format!("{cancel}    env::get(\"HOME\");\n"));
    // How many calls of other tasks come before it is another number each time.
    assert!(report.starts_with("the entry called env.get where console.log was recorded\n"), "{report}");
    assert!(report.contains("\n  where     call 14 of the entry, call "), "{report}");
    assert!(
        report.contains("\n  recorded  console.log(\"3319 words, 872 different ones. The most common:\")\n"),
        "{report}"
    );
    assert!(report.contains("\n  actual    env.get(\"HOME\")\n"), "{report}");
}

/// Runs a suite with traces of the example: replays them, or records them again from the scripts that they name.
fn run(suite: &Suite, example: Example) -> Results {
    let check = |output: Output, is_fine: fn(&str) -> bool| {
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let report = || format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        if is_fine(&stdout) { Ok(()) } else { Err(report().into()) }
    };
    suite.run(
        |trace| check(replay(example, trace), |stdout| stdout.contains("\nReplayed: As recorded, to the end: ")),
        |old, new| {
            let entry = cove_trace::Replay::open_file(old)?.header().entry.clone();
            check(record(example, Path::new(&entry), new), |stdout| stdout.contains("\nReplayed: As recorded"))
        },
    )
}

/// Every trace below `tests/traces` is a test: what it was recorded from has to do the same today.
#[test]
fn recorded_traces_are_reproduced() {
    for example in EXAMPLES {
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(example.0);
        run(&Suite::new(traces), example).assert_passed();
    }
}

/// What a comparison of two traces finds.
fn changes(old: &Path, new: &Path) -> Vec<String> {
    let [old, new] = [old, new].map(|path| fs::read(path).expect("the trace"));
    let diff = Diff::load(&mut TraceReader::new(&old[..]), &mut TraceReader::new(&new[..])).expect("two traces");
    let mut changes = Vec::new();
    diff.compare(cove_trace::diff::Times::Ignored, |change| changes.push(format!("{change:?}")));
    changes
}

#[test]
fn tasks_that_open_documents_at_the_same_time_do_the_same_in_each_run() {
    let scratch = ScratchDir::new("replay-same");
    let script = scratch.path().join("test.rhai");
    let text = r#"
        fn main() {
            let readers = [];
            for name in documents::list("harbour") {
                readers.push(tasks::start("readers", || first_line(name)));
            }
            for reader in readers {
                console::log(tasks::wait(reader));
            }
        }

        fn first_line(name) {
            let document = documents::open(name);
            documents::line(document)
        }
    "#;
    fs::write(&script, text).expect("a script");
    let traces = [1, 2, 3, 4].map(|number| scratch.path().join(format!("{number}.jsonl")));
    traces.iter().for_each(|trace| drop(record(INTERPRETER, &script, trace)));
    for trace in &traces[1..] {
        assert_eq!(changes(&traces[0], trace), Vec::<String>::new());
    }
}

#[test]
fn what_an_edited_script_does_now_is_recorded_by_an_update() {
    let scratch = ScratchDir::new("replay-update");
    let script = scratch.path().join("backup.rhai");
    let text = fs::read_to_string(INTERPRETER.file("scripts/backup.rhai")).expect("the script");
    fs::write(&script, &text).expect("a copy");
    let traces = scratch.path().join("traces");
    fs::create_dir(&traces).expect("a directory");
    let trace = traces.join("backup.jsonl");
    record(INTERPRETER, &script, &trace);
    let changes_since = |old: &Path| changes(old, &trace);
    let old = scratch.path().join("old.jsonl");
    fs::copy(&trace, &old).expect("a copy");
    let suite = Suite::new(&traces);
    let [checking, updating] = [false, true].map(|is_update| suite.clone().update(is_update));

    // What does the same is recorded to the same.
    assert_eq!(run(&updating, INTERPRETER).traces, [(trace.clone(), TraceResult::Updated)]);
    assert_eq!(changes_since(&old), Vec::<String>::new());
    run(&checking, INTERPRETER).assert_passed();

    fs::write(&script, text.replace("${name}.copy", "${name}.bak")).expect("an edited copy");
    let results = run(&checking, INTERPRETER);
    assert!(!results.passed() && results.to_string().contains("\n  actual    \"stock/chain.txt.bak\"\n"), "{results}");
    assert_eq!(changes_since(&old), Vec::<String>::new(), "a suite that is not asked to leaves its traces alone");

    assert_eq!(run(&updating, INTERPRETER).traces, [(trace.clone(), TraceResult::Updated)]);
    assert!(!changes_since(&old).is_empty());
    run(&checking, INTERPRETER).assert_passed();
}
