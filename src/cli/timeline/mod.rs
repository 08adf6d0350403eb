//! `cove-trace timeline`.

mod filter;
mod row;
mod texts;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};

use cove_trace::{TraceEvent, TraceReader};

pub(crate) use self::filter::Filter;
use self::row::{Layout, Rows, TITLES};
use crate::diagnostics::{Diagnostics, note};
use crate::follow::source::{FollowedFile, Watcher};
use crate::input::Input;
use crate::output::Output;
use crate::terminal;

/// Shows the events of a trace, a row for each, with its line in the file.
#[derive(clap::Args)]
#[command(after_help = "\
A row has the event's line, its task, how long it waited for the host, and what happened. On a terminal it is cut to the
terminal's width; cove-trace show FILE:LINE gives one event in full.

Examples:
  cove-trace timeline run.jsonl
  cove-trace timeline --refused --errors run.jsonl
  cove-trace timeline --op 'http.*' --min-wait 5ms run.jsonl
  cove-trace timeline --task 3 --tail 20 run.jsonl
  cove-trace timeline --event host_call --json run.jsonl | jq .op")]
pub(crate) struct Args {
    /// The trace; - is standard input.
    file: Input,
    #[command(flatten)]
    shape: Shape,
    /// Go on with what is written from now on, until interrupted: cove-trace follow.
    #[arg(short, long)]
    follow: bool,
    // Last, since what follows would stand under its heading.
    #[command(flatten)]
    filter: Filter,
}

/// How what was chosen is given.
#[derive(clap::Args)]
pub(crate) struct Shape {
    /// Stop after so many events.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Only the last so many of the events.
    #[arg(long, value_name = "N", conflicts_with = "limit")]
    tail: Option<usize>,
    /// Values whole, however wide.
    #[arg(long)]
    full: bool,
    /// The lines of the events as they stand in the file, instead of rows.
    #[arg(long, conflicts_with = "full")]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    if args.follow {
        return follow(&args.file, &args.filter, &args.shape, output, diagnostics);
    }
    let Some(mut reader) = args.file.open(diagnostics) else { return Ok(()) };
    let timeline = RefCell::new(Timeline::begin(&args.filter, &args.shape, output)?);
    let name = args.file.name();
    while let Err(error) = reader.pass_to_line(args.filter.first_line()) {
        diagnostics.fault(&name, &error);
        if error.is_final() {
            break;
        }
    }
    read(&timeline, &mut reader, &name, diagnostics)?;
    let mut timeline = timeline.into_inner();
    timeline.given.end()?;
    // An empty answer may be a question that was meant otherwise. For people: a program sees that nothing came.
    if timeline.given.count == 0 && timeline.given.left > 0 && terminal::is_read_by_a_person() {
        note(&name, "none of its events is what was asked for");
    }
    Ok(())
}

/// Gives the events as they are written.
pub(crate) fn follow(
    file: &Input,
    filter: &Filter,
    shape: &Shape,
    output: &mut Output,
    diagnostics: &mut Diagnostics,
) -> io::Result<()> {
    let name = file.name();
    let Some(path) = file.path() else {
        let Some(mut reader) = file.open(diagnostics) else { return Ok(()) };
        let mut timeline = Timeline::begin(filter, shape, output)?;
        timeline.given.is_live = true;
        let timeline = RefCell::new(timeline);
        read(&timeline, &mut reader, &name, diagnostics)?;
        return timeline.into_inner().given.end();
    };
    let timeline = RefCell::new(Timeline::begin(filter, shape, output)?);
    let waiting = Waiting { timeline: &timeline, failure: RefCell::new(None), name: &name };
    let mut source = FollowedFile::new(path, &waiting);
    while !source.is_ended() && !timeline.borrow().is_done() {
        read(&timeline, &mut TraceReader::new(&mut source), &name, diagnostics)?;
    }
    match waiting.failure.take() {
        Some(failure) => Err(failure),
        None => timeline.borrow_mut().given.end(),
    }
}

/// What is done while there is nothing to read.
struct Waiting<'t, 'o> {
    timeline: &'t RefCell<Timeline<'o>>,
    /// The error of standard output for which waiting was given up.
    failure: RefCell<Option<io::Error>>,
    name: &'t str,
}

impl Watcher for &Waiting<'_, '_> {
    fn caught_up(&self) -> bool {
        match self.timeline.borrow_mut().catch_up() {
            Ok(()) => true,
            Err(error) => {
                *self.failure.borrow_mut() = Some(error);
                false
            }
        }
    }

    fn note(&self, message: &str) {
        note(self.name, message);
    }
}

