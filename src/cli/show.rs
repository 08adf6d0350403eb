//! `cove-trace show`.

mod tree;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Effects, Style};
use clap::builder::{OsStringValueParser, TypedValueParser};
use cove_trace::display::{duration, escaped};
use cove_trace::{HeapSummary, HostCall, HostOutcome, RecordedValue, TraceEvent, TraceHeader, TracePart};

use crate::diagnostics::Diagnostics;
use crate::input::Input;
use crate::output::Output;

/// Shows one event in full: its figures exact, its values as trees with the path of each part.
#[derive(clap::Args)]
#[command(after_help = "\
Line 1 is the header as a rule. cove-trace timeline says which line an event stands on.

Examples:
  cove-trace show run.jsonl:57
  vm run main.cove --trace - | cove-trace show -:57")]
pub(crate) struct Args {
    /// The trace and the line, from 1; - is standard input.
    // A hyphen may begin it: -:57 is line 57 of standard input.
    #[arg(value_name = "FILE:LINE", allow_hyphen_values = true, value_parser = place_parser())]
    place: Place,
}

fn place_parser() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().try_map(Place::parse)
}

/// A line of a trace.
#[derive(Clone)]
struct Place {
    file: Input,
    line: u64,
}

impl Place {
    fn parse(argument: OsString) -> Result<Self, String> {
        let expected = || format!("expected FILE:LINE, with a line from 1, found {}", argument.display());
        let bytes = argument.as_encoded_bytes();
        let colon = memchr::memrchr(b':', bytes).filter(|at| *at > 0).ok_or_else(expected)?;
        let line = std::str::from_utf8(&bytes[colon + 1..]).ok().and_then(|digits| digits.parse().ok());
        let line = line.filter(|line| *line > 0).ok_or_else(expected)?;
        Ok(Self { file: Input::from(start_of(&argument, colon).ok_or_else(expected)?), line })
    }
}

/// The first bytes of a file name, which need not be Unicode everywhere.
#[cfg(unix)]
fn start_of(name: &OsString, len: usize) -> Option<OsString> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    name.as_bytes().get(..len).map(|bytes| OsString::from_vec(bytes.to_vec()))
}

#[cfg(not(unix))]
fn start_of(name: &OsString, len: usize) -> Option<OsString> {
    name.to_str()?.get(..len).map(OsString::from)
}

/// Why no more of the trace is read.
enum Stop {
    /// The line was reached, and what stands on it was shown.
    Reached,
    /// Standard output gave an error.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub(crate) fn run(args: &Args, output: &mut Output, diagnostics: &mut Diagnostics) -> io::Result<()> {
    let Place { file, line: wanted } = &args.place;
    let Some(mut reader) = file.open(diagnostics) else { return Ok(()) };
    let name = file.name();
    // Faults of the lines before it are passed over, as those lines are.
    while let Err(error) = reader.pass_to_line(*wanted) {
        if error.position().line == *wanted || error.is_final() {
            diagnostics.fault(&name, &error);
            return Ok(());
        }
    }
    let mut page = Page { colored: output.is_colored(), output };
    let walked = reader.walk(|part| match part {
        TracePart::Header { line, header } if line == *wanted => {
            page.title(&name, line, "trace_header")?;
            page.header(header)?;
            Err(Stop::Reached)
        }
        TracePart::Event { line, event } if line == *wanted => {
            page.event(&name, line, &event)?;
            Err(Stop::Reached)
        }
        TracePart::Fault(error) if error.position().line == *wanted || error.is_final() => {
            diagnostics.fault(&name, &error);
            Err(Stop::Reached)
        }
        TracePart::Header { line, .. } | TracePart::Event { line, .. } if line > *wanted => {
            diagnostics.unusable(&name, &format_args!("there is no event on line {wanted}"));
            Err(Stop::Reached)
        }
        _ => Ok(()),
    });
    match walked {
        Ok(()) => {
            let lines = reader.lines_read();
            diagnostics.unusable(&name, &format_args!("there is no event on line {wanted}: it ends with line {lines}"));
            Ok(())
        }
        Err(Stop::Reached) => Ok(()),
        Err(Stop::Output(error)) => Err(error),
    }
}

/// The width of the column of names.
const NAMES: usize = 16;

struct Page<'o> {
    output: &'o mut Output,
    colored: bool,
}

