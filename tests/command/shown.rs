//! What each command shows of each kind of trace, to the letter. After a change that is meant, `UPDATE_EXPECT=1 cargo test
//! --test command` writes the files anew, and they are read before they are committed.

use expect_test::expect_file;

use crate::harness::Place;
use crate::traces;

/// The commands, each with what comes before and after the file's name.
const COMMANDS: [(&str, &[&str], &str); 12] = [
    ("summary", &["summary"], ""),
    ("summary_json", &["summary", "--json"], ""),
    ("timeline", &["timeline"], ""),
    ("timeline_json", &["timeline", "--json", "--tail", "2"], ""),
    ("follow", &["follow", "--limit", "3"], ""),
    ("show", &["show"], ":4"),
    ("grants", &["grants", "--granted", "console.write,net.connect"], ""),
    ("redact", &["redact", "-o", "-"], ""),
    ("check", &["check"], ""),
    ("repair", &["check", "--repair", "-o", "-"], ""),
    ("cat", &["cat"], ""),
    ("diff", &["diff", "other.jsonl"], ""),
];

#[test]
fn every_command_on_every_kind_of_trace() {
    for (trace_name, trace) in traces::all() {
        let place = Place::new();
        place.write("run.jsonl", trace);
        place.write("other.jsonl", traces::run_that_failed());
        for (name, args, after) in COMMANDS {
            let mut command =
                place.command(args.iter().map(|arg| (*arg).to_owned()).chain([format!("run.jsonl{after}")]));
            let run = crate::harness::Run::from(command.env("COLUMNS", "110").output().unwrap());
            let code = run.code.unwrap();
            let shown = format!("{}--- standard error, exit code {code}\n{}", run.stdout, run.stderr);
            expect_file![format!("shown/{trace_name}.{name}.txt")].assert_eq(&shown);
        }
    }
}
