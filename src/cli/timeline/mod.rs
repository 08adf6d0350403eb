//! `cove-trace timeline`.

mod filter;
mod row;
mod texts;

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use cove_trace::{TraceEvent, TraceReader};

pub(crate) use self::filter::Filter;
use self::row::{Layout, TITLES};
use crate::diagnostics::Diagnostics;
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
    // Last, since what follows would stand under its heading.
    #[command(flatten)]
    filter: Filter,
}

/// How what was chosen is given.
#[derive(clap::Args)]
struct Shape {
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
    let Some(mut reader) = args.file.open(diagnostics) else { return Ok(()) };
    let mut timeline = Timeline::begin(&args.filter, &args.shape, output)?;
    timeline.read(&mut reader, &args.file.name(), diagnostics)?;
    timeline.end()
}

/// The events that were asked for, on their way out.
struct Timeline<'a> {
    filter: &'a Filter,
    /// How rows are made; none for the lines of the file.
    layout: Option<Layout>,
    /// How many events may still be given.
    left: u64,
    /// The last ones, if only those are wanted, and how many of them.
    tail: Option<(usize, VecDeque<Vec<u8>>)>,
    output: &'a mut Output,
}

impl<'a> Timeline<'a> {
    fn begin(filter: &'a Filter, shape: &Shape, output: &'a mut Output) -> io::Result<Self> {
        let layout = (!shape.json)
            .then(|| Layout { width: if shape.full { None } else { terminal::width() }, colored: output.is_colored() });
        if layout.is_some() {
            writeln!(output, "{TITLES}")?;
        }
        let tail = shape.tail.map(|wanted| (wanted, VecDeque::new()));
        Ok(Self { filter, layout, left: shape.limit.unwrap_or(u64::MAX), tail, output })
    }

    /// Reads a trace to its end, or to the last event that can be wanted.
    fn read(
        &mut self,
        reader: &mut TraceReader<impl Read>,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> io::Result<()> {
        let last_line = self.filter.last_line().unwrap_or(u64::MAX);
        while self.left > 0 && reader.line() < last_line {
            let row = match reader.next_event_with_line() {
                Ok(None) => break,
                Ok(Some((line, event))) => self.choose(line, &event),
                Err(error) => {
                    // What came before it is seen before it.
                    self.output.flush()?;
                    diagnostics.fault(name, &error);
                    continue;
                }
            };
            match row {
                Chosen::Row(row) => self.give(row.as_bytes())?,
                Chosen::Line => self.give(reader.line_text())?,
                Chosen::Not => {}
            }
        }
        Ok(())
    }

    fn choose(&self, line: u64, event: &TraceEvent<'_>) -> Chosen {
        match &self.layout {
            _ if !self.filter.admits(line, event) => Chosen::Not,
            Some(layout) => Chosen::Row(layout.row(line, event)),
            None => Chosen::Line,
        }
    }

    fn give(&mut self, row: &[u8]) -> io::Result<()> {
        self.left -= 1;
        match &mut self.tail {
            Some((wanted, rows)) => {
                rows.push_back(row.to_vec());
                if rows.len() > *wanted {
                    rows.pop_front();
                }
                Ok(())
            }
            None => write_row(self.output, row),
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
    Row(String),
    /// Its line as the reader has it.
    Line,
}
