//! A call guard records its call once, however the call ends.

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cove_trace::replay::Answer;
use cove_trace::{
    CallArgs, CallGuard, CallSite, HostCall, HostOutcome, JsonlSink, LiveArgs, NullSink, RecordedValue,
    RecordingBackend, Replay, Snapshot, TraceEvent, TraceHeader, TraceReader, TraceSink, Value, ValueCapture,
};

fn jsonl(capture: ValueCapture) -> JsonlSink<Vec<u8>> {
    let header = TraceHeader::new(RecordingBackend::Vm, capture, "main");
    JsonlSink::new(Vec::new(), &header).expect("the header is written")
}

const SITE: CallSite<'static> = CallSite::new("http", "get", "net");
const ARGS: &[Value] = &[Value::Int(7)];

/// Runs `code` with a sink and returns the trace.
fn recorded(capture: ValueCapture, code: impl FnOnce(&JsonlSink<Vec<u8>>)) -> Vec<u8> {
    let sink = jsonl(capture);
    code(&sink);
    let finished = sink.finish();
    assert_eq!(finished.dropped, 0);
    finished.writer
}

/// Calls `check` with the only call of a trace.
#[track_caller]
fn with_call(trace: &[u8], check: impl FnOnce(&HostCall<'_>)) {
    let mut reader = TraceReader::from_slice(trace);
    match reader.next_event().expect("it can be read") {
        Some(TraceEvent::HostCall(call)) => check(&call),
        other => panic!("{other:?} in {}", String::from_utf8_lossy(trace)),
    }
    assert!(reader.next_event().expect("it can be read").is_none(), "more than one event");
}

#[test]
fn a_finished_call_has_its_outcome_and_its_wait() {
    let mut wait = Duration::ZERO;
    let trace = recorded(ValueCapture::Full, |sink| {
        let call = CallGuard::begin(sink, 3, SITE, ARGS);
        std::thread::sleep(Duration::from_millis(2));
        wait = call.finish(HostOutcome::Error("no"));
    });
    assert!(wait >= Duration::from_millis(2));
    with_call(&trace, |call| {
        assert_eq!((call.task, call.site, call.wait, call.granted), (3, SITE, wait, true));
        assert_eq!(call.args, [RecordedValue::Int(7)]);
        assert_eq!(call.outcome, Some(HostOutcome::Error("no")));
    });
}

#[test]
fn a_call_that_does_not_reach_the_host_has_no_outcome_and_no_wait() {
    for granted in [true, false] {
        let trace = recorded(ValueCapture::Full, |sink| {
            let call = CallGuard::begin(sink, 0, SITE, LiveArgs::new(ARGS));
            if granted { call.not_dispatched() } else { call.refused() }
        });
        with_call(&trace, |call| {
            assert_eq!((call.wait, call.granted, call.outcome), (Duration::ZERO, granted, None));
        });
    }
}

#[test]
fn a_panic_leaves_a_call_that_never_returned() {
    let trace = recorded(ValueCapture::Full, |sink| {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _call = CallGuard::begin(sink, 0, SITE, ARGS);
            panic!("the host's own");
        }));
        assert!(panicked.is_err());
    });
    with_call(&trace, |call| {
        let outcome = call.outcome.expect("an outcome");
        assert!(outcome.never_returned() && !outcome.is_failure());
        assert_eq!(call.args, [RecordedValue::Int(7)]);
    });
    let text = String::from_utf8(trace.clone()).expect("UTF-8");
    assert!(text.contains(r#"{"type":"enum","name":"@NeverReturned","case":"panicked","payload":[]}"#));
    let replay = Replay::open(&trace[..]).expect("a replayable trace");
    let answer = replay.call(0, SITE, &LiveArgs::new(ARGS)).expect("it was recorded");
    assert_eq!(answer, Answer::NeverReturned);
}

/// A second panic while a thread unwinds would abort the process.
#[test]
fn arguments_that_panic_while_a_call_unwinds_abort_nothing() {
    struct Panicking;

    impl CallArgs for Panicking {
        fn with(&self, _: impl FnOnce(&[RecordedValue<'_>])) {
            panic!("the arguments' own")
        }
    }

    let trace = recorded(ValueCapture::Full, |sink| {
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _call = CallGuard::begin(sink, 0, SITE, Panicking);
            panic!("the host's own");
        }));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"the host's own"));
    });
    assert_eq!(trace.iter().filter(|byte| **byte == b'\n').count(), 1, "only the header");
}

