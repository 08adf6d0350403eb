//! Any events into a sink whose writer fails in any way: what arrived is whole lines in order, each fragment alone on its
//! line, and what was lost is counted exactly.

use std::io::{self, ErrorKind, Write};
use std::panic;

use arbitrary::{Arbitrary, Result, Unstructured};
use cove_trace::owned::OwnedEvent;
use cove_trace::{
    Arena, JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceReader, TraceSink, ValueCapture, encode_header,
};

use super::generate::made_of;
use super::lines::line;
use super::{canonical, compare};

pub(crate) fn check(data: &[u8]) {
    made_of::<Run>(data).check();
}

/// What a writer does when it is asked to write.
#[derive(Debug, Clone, Copy)]
enum OnWrite {
    TakeAll,
    /// Takes at most so many bytes.
    Take(u8),
    /// Takes all but so many bytes.
    Leave(u8),
    Fail(AnyError),
    /// Takes all and claims to have taken so many more.
    Overclaim(usize),
    /// Takes at most so many bytes and panics.
    Panic(u8),
}

#[derive(Debug, Clone, Copy)]
enum OnFlush {
    Done,
    Fail(AnyError),
    Panic,
}

#[derive(Debug, Clone, Copy)]
enum AnyError {
    Interrupted,
    WouldBlock,
    StorageFull,
    BrokenPipe,
}

impl AnyError {
    const fn kind(self) -> ErrorKind {
        match self {
            Self::Interrupted => ErrorKind::Interrupted,
            Self::WouldBlock => ErrorKind::WouldBlock,
            Self::StorageFull => ErrorKind::StorageFull,
            Self::BrokenPipe => ErrorKind::BrokenPipe,
        }
    }
}

/// Events, and what the writer does with each.
#[derive(Debug)]
struct Run {
    capture: ValueCapture,
    header: Script,
    events: Vec<(OwnedEvent, Script)>,
}

/// What the writer does one call after the other. It behaves once that has come to its end.
#[derive(Debug, Default, Clone)]
struct Script {
    writes: Vec<OnWrite>,
    flushes: Vec<OnFlush>,
}

impl<'a> Arbitrary<'a> for AnyError {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        u.choose(&[Self::Interrupted, Self::WouldBlock, Self::StorageFull, Self::BrokenPipe]).copied()
    }
}

impl<'a> Arbitrary<'a> for OnWrite {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=7)? {
            0 => Self::TakeAll,
            1 | 2 => Self::Take(u.arbitrary()?),
            3 => Self::Leave(u.int_in_range(1..=4)?),
            4 | 5 => Self::Fail(u.arbitrary()?),
            6 => Self::Overclaim(u.arbitrary()?),
            _ => Self::Panic(u.arbitrary()?),
        })
    }
}

impl<'a> Arbitrary<'a> for OnFlush {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=3)? {
            0 => Self::Done,
            1 | 2 => Self::Fail(u.arbitrary()?),
            _ => Self::Panic,
        })
    }
}

impl<'a> Arbitrary<'a> for Script {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let writes = (0..u.int_in_range(0..=4)?).map(|_| u.arbitrary()).collect::<Result<_>>()?;
        let flushes = (0..u.int_in_range(0..=2)?).map(|_| u.arbitrary()).collect::<Result<_>>()?;
        Ok(Self { writes, flushes })
    }
}

impl<'a> Arbitrary<'a> for Run {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        const MOST: u64 = 12;
        let capture = u.arbitrary()?;
        let header = if u.ratio(1, 8)? { u.arbitrary()? } else { Script::default() };
        let events = (0..u.int_in_range(0..=MOST)?)
            .map(|id| {
                let event = if u.ratio(1, 4)? { u.arbitrary()? } else { OwnedEvent::TaskCancelled { id } };
                Ok((event, u.arbitrary()?))
            })
            .collect::<Result<_>>()?;
        Ok(Self { capture, header, events })
    }
}

