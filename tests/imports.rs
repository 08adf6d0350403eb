//! The modules of the library form layers: each imports only modules of layers below its own.

use std::fs;
use std::path::Path;

/// The top-level modules of the library, lowest layer first. Modules of one layer do not import each other: the decoder
/// shares no table with the encoder, so that neither hides a fault of the other.
///
/// There are no exceptions. The command, in `src/cli`, is a crate of its own and sees only the public interface.
const LAYERS: &[&[&str]] = &[
    &["arena", "compress", "cost", "line", "name_map", "names"],
    &["timing", "value"],
    &["event"],
    &["encode", "decode", "display"],
    &["sink", "owned", "redact", "testing", "fuzzing"],
    &["reader"],
    &["call_guard", "parallel", "replay", "arbitrary"],
    &["check", "diff", "summary"],
];

/// Calls `visit` with the path and the text of each Rust file below `directory`, except files of tests.
fn for_each_source(directory: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            for_each_source(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path, &fs::read_to_string(&path).expect("sources are UTF-8"));
        }
    }
}

/// Removes comments, and items behind `#[cfg(test)]`. In formatted code, an item ends on a line with the same indent.
fn without_tests(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let ends = |item: &&str| indent(item) == indent(line) && item.trim_end().ends_with([';', '}', ',']);
            lines.find(ends).expect("an item ends");
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The modules that `code` names by a path from the root of the crate.
fn imports(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::")
        .skip(1)
        .map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

#[test]
fn modules_import_only_lower_layers() {
    let layer_of = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut imported, mut faults) = (0, Vec::new());
    for_each_source(&source, &mut |path, text| {
        let name = path.strip_prefix(&source).expect("the path is below it").with_extension("");
        let module = name.iter().next().and_then(|first| first.to_str()).expect("names are UTF-8");
        if matches!(module, "lib" | "cli") {
            return;
        }
        let layer = layer_of(module);
        for import in imports(&without_tests(text)).filter(|import| *import != module) {
            imported += 1;
            if layer_of(import).is_none() || layer_of(import) >= layer {
                faults.push(format!("{} imports `{import}`", path.display()));
            }
        }
    });
    assert!(imported > 100, "only {imported} imports were found");
    assert!(faults.is_empty(), "not in a lower layer: {faults:#?}");
}

#[test]
fn imports_are_found_outside_of_tests() {
    let text =
        "use crate::line::{A, B};\n// crate::no\n#[cfg(test)]\nmod tests {\n    use crate::no;\n}\n$crate::value::C\n";
    assert_eq!(imports(&without_tests(text)).collect::<Vec<_>>(), ["line", "value"]);
}