#[test]
fn a_redacted_trace_keeps_that_a_call_never_returned() {
    let trace = recorded(ValueCapture::Redacted, |sink| drop(CallGuard::begin(sink, 0, SITE, ARGS)));
    with_call(&trace, |call| assert!(call.outcome.is_some_and(|outcome| outcome.never_returned())));
}

#[test]
fn a_cancelled_future_leaves_a_call_that_never_returned() {
    fn assert_send<F: Future + Send>(future: F) -> F {
        future
    }

    let trace = recorded(ValueCapture::Full, |sink| {
        let args = Snapshot::of_all(sink, ARGS);
        let mut call = Box::pin(assert_send(async {
            let call = CallGuard::begin(sink, 0, SITE, args);
            pending::<()>().await;
            call.finish(HostOutcome::Value(RecordedValue::Unit));
        }));
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        drop(call);
    });
    with_call(&trace, |call| assert!(call.outcome.is_some_and(|outcome| outcome.never_returned())));
    assert!(String::from_utf8(trace).expect("UTF-8").contains(r#""case":"dropped""#));
}

#[test]
fn a_future_that_completes_records_its_call_once() {
    let trace = recorded(ValueCapture::Full, |sink| {
        let args = Snapshot::of_all(sink, ARGS);
        let mut call = pin!(async {
            let call = CallGuard::begin(sink, 0, SITE, args);
            std::future::ready(()).await;
            call.finish(HostOutcome::Value(RecordedValue::Unit));
        });
        assert!(matches!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(())));
    });
    with_call(&trace, |call| assert_eq!(call.outcome, Some(HostOutcome::Value(RecordedValue::Unit))));
}

#[test]
fn a_snapshot_has_the_arguments_as_they_were() {
    let mut list = vec![Value::Int(1)];
    let trace = recorded(ValueCapture::Full, |sink| {
        let args = Snapshot::of_all(sink, &[Value::Array(list.clone()), Value::Float(f64::NAN)]);
        let call = CallGuard::begin(sink, 0, SITE, args);
        list.push(Value::Int(2));
        call.finish(HostOutcome::NotRecordable);
    });
    with_call(&trace, |call| {
        assert_eq!(call.args[0], RecordedValue::Array(&[RecordedValue::Int(1)]));
        assert_eq!(call.args[1].to_value(), Ok(Value::Float(f64::NAN)));
    });
    // A redacted trace keeps the type names only.
    let trace = recorded(ValueCapture::Redacted, |sink| {
        let args = Snapshot::of_all(sink, &[Value::Float(f64::NAN)]);
        CallGuard::begin(sink, 0, SITE, args).refused();
    });
    with_call(&trace, |call| assert_eq!(call.args, [RecordedValue::Redacted { of: "Float" }]));
}

#[test]
fn nothing_is_measured_or_encoded_without_a_recording_sink() {
    struct Untouched;

    impl cove_trace::TraceValue for Untouched {
        fn type_name(&self) -> std::borrow::Cow<'_, str> {
            panic!("asked for its type")
        }

        fn write(&self, _: cove_trace::ValueWriter<'_>) {
            panic!("written")
        }
    }

    let sink: &dyn TraceSink = &NullSink;
    let call = CallGuard::begin(sink, 0, SITE, Snapshot::of_all(sink, &[Untouched]));
    assert_eq!(call.finish(HostOutcome::Value(RecordedValue::Unit)), Duration::ZERO);
    drop(CallGuard::begin(sink, 0, SITE, &[Untouched][..]));
}
