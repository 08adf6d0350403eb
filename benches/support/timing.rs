//! Writers and readers timed against each other: in turn, several rounds, medians.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// One way of doing the work.
pub struct Contender<'a> {
    pub name: &'static str,
    /// Does all of the work once.
    pub pass: Box<dyn FnMut() + 'a>,
}

/// The median time of one pass of each contender, by `rounds` rounds in each of which every contender has its turn.
pub fn medians(contenders: &mut [Contender<'_>], rounds: usize, at_least: Duration) -> Vec<(&'static str, Duration)> {
    let repeats: Vec<u32> = contenders
        .iter_mut()
        .map(|contender| {
            (contender.pass)();
            let once = time(&mut contender.pass, 1).max(Duration::from_nanos(1));
            (at_least.as_nanos() / once.as_nanos()).clamp(1, 1_000_000) as u32
        })
        .collect();
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            // Another one first in each round, so that none always runs after the same one.
            let index = (turn + round) % contenders.len();
            times[index].push(time(&mut contenders[index].pass, repeats[index]) / repeats[index]);
        }
    }
    contenders
        .iter()
        .zip(times)
        .map(|(contender, mut times)| {
            times.sort();
            (contender.name, times[times.len() / 2])
        })
        .collect()
}

fn time(pass: &mut dyn FnMut(), repeats: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        pass();
    }
    black_box(start.elapsed())
}

/// What one group measured: a name, and for each contender the time of one event.
pub struct Group {
    pub name: &'static str,
    pub bytes_per_event: f64,
    pub nanoseconds: Vec<(&'static str, f64)>,
}

impl Group {
    /// Each other contender's time over ours, which stands first.
    pub fn ratios(&self) -> Vec<(&'static str, f64)> {
        let ours = self.nanoseconds[0].1;
        self.nanoseconds[1..].iter().map(|(name, theirs)| (*name, theirs / ours)).collect()
    }
}

/// The groups as a table: nanoseconds for each event, gigabytes a second, their time over ours.
pub fn table(groups: &[Group]) -> String {
    let mut out = String::new();
    for group in groups {
        let _ = writeln!(out, "\n{} ({:.0} bytes an event)", group.name, group.bytes_per_event);
        let ours = group.nanoseconds[0].1;
        for (name, time) in &group.nanoseconds {
            let rate = group.bytes_per_event / time;
            let _ = writeln!(out, "  {name:<22} {time:>9.1} ns  {rate:>6.2} GB/s  {:>6.2}x", time / ours);
        }
    }
    out
}

/// The ratios as JSON, `{"group":{"contender":6.7}}`, to a file in the target directory.
pub fn write_ratios(file_name: &str, groups: &[Group]) -> std::io::Result<std::path::PathBuf> {
    let ratios: serde_json::Map<String, serde_json::Value> = groups
        .iter()
        .map(|group| {
            let of =
                group.ratios().into_iter().map(|(name, ratio)| (name.to_string(), (ratio * 100.0).round() / 100.0));
            (
                group.name.to_string(),
                of.map(|(name, ratio)| (name, ratio.into())).collect::<serde_json::Map<_, _>>().into(),
            )
        })
        .collect();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(file_name);
    std::fs::write(&path, serde_json::to_string_pretty(&ratios)?)?;
    Ok(path)
}

/// Passes over a corpus while instructions are counted.
const COUNTED_PASSES: usize = 20;

/// Runs the contender of that name for `benches/instructions.sh`, and prints how many events that were, `events` in a pass.
pub fn count_passes(contenders: &mut [Contender<'_>], name: &str, events: usize) -> std::io::Result<()> {
    let contender =
        contenders.iter_mut().find(|contender| contender.name == name).ok_or(std::io::ErrorKind::NotFound)?;
    // So that what is done once is not counted.
    (contender.pass)();
    for _ in 0..COUNTED_PASSES {
        counted_pass(contender);
    }
    println!("{}", COUNTED_PASSES * events);
    Ok(())
}

/// The function that `benches/instructions.sh` tells callgrind to count in.
#[inline(never)]
fn counted_pass(contender: &mut Contender<'_>) {
    (contender.pass)();
}
