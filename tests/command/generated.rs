//! `cove-trace completions` and `cove-trace man`.

use crate::harness::{Run, command};

fn run(args: &[&str]) -> Run {
    command(args).output().unwrap().into()
}

#[test]
fn completions_for_each_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = run(&["completions", shell]);
        run.assert_clean();
        assert!(run.stdout.contains("timeline") && run.stdout.contains("min-wait"), "{shell}");
    }
    assert_eq!(run(&["completions", "teletype"]).code, Some(2));
}

#[test]
fn manual_pages() {
    let page = run(&["man"]);
    page.assert_clean();
    assert!(page.stdout.contains(".TH cove-trace 1") && page.stdout.contains("timeline"), "{}", page.stdout);
    for name in ["timeline", "print"] {
        let page = run(&["man", name]);
        page.assert_clean();
        assert!(page.stdout.contains("cove\\-trace timeline") && page.stdout.contains("min\\-wait"), "{}", page.stdout);
    }
    assert_eq!(run(&["man", "frobnicate"]).code, Some(2));
}
