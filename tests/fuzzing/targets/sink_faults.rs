//! Any events into a sink whose writer fails in any way, each written at once or gathered in a buffer, with a byte limit or
//! without: what arrived is whole lines in order, each fragment alone on its line, and what was lost is counted exactly.

use std::io::{self, ErrorKind, Write};
use std::panic;

use arbitrary::{Arbitrary, Result, Unstructured};
use cove_trace::owned::OwnedEvent;
use cove_trace::{
    Arena, JsonlSink, RecordingBackend, TraceEvent, TraceHeader, TraceReader, TraceSink, ValueCapture, encode_header,
};

use super::canonical;
use super::generate::made_of;
use super::lines::line;

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

/// Events, and what the writer does with each; and with what a buffer holds at the end.
#[derive(Debug)]
struct Run {
    capture: ValueCapture,
    header: Script,
    events: Vec<(OwnedEvent, Script)>,
    policy: Policy,
    end: Script,
}

/// What the sink was told.
#[derive(Debug, Default, Clone, Copy)]
struct Policy {
    buffer: usize,
    limit: Option<usize>,
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
        // Last, so that an input that ends before is a sink that was told nothing.
        Ok(Self { capture, header, events, policy: u.arbitrary()?, end: u.arbitrary()? })
    }
}

impl<'a> Arbitrary<'a> for Policy {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let buffer = if u.arbitrary()? { u.int_in_range(0..=300)? } else { 0 };
        let limit = if u.arbitrary()? { Some(u.int_in_range(0..=1_000)?) } else { None };
        Ok(Self { buffer, limit })
    }
}

/// What happened to the lines that were offered together, as the writer saw it: up to a flush.
#[derive(Debug, Default, Clone)]
struct Log {
    arrived: Vec<u8>,
    /// Bytes that the writer said it took.
    acknowledged: usize,
    /// The last thing that went wrong, and not only for a moment.
    last_error: Option<ErrorKind>,
    write_failures: u32,
    /// It was given nothing to write, or something after a failure. (A panic here would be taken for the writer's own.)
    misused: bool,
    panicked_in_write: bool,
    is_without_room: bool,
}

/// Follows a script, keeps what it takes, and notes what happened.
#[derive(Debug, Default)]
struct Scripted {
    script: Script,
    file: Vec<u8>,
    /// Of what is being offered.
    log: Log,
    logs: Vec<Log>,
}

