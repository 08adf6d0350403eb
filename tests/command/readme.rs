//! What the README shows of the command is what the command gives, on the traces that these tests keep. `UPDATE_EXPECT=1` writes
//! it anew.

use std::path::Path;

use expect_test::expect_file;

use crate::harness::{Run, command};

#[test]
fn the_readme_shows_what_the_commands_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (mut run_again, mut in_block) = (String::new(), false);
    for line in readme.lines() {
        match line {
            "```console" => in_block = true,
            "```" => in_block = false,
            _ => {}
        }
        let asked = line.strip_prefix("$ cove-trace ").filter(|_| in_block);
        // What a command gave stands below it, and is not kept: it is asked again.
        if !in_block || line == "```console" || asked.is_some() {
            run_again += line;
            run_again.push('\n');
        }
        if let Some(args) = asked {
            let mut command = command(args.split(' '));
            command.current_dir(root.join("tests/command/traces")).env("COLUMNS", "118");
            let run = Run::from(command.output().unwrap());
            // Two traces that differ are an answer, too.
            run.assert_said(i32::from(args.starts_with("diff ")), &[]);
            run_again += &run.stdout;
        }
    }
    assert!(run_again.matches("\n$ cove-trace ").count() >= 5);
    expect_file![path].assert_eq(&run_again);
}
