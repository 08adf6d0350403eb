//! The command line that the encode and decode benchmarks share.

pub struct Options {
    pub mode: Mode,
    pub seed: u64,
    /// A group's name, or a part of it.
    pub group: String,
}

pub enum Mode {
    Criterion,
    Ratios,
    Instructions { contender: String },
}

impl Options {
    pub fn from_args() -> Self {
        let mut options = Self { mode: Mode::Criterion, seed: 1, group: String::new() };
        let (mut arguments, mut others) = (std::env::args().skip(1), Vec::new());
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} takes a value"));
            match argument.as_str() {
                "--ratios" => options.mode = Mode::Ratios,
                "--seed" => options.seed = value().parse().expect("--seed takes a number"),
                "--instructions" => {
                    options.group = value();
                    options.mode = Mode::Instructions { contender: value() };
                }
                _ => others.push(argument),
            }
        }
        // Cargo adds `--bench`. In its own mode, Criterion parses all arguments itself.
        others.retain(|argument| argument != "--bench");
        match (&options.mode, &others[..]) {
            (Mode::Criterion, _) | (_, []) => {}
            (Mode::Ratios, [group]) if !group.starts_with('-') => options.group.clone_from(group),
            _ => panic!("unexpected arguments: {others:?}"),
        }
        options
    }
}
