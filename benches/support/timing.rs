//! Times writers or readers against each other: in turn, over several rounds, by medians.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// One way of doing the work.
pub struct Contender<'a> {
    pub name: &'static str,
    /// Goes through the whole corpus once.
    pub pass: Box<dyn FnMut() + 'a>,
}

/// Returns the median time of one pass of each contender. In each of the `rounds`, every contender has its turn and
/// runs for `at_least` this long.
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
            // Each round starts with another contender.
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

/// The results of one group: the nanoseconds an event of each contender. The first contender is ours.
pub struct Group {
    pub name: &'static str,
    pub bytes_per_event: f64,
    pub nanoseconds: Vec<(&'static str, f64)>,
}

impl Group {
    /// The time of each other contender over ours.
    pub fn ratios(&self) -> Vec<(&'static str, f64)> {
        let ours = self.nanoseconds[0].1;
        self.nanoseconds[1..].iter().map(|(name, theirs)| (*name, theirs / ours)).collect()
    }
}

/// Renders the groups as a table: nanoseconds an event, gigabytes a second, and the time over ours.
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

/// Writes the ratios as JSON, `{"group":{"contender":6.7}}`, to a file in the target directory and returns its path.
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

/// Runs the contender of that name for `benches/instructions.sh` and prints the number of events counted. A pass has
/// `events` of them.
pub fn count_passes(contenders: &mut [Contender<'_>], name: &str, events: usize) -> std::io::Result<()> {
    let contender = contenders
        .iter_mut()
        .find(|contender| contender.name == name)
        .ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, format!("no contender is named {name}")))?;
    // A pass that is not counted does the work that is done only once.
    (contender.pass)();
    let passes = (20_000 / events).max(1);
    for _ in 0..passes {
        counted_pass(contender);
    }
    println!("{}", passes * events);
    Ok(())
}

/// Callgrind counts inside this function; `benches/instructions.sh` names it.
#[inline(never)]
fn counted_pass(contender: &mut Contender<'_>) {
    (contender.pass)();
}