impl Scripted {
    fn take(&mut self, bytes: &[u8], most: usize) -> usize {
        let taken = bytes.len().min(most);
        self.file.extend_from_slice(&bytes[..taken]);
        self.log.arrived.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// A flush ends what was offered.
    fn flushed(&mut self) {
        let log = std::mem::take(&mut self.log);
        self.logs.push(log);
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
                self.log.is_without_room = error.kind() == ErrorKind::StorageFull;
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
                self.flushed();
                Ok(())
            }
            OnFlush::Fail(error) => {
                self.fails(error.kind());
                if error.kind() != ErrorKind::Interrupted {
                    self.flushed();
                }
                Err(error.kind().into())
            }
            OnFlush::Panic => {
                self.fails(ErrorKind::Other);
                self.flushed();
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

    /// Follows `script` while `work` is done, and gives what was offered meanwhile.
    fn following<T>(&self, script: &Script, work: impl FnOnce() -> T) -> (T, Vec<Log>) {
        self.with(|writer| writer.script = script.clone());
        let done = work();
        let logs = self.with(|writer| {
            writer.script = Script::default();
            std::mem::take(&mut writer.logs)
        });
        (done, logs)
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
        let mut builder = JsonlSink::builder(&header).buffer(self.policy.buffer);
        if let Some(limit) = self.policy.limit {
            builder = builder.byte_limit(limit as u64);
        }
        let (sink, logs) = writer.following(&self.header, || builder.open(writer.clone()));
        // A header that is not written is not flushed either.
        let unflushed = writer.with(|writer| std::mem::take(&mut writer.log));
        let failure = logs.first().unwrap_or(&unflushed).last_error;
        let Ok(sink) = sink.map_err(|error| assert_eq!(Some(error.kind()), failure, "the header's failure")) else {
            return;
        };
        assert_eq!(failure, None, "a failure of the header is the caller's");
        let mut expected_start = Vec::new();
        encode_header(&header, &mut expected_start);
        assert_eq!(writer.with(|writer| writer.file.clone()), expected_start);

        let mut account = Account::new(self.capture, self.policy, expected_start);
        for (event, script) in &self.events {
            let ((), logs) = writer.following(script, || sink.record(&event.view(&Arena::new())));
            let kind = sink.last_error().map(|error| error.kind());
            account.record(event, logs, sink.dropped(), kind);
            assert_eq!(sink.dropped(), account.dropped, "dropped after {event:?}");
            assert_eq!(kind, account.last_error, "last error after {event:?}");
        }
        let (finished, logs) = writer.following(&self.end, || sink.finish());
        account.finish(logs);
        assert_eq!(finished.dropped, account.dropped);
        assert_eq!(finished.last_error.map(|error| error.kind()), account.last_error);
        assert!(writer.with(|writer| writer.file == account.file), "every byte of the file was accounted for");
        account.reads_back();
    }
}

/// A line, as it was offered: after a newline, where there was a fragment before it.
#[derive(Debug)]
struct Offered {
    event: OwnedEvent,
    bytes: Vec<u8>,
}

/// What the file has to hold and the sink to say, from what the writer saw: the contract, said naively.
#[derive(Debug)]
struct Account {
    capture: ValueCapture,
    policy: Policy,
    file: Vec<u8>,
    /// Bytes that the writer said it took.
    out: usize,
    /// Lines that are not offered yet.
    waiting: Vec<Offered>,
    is_full: bool,
    /// The last write failed for lack of room, so that the sink may lose an event without offering it.
    is_backing_off: bool,
    dropped: u64,
    last_error: Option<ErrorKind>,
    /// The writer panicked, so that the sink can't know whether the file ends inside a line.
    unsure: bool,
    /// Events whose whole text is in the file. Of one that a panic cut off it may be, without the sink knowing.
    whole: Vec<OwnedEvent>,
    fragments: usize,
}

impl Account {
    fn new(capture: ValueCapture, policy: Policy, header: Vec<u8>) -> Self {
        Self {
            capture,
            policy,
            out: header.len(),
            file: header,
            waiting: Vec::new(),
            is_full: false,
            is_backing_off: false,
            dropped: 0,
            last_error: None,
            unsure: false,
            whole: Vec::new(),
            fragments: 0,
        }
    }

    /// `dropped` and `last_error` are what the sink says after the event.
    fn record(&mut self, event: &OwnedEvent, logs: Vec<Log>, dropped: u64, last_error: Option<ErrorKind>) {
        let mut logs = logs.into_iter();
        let closes_a_run =
            matches!(event, OwnedEvent::EntryExit { .. } | OwnedEvent::HeapSummary(_) | OwnedEvent::RunEnded { .. });
        let is_lost = logs.len() == 0 && dropped > self.dropped;
        if !closes_a_run && self.is_backing_off && is_lost && last_error == self.last_error {
            self.dropped += 1;
            return;
        }
        if !closes_a_run {
            let length = self.out + self.waiting_bytes() + self.offered(event).bytes.len();
            let exceeds = self.policy.limit.is_some_and(|limit| length > limit);
            if exceeds && !self.is_full {
                self.last_error = Some(ErrorKind::FileTooLarge);
            }
            self.is_full |= exceeds;
            if self.is_full {
                self.dropped += 1;
                assert_eq!(logs.len(), 0, "nothing is offered beyond the limit");
                return;
            }
        }
        if self.waiting_bytes() + self.offered(event).bytes.len() > self.policy.buffer {
            self.offer_what_waits(&mut logs);
        }
        let offered = self.offered(event);
        let fits = offered.bytes.len() <= self.policy.buffer;
        self.waiting.push(offered);
        if !fits || matches!(event, OwnedEvent::RunEnded { .. }) {
            self.offer_what_waits(&mut logs);
        }
        assert_eq!(logs.len(), 0, "nothing else is offered");
    }

    fn finish(&mut self, logs: Vec<Log>) {
        let mut logs = logs.into_iter();
        self.offer_what_waits(&mut logs);
        assert_eq!(logs.len(), 0, "nothing else is offered");
    }

    fn waiting_bytes(&self) -> usize {
        self.waiting.iter().map(|line| line.bytes.len()).sum()
    }

    fn offered(&self, event: &OwnedEvent) -> Offered {
        let mut bytes = line(&event.view(&Arena::new()), self.capture);
        let inside_line = self.unsure || self.file.last() != Some(&b'\n');
        if inside_line && self.waiting.is_empty() {
            bytes.insert(0, b'\n');
        }
        Offered { event: event.clone(), bytes }
    }

    fn offer_what_waits(&mut self, logs: &mut impl Iterator<Item = Log>) {
        let lines = std::mem::take(&mut self.waiting);
        if lines.is_empty() {
            return;
        }
        let log = logs.next().expect("lines are offered, and flushed once");
        assert!(!log.misused, "the writer was given nothing to write, or more of a line after a failure");
        let all: Vec<u8> = lines.iter().flat_map(|line| line.bytes.iter().copied()).collect();
        assert!(all.starts_with(&log.arrived), "lines, or their beginning, on lines of their own");
        if log.write_failures == 0 {
            assert_eq!(log.arrived.len(), all.len(), "nothing failed");
        }
        let mut start = 0;
        for line in lines {
            let end_of_text = start + line.bytes.len() - 1;
            self.dropped += u64::from(log.acknowledged < end_of_text);
            let start_of_text = start + usize::from(line.bytes[0] == b'\n');
            if log.arrived.len() >= end_of_text {
                self.whole.push(canonical::event(&line.event, self.capture));
            } else if log.arrived.len() > start_of_text {
                self.fragments += 1;
            }
            start = end_of_text + 1;
        }
        self.is_backing_off = log.is_without_room;
        // Nothing of these lines was acknowledged, so what was unsure stays so.
        self.unsure = log.panicked_in_write || (self.unsure && log.acknowledged == 0);
        self.out += log.acknowledged;
        self.last_error = log.last_error.or(self.last_error);
        self.file.extend_from_slice(&log.arrived);
    }

    /// A reader finds the whole lines in order, and a fault for each fragment.
    fn reads_back(&self) {
        let mut reader = TraceReader::new(&self.file[..]);
        assert_eq!(reader.header().expect("a header").map(|header| header.values), Some(self.capture));
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
    assert_eq!(OwnedEvent::from(found), *expected);
}
