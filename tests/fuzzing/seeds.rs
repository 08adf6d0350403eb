//! What the corpora of the targets that take text start from: lines of every kind, in many spellings.

use std::path::Path;
use std::{env, fs};

use super::targets::reading::json::parse_valid;
use super::targets::reading::respell::{Variation, respell};
use super::targets::reading::rng::Rng;
use super::targets::{reader_chunks, reading::corpus};

/// Other spellings of each line.
const SPELLINGS: usize = 3;

/// `fuzz/minimise.sh` calls it: writes to `COVE_TRACE_SEEDS`, with the traces of the examples, which `COVE_TRACE_TRACES` names.
#[test]
#[ignore = "writes files where the environment says"]
fn write_seeds() {
    let to = env::var("COVE_TRACE_SEEDS").expect("COVE_TRACE_SEEDS is a folder to write to");
    let traces = env::var("COVE_TRACE_TRACES").unwrap_or_default();
    let traces: Vec<String> =
        traces.split_whitespace().map(|path| fs::read_to_string(path).expect("the trace can be read")).collect();

    let headers = corpus::headers().into_iter().map(|(line, _)| line.to_owned());
    let mut lines: Vec<String> = headers.chain(corpus::events().into_iter().map(|(line, _)| line)).collect();
    lines.extend(traces.iter().flat_map(|trace| trace.lines()).map(str::to_owned));
    let mut rng = Rng::new(1);
    let spellings: Vec<String> = lines
        .iter()
        .flat_map(|line| {
            (0..SPELLINGS).map(|_| respell(&parse_valid(line), Variation::ALL, &mut rng)).collect::<Vec<_>>()
        })
        .collect();
    lines.extend(spellings);
    write(&to, "decode_bytes", lines.iter().map(|line| line.clone().into_bytes()));

    let whole = [corpus::trace()].into_iter().chain(traces);
    let whole = whole.flat_map(|trace| [trace.replace('\n', "\r\n"), trace]);
    let pieces = lines.chunks(3).map(|lines| format!("{}\n{}", corpus::HEADER, lines.join("\n")));
    let control = [0; reader_chunks::CONTROL];
    write(&to, "reader_chunks", whole.chain(pieces).map(|trace| [&control[..], trace.as_bytes()].concat()));
}

fn write(to: &str, target: &str, seeds: impl Iterator<Item = Vec<u8>>) {
    let folder = Path::new(to).join(target);
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (number, seed) in seeds.enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), seed).expect("the seed can be written");
    }
}
