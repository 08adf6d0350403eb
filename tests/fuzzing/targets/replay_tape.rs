//! Any trace, any questions across tasks: answers, divergences and leftovers add up.

use arbitrary::{Arbitrary, Result as Made, Unstructured};
use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::replay::{Answer, Completeness, Divergence, DivergenceKind, OpenError, Order, Verdict};
use cove_trace::{
    Arena, CallSite, JsonlSink, RecordedValue, RecordingBackend, Replay, RunOutcome, TraceHeader, TraceReader,
    TraceSink, Value, ValueCapture,
};

use super::generate::made_of;

/// How many tasks there are, so that their calls meet.
const TASKS: u64 = 4;

pub(crate) fn check(data: &[u8]) {
    let run = made_of::<Run>(data);
    if run.has_beginning() {
        run.is_like_its_own_trace();
        run.adds_up();
    } else {
        run.is_refused();
    }
}

/// A run, and what a replay of it is asked.
#[derive(Debug)]
struct Run {
    events: Vec<OwnedEvent>,
    order: Order,
    keeps_going: bool,
    questions: Vec<Question>,
}

#[derive(Debug, Clone, Copy)]
struct Question {
    task: u64,
    call: Asked,
}

/// Which call is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Recorded,
    WithAnotherArgument,
    Other,
}

impl<'a> Arbitrary<'a> for Question {
    fn arbitrary(u: &mut Unstructured<'a>) -> Made<Self> {
        // One task more than there are.
        let task = u.int_in_range(0..=TASKS)?;
        let call = match u.int_in_range(0..=9)? {
            8 => Asked::WithAnotherArgument,
            9 => Asked::Other,
            _ => Asked::Recorded,
        };
        Ok(Self { task, call })
    }
}

impl<'a> Arbitrary<'a> for Run {
    fn arbitrary(u: &mut Unstructured<'a>) -> Made<Self> {
        const MOST: usize = 24;
        let order = if u.ratio(1, 3)? { Order::Strict } else { Order::PerTask };
        let keeps_going = u.arbitrary()?;
        // Before the events, which take what there is.
        let questions = (0..u.int_in_range(0..=2 * MOST)?).map(|_| u.arbitrary()).collect::<Made<_>>()?;
        let mut events = if u.ratio(1, 8)? { Vec::new() } else { beginning() };
        for _ in 0..u.int_in_range(0..=MOST)? {
            events.push(if u.ratio(2, 3)? { OwnedEvent::HostCall(call(u)?) } else { of_few_tasks(u.arbitrary()?) });
        }
        Ok(Self { events, order, keeps_going, questions })
    }
}

/// How a run of these tasks begins.
fn beginning() -> Vec<OwnedEvent> {
    let enter = OwnedEvent::EntryEnter { module: "main".to_owned(), function: "main".to_owned() };
    let spawned = |id| OwnedEvent::TaskSpawned { id, parent: Some(0), scope: "s".to_owned() };
    [enter].into_iter().chain((1..TASKS).map(spawned)).collect()
}

/// A host call, often one of few operations, so that the same one comes again.
fn call(u: &mut Unstructured<'_>) -> Made<OwnedHostCall> {
    let mut call: OwnedHostCall = u.arbitrary()?;
    call.task %= TASKS;
    if u.ratio(3, 4)? {
        call.module = "m".to_owned();
        call.op = u.choose(&["f", "g"])?.to_string();
        call.capability = "c".to_owned();
    }
    Ok(call)
}

fn of_few_tasks(event: OwnedEvent) -> OwnedEvent {
    match event {
        OwnedEvent::HostCall(call) => OwnedEvent::HostCall(OwnedHostCall { task: call.task % TASKS, ..call }),
        OwnedEvent::TaskSpawned { id, parent, scope } => OwnedEvent::TaskSpawned { id: id % TASKS, parent, scope },
        OwnedEvent::TaskCompleted { id, cpu } => OwnedEvent::TaskCompleted { id: id % TASKS, cpu },
        OwnedEvent::TaskCancelled { id } => OwnedEvent::TaskCancelled { id: id % TASKS },
        other => other,
    }
}

impl Run {
    fn record_into(&self, sink: &impl TraceSink) {
        for event in &self.events {
            sink.record(&event.view(&Arena::new()));
        }
    }

    fn recorded(&self, capture: ValueCapture) -> Vec<u8> {
        let header = TraceHeader::new(RecordingBackend::Ast, capture, "fuzz");
        let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes it");
        self.record_into(&sink);
        sink.finish().writer
    }

