//! Grants as TOML, for a configuration to start from.

use std::io::{self, Write};

use cove_trace::display::is_unsafe_to_show;

use super::needs::{Grants, Operations, operations};

pub(super) fn write(output: &mut impl Write, grants: &Grants) -> io::Result<()> {
    write_list(output, "capabilities", grants.needed.keys().cloned())?;
    if let Some(unused) = &grants.granted_unused {
        write_list(output, "granted_unused", unused.iter().cloned())?;
    }
    write_table(output, "needed", &grants.needed)?;
    write_table(output, "refused", &grants.refused)
}

fn write_table(output: &mut impl Write, name: &str, capabilities: &Operations) -> io::Result<()> {
    writeln!(output, "\n[{name}]")?;
    capabilities.iter().try_for_each(|(capability, modules)| {
        write_list(output, &quoted(capability), operations(modules).map(|(operation, _)| operation))
    })
}

fn write_list(output: &mut impl Write, key: &str, names: impl Iterator<Item = String>) -> io::Result<()> {
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    writeln!(output, "{key} = [{}]", names.join(", "))
}

/// A basic string, which is also a quoted key.
fn quoted(text: &str) -> String {
    let escape = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        _ if is_unsafe_to_show(character) => format!("\\U{:08X}", u32::from(character)),
        _ => character.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a.b"), "\"a.b\"");
        assert_eq!(quoted("\"\\\n\u{7f}\u{e0041}日"), "\"\\\"\\\\\\U0000000A\\U0000007F\\U000E0041日\"");
    }
}