impl Page<'_> {
    fn title(&mut self, file: &str, line: u64, kind: &str) -> io::Result<()> {
        let style = self.style(Style::new().effects(Effects::BOLD));
        writeln!(self.output, "{}:{line}: {style}{kind}{style:#}", escaped(file))
    }

    /// The style, where there are colours.
    fn style(&self, style: Style) -> Style {
        if self.colored { style } else { Style::new() }
    }

    /// A name and what it is, on one line.
    fn entry(&mut self, name: &str, what: &dyn Display) -> io::Result<()> {
        writeln!(self.output, "  {name:<NAMES$}{}", escaped(&what.to_string()))
    }

    fn bad_entry(&mut self, name: &str, what: &dyn Display) -> io::Result<()> {
        let style = self.style(Style::new().fg_color(Some(AnsiColor::Red.into())));
        writeln!(self.output, "  {name:<NAMES$}{style}{}{style:#}", escaped(&what.to_string()))
    }

    fn time(&mut self, name: &str, time: Duration) -> io::Result<()> {
        let nanoseconds = time.as_nanos();
        self.entry(name, &format_args!("{nanoseconds} ns ({})", duration(nanoseconds)))
    }

    fn figure(&mut self, name: &str, figure: Option<u64>) -> io::Result<()> {
        match figure {
            Some(figure) => self.entry(name, &figure),
            None => self.entry(name, &"not known"),
        }
    }

    fn value(&mut self, root: &str, value: &RecordedValue<'_>) -> io::Result<()> {
        tree::write(self.output, root, value)
    }

    fn header(&mut self, header: &TraceHeader) -> io::Result<()> {
        self.entry("entry", &header.entry)?;
        self.entry("backend", &header.backend)?;
        self.entry("values", &header.values)?;
        header
            .args
            .iter()
            .enumerate()
            .try_for_each(|(index, arg)| self.value(&format!("args[{index}]"), &RecordedValue::String(arg)))
    }

    fn event(&mut self, file: &str, line: u64, event: &TraceEvent<'_>) -> io::Result<()> {
        self.title(file, line, event.kind().as_str())?;
        match *event {
            TraceEvent::TaskSpawned { id, parent, scope } => {
                self.entry("id", &id)?;
                match parent {
                    Some(parent) => self.entry("parent", &parent)?,
                    None => self.entry("parent", &"none")?,
                }
                self.entry("scope", &scope)
            }
            TraceEvent::TaskCompleted { id, cpu } => {
                self.entry("id", &id)?;
                self.time("cpu", cpu)
            }
            TraceEvent::TaskCancelled { id } => self.entry("id", &id),
            TraceEvent::HostCall(ref call) => self.call(call),
            TraceEvent::EntryEnter { module, function } => {
                self.entry("module", &module)?;
                self.entry("function", &function)
            }
            TraceEvent::EntryExit { module, function, cpu, wait } => {
                self.entry("module", &module)?;
                self.entry("function", &function)?;
                if cpu.is_zero() && !wait.is_zero() {
                    self.entry("cpu", &"unknown: the waits exceed the elapsed time")?;
                } else {
                    self.time("cpu", cpu)?;
                }
                self.time("wait", wait)
            }
            TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause } => {
                self.entry("task", &task)?;
                self.entry("allocated", &allocated)?;
                self.entry("freed", &freed)?;
                self.entry("live_objects", &live_objects)?;
                self.entry("live_bytes", &live_bytes)?;
                self.time("pause", pause)
            }
            TraceEvent::HeapSummary(ref figures) => self.heap_summary(figures),
            TraceEvent::RunEnded { outcome, message } => {
                self.entry("outcome", &outcome)?;
                match message {
                    Some(message) => self.entry("message", &message),
                    None => Ok(()),
                }
            }
            // An event that this command does not know yet: its kind is all that is shown.
            _ => Ok(()),
        }
    }

    fn call(&mut self, call: &HostCall<'_>) -> io::Result<()> {
        self.entry("task", &call.task)?;
        self.entry("module", &call.site.module())?;
        self.entry("op", &call.site.op())?;
        self.entry("capability", &call.site.capability())?;
        self.time("wait", call.wait)?;
        if call.granted {
            self.entry("granted", &"yes")?;
        } else {
            self.bad_entry("granted", &"no: refused")?;
        }
        for (index, value) in call.args.iter().enumerate() {
            self.value(&format!("args[{index}]"), value)?;
        }
        match call.outcome {
            Some(HostOutcome::Value(ref value)) => self.value("outcome", value),
            Some(HostOutcome::Error(message)) => self.bad_entry("outcome", &format_args!("error: {message}")),
            Some(HostOutcome::NotRecordable) => self.entry("outcome", &"not recordable"),
            None => self.entry("outcome", &"none: it never reached the host"),
        }
    }

    fn heap_summary(&mut self, figures: &HeapSummary) -> io::Result<()> {
        self.entry("collections", &figures.collections)?;
        self.figure("object_count", figures.object_count)?;
        self.figure("allocated_bytes", figures.allocated_bytes)?;
        self.figure("live_bytes", figures.live_bytes)?;
        self.figure("peak_bytes", figures.peak_bytes)?;
        match figures.pause {
            Some(pause) => self.time("pause", pause)?,
            None => self.figure("pause", None)?,
        }
        self.figure("allocated_words", figures.allocated_words)?;
        self.figure("capacity_words", figures.capacity_words)?;
        self.figure("live_words", figures.live_words)
    }
}