    /// Whether all that comes to an end in it, and every task that calls, was begun; or nothing of that is recorded at all.
    fn has_beginning(&self) -> bool {
        let place = |is: &dyn Fn(&OwnedEvent) -> bool| self.events.iter().position(is);
        let enter = place(&|event| matches!(event, OwnedEvent::EntryEnter { .. }));
        let exit = place(&|event| matches!(event, OwnedEvent::EntryExit { .. }));
        let spawn_of = |task| place(&|event| matches!(event, OwnedEvent::TaskSpawned { id, .. } if *id == task));
        let ends = |event: &OwnedEvent, task| match event {
            OwnedEvent::TaskCompleted { id, .. } | OwnedEvent::TaskCancelled { id } => *id == task,
            _ => false,
        };
        let calls = |event: &OwnedEvent, task| matches!(event, OwnedEvent::HostCall(call) if call.task == task);
        let is_entered = exit.is_none_or(|exit| enter.is_some_and(|enter| enter < exit));
        let has_lives = (0..TASKS).any(|task| spawn_of(task).is_some() || place(&|event| ends(event, task)).is_some());
        let is_spawned =
            |task| spawn_of(task).is_some() || place(&|event| ends(event, task) || calls(event, task)).is_none();
        is_entered && (!has_lives || (1..TASKS).all(is_spawned))
    }

    fn is_refused(&self) {
        let refused = |result: Option<OpenError>| assert!(matches!(result, Some(OpenError::NoBeginning { .. })));
        let trace = self.recorded(ValueCapture::Full);
        refused(Replay::open(&trace[..]).err());
        refused(Replay::check_only(&trace[..]).err());
    }

    /// A run that is held against its own trace does what was recorded, in either capture and either order.
    fn is_like_its_own_trace(&self) {
        for &capture in ValueCapture::ALL {
            let check = Replay::check_only(&self.recorded(capture)[..]).expect("a sound trace").order(self.order);
            self.record_into(&check);
            let conclusion = check.finish();
            let has_end = check.completeness() != Completeness::Cut;
            assert_eq!(conclusion.verdict == Verdict::Reproduced, has_end, "{capture}: {conclusion}");
            assert_eq!(conclusion.calls_used, conclusion.calls_recorded);
        }
    }

    /// Asks a replay of the run, and a naive account of what is due.
    fn adds_up(&self) {
        let trace = self.recorded(ValueCapture::Full);
        let mut due = Tapes::of(&trace, self.order);
        let calls = due.calls.len();
        let replay = Replay::open(&trace[..]).expect("a sound trace").order(self.order);
        let replay = if self.keeps_going { replay.keep_going() } else { replay };
        let keeps_going = self.keeps_going;
        let mut asker = Asker { replay, keeps_going, first: None, divergences: 0, is_incomplete: false, asked: 0 };
        for question in &self.questions {
            asker.ask(*question, &mut due);
        }
        asker.finish(calls, self.questions.is_empty());
    }
}

/// The recorded calls that were not asked for yet, as a reader gives them.
struct Tapes {
    calls: Vec<OwnedHostCall>,
    order: Order,
}

impl Tapes {
    fn of(trace: &[u8], order: Order) -> Self {
        let mut calls = Vec::new();
        let mut reader = TraceReader::new(trace);
        while let Some(event) = reader.next_event().expect("a sound trace") {
            if let OwnedEvent::HostCall(call) = OwnedEvent::from(&event) {
                calls.push(call);
            }
        }
        Self { calls, order }
    }

    fn has_calls_left(&self, task: u64) -> bool {
        self.calls.iter().any(|call| call.task == task)
    }

    /// Where the call stands that is due when `task` calls: in the order of the trace that may be another task's.
    fn due(&self, task: u64) -> Option<usize> {
        self.calls.iter().position(|call| self.order == Order::Strict || call.task == task)
    }
}

struct Asker {
    replay: Replay,
    keeps_going: bool,
    first: Option<Divergence>,
    divergences: u64,
    is_incomplete: bool,
    asked: u64,
}

impl Asker {
    fn ask(&mut self, question: Question, tapes: &mut Tapes) {
        let task = question.task;
        assert_eq!(self.replay.has_calls_left(task), tapes.has_calls_left(task));
        let Some(place) = tapes.due(task) else {
            return self.nothing_is_due(self.other_call(task));
        };
        let recorded = &tapes.calls[place];
        let answer = match question.call {
            Asked::Other => self.other_call(task),
            asked => self.recorded_call(task, recorded, asked == Asked::WithAnotherArgument),
        };
        if self.is_stopped() {
            assert_eq!(answer.err(), self.first);
            return;
        }
        if recorded.task != task || question.call == Asked::Other {
            return self.diverged(answer, DivergenceKind::OtherCall);
        }
        if question.call == Asked::WithAnotherArgument {
            if !self.keeps_going {
                return self.diverged(answer, DivergenceKind::OtherArguments);
            }
            self.divergences += 1;
        }
        self.asked += 1;
        match expected(&tapes.calls.remove(place)) {
            Some(expected) => assert_eq!(answer, Ok(expected)),
            None => self.diverged(answer, DivergenceKind::Unanswerable),
        }
    }

