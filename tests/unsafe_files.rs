//! Names the files that may hold unsafe code, and keeps print macros out of the library.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Small files with one job each, all their unsafe code explained. A file that is added here asks for a review of its own.
const MAY_HOLD_UNSAFE_CODE: &[&str] = &[
    "src/decode/canonical/sites.rs",
    "src/decode/simd/block.rs",
    "src/decode/simd/scan.rs",
    "src/decode/simd/unescape.rs",
    "src/line/buffer.rs",
    "src/line/escape/avx512.rs",
    "src/line/escape/backends.rs",
    "src/line/escape/blocks.rs",
    "src/line/escape/dispatch.rs",
    "src/line/escape/mod.rs",
    "src/line/escape/neon.rs",
    "src/line/escape/scalar.rs",
    "src/line/escape/sse2.rs",
    "src/line/escape/swar.rs",
    "src/line/escape/tests.rs",
    "src/line/fragment.rs",
    "src/line/tests/bounds.rs",
    "src/line/tests/guarded.rs",
    "src/sink/file_limit.rs",
    "src/sink/fork.rs",
    "src/sink/mapped/memory.rs",
    "src/sink/mapped/signals.rs",
];

/// The command may print, the library must not: a closed standard error must not end a traced program.
const MAY_PRINT: &str = "src/cli/";

const PRINT_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The Rust files below `directory`, as paths from the package's root with `/` between their parts, and their code.
fn sources(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let name = path.strip_prefix(root()).expect("it is below the root");
            let name = name.iter().map(|part| part.to_str().expect("names are UTF-8")).collect::<Vec<_>>().join("/");
            found.push((name, without_comments(&text)));
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What is left of a source without its comments. A `//` in a string counts as one too, which hides the rest of that line:
/// formatted code has nothing there that is looked for here.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The identifiers of some code, each with the character that follows it.
fn identifiers(code: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.split_inclusive(move |c| !is_part(c)).map(move |piece| {
        let identifier = piece.trim_end_matches(move |c| !is_part(c));
        (identifier, piece[identifier.len()..].chars().next())
    })
}

fn files_where(holds: impl Fn(&str, Option<char>) -> bool) -> BTreeSet<String> {
    let mut found = Vec::new();
    sources(&root().join("src"), &mut found);
    assert!(!found.is_empty());
    found
        .into_iter()
        .filter(|(_, code)| identifiers(code).any(|(identifier, next)| holds(identifier, next)))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn unsafe_code_stands_in_the_files_that_may_hold_it_and_in_no_other() {
    let named: BTreeSet<String> = MAY_HOLD_UNSAFE_CODE.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(files_where(|identifier, _| identifier == "unsafe"), named, "files with unsafe code");
    // The compiler denies it everywhere else.
    assert_eq!(files_where(|identifier, _| identifier == "unsafe_code"), named, "files that allow it");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.lines().any(|line| line == r#"unsafe_code = "deny""#));
}

#[test]
fn the_library_does_not_print() {
    let printing = files_where(|identifier, next| PRINT_MACROS.contains(&identifier) && next == Some('!'));
    let in_the_library: Vec<_> = printing.iter().filter(|name| !name.starts_with(MAY_PRINT)).collect();
    assert!(in_the_library.is_empty(), "{in_the_library:?} print");
}

#[test]
fn identifiers_are_told_apart() {
    let code = without_comments("unsafe_code /// unsafe\nprintln!(unsafe) // dbg!\n prints!");
    let found: Vec<_> = identifiers(&code).filter(|(identifier, _)| !identifier.is_empty()).collect();
    let expected = [("unsafe_code", Some(' ')), ("println", Some('!')), ("unsafe", Some(')')), ("prints", Some('!'))];
    assert_eq!(found, expected);
}