/// What happened to one line, as the writer saw it.
#[derive(Debug, Default, Clone)]
struct Log {
    /// Bytes that the writer said it took.
    acknowledged: usize,
    /// The last thing that went wrong, and not only for a moment.
    last_error: Option<ErrorKind>,
    write_failures: u32,
    /// It was given nothing to write, or something after a failure. (A panic here would be taken for the writer's own.)
    misused: bool,
    panicked_in_write: bool,
    flushes: u32,
}

/// Follows a script, keeps what it takes, and notes what happened.
#[derive(Debug, Default)]
struct Scripted {
    script: Script,
    file: Vec<u8>,
    log: Log,
}

impl Scripted {
    fn take(&mut self, bytes: &[u8], most: usize) -> usize {
        let taken = bytes.len().min(most);
        self.file.extend_from_slice(&bytes[..taken]);
        taken
    }

    fn fails(&mut self, kind: ErrorKind) {
        if kind != ErrorKind::Interrupted {
            self.log.last_error = Some(kind);
        }
    }
}

fn next<T>(script: &mut Vec<T>) -> Option<T> {
    if script.is_empty() { None } else { Some(script.remove(0)) }
}

/// Panics without the hook's message.
fn unwind() -> ! {
    panic::resume_unwind(Box::new("the writer's own"))
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.log.misused |= bytes.is_empty() || self.log.write_failures > 0;
        let most = |on_write| match on_write {
            OnWrite::Take(most) => usize::from(most),
            OnWrite::Leave(left) => bytes.len().saturating_sub(left.into()),
            _ => bytes.len(),
        };
        match next(&mut self.script.writes).unwrap_or(OnWrite::TakeAll) {
            short @ (OnWrite::Take(_) | OnWrite::Leave(_)) if most(short) == 0 => {
                self.log.write_failures += 1;
                self.fails(ErrorKind::WriteZero);
                Ok(0)
            }
            OnWrite::Panic(most) => {
                self.take(bytes, most.into());
                self.log.write_failures += 1;
                self.log.panicked_in_write = true;
                self.fails(ErrorKind::Other);
                unwind()
            }
            OnWrite::Fail(error) => {
                self.log.write_failures += u32::from(error.kind() != ErrorKind::Interrupted);
                self.fails(error.kind());
                Err(error.kind().into())
            }
            taking => {
                let taken = self.take(bytes, most(taking));
                self.log.acknowledged += taken;
                let claimed_beyond = if let OnWrite::Overclaim(more) = taking { more } else { 0 };
                Ok(taken.saturating_add(claimed_beyond))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match next(&mut self.script.flushes).unwrap_or(OnFlush::Done) {
            OnFlush::Done => {
                self.log.flushes += 1;
                Ok(())
            }
            OnFlush::Fail(error) => {
                self.log.flushes += u32::from(error.kind() != ErrorKind::Interrupted);
                self.fails(error.kind());
                Err(error.kind().into())
            }
            OnFlush::Panic => {
                self.log.flushes += 1;
                self.fails(ErrorKind::Other);
                unwind()
            }
        }
    }
}

/// The writer, where its script can be changed while the sink holds it.
#[derive(Debug, Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Scripted>>);

impl Shared {
    fn with<T>(&self, use_it: impl FnOnce(&mut Scripted) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Follows `script` from now on. What happened before is given back.
    fn follow(&self, script: Script) -> Log {
        self.with(|writer| {
            writer.script = script;
            std::mem::take(&mut writer.log)
        })
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Write::flush)
    }
}

impl Run {
    fn check(&self) {
        let mut header = TraceHeader::new(RecordingBackend::Vm, ValueCapture::Full, "main.cove");
        header.values = self.capture;
        let writer = Shared::default();
        writer.follow(self.header.clone());
        let sink = JsonlSink::new(writer.clone(), &header);
        let log = writer.follow(Script::default());
        let Ok(sink) = sink.map_err(|error| assert_eq!(Some(error.kind()), log.last_error, "the header's failure"))
        else {
            return;
        };
        assert_eq!(log.last_error, None, "a failure of the header is the caller's");
        let mut expected_start = Vec::new();
        encode_header(&header, self.capture, &mut expected_start);
        assert_eq!(writer.with(|writer| writer.file.clone()), expected_start);

        let mut account = Account { file: expected_start, ..Account::default() };
        for (event, script) in &self.events {
            writer.follow(script.clone());
            sink.record(&event.view(&Arena::new()));
            let log = writer.follow(Script::default());
            account.add(event, self.capture, &log, &writer.with(|writer| writer.file.clone()));
            assert_eq!(sink.dropped(), account.dropped, "dropped after {event:?}");
            let kind = sink.last_error().map(|error| error.kind());
            assert_eq!(kind, account.last_error, "last error after {event:?}");
        }
        let finished = sink.finish();
        assert_eq!(finished.dropped, account.dropped);
        assert_eq!(finished.last_error.map(|error| error.kind()), account.last_error);
        account.reads_back(self.capture);
    }
}

/// What the file has to hold and the sink to say, from what the writer saw.
#[derive(Debug, Default)]
struct Account {
    file: Vec<u8>,
    dropped: u64,
    last_error: Option<ErrorKind>,
    /// The writer panicked, so that the sink can't know whether the file ends inside a line.
    unsure: bool,
    /// Events whose whole text is in the file. Of one that a panic cut off it may be, without the sink knowing.
    whole: Vec<OwnedEvent>,
    fragments: usize,
}

impl Account {
    fn add(&mut self, event: &OwnedEvent, capture: ValueCapture, log: &Log, file: &[u8]) {
        assert!(!log.misused, "the writer was given nothing to write, or more of a line after a failure");
        let arrived = file.strip_prefix(&self.file[..]).expect("what is in the file stays");
        let written = line(&event.view(&Arena::new()), capture);
        let inside_line = self.unsure || self.file.last() != Some(&b'\n');
        let offered = if inside_line { [b"\n", &written[..]].concat() } else { written };
        assert!(offered.starts_with(arrived), "a line, or its beginning, on a line of its own");
        assert_eq!(log.flushes, 1, "flushed once");

        let text = offered.len() - 1;
        if log.write_failures == 0 {
            assert_eq!(arrived.len(), offered.len(), "nothing failed");
        }
        if log.acknowledged < text {
            self.dropped += 1;
        }
        let body = arrived.len().saturating_sub(usize::from(inside_line));
        if arrived.len() >= text {
            self.whole.push(canonical::event(event, capture));
        } else if body > 0 {
            self.fragments += 1;
        }
        // Nothing of this line was acknowledged, so what was unsure stays so.
        self.unsure = log.panicked_in_write || (self.unsure && log.acknowledged == 0);
        self.last_error = log.last_error.or(self.last_error);
        self.file = file.to_vec();
    }

    /// A reader finds the whole lines in order, and a fault for each fragment.
    fn reads_back(&self, capture: ValueCapture) {
        let mut reader = TraceReader::new(&self.file[..]);
        assert_eq!(reader.header().expect("a header").map(|header| header.values), Some(capture));
        let mut whole = self.whole.iter();
        let mut fragments = 0;
        loop {
            match reader.next_event() {
                Ok(Some(event)) => same(&event, whole.next()),
                Ok(None) => break,
                Err(_) => fragments += 1,
            }
        }
        assert_eq!(whole.len(), 0, "events in the file that a reader does not find");
        assert_eq!(fragments, self.fragments, "fragments");
    }
}

fn same(found: &TraceEvent<'_>, expected: Option<&OwnedEvent>) {
    let expected = expected.expect("an event that was recorded");
    assert_eq!(compare::event(found, expected), Ok(()));
}
