//! Any trace, any questions across tasks: answers, divergences and leftovers add up.

use std::collections::{HashMap, VecDeque};

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};
use cove_trace::replay::{Answer, Divergence, DivergenceKind, Verdict};
use cove_trace::{
    Arena, CallSite, JsonlSink, RecordedValue, RecordingBackend, Replay, RunOutcome, TraceHeader, TraceReader,
    TraceSink, ValueCapture,
};

/// How many tasks there are, so that their calls meet.
const TASKS: u64 = 4;

/// Records `events`, replays them, and asks for what `questions` say. Panics when something does not add up.
pub(crate) fn replay_tape(events: &[OwnedEvent], questions: &[u8]) {
    let trace = record(events);
    let mut due = tapes(&trace);
    let calls: usize = due.values().map(VecDeque::len).sum();
    let keeps_going = questions.first().is_some_and(|question| question % 2 == 0);
    let replay = Replay::open(&trace[..]).expect("a sound trace");
    let replay = if keeps_going { replay.keep_going() } else { replay };
    let mut asker = Asker { replay, keeps_going, first: None, divergences: 0, is_incomplete: false, asked: 0 };
    for question in questions {
        asker.ask(*question, &mut due);
    }
    asker.finish(calls, questions.is_empty());
}

fn record(events: &[OwnedEvent]) -> Vec<u8> {
    let header = TraceHeader::new(RecordingBackend::Ast, ValueCapture::Full, "fuzz");
    let sink = JsonlSink::new(Vec::new(), &header).expect("a vector takes it");
    for event in events {
        let event = match event.clone() {
            OwnedEvent::HostCall(call) => OwnedEvent::HostCall(OwnedHostCall { task: call.task % TASKS, ..call }),
            OwnedEvent::TaskSpawned { id, parent, scope } => OwnedEvent::TaskSpawned { id: id % TASKS, parent, scope },
            OwnedEvent::TaskCompleted { id, cpu } => OwnedEvent::TaskCompleted { id: id % TASKS, cpu },
            OwnedEvent::TaskCancelled { id } => OwnedEvent::TaskCancelled { id: id % TASKS },
            other => other,
        };
        sink.record(&event.view(&Arena::new()));
    }
    sink.finish().writer
}

/// The calls of each task, as a reader gives them.
fn tapes(trace: &[u8]) -> HashMap<u64, VecDeque<OwnedHostCall>> {
    let mut tapes: HashMap<_, VecDeque<_>> = HashMap::new();
    let mut reader = TraceReader::new(trace);
    while let Some(event) = reader.next_event().expect("a sound trace") {
        if let OwnedEvent::HostCall(call) = OwnedEvent::from(&event) {
            tapes.entry(call.task).or_default().push_back(call);
        }
    }
    tapes
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
    fn ask(&mut self, question: u8, due: &mut HashMap<u64, VecDeque<OwnedHostCall>>) {
        let task = u64::from(question) % (TASKS + 1);
        let has_another_argument = question >= 192;
        assert_eq!(self.replay.has_calls_left(task), due.get(&task).is_some_and(|tape| !tape.is_empty()));
        let Some(recorded) = due.get(&task).and_then(|tape| tape.front()).cloned() else {
            let answer = self.replay.call(task, CallSite::new("no", "such", "call"), &[]);
            return self.nothing_is_due(answer);
        };
        let answer = self.call(task, &recorded, has_another_argument);
        if self.is_stopped() {
            assert_eq!(answer.err(), self.first);
            return;
        }
        if has_another_argument && !self.keeps_going {
            return self.diverged(answer, DivergenceKind::OtherArguments);
        }
        self.divergences += u64::from(has_another_argument);
        due.get_mut(&task).expect("there is a call").pop_front();
        self.asked += 1;
        match expected(&recorded) {
            Some(expected) => assert_eq!(answer, Ok(expected)),
            None => self.diverged(answer, DivergenceKind::Unanswerable),
        }
    }

    fn call(&self, task: u64, recorded: &OwnedHostCall, has_another_argument: bool) -> Result<Answer, Divergence> {
        let arena = Arena::new();
        let mut args: Vec<_> = recorded.args.iter().map(|arg| arg.view(&arena)).collect();
        if has_another_argument {
            args.push(RecordedValue::Int(7));
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
        assert_eq!(conclusion.calls_asked, self.asked);
        assert_eq!(conclusion.calls_asked + conclusion.unused + conclusion.unused_by_stopped, calls as u64);
        if let Some(first) = &self.first {
            assert_eq!(conclusion.verdict, Verdict::Diverged);
            // With others before it only where those were answered all the same.
            assert!(self.keeps_going || conclusion.divergences == [first.clone()]);
        }
        assert!(conclusion.divergences_found >= self.divergences);
        assert_eq!(conclusion.verdict == Verdict::Diverged, !conclusion.divergences.is_empty());
        if is_empty && calls > 0 {
            assert_eq!(conclusion.divergences[0].kind(), DivergenceKind::NothingAsked);
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
        Some(OwnedOutcome::Value(value)) => Answer::Value(whole(value)?),
    })
}

fn whole(value: &OwnedValue) -> Option<cove_trace::Value> {
    value.view(&Arena::new()).to_value().ok()
}