    fn other_call(&self, task: u64) -> Result<Answer, Divergence> {
        self.replay.call(task, CallSite::new("no", "such", "call"), &[])
    }

    fn recorded_call(
        &self,
        task: u64,
        recorded: &OwnedHostCall,
        has_another_argument: bool,
    ) -> Result<Answer, Divergence> {
        let arena = Arena::new();
        let mut args: Vec<_> = recorded.args.iter().map(|arg| arg.view(&arena)).collect();
        if has_another_argument {
            // No other recorded call has it, so that none stands for this one.
            args.push(RecordedValue::String("another argument"));
        }
        let site = CallSite::new(&recorded.module, &recorded.op, &recorded.capability);
        self.replay.call(task, site, &args)
    }

    fn is_stopped(&self) -> bool {
        self.first.is_some() && !self.keeps_going
    }

    fn nothing_is_due(&mut self, answer: Result<Answer, Divergence>) {
        match answer {
            answer if self.is_stopped() => assert_eq!(answer.err(), self.first),
            Ok(Answer::Stopped) => {}
            Ok(Answer::Incomplete) => self.is_incomplete = true,
            Err(divergence) => {
                let kind = divergence.kind();
                assert!(matches!(kind, DivergenceKind::MoreCalls | DivergenceKind::UnknownTask), "{divergence}");
                self.diverged(Err(divergence), kind);
            }
            other => panic!("{other:?} from nothing"),
        }
    }

    fn diverged(&mut self, answer: Result<Answer, Divergence>, kind: DivergenceKind) {
        let divergence = answer.expect_err("a divergence");
        assert_eq!(divergence.kind(), kind);
        let report = divergence.to_string();
        assert!(report.chars().all(|character| character == '\n' || !character.is_control()), "{report:?}");
        self.divergences += 1;
        self.first.get_or_insert(divergence);
    }

    fn finish(self, calls: usize, is_empty: bool) {
        let (outcome, message) = self.replay.recorded_end().unwrap_or((RunOutcome::Success, None));
        let conclusion = self.replay.finish(outcome, message);
        assert_eq!(conclusion.calls_recorded, calls as u64);
        assert_eq!(conclusion.calls_used, self.asked);
        assert_eq!(conclusion.calls_used + conclusion.unused + conclusion.unused_by_stopped, calls as u64);
        if let Some(first) = &self.first {
            assert_eq!(conclusion.verdict, Verdict::Diverged);
            // With others before it only where those were answered all the same.
            assert!(self.keeps_going || conclusion.divergences == [first.clone()]);
        }
        assert!(conclusion.divergences_found >= self.divergences);
        assert_eq!(conclusion.verdict == Verdict::Diverged, !conclusion.divergences.is_empty());
        if is_empty && calls > 0 {
            assert_eq!(conclusion.divergences[0].kind(), DivergenceKind::NoCalls);
        }
        if self.is_incomplete && self.divergences == 0 {
            assert!(matches!(conclusion.verdict, Verdict::Incomplete(_)), "{conclusion}");
        }
        if self.divergences == 0 && !self.is_incomplete && self.asked < calls as u64 {
            assert_ne!(conclusion.unused + conclusion.unused_by_stopped, 0);
        }
    }
}

/// What the recorded call is answered with; none when its result is not whole.
fn expected(call: &OwnedHostCall) -> Option<Answer> {
    Some(match &call.outcome {
        _ if !call.granted => Answer::NotGranted,
        None => Answer::NotDispatched,
        Some(OwnedOutcome::Error(message)) => Answer::Error(message.clone()),
        Some(OwnedOutcome::NotRecordable) => Answer::NotRecordable,
        Some(OwnedOutcome::Value(value)) => match whole(value)? {
            Value::Enum { name, mut payload, .. } if name == "@Thrown" && payload.len() == 1 => {
                Answer::Thrown(payload.remove(0))
            }
            Value::Enum { name, .. } if name == "@NeverReturned" => Answer::NeverReturned,
            value => Answer::Value(value),
        },
    })
}

fn whole(value: &OwnedValue) -> Option<Value> {
    value.view(&Arena::new()).to_value().ok()
}