/// Reads a trace to its end, or to the last event that can be wanted.
fn read(
    timeline: &RefCell<Timeline<'_>>,
    reader: &mut TraceReader<impl Read>,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> io::Result<()> {
    while !timeline.borrow().is_done() {
        // Not borrowed while the reader may wait.
        let next = reader.next_event_with_line();
        let mut timeline = timeline.borrow_mut();
        let chosen = match next {
            Ok(None) => break,
            Ok(Some((line, event))) => timeline.choose(line, &event),
            // The wait was given up in the middle of a line: nothing is wrong with it.
            Err(_) if timeline.is_given_up => break,
            Err(error) => {
                // What came before it is seen before it.
                timeline.given.output.flush()?;
                diagnostics.fault(name, &error);
                Chosen::Not
            }
        };
        match chosen {
            Chosen::Row => timeline.give_row()?,
            Chosen::Line => timeline.given.give(reader.line_text())?,
            Chosen::Not => {}
        }
        timeline.passed(reader.line());
    }
    Ok(())
}

/// The events that were asked for, on their way out.
struct Timeline<'a> {
    filter: &'a Filter,
    /// None for the lines of the file.
    rows: Option<Rows>,
    given: Given<'a>,
    is_past_last_line: bool,
    /// Whether nobody reads what is given, so that waiting for more is over.
    is_given_up: bool,
}

/// The rows or lines that are given.
struct Given<'a> {
    count: u64,
    /// How many more may be given.
    left: u64,
    /// The last ones, if only those are wanted, and how many of them.
    tail: Option<(usize, VecDeque<Vec<u8>>)>,
    /// Whether each is to be seen at once.
    is_live: bool,
    output: &'a mut Output,
}

impl<'a> Timeline<'a> {
    fn begin(filter: &'a Filter, shape: &Shape, output: &'a mut Output) -> io::Result<Self> {
        let width = if shape.full { None } else { terminal::width() };
        let rows = (!shape.json).then(|| Rows::new(Layout { width, colored: output.is_colored() }));
        if rows.is_some() {
            writeln!(output, "{TITLES}")?;
        }
        let tail = shape.tail.map(|wanted| (wanted, VecDeque::new()));
        let given = Given { count: 0, left: shape.limit.unwrap_or(u64::MAX), tail, is_live: false, output };
        Ok(Self { filter, rows, given, is_past_last_line: false, is_given_up: false })
    }

    /// Whether no more events are wanted.
    fn is_done(&self) -> bool {
        self.given.left == 0 || self.is_past_last_line
    }

    /// Learns that the trace was read up to this line.
    fn passed(&mut self, line: u64) {
        self.is_past_last_line = self.filter.last_line().is_some_and(|last| line >= last);
    }

    fn choose(&mut self, line: u64, event: &TraceEvent<'_>) -> Chosen {
        if !self.filter.admits(line, event) {
            return Chosen::Not;
        }
        match &mut self.rows {
            Some(rows) => {
                rows.make(line, event);
                Chosen::Row
            }
            None => Chosen::Line,
        }
    }

    /// Gives the row that was made last.
    fn give_row(&mut self) -> io::Result<()> {
        self.rows.as_ref().map_or(Ok(()), |rows| self.given.give(rows.last().as_bytes()))
    }

    /// Lets everything be seen that was given so far, since more is only to come.
    fn catch_up(&mut self) -> io::Result<()> {
        let caught_up = self.given.end().and_then(|()| self.given.output.flush());
        let caught_up = match caught_up {
            Ok(()) if self.given.output.is_closed() => Err(io::ErrorKind::BrokenPipe.into()),
            other => other,
        };
        self.is_given_up = caught_up.is_err();
        caught_up
    }
}

impl Given<'_> {
    fn give(&mut self, row: &[u8]) -> io::Result<()> {
        self.count += 1;
        self.left -= 1;
        match &mut self.tail {
            Some((wanted, rows)) => {
                let mut kept = if rows.len() < *wanted { None } else { rows.pop_front() }.unwrap_or_default();
                if *wanted > 0 {
                    kept.clear();
                    kept.extend_from_slice(row);
                    rows.push_back(kept);
                }
                Ok(())
            }
            None => {
                write_row(self.output, row)?;
                if self.is_live { self.output.flush() } else { Ok(()) }
            }
        }
    }

    /// Gives what was held back until the end was known.
    fn end(&mut self) -> io::Result<()> {
        match self.tail.take() {
            Some((_, rows)) => rows.iter().try_for_each(|row| write_row(self.output, row)),
            None => Ok(()),
        }
    }
}

fn write_row(output: &mut Output, row: &[u8]) -> io::Result<()> {
    output.write_all(row)?;
    output.write_all(b"\n")
}

/// What is to be given of an event.
enum Chosen {
    Not,
    /// The row that was made of it.
    Row,
    /// Its line as the reader has it.
    Line,
}
